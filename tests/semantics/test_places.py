"""Which code runs over and over, and in what: ``semantics.places``."""

from __future__ import annotations

import ast
import textwrap

import pytest

from neuron_port.semantics.module import Module, Watch
from neuron_port.semantics.places import Place, Places
from neuron_port.semantics.receivers import Receivers

HEAD = "import torch\nfrom torch import nn\n"


def place(code: str) -> Place:
    """The place of the call of ``here()``; lines are counted from the first one of ``code``."""
    text = textwrap.dedent(code).lstrip("\n")
    module = Module(text, ast.parse(text), Watch(roots=frozenset({"torch"})))
    (call,) = module.calls_of("here")
    return Places(module, Receivers(module)).of(call)


TRAINING = """
import torch
for epoch in range(3):
    {epoch}
    for x, y in loader:
        loss = criterion(model(x), y)
        {step}
        loss.backward()
        if step % 100 == 0:
            {rarely}
"""


@pytest.mark.parametrize(
    ("where", "kind", "occasional"), [("epoch", "", False), ("step", "training", False), ("rarely", "training", True)]
)
def test_loops_of_a_training_program(where, kind, occasional):
    code = TRAINING.format(**{name: "here()" if name == where else "pass" for name in ("epoch", "step", "rarely")})
    found = place(code)
    assert (found.kind, found.occasional) == (kind, occasional)
    assert found.hot is (where == "step")
    if kind:
        assert found.text == "it runs in the training loop of line 4"


def test_functions_that_the_training_loop_calls():
    found = place(
        """
        import torch
        def step(model, batch):
            loss = model(batch)
            loss.backward()
            return here(loss)
        for batch in loader:
            step(model, batch)
        """
    )
    assert (found.kind, found.text) == ("training", "step() is called in the training loop of line 6")


def test_gradient_accumulation_is_part_of_the_step():
    found = place(
        """
        import torch
        for batch in loader:
            for part in batch.chunk(4):
                model(part).sum().backward()
            optimizer.step()
            here()
        """
    )
    assert (found.kind, found.owner.lineno) == ("training", 2)


def test_forward_and_what_it_calls():
    code = """
    import torch
    from torch import nn
    def mask(n):
        return {function}
    class Net(nn.Module):
        def __init__(self):
            {init}
        def forward(self, x):
            return self._heads(x) + mask(3)
        def _heads(self, x):
            return {method}
        def export(self):
            return {other}
    """
    names = ("function", "init", "method", "other")
    kinds = {}
    for where in names:
        kinds[where] = place(code.format(**{name: "here()" if name == where else "0" for name in names}))
    assert {name: found.kind for name, found in kinds.items()} == {
        "function": "forward",
        "init": "",
        "method": "forward",
        "other": "",
    }
    assert kinds["method"].text == "_heads() is called by forward: it runs in Net.forward"


@pytest.mark.parametrize(
    "code",
    [
        "@torch.compile\ndef f(x):\n    return here(x)\n",
        "@torch.compile(fullgraph=True)\ndef f(x):\n    return here(x)\n",
        "def f(x):\n    return here(x)\ng = torch.compile(f)\n",
        "class Net(nn.Module):\n    def forward(self, x):\n        return here(x)\nnet = torch.compile(Net().cuda())\n",
        "class Net(nn.Module):\n    def forward(self, x):\n        return here(x)\nnet = Net()\nnet.compile()\n",
        "class A:\n    def __init__(self):\n        self.f = torch.compile(self.f)\n    def f(self, x):\n        return here(x)\n",
    ],
)
def test_compiled_functions(code):
    assert place(HEAD + code).kind == "compiled"


def test_generation_and_evaluation_loops():
    generation = """
    import torch
    from torch import nn
    class Net(nn.Module): ...
    model = Net()
    for _ in range(10):
        new = model(ids).argmax(-1)
        ids = torch.cat([ids, new], dim=1)
        here()
    """
    assert place(generation).kind == "generation"
    evaluation = """
    import torch
    from torch import nn
    class Net(nn.Module): ...
    model = Net()
    for x in test_loader:
        model(x)
        here()
    """
    found = place(evaluation)
    assert (found.kind, found.hot) == ("evaluation", False)


@pytest.mark.parametrize(
    "code",
    [
        "for line in lines:\n    here(line)\n",
        "def collate(items):\n    return here(items)\n",
        "class Data(torch.utils.data.Dataset):\n    def __getitem__(self, i):\n        return here(i)\n",
        "for x in here():\n    model(x).backward()\n",
        "class Config:\n    def forward(self, x):\n        return here(x)\n",
    ],
)
def test_code_that_nothing_repeats(code):
    assert place(HEAD + code).kind == ""


@pytest.mark.parametrize(
    ("code", "whole"),
    [
        ("@torch.compile\ndef f(x):\n    return here(x)\n", False),
        ("@torch.compile(fullgraph=True)\ndef f(x):\n    return here(x)\n", True),
        ("def g(x):\n    return here(x)\n@torch.compile(fullgraph=True)\ndef f(x):\n    return g(x)\n", True),
        ("def f(x):\n    return here(x)\nf = torch.compile(f, fullgraph=True)\n", True),
    ],
)
def test_whether_a_graph_may_break(code, whole):
    assert place(HEAD + code).fullgraph is whole


@pytest.mark.parametrize(
    ("line", "occasional"),
    [
        ("if not torch.compiler.is_compiling(): here()", True),
        ("if torch.compiler.is_compiling(): pass\n    else: here()", True),
        ("if not torch.compiler.is_compiling() and here(): pass", True),
        ("if torch.compiler.is_compiling(): here()", False),
        ("if x or not torch.compiler.is_compiling(): here()", False),
    ],
)
def test_what_the_compiler_leaves_out(line, occasional):
    assert place(f"{HEAD}@torch.compile\ndef f(x):\n    {line}\n").occasional is occasional


def test_an_evaluation_loop_that_keeps_predictions_generates_nothing():
    code = "class Net(nn.Module): ...\nmodel = Net()\nfor x in test_loader:\n    kept.append(model(x).argmax(-1))\n    here()\n"
    assert place(HEAD + code).kind == "evaluation"


def test_what_is_done_the_first_time_only():
    code = "for batch in loader:\n    if not self.checked:\n        self.checked = True\n        here()\n    model(batch).mean().backward()\n"
    assert place(HEAD + code).occasional is True

"""Is an expression a tensor, of which kind, and where: ``semantics.tensors``."""

from __future__ import annotations

import ast
import textwrap
import time

import pytest

from neuron_port.semantics.module import Module, Watch
from neuron_port.semantics.receivers import Receivers
from neuron_port.semantics.tensors import Tensors

HEAD = """
import numpy as np
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, n: int = 3):
        y = x.float()
        mask = x > 0
        both = mask & (y < 1)
        ids = x.argsort()
        a = np.zeros(3)
        host = torch.from_numpy(a)
        flag = n > 2
        return here({expression})
"""


def ask(expression: str, head: str = HEAD):
    text = textwrap.dedent(head.format(expression=expression))
    module = Module(text, ast.parse(text), Watch(roots=frozenset({"torch", "numpy"})))
    (call,) = module.calls_of("here")
    return Tensors(module, Receivers(module)), call.args[0]


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [
        ("x", None),
        ("mask", "bool"),
        ("both", "bool"),
        ("~mask", "bool"),
        ("torch.isnan(x)", "bool"),
        ("x.eq(0)", "bool"),
        ("x == 0", "bool"),
        ("mask.unsqueeze(-1)", "bool"),
        ("torch.zeros(3, dtype=torch.bool)", "bool"),
        ("x.to(torch.bool)", "bool"),
        ("ids", "int"),
        ("torch.arange(x.shape[0])", "int"),
        ("torch.arange(0, 1, 0.1)", "float"),
        ("torch.tensor([1, 2])", "int"),
        ("y", "float"),
        ("y * 2", "float"),
        ("ids / 2", "float"),
        ("ids + 1", "int"),
        ("torch.view_as_complex(x)", "complex"),
        ("torch.where(mask, y, 0)", "float"),
        ("y[mask]", "float"),
    ],
)
def test_tensors_and_the_kind_of_their_elements(expression, dtype):
    tensors, node = ask(expression)
    found = tensors.of(node)
    assert found is not None
    assert found.dtype == dtype
    assert tensors.is_mask(node) is (dtype == "bool")


@pytest.mark.parametrize(
    "expression",
    [
        "a",
        "a > 0",
        "np.isnan(a)",
        "n",
        "flag",
        "x.shape[0]",
        "x.shape[0] > 3",
        "x.item()",
        "not mask",
        "len(x)",
        "x.dtype == torch.bool",
        "x is None",
        "[1, 2]",
        "unknown",
    ],
)
def test_what_is_no_tensor(expression):
    tensors, node = ask(expression)
    assert tensors.of(node) is None


def test_names_count_by_what_their_own_scope_does():
    head = """
    import torch
    def first(x):
        return x.unsqueeze(0)
    def second(x):
        return here({expression})
    """
    tensors, node = ask("x > 0", head)
    assert tensors.of(node) is None
    tensors, node = ask("x.masked_fill(x > 0, 1)", head)
    assert tensors.of(node.args[0]).text == ".masked_fill is used on x"


@pytest.mark.parametrize("used", ["accelerator.backward(loss)", "accelerator.float()", "accelerator.shape"])
def test_what_modules_and_engines_have_too_is_no_evidence(used):
    head = f"import torch\ndef f(accelerator, loss):\n    {used}\n    return here({{expression}})\n"
    tensors, node = ask("accelerator > 0", head)
    assert tensors.of(node) is None


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("host", True),
        ("host > 0", True),
        ("x.cpu()", True),
        ("x.cpu() > 0", True),
        ('x.to("cpu")', True),
        ("torch.arange(3)", True),
        ("torch.arange(3, device=x.device)", False),
        ("x", False),
        ("mask", False),
        ("host.cuda()", False),
        ("host + x", False),
    ],
)
def test_what_is_on_the_host(expression, answer):
    tensors, node = ask(expression)
    assert tensors.on_host(node) is answer


@pytest.mark.parametrize(
    "expression", ["cache", "cache.length()", "i", "flag", "x.is_contiguous()", "x.get_device()", "a.reshape(3) + 1"]
)
def test_what_only_looks_like_a_tensor(expression):
    head = """
    import numpy as np
    import torch
    from torch import nn
    class Net(nn.Module):
        def forward(self, x, cache: Cache):
            a = np.zeros(3)
            a.reshape(3)
            for i, part in enumerate(torch.chunk(x, 2)):
                for part, flag in zip(x, flags):
                    here({expression})
    """
    tensors, node = ask(expression, head)
    assert tensors.of(node) is None


def test_the_nearest_assignment_says_where_a_value_is():
    head = """
    import torch
    if flag:
        n = torch.randint(0, 9, (1,))
        here({expression})
    else:
        n = torch.randint(0, 9, (1,), device=device)
    """
    tensors, node = ask("n < limit", head)
    assert tensors.on_host(node) is True


def test_a_name_that_is_assigned_from_itself_many_times_takes_no_time():
    lines = "".join(f"    x, y, z = f{i}(x, y), g(y, z), h(z, x)\n    x = k{i}(x + y) + y\n" for i in range(30))
    text = f"import torch\ndef f(x, y, z):\n{lines}    return here(x)\n"
    module = Module(text, ast.parse(text), Watch(roots=frozenset({"torch"})))
    (call,) = module.calls_of("here")
    begin = time.perf_counter()
    assert Tensors(module, Receivers(module)).of(call.args[0]) is None
    assert time.perf_counter() - begin < 1


@pytest.mark.parametrize("expression", ["norm", "self.size", "cache.get_length()", "min(self.size)"])
def test_numbers_that_were_tensors(expression):
    head = """
    import torch
    from torch import nn
    class Net(nn.Module):
        def forward(self, x, norm: torch.Tensor):
            self.size = torch.min(x) if torch.jit.is_tracing() else min(norms)
            norm.detach()
            _, cache = self.decoder(x)
            norm = norm.detach().item() if isinstance(norm, torch.Tensor) else norm
            return here({expression})
    """
    tensors, node = ask(expression, head)
    assert tensors.of(node) is None


@pytest.mark.parametrize("expression", ["speaker < 3", "float(shape[0])", "shape[0] > 2", "kept == 0"])
def test_a_parameter_is_judged_by_itself(expression):
    head = """
    import torch
    from torch import nn
    class Net(nn.Module):
        def forward(self, x, shape: torch.Size, kept: int | torch.Tensor, speaker: int | None = None):
            shape.numel()
            here({expression})
            if isinstance(speaker, int):
                speaker = torch.full((1,), speaker)
            return x
    """
    tensors, node = ask(expression, head)
    assert tensors.of(node) is None

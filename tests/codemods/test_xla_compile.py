"""Functions traced by PyTorch/XLA."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, ported

HEAD = "import torch\nimport torch_xla\n"


@pytest.mark.parametrize(
    ("before", "after", "portable"),
    [
        ("f = torch_xla.compile(g)", 'f = torch.compile(g, backend="neuron", dynamic=False)', "f = torch.compile(g)"),
        (
            'f = torch_xla.compile(g, full_graph=True, name="g", max_different_graphs=2)',
            'f = torch.compile(g, fullgraph=True, backend="neuron", dynamic=False)',
            "f = torch.compile(g, fullgraph=True)",
        ),
        (
            "f = torch_xla.compile(g, True)",
            'f = torch.compile(g, fullgraph=True, backend="neuron", dynamic=False)',
            "f = torch.compile(g, fullgraph=True)",
        ),
        (
            "f = torch_xla.compile(f=g)",
            'f = torch.compile(model=g, backend="neuron", dynamic=False)',
            "f = torch.compile(model=g)",
        ),
        (
            "f = torch_xla.experimental.compile(g)",
            'f = torch.compile(g, backend="neuron", dynamic=False)',
            "f = torch.compile(g)",
        ),
    ],
)
def test_a_function_is_compiled(before: str, after: str, portable: str) -> None:
    assert port(HEAD, before) == after
    assert port(HEAD, before, target="portable") == portable
    assert found(HEAD, before, "NP222") == ["error unsafe"]


def test_decorators() -> None:
    assert_ported(
        """
        import torch
        import torch_xla

        @torch_xla.compile
        def f(x):
            return x

        @torch_xla.compile(full_graph=True)
        def g(x):
            return x
        """,
        """
        import torch

        @torch.compile(backend="neuron", dynamic=False)
        def f(x):
            return x

        @torch.compile(fullgraph=True, backend="neuron", dynamic=False)
        def g(x):
            return x
        """,
    )


def test_a_training_step_stays_eager() -> None:
    assert_ported(
        """
        import torch
        import torch_xla

        class Trainer:
            def __init__(self):
                self.step_fn = torch_xla.compile(self.step, full_graph=True, name="step")

            def step(self, batch):
                return self.update(self.model(batch))

            def update(self, loss):
                loss.backward()

            @torch_xla.compile()
            def other(self, loss):
                loss.backward()
        """,
        """
        import torch

        class Trainer:
            def __init__(self):
                self.step_fn = self.step

            def step(self, batch):
                return self.update(self.model(batch))

            def update(self, loss):
                loss.backward()

            def other(self, loss):
                loss.backward()
        """,
    )


def test_a_name_bound_to_itself_goes() -> None:
    after = ported(f"{HEAD}def step(loss):\n    loss.backward()\nstep = torch_xla.compile(step)\nstep(x)\n")
    assert after.splitlines()[-2:] == ["    loss.backward()", "step(x)"]


@pytest.mark.parametrize(
    "line", ["f = torch_xla.compile(*g)", "compile = torch_xla.compile", "f = torch_xla.compile(g, x=1)"]
)
def test_what_a_person_decides(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP222") == ["error manual"]

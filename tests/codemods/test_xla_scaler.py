"""The gradient scaler of PyTorch/XLA."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported

HEAD = "import torch\nimport torch_xla.amp as amp\nx = 1\n"
NOTHING = 'torch.amp.GradScaler("neuron", enabled=False)'


def test_a_scaler_for_steps_goes() -> None:
    assert_ported(
        """
        import torch
        from torch_xla.amp import GradScaler

        def train(model, optimizer, loader):
            scaler = GradScaler(use_zero_grad=True)
            for batch in loader:
                loss = model(batch) / 2
                scaler.scale(loss + 1).backward()
                scaler.unscale_(optimizer)
                value = scaler.step(optimizer)
                scaler.update()
        """,
        """
        import torch

        def train(model, optimizer, loader):
            for batch in loader:
                loss = model(batch) / 2
                (loss + 1).backward()
                value = optimizer.step()
        """,
    )


@pytest.mark.parametrize(
    "use",
    [
        "save(scaler)",
        "s = scaler.state_dict()",
        "scaler.step(o, closure=c)",
        "scaler.step(*o)",
        "y = scaler.update()",
        "y = 1 if scaler else 2",
        "scaler = None",
    ],
)
def test_one_that_is_used_otherwise_stays_and_does_nothing(use: str) -> None:
    assert port(HEAD, f"scaler = amp.GradScaler(); {use}") == f"scaler = {NOTHING}; {use}"


@pytest.mark.parametrize("line", ["self.scaler = amp.GradScaler(enabled=on)", "run(amp.GradScaler())"])
def test_one_that_is_stored_or_handed_on(line: str) -> None:
    assert NOTHING in port(HEAD, line)
    assert found(HEAD, line, "NP238") == ["error unsafe"]


def test_without_a_call() -> None:
    assert found(HEAD, "make = amp.GradScaler", "NP238") == ["error manual"]

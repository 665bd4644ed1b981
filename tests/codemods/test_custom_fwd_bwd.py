"""Autocast rules of custom autograd functions."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported

HEAD = "import torch\n"
EITHER = '"neuron" if torch.accelerator.is_available() else "cpu"'
PORTABLE = 'torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"'


@pytest.mark.parametrize("name", ["custom_fwd", "custom_bwd"])
@pytest.mark.parametrize(("target", "device"), [("neuron", EITHER), ("portable", PORTABLE)])
def test_a_bare_decorator_gets_a_device(name: str, target: str, device: str) -> None:
    source = "import torch\nclass F:\n    @staticmethod\n    @{decorator}  # cast\n    def f(ctx, x): ...\n"
    before = source.format(decorator=f"torch.cuda.amp.{name}")
    after = source.format(decorator=f"torch.amp.{name}(device_type={device})")
    assert_ported(before, before, "safe", target)
    assert_ported(before, after, "unsafe", target)


def test_imported_names_keep_their_spelling() -> None:
    assert_ported(
        """
        from torch.cuda.amp import custom_bwd, custom_fwd as forward_rule
        class F:
            @forward_rule
            def forward(ctx, x): ...
            @custom_bwd
            def backward(ctx, x): ...
        """,
        f"""
        from torch.amp import custom_bwd, custom_fwd as forward_rule
        import torch
        class F:
            @forward_rule(device_type={EITHER})
            def forward(ctx, x): ...
            @custom_bwd(device_type={EITHER})
            def backward(ctx, x): ...
        """,
    )


def test_arguments_are_carried_over() -> None:
    line = "f = torch.cuda.amp.custom_fwd(f, cast_inputs=torch.half)"
    after = f"f = torch.amp.custom_fwd(f, cast_inputs=torch.half, device_type={PORTABLE})"
    assert port(HEAD, line, "unsafe", "portable") == after
    line = "f = torch.cuda.amp.custom_fwd(f, torch.half)"
    after = f"f = torch.amp.custom_fwd(f, cast_inputs=torch.half, device_type={PORTABLE})"
    assert port(HEAD, line, "unsafe", "portable") == after


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rule = torch.cuda.amp.custom_fwd", ["warning manual"]),
        ("f = torch.cuda.amp.custom_fwd(*options)", ["warning manual"]),
        ("f = torch.amp.custom_fwd(f, device_type='neuron')", []),
        ("f = custom_fwd(f)", []),
    ],
)
def test_what_stays(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP162") == expected

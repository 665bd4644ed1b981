"""Autocast for an XLA device."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check

HEAD = "import torch\nimport torch_xla\nimport torch_xla.amp as amp\n"
KIND = 'torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("c = amp.autocast(d)", 'c = torch.autocast("neuron", dtype=torch.bfloat16)'),
        ("c = amp.autocast(device=d, enabled=on)", 'c = torch.autocast("neuron", enabled=on, dtype=torch.bfloat16)'),
        ("c = amp.autocast(d, on)", 'c = torch.autocast("neuron", enabled=on, dtype=torch.bfloat16)'),
        ("c = amp.autocast(d, False)", 'c = torch.autocast("neuron", enabled=False)'),
        (
            "c = amp.autocast(d, True, torch.bfloat16, False)",
            'c = torch.autocast("neuron", cache_enabled=False, dtype=torch.bfloat16, enabled=True)',
        ),
        ("c = amp.autocast(d, dtype=None)", 'c = torch.autocast("neuron", dtype=torch.bfloat16)'),
    ],
)
def test_the_device_becomes_a_type(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert found(HEAD, before, "NP237") == ["error safe"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('c = torch.autocast("xla")', 'c = torch.autocast("neuron", dtype=torch.bfloat16)'),
        (
            'c = torch.amp.autocast(device_type="xla", enabled=on)',
            'c = torch.amp.autocast(device_type="neuron", enabled=on, dtype=torch.bfloat16)',
        ),
        ('c = torch.autocast("xla", torch.bfloat16)', 'c = torch.autocast("neuron", torch.bfloat16)'),
    ],
)
def test_regions_of_torch(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert found(HEAD, before, "NP237") == ["warning safe"]


@pytest.mark.parametrize(
    ("before", "severity"),
    [("c = amp.autocast(d, dtype=torch.float16)", "error"), ('c = torch.autocast("xla", dtype=t)', "warning")],
)
def test_another_type_is_unsafe(before: str, severity: str) -> None:
    assert found(HEAD, before, "NP237") == [f"{severity} unsafe"]
    (finding,) = [item for item in check(f"{HEAD}{before}\n") if item.code == "NP237"]
    assert finding.message.endswith("; the type that is given switched the region off on XLA, and works on Neuron")


def test_portable_code_runs_on_every_host() -> None:
    assert port(HEAD, "c = amp.autocast(d)", target="portable") == f"c = torch.autocast({KIND}, dtype=torch.bfloat16)"
    assert port(HEAD, 'c = torch.autocast("xla")', target="portable") == (
        f"c = torch.autocast({KIND}, dtype=torch.bfloat16)"
    )


def test_imported_names_move() -> None:
    assert_ported(
        """
        import torch
        from torch_xla.amp import autocast

        with autocast(device):
            run()
        """,
        """
        import torch
        from torch.amp import autocast

        with autocast("neuron", dtype=torch.bfloat16):
            run()
        """,
        level="safe",
    )


def test_optional_packages_are_left_alone() -> None:
    source = 'import torch\ntry:\n    import torch_xla\nexcept ImportError:\n    pass\nc = torch.autocast("xla")\n'
    assert [item.severity.word for item in check(source) if item.code == "NP237"] == ["info"]

"""Mistakes of ports that were made by hand: exact places and texts."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, check


def found(source: str, code: str) -> list[tuple[int, int, str]]:
    return [
        (finding.location.row, finding.location.column, finding.severity.word)
        for finding in check(source)
        if finding.code == code
    ]


@pytest.mark.parametrize(
    ("test", "after"),
    [
        ('device == "neuron"', 'device.type == "neuron"'),
        ('"cpu" != device', '"cpu" != device.type'),
        ('device in ("cpu", "neuron")', 'device.type in ("cpu", "neuron")'),
    ],
)
def test_a_device_never_equals_a_string(test: str, after: str) -> None:
    head = 'import torch\ndevice = torch.device("neuron")\n'
    assert_ported(f"{head}same = {test}\n", f"{head}same = {after}\n")
    assert found(f"{head}same = {test}\n", "NP901") == [(3, 8, "warning")]


@pytest.mark.parametrize(
    "test",
    [
        'name == "neuron"',
        'device.type == "neuron"',
        "device == other",
        'device == "neuron:0"',
        'config.device == "cpu"',
    ],
)
def test_other_comparisons(test: str) -> None:
    source = f'import torch\ndef f(name, other, config):\n    device = torch.device("neuron")\n    return {test}\n'
    assert found(source, "NP901") == []


def test_keywords_become_positional() -> None:
    assert_ported(
        "import torch\ntorch.accelerator.synchronize(device=d)\n",
        "import torch\ntorch.accelerator.synchronize(d)\n",
        "safe",
    )


def test_a_loop_over_devices_keeps_its_indices() -> None:
    source = (
        "import os\nimport torch\nlocal_rank = int(os.environ['LOCAL_RANK'])\n"
        "for i in range(2):\n    d = torch.device(f'neuron:{i}')\n"
    )
    assert found(source, "NP902") == []

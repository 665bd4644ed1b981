"""Names of GPUs in the name of a Neuron device."""

from __future__ import annotations

import pytest

from tests.porting import check


def found(code: str) -> list[tuple[int, int, str]]:
    return [
        (finding.location.row, finding.location.column, finding.severity.word)
        for finding in check(f"import torch\n{code}\n")
        if finding.code == "NP911"
    ]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('a = "A100" in torch.neuron.get_device_name()', [(2, 5, "warning")]),
        ('a = torch.neuron.get_device_name(0) == "Tesla T4"', [(2, 5, "warning")]),
        ('n = torch.neuron.get_device_name().lower()\na = n.startswith("nvidia")', [(3, 5, "warning")]),
        ('a = "H100" in torch.neuron.get_device_properties(0).name', [(2, 5, "warning")]),
        ('a = "A100" in torch.get_device_module().get_device_name()', [(2, 5, "info")]),
        ('m = torch.get_device_module()\na = "A100" in m.get_device_name()', [(3, 5, "info")]),
    ],
)
def test_a_gpu_is_in_no_name_of_a_neuron_device(code, expected):
    assert found(code) == expected


@pytest.mark.parametrize(
    "code",
    [
        'a = "trn2" in torch.neuron.get_device_properties(0).name',
        'a = "BA1001" in torch.neuron.get_device_name()',
        "print(torch.neuron.get_device_name())",
        'a = "A100" in other.get_device_name()',
        "a = torch.neuron.get_device_properties(0).total_memory > 4",
    ],
)
def test_other_names_are_left_alone(code):
    assert found(code) == []

"""The kind of hardware behind an XLA device."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported

HEAD = "import torch\nimport torch_xla.core.xla_model as xm\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('ok = xm.xla_device_hw(d) == "NEURON"', 'ok = torch.device(d).type == "neuron"'),
        ("ok = xm.xla_device_hw(d) in ['TPU', \"CPU\"]", "ok = torch.device(d).type in ['tpu', \"cpu\"]"),
        ('ok = "GPU" != xm.xla_device_hw(device=d)', 'ok = "gpu" != torch.device(d).type'),
        ("print(xm.xla_device_hw(xm.xla_device()))", 'print(torch.device("neuron").type)'),
        ('ok = xm.xla_device_hw(d) == "neuron"', 'ok = torch.device(d).type == "neuron"'),
    ],
)
def test_the_type_in_lower_case(before: str, after: str) -> None:
    assert port(HEAD, before) == after
    assert found(HEAD, before, "NP213") == ["warning unsafe"]


def test_a_stored_answer_takes_its_comparisons_along() -> None:
    assert_ported(
        """
        import torch
        import torch_xla.core.xla_model as xm

        class Run:
            def __init__(self):
                device = torch.device("cpu")
                self.hw = xm.xla_device_hw(device)

            def on_chip(self):
                return self.hw != "CPU"
        """,
        """
        import torch

        class Run:
            def __init__(self):
                device = torch.device("cpu")
                self.hw = device.type

            def on_chip(self):
                return self.hw != "cpu"
        """,
    )


@pytest.mark.parametrize("line", ["ask = xm.xla_device_hw", "hw = xm.xla_device_hw(*d)"])
def test_what_a_person_decides(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP213") == ["warning manual"]

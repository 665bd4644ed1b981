"""Is a tensor on the XLA device?"""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = "import torch\nimport torch_xla.core.xla_model as xm\nt = torch.ones(2)\n"


@pytest.mark.parametrize(
    ("before", "after", "portable"),
    [
        ("print(xm.is_xla_tensor(t))", 'print(t.device.type == "neuron")', 'print(t.device.type != "cpu")'),
        (
            "ok = not xm.is_xla_tensor(tensor=t + 1)",
            'ok = (t + 1).device.type != "neuron"',
            'ok = (t + 1).device.type == "cpu"',
        ),
        (
            "ok = xm.is_xla_tensor(t) and t.sum()",
            'ok = t.device.type == "neuron" and t.sum()',
            'ok = t.device.type != "cpu" and t.sum()',
        ),
        (
            "ts = list(filter(xm.is_xla_tensor, [t]))",
            'ts = list(filter(lambda t: t.device.type == "neuron", [t]))',
            'ts = list(filter(lambda t: t.device.type != "cpu", [t]))',
        ),
    ],
)
def test_the_type_is_asked(before: str, after: str, portable: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert port(HEAD, before, "safe", "portable") == portable
    assert found(HEAD, before, "NP213") == ["error safe"]


@pytest.mark.parametrize("line", ["ok = xm.is_xla_tensor(*ts)", "is_xla = xm.is_xla_tensor", "ok = xm.is_xla_tensor()"])
def test_what_a_person_decides(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP213") == ["error manual"]

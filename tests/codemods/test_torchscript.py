"""TorchScript: a warning where the program runs what it made, a note where it only writes it to a file."""

from __future__ import annotations

import pytest

from tests.porting import check

HEAD = "import torch\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("traced = torch.jit.trace(model, x)\ny = traced(x)\n", [(2, 10, "warning")]),
        ("self.net = torch.jit.trace_module(net, inputs=x)\ny = self.net(x)\n", [(2, 12, "warning")]),
        ("traced = torch.jit.trace(model, x)\ntraced.save('a.pt')\n", [(2, 10, "info")]),
        ("writer.add_graph(torch.jit.trace(model, x), [])\n", [(2, 18, "info")]),
        ("@torch.jit.script\ndef f(x):\n    return x\n", [(2, 2, "info")]),
        ("tracer.trace(model, x)\n", []),
    ],
)
def test_is_it_run(code: str, expected: list) -> None:
    places = [
        (each.location.row, each.location.column, each.severity.word)
        for each in check(HEAD + code)
        if each.code == "NP512"
    ]
    assert places == expected

"""Processes that are started by fork: a warning where the file uses a device."""

from __future__ import annotations

import pytest

from tests.porting import check, ported

HEAD = "import sys\nimport torch\nimport torch.multiprocessing as mp\n"


def found(code: str) -> list[tuple[int, int, str, str | None]]:
    return [
        (each.location.row, each.location.column, each.severity.word, each.evidence)
        for each in check(HEAD + code)
        if each.code == "NP541"
    ]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("mp.set_start_method('fork')\nx.to(d)\n", [(4, 21, "warning", "to() is called in this file")]),
        ("mp.get_context(method='fork')\nloss.backward()\n", [(4, 23, "warning", "backward() is called in this file")]),
        ("mp.start_processes(f, start_method='fork')\nx.to(d)\n", [(4, 36, "warning", "to() is called in this file")]),
        ("mp.set_start_method('fork')\n", [(4, 21, "info", None)]),
        ("if sys.platform == 'darwin':\n    mp.set_start_method('fork')\nx.to(d)\n", []),
        ("mp.set_start_method('spawn')\nx.to(d)\n", []),
    ],
)
def test_fork(code: str, expected: list) -> None:
    assert found(code) == expected


def test_port() -> None:
    assert ported(HEAD + "mp.get_context('fork')\nx.to(d)\n") == HEAD + "mp.get_context('spawn')\nx.to(d)\n"
    alone = HEAD + "mp.get_context('fork')\n"
    assert ported(alone) == alone

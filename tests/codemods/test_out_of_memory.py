"""Catching a full device."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported

HEAD = "import torch\n"


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("raise torch.cuda.OutOfMemoryError('x')", "raise torch.OutOfMemoryError('x')"),
        ("ok = isinstance(e, torch.cuda.OutOfMemoryError)", "ok = isinstance(e, torch.OutOfMemoryError)"),
        ("errors = (torch.cuda.OutOfMemoryError, ValueError)", "errors = (torch.OutOfMemoryError, ValueError)"),
        ("except torch.cuda.OutOfMemoryError as e: ...", "except torch.OutOfMemoryError as e: ..."),
        ("except (torch.cuda.OutOfMemoryError, OSError): ...", "except (torch.OutOfMemoryError, OSError): ..."),
    ],
)
def test_safe(before: str, after: str, target: str) -> None:
    head = HEAD + "try: ...\n" if before.startswith("except") else HEAD
    assert port(head, before, "safe", target) == after
    assert found(head, before, "NP142", target) == ["warning safe"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('if "out of memory" in str(error): y = 1', ["warning manual"]),
        ('if "CUDA out of memory" not in error.args[0]: y = 1', ["warning manual"]),
        ('print("out of memory")', []),
        ("raise torch.OutOfMemoryError('x')", []),
        ("except_ = OutOfMemoryError", []),
    ],
)
def test_what_stays(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP142") == expected


def test_an_import_moves() -> None:
    assert_ported(
        "from torch.cuda import OutOfMemoryError as Full\ntry: ...\nexcept Full: ...\n",
        "from torch import OutOfMemoryError as Full\ntry: ...\nexcept Full: ...\n",
        level="safe",
    )

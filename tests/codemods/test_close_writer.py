"""Summary writers that are closed, ``None`` too."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported

HEAD = "import torch_xla.test.test_utils as test_utils\n"


@pytest.mark.parametrize("argument", ["writer", "self.writer", "summary_writer=writer"])
def test_written(argument: str) -> None:
    name = argument.rpartition("=")[2]
    assert_ported(
        f"""
        import torch_xla.test.test_utils as test_utils
        step()
        test_utils.close_summary_writer({argument})
        """,
        f"""
        step()
        if {name} is not None:
            {name}.close()
        """,
    )
    assert found(HEAD, f"test_utils.close_summary_writer({argument})", "NP263") == ["warning unsafe"]


@pytest.mark.parametrize(
    "line",
    [
        "test_utils.close_summary_writer(make())",
        "atexit.register(test_utils.close_summary_writer, writer)",
        "x = test_utils.close_summary_writer(writer)",
    ],
)
def test_what_a_person_decides(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP263") == ["warning manual"]


def test_other_functions_stay() -> None:
    assert port("from mine import close_summary_writer\n", "close_summary_writer(writer)") == (
        "close_summary_writer(writer)"
    )

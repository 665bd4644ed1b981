"""The time of day as text."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported

HEAD = "import time\nimport datetime\nimport torch_xla.test.test_utils as test_utils\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = test_utils.now()", 'x = time.strftime("%H:%M:%S")'),
        ("x = test_utils.now('%d %b')", "x = time.strftime('%d %b')"),
        ("x = test_utils.now(format='%Y')", "x = time.strftime('%Y')"),
        ("x = test_utils.now('%M.%f')", "x = datetime.datetime.now().strftime('%M.%f')"),
        ("x = test_utils.now(layout)", "x = datetime.datetime.now().strftime(layout)"),
        ("print('a {}'.format(test_utils.now()))", "print('a {}'.format(time.strftime(\"%H:%M:%S\")))"),
    ],
)
def test_written(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert found(HEAD, before, "NP263") == ["warning safe"]


@pytest.mark.parametrize("line", ["x = test_utils.now", "x = test_utils.now(*a)"])
def test_what_a_person_decides(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP263") == ["warning manual"]


def test_the_closest_names_are_used() -> None:
    assert_ported(
        """
        from datetime import datetime
        from time import time

        from torch_xla.test.test_utils import now

        print(now(), time(), datetime)
        """,
        """
        from datetime import datetime
        from time import time

        print(datetime.now().strftime("%H:%M:%S"), time(), datetime)
        """,
        "safe",
    )


def test_other_functions_stay() -> None:
    line = "x = clock.now()"
    assert port("import clock\nimport torch\n", line) == line

"""Variables of the environment that ``xu.getenv_as`` reads."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import codes

HEAD = "import os\nimport torch_xla.utils.utils as xu\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("n = xu.getenv_as('N', int, 4)", "n = int(os.environ.get('N', 4))"),
        ("n = xu.getenv_as('N', float, defval=0.5)", "n = float(os.environ.get('N', 0.5))"),
        ("n = xu.getenv_as('N', bool, False)", "n = bool(int(os.environ.get('N', False)))"),
        ("n = xu.getenv_as('N', str, path())", "n = os.environ.get('N', path())"),
        ("n = xu.getenv_as('N', str)", "n = os.environ.get('N')"),
        ("n = xu.getenv_as('N', int)", "n = int(os.environ['N']) if 'N' in os.environ else None"),
        ("n = 1 + xu.getenv_as(k, int, d)", "n = 1 + (int(os.environ[k]) if k in os.environ else d)"),
        ("n = xu.getenv_as('N', type=bool)", "n = bool(int(os.environ['N'])) if 'N' in os.environ else None"),
    ],
)
def test_read(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert found(HEAD, before, "NP264") == ["warning safe"]


@pytest.mark.parametrize(
    "line",
    [
        "n = xu.getenv_as('N', kind, 1)",
        "n = xu.getenv_as('N', int, count())",
        "n = xu.getenv_as(name(), int)",
        "n = xu.getenv_as(*a)",
        "n = xu.getenv_as",
        "int = kind; n = xu.getenv_as('N', int, 1)",
    ],
)
def test_what_a_person_decides(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP264") == ["warning manual"]


def test_other_functions_stay() -> None:
    assert codes("from mine import getenv_as\n\ngetenv_as('N', int, 4)\n") == []

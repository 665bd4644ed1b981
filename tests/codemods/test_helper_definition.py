"""Names that a definition in the file takes the place of: trackers, progress lines, summary writers, flags, ports."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_port.codemods import helpers
from tests.codemods.lines import found, port
from tests.porting import assert_ported, codes, fix, ported

HEAD = """import torch
import torch_xla.core.xla_model as xm
import torch_xla.test.test_utils as test_utils
import torch_xla.utils.utils as xu
"""


def source_of(name: str) -> str:
    text = (Path(helpers.__file__).parent / f"{name}.py").read_text(encoding="utf-8")
    return text[text.index(f"class {name}" if name[0].isupper() else f"def {name}") :]


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("t = xm.RateTracker()", "t = RateTracker()", "NP263"),
        ("t = xm.RateTracker(smooth_factor=0.1)", "t = RateTracker(smooth_factor=0.1)", "NP263"),
        ("class Mine(xm.RateTracker): pass", "class Mine(RateTracker): pass", "NP263"),
        ("make = xm.RateTracker", "make = RateTracker", "NP263"),
        (
            "test_utils.print_training_update(d, 1, 0.5, a, b, epoch=3)",
            "print_training_update(d, 1, 0.5, a, b, epoch=3)",
            "NP263",
        ),
        ("test_utils.print_test_update(d, None, 1, 2)", "print_test_update(d, None, 1, 2)", "NP263"),
        ("w = test_utils.get_summary_writer(flags.logdir)", "w = get_summary_writer(flags.logdir)", "NP263"),
        (
            "test_utils.write_to_summary(w, 1, dict_to_write={'a': b}, write_xla_metrics=True)",
            "write_to_summary(w, 1, dict_to_write={'a': b})",
            "NP263",
        ),
        ("test_utils.write_to_summary(w, 1, {'a': b}, flag)", "write_to_summary(w, 1, {'a': b})", "NP263"),
        ("port = xu.get_free_tcp_ports(2)[0]", "port = get_free_tcp_ports(2)[0]", "NP264"),
        ("debug = xu.check_env_flag('DEBUG', default='1')", "debug = check_env_flag('DEBUG', default='1')", "NP264"),
    ],
)
def test_a_definition_takes_the_place(before: str, after: str, code: str) -> None:
    assert port(HEAD, before) == after
    assert found(HEAD, before, code) == ["warning unsafe"]
    assert port(HEAD, before, "safe") == before


@pytest.mark.parametrize(
    "line",
    [
        "test_utils.write_to_summary(*args)",
        "log = test_utils.write_to_summary",
        "xm.RateTracker = Mine",
        "def f(RateTracker): return xm.RateTracker()",
        "test_utils.write_to_summary(w, **more)",
    ],
)
def test_what_a_person_decides(line: str) -> None:
    assert port(HEAD, line) == line
    assert set(found(HEAD, line, "NP263")) == {"warning manual"}


@pytest.mark.parametrize("line", ["t = RateTracker()", "t = mine.RateTracker()", "test_utils2.print_test_update(1, 2)"])
def test_other_names(line: str) -> None:
    assert port("import torch\nfrom mine import RateTracker, test_utils2\nimport mine\n", line) == line
    assert codes(f"from mine import RateTracker\n{line}\n") == []


def test_whole_file() -> None:
    assert_ported(
        """
        import torch_xla.test.test_utils as test_utils


        def update(writer, step, loss):
            test_utils.write_to_summary(writer, step, {"loss": loss}, write_xla_metrics=True)
        """,
        f"""


{source_of("write_to_summary")}

def update(writer, step, loss):
    write_to_summary(writer, step, {{"loss": loss}})
""",
    )


def test_an_import_of_the_same_name_goes() -> None:
    before = """
    import os

    from torch_xla.test.test_utils import print_test_update, write_to_summary as write

    write(None, 1, {})
    later(print_test_update)
    """
    after = ported(before)
    assert "torch_xla" not in after
    assert after.count("def print_test_update(") == after.count("def write_to_summary(") == 1
    assert after.endswith("\n\nwrite_to_summary(None, 1, {})\nlater(print_test_update)\n")
    assert ported(after) == after


def test_an_import_inside_a_function_goes() -> None:
    before = """
    def main():
        from torch_xla.core.xla_model import RateTracker

        tracker = RateTracker()
        tracker.add(3)
    """
    after = ported(before)
    assert after.startswith("\nimport time\nimport torch\n\n\nclass RateTracker:\n")
    assert after.endswith("\n\n\ndef main():\n    tracker = RateTracker()\n    tracker.add(3)\n")
    assert ported(after) == after


def test_one_use_that_cannot_move_keeps_the_import() -> None:
    before = """
    from torch_xla.test.test_utils import write_to_summary

    write_to_summary(None, 1, {})
    write_to_summary(*args)
    """
    result = fix(before)
    assert result.after == result.before
    assert [(each.location.row, each.code) for each in result.remaining] == [
        (2, "NP201"),
        (2, "NP263"),
        (4, "NP263"),
        (5, "NP263"),
    ]

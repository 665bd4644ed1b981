"""From a file to findings and to a ported file."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from neuron_port.config import Selection, Settings
from neuron_port.engine import Engine
from neuron_port.findings import Applicability, Edit, Location
from tests.porting import RULES, check, fix, ported

SOURCE = """
import torch
x = torch.zeros(3, device="cuda")
"""


def test_positions_are_characters_and_one_based() -> None:
    (finding,) = check('import torch\nä = "→"; x = torch.zeros(3, device="cuda")\n')
    assert (finding.location, finding.end_location) == (Location(2, 36), Location(2, 42))


def test_edits_are_those_of_ruff() -> None:
    (finding,) = check(SOURCE, with_edits=True)
    assert finding.fix.edits == (Edit('"neuron"', Location(3, 27), Location(3, 33)),)
    assert finding.fix.applicability is Applicability.SAFE


def test_edits_are_empty_until_asked_for() -> None:
    (finding,) = check(SOURCE)
    assert finding.fix.edits == ()


def test_findings_are_sorted_by_place() -> None:
    rows = [
        finding.location for finding in check("import torch\nb = torch.cuda.device_count()\na = torch.device('cuda')\n")
    ]
    assert rows == sorted(rows)


def test_selection_and_ignored_codes() -> None:
    engine = Engine(RULES, Settings(selections=(Selection(select=("NP1",), ignore=("NP101",)),)))
    assert engine.check_text(SOURCE, "x.py") == ()
    assert check(SOURCE, ignored=("NP1",)) == ()


def test_a_deselected_rule_is_not_fixed() -> None:
    engine = Engine(RULES, Settings(selections=(Selection(ignore=("NP101",)),)))
    assert engine.fix_text(SOURCE, "x.py", level=Applicability.UNSAFE).after == SOURCE


def test_a_suppressed_line_is_neither_reported_nor_fixed() -> None:
    source = SOURCE.replace('"cuda")', '"cuda")  # neuron-port: ignore[NP101] kept')
    assert check(source) == ()
    assert ported(source) == source


def test_an_unused_suppression_is_reported() -> None:
    (finding,) = check("import torch\nx = 1  # neuron-port: ignore[NP101]\n")
    assert (finding.code, finding.location.row) == ("NP002", 2)


def test_a_syntax_error_is_a_finding() -> None:
    (finding,) = check("import torch\nprint 'cuda'\n")
    assert (finding.code, finding.location.row, finding.severity.word) == ("NP001", 2, "warning")
    result = fix("import torch\nprint 'cuda'\n")
    assert (result.after, [left.code for left in result.remaining]) == (result.before, ["NP001"])


def test_files_without_trigger_are_not_parsed(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("def (:\n")
    assert Engine(RULES, Settings()).check(path).findings == ()


def test_a_fix_leaves_the_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"import torch\r\nx = torch.device('cuda')\r\n")
    result = Engine(RULES, Settings()).fix(path)
    assert result.data == b"import torch\r\nx = torch.device('neuron')\r\n"
    assert path.read_bytes() == b"import torch\r\nx = torch.device('cuda')\r\n"


def test_what_the_encoding_cannot_hold_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    data = "# -*- coding: latin-1 -*-\nimport torch\nx = torch.device('cuda')  # é\n".encode("latin-1")
    path.write_bytes(data)
    assert Engine(RULES, Settings()).fix(path).data == data.replace(b"cuda", b"neuron")


def test_annotate_puts_a_comment_once() -> None:
    source = textwrap.dedent("""
        import torch
        def f():
            name = torch.cuda.get_device_name(0)
            return name
    """)
    once = fix(source, annotate=True).after
    lines = once.splitlines()
    assert lines[3].startswith("    # TODO(neuron-port): NP133 torch.cuda.get_device_name raises without CUDA")
    assert fix(once, annotate=True).after == once


@pytest.mark.parametrize(("target", "kept"), [("neuron", False), ("portable", True)])
def test_imports_that_become_unused_go_and_used_ones_stay(target: str, kept: bool) -> None:
    text = ported(
        """
        import os
        import sys
        import torch
        x = torch.zeros(1).cuda(int(os.environ["LOCAL_RANK"]))
        print(sys.argv)
        """,
        target=target,
    )
    assert ("import os" in text) is kept
    assert "import sys\nimport torch\n" in text


def test_torch_is_imported_where_it_was_not() -> None:
    assert ported("from torch import cuda\ncuda.synchronize()\n") == "import torch\ntorch.accelerator.synchronize()\n"


def test_every_edit_alone_gives_python() -> None:
    source = textwrap.dedent("""
        import torch
        from torch.cuda.amp import autocast
        if torch.cuda.is_available():
            x = torch.zeros(1, device="cuda:0").cuda(0, True)
            with autocast(False, torch.half), torch.cuda.device(0):
                torch.cuda.empty_cache()
    """)
    for finding in check(source, with_edits=True):
        if finding.fix is None:
            continue
        lines = source.splitlines(keepends=True)
        for edit in reversed(finding.fix.edits):
            start, end = edit.location, edit.end_location
            before = "".join(lines[: start.row - 1]) + lines[start.row - 1][: start.column - 1]
            rest = lines[end.row - 1 :] or [""]
            after = rest[0][end.column - 1 :] + "".join(rest[1:])
            lines = (before + edit.content + after).splitlines(keepends=True)
        compile("".join(lines), "x.py", "exec")


def test_nothing_of_torch_is_imported_before_the_settings_in_front_of_it() -> None:
    source = """
        from settings import load

        load()

        import torch
        from torch_xla.distributed.fsdp import checkpoint_module


        def wrapped(block):
            return checkpoint_module(block)
    """
    assert ported(source).startswith("\nfrom settings import load\n\nload()\n\nimport torch\nfrom torch.distributed.")

"""What the engine does for every kind of project file, shown with an inspector of the tests' own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from neuron_port.checking.project_file import Inspectors
from neuron_port.config import Settings
from neuron_port.discovery import discover
from neuron_port.engine import Engine
from neuron_port.files import kinds
from neuron_port.files.base import FileContext, TextEdit, TextReport
from neuron_port.files.kinds import kind_of, kind_of_name
from neuron_port.findings import Applicability, Location
from neuron_port.rules.examples import fixtures
from neuron_port.rules.loader import load_rules
from neuron_port.sources.python import UnreadableFile
from tests.porting import ENGINES

RULE = """\
code = "TST801"
name = "old-word"
family = "project"
summary = "An old word"
why = "It is old."
fix = "A new word. More."
severity = "warning"
applicability = "safe"
confidence = "documented"
sources = [{ text = "none", checked = "2026-11-30" }]
triggers = ["oldword"]
[[map]]
from = "word:oldword"
to = "new"
[[map]]
from = "env:OLD_*"
"""


def inspect(context: FileContext) -> Iterator[TextReport]:
    """Reports each "oldword"; "oldword!" begins a pair that is changed together with the next one."""
    group = 0
    start = context.text.find("oldword")
    while start >= 0:
        end = start + len("oldword")
        mark = context.text[end : end + 1]
        _, row = context.row("word:oldword")
        if mark == "!":
            group += 1
        content = {"?": "", "$": "broken"}.get(mark, row.to)
        edits = () if mark == "-" else (TextEdit(start, end, content),)
        level = Applicability.UNSAFE if mark == "~" else None
        yield context.report(
            "TST801",
            start,
            end,
            "it is old",
            row=row,
            edits=edits,
            applicability=level,
            group=group if mark == "!" else 0,
        )
        start = context.text.find("oldword", end)


def check(text: str) -> None:
    if "broken" in text:
        raise UnreadableFile("it is broken", 1 + text[: text.index("broken")].count("\n"), 1)


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setitem(sys.modules, "neuron_port.files.made_up", SimpleNamespace(inspect=inspect, check=check))
    monkeypatch.setattr(
        kinds,
        "INSPECTORS",
        {"requirements": ("made_up",), "json": ("made_up",), "setup_py": ("made_up",), "shell": ("made_up",)},
    )
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "rule.toml").write_text(RULE)
    return Engine(load_rules([tmp_path / "rules"]), Settings())


def places(engine: Engine, text: str, name: str = "requirements.txt") -> list[tuple[str, int, int]]:
    found = engine.check_text(text, name)
    return [(finding.code, finding.location.row, finding.location.column) for finding in found]


def fixed(engine: Engine, text: str, name: str = "requirements.txt", level: Applicability = Applicability.SAFE) -> str:
    result = engine.fix_text(text, name, level=level)
    again = engine.fix_text(result.after, name, level=level)
    assert again.after == result.after
    return result.after


def test_findings_have_places(engine: Engine) -> None:
    finding = engine.check_text("a\r\nb oldword\n", "requirements.txt", with_edits=True)[0]
    assert (finding.location, finding.end_location) == (Location(2, 3), Location(2, 10))
    assert [edit.content for edit in finding.fix.edits] == ["new"]
    assert finding.fix.message == "It becomes new"


def test_all_is_fixed(engine: Engine) -> None:
    assert fixed(engine, "oldword\noldword oldword~\n") == "new\nnew oldword~\n"
    assert fixed(engine, "oldword oldword~\n", level=Applicability.UNSAFE) == "new new~\n"


def test_a_fix_that_breaks_the_file_is_left_out(engine: Engine) -> None:
    assert fixed(engine, "oldword oldword$ oldword\n") == "new oldword$ new\n"


def test_broken_file(engine: Engine) -> None:
    assert places(engine, "\noldword broken\n") == [("NP001", 2, 1)]


def test_json_has_no_comments(engine: Engine) -> None:
    text = "# neuron-port: ignore\noldword\n"
    assert places(engine, text) == []
    assert places(engine, text, "a.json") == [("TST801", 2, 1)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("oldword # neuron-port: ignore[TST801] reason\n", []),
        ("# neuron-port: ignore[TST801]\noldword\n", []),
        ("# neuron-port: ignore[TST801]\n# more\noldword\n", []),
        ("# neuron-port: ignore[old-word]\na \\\n oldword\noldword\n", [("TST801", 4, 1)]),
        ("# neuron-port: ignore[TST801]\n\noldword\n", [("NP002", 1, 1), ("TST801", 3, 1)]),
        ("a oldword \\\n b # neuron-port: ignore[TST801]\n", []),
        ("#!/bin/sh\n# neuron-port: ignore-file\n\noldword\n", []),
        ("a\n# neuron-port: ignore-file\noldword\n", [("NP003", 2, 1), ("TST801", 3, 1)]),
        ("oldword # neuron-port: ignore[TST999]\n", [("NP003", 1, 9), ("TST801", 1, 1)]),
        ("http://a#neuron-port: ignore\noldword\n", [("TST801", 2, 1)]),
    ],
)
def test_suppressions(engine: Engine, text: str, expected: list[tuple[str, int, int]]) -> None:
    assert sorted(places(engine, text)) == expected


def test_a_suppressed_half_takes_the_fix_of_the_other(engine: Engine) -> None:
    assert fixed(engine, "oldword!\noldword!\n") == "new!\nnew!\n"


def test_selection(engine: Engine) -> None:
    assert engine.check_text("oldword\n", "requirements.txt", ignored=("TST8",)) == ()
    assert engine.fix_text("oldword\n", "requirements.txt", ignored=("TST8",)).after == "oldword\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfoldword\r\n", b"\xef\xbb\xbfnew\r\n"),
        (b"oldword \xe9\n", b"new \xe9\n"),
        ("oldword \xe9\n".encode("utf-16"), "new \xe9\n".encode("utf-16")),
    ],
)
def test_bytes_stay(engine: Engine, tmp_path: Path, before: bytes, after: bytes) -> None:
    path = tmp_path / "requirements.txt"
    path.write_bytes(before)
    assert engine.fix(path).data == after


def test_what_is_no_text(engine: Engine, tmp_path: Path) -> None:
    for name, data in (("requirements.txt", b"oldword\0"), ("a.json", b"oldword \xff")):
        (tmp_path / name).write_bytes(data)
        assert [finding.code for finding in engine.check(tmp_path / name).findings] == ["NP001"]


def test_without_a_trigger_nothing_is_read(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"broken \xff")
    assert engine.check(tmp_path / "a.json").findings == ()


def test_setup_py_is_python_too(engine: Engine, tmp_path: Path) -> None:
    text = "import torch\n\nx = torch.zeros(1).cuda()  # oldword\n"
    assert [code for code, *_ in places(engine, text, "setup.py")] == ["NP110", "TST801"]
    assert fixed(engine, text, "setup.py") == 'import torch\n\nx = torch.zeros(1).to("neuron")  # new\n'
    assert places(engine, "x = 1  # oldword # neuron-port: ignore[TST801]\n", "setup.py") == []
    (tmp_path / "setup.py").write_text('name = "oldword"\n')
    assert engine.fix(tmp_path / "setup.py").data == b'name = "new"\n'


def test_rows_of_environment_variables(engine: Engine) -> None:
    rule, row = engine.rules.file_row("env:OLD_SCHOOL")
    assert (rule.code, row.source) == ("TST801", "env:OLD_*")
    assert engine.rules.file_row("env:CUDA_VISIBLE_DEVICES")[0].family == "cuda"
    assert engine.rules.row("env:OLD_SCHOOL") is None
    assert "oldword" not in engine.rules.triggers


def test_folders(engine: Engine, tmp_path: Path) -> None:
    for name in (
        "p/requirements-gpu.txt",
        "p/requirements/dev.txt",
        "p/notes.txt",
        "p/a.json",
        "p/package-lock.json",
        "p/a.yaml",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("oldword")
    (tmp_path / "p" / "big.json").write_text(" " * 2_000_000)
    (tmp_path / "p" / "run").write_text("#!/usr/bin/env bash\n")
    (tmp_path / "p" / "run").chmod(0o755)
    found = [path.relative_to(tmp_path / "p").as_posix() for path in discover([tmp_path / "p"], root=tmp_path)]
    assert found == ["a.json", "requirements/dev.txt", "requirements-gpu.txt", "run"]
    assert kind_of(tmp_path / "p" / "run", b"#!/bin/bash\n").name == "shell"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a/train.py", "python"),
        ("setup.py", "setup_py"),
        ("run.sh", "shell"),
        ("job.SBATCH", "shell"),
        ("GNUmakefile", "makefile"),
        ("rules.mk", "makefile"),
        ("requirements.txt", "requirements"),
        ("requirements-dev.txt", "requirements"),
        ("dev-requirements.txt", "requirements"),
        ("requirements/gpu.txt", "requirements"),
        ("constraints.txt", "requirements"),
        ("my_requirements.md", "markdown"),
        ("pyproject.toml", "pyproject"),
        ("setup.cfg", "setup_cfg"),
        ("environment.yml", "conda"),
        ("environment-gpu.yaml", "conda"),
        ("conda.yaml", "conda"),
        ("conda_env.yml", "conda"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.gpu", "dockerfile"),
        ("train.dockerfile", "dockerfile"),
        ("docker-compose.override.yml", "compose"),
        ("compose.yaml", "compose"),
        ("conf/model.yaml", "yaml"),
        ("ds_config.json", "json"),
        ("poetry.lock", None),
        ("conda-lock.yml", None),
        ("a.toml", "toml"),
        ("readme.md", "markdown"),
    ],
)
def test_kinds(name: str, kind: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "INSPECTORS", {kind.name: () for kind in kinds.KINDS})
    found = kind_of_name(Path(name))
    assert (found and found.name) == kind


@pytest.mark.parametrize(
    "code", [code for code, rule in ENGINES["neuron"].rules.rules.items() if rule.family == "project"]
)
def test_triggers_hide_nothing(code: str) -> None:
    """A line that is a finding by itself is read for it."""
    engine = ENGINES["neuron"]
    triggers = Inspectors(engine.rules, engine.settings).triggers
    hidden = []
    for fixture in fixtures(code):
        for line in (fixture.before or "").splitlines():
            found = {finding.code for finding in engine.check_text(f"{line.strip()}\n", fixture.filename)} - {"NP001"}
            if found and not triggers.wanted(line.encode()):
                hidden.append((line, found))
    assert hidden == []

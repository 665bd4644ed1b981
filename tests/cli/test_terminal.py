"""Colours, width, encodings and progress."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from made_project import CODE, TEXT, run, shell

from neuron_port.cli.group import cli


def test_no_colour_in_a_pipe(project: Path) -> None:
    (project / "a.py").write_text(CODE)
    result = shell("check", "a.py")
    assert result.stdout.decode() == TEXT
    assert result.stderr == b""


@pytest.mark.parametrize(
    ("environment", "option", "coloured"),
    [
        ({}, (), False),
        ({"FORCE_COLOR": "1"}, (), True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, (), False),
        ({"NO_COLOR": "1"}, ("--color", "always"), True),
        ({"FORCE_COLOR": "1"}, ("--color", "never"), False),
    ],
)
def test_colour(environment: dict[str, str], option: tuple[str, ...], coloured: bool) -> None:
    Path("a.py").write_text(CODE)
    for arguments in (("check", "a.py"), ("check", "--format", "concise"), ("fix",), ("rules",), ("explain", "NP001")):
        result = CliRunner().invoke(cli, [*arguments, *option], env=environment, color=True)
        assert ("\x1b[" in result.stdout) is coloured, arguments


def test_machine_formats_are_never_coloured() -> None:
    Path("a.py").write_text(CODE)
    for name in ("json", "github"):
        assert "\x1b" not in run("check", "--format", name, "--color", "always").stdout


def test_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.py").write_text("import oldlib\n" + "x" * 100 + " = oldlib.run\n")
    for columns in (50, 80, 100):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert max(map(len, run("check").stdout.splitlines())) <= columns


def test_output_that_the_encoding_cannot_hold(project: Path) -> None:
    (project / "é.py").write_text("import oldlib\noldlib.run('デ')\n", encoding="utf-8")
    result = shell("check", PYTHONIOENCODING="ascii")
    assert result.returncode == 1
    assert b"\\xe9.py:2:1 TST101[old-run] error: run has moved" in result.stdout
    assert result.stderr == b""


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from neuron_port.cli.progress import Progress

    clock = iter([0.0, 0.5, 1.0, 1.01, 1.2])
    monkeypatch.setattr("neuron_port.cli.progress.time.monotonic", lambda: next(clock))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Progress("checking") as progress:
        for done in range(1, 5):
            progress(done, 9)
    erase = "\r\x1b[2K"
    assert capsys.readouterr().err == f"{erase}checking 2/9 files{erase}checking 4/9 files{erase}"


def test_no_progress_in_a_pipe(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from neuron_port.cli.progress import Progress

    clock = iter([0.0, 5.0])
    monkeypatch.setattr("neuron_port.cli.progress.time.monotonic", lambda: next(clock))
    with Progress("checking") as progress:
        progress(1, 9)
    assert capsys.readouterr() == ("", "")

"""Starting the command: version, help, and how little is imported."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from made_project import CODE, run, shell

from neuron_port import __version__
from neuron_port.cli.group import cli


def test_version() -> None:
    result = run("--version")
    assert (result.stdout, result.exit_code) == (f"neuron-port {__version__}\n", 0)


@pytest.mark.parametrize("arguments", [(), *((name,) for name in cli.list_commands(None))])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help(arguments: tuple[str, ...], option: str) -> None:
    result = run(*arguments, option)
    assert result.exit_code == 0
    assert result.stdout.startswith(" ".join(["Usage: neuron-port", *arguments]))
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert not re.search(r"[<=>|]{7}", result.stdout), "a merge was left unfinished"


def test_without_a_command() -> None:
    result = run()
    assert (result.stdout, result.exit_code) == ("", 2)
    assert result.stderr.startswith("Usage: neuron-port [OPTIONS] ")


def test_check_help_explains_status_and_readiness() -> None:
    text = " ".join(run("check", "--help").stdout.split())
    assert "1 findings at or above it" in text
    assert "mean over the checked files of 1 / (1 + errors + warnings / 2)" in text


def _imported(*arguments: str) -> set[str]:
    lines = shell(*arguments, PYTHONPROFILEIMPORTTIME="1").stderr.decode().splitlines()
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}


def test_start_imports_little(project: Path) -> None:
    assert not {name for name in _imported("--version") if name.startswith(("rich", "libcst", "neuron_port.engine"))}
    (project / "a.py").write_text(CODE)
    heavy = ("rich", "libcst", "torch", "multiprocessing", "neuron_port.edits.writer")
    loaded = {name for name in _imported("check", "a.py") if name.split(".")[0] in heavy or name in heavy}
    assert loaded == set()

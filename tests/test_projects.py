"""Whole repositories: the port of ``fixtures/projects/<name>/before`` is ``after``, to the byte, in every kind of file.

``remaining.txt`` holds what a person still has to decide, one ``file:line:column CODE`` for each finding in ``after``.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from neuron_port.cli.group import cli

PROJECTS = Path(__file__).parent.parent / "fixtures" / "projects"
NAMES = sorted(path.name for path in PROJECTS.iterdir() if path.is_dir())


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli, [*arguments, "--no-config"], prog_name="neuron-port")
    assert result.exit_code in (0, 1), result.output
    return result.output


def places(output: str) -> list[str]:
    """``file:line:column CODE`` of each finding in concise output."""
    lines = [line.split() for line in output.splitlines() if ": NP" in line]
    return sorted(f"{line[0].rstrip(':')} {next(word for word in line if word.startswith('NP'))}" for line in lines)


def test_the_projects_are_there() -> None:
    assert NAMES == ["tinylm"]


@pytest.mark.parametrize("name", NAMES)
def test_a_whole_repository_is_ported(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(PROJECTS / name / "before", tmp_path / name)
    monkeypatch.chdir(tmp_path / name)
    run("fix", "--apply", "--unsafe-fixes", ".")
    after = files(PROJECTS / name / "after")
    assert files(Path()) == after
    run("fix", "--apply", "--unsafe-fixes", ".")
    assert files(Path()) == after
    remaining = (PROJECTS / name / "remaining.txt").read_text(encoding="utf-8").splitlines()
    assert places(run("check", "--format", "concise", "--exit-zero", ".")) == remaining


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_ported_stays(name: str) -> None:
    before, after = files(PROJECTS / name / "before"), files(PROJECTS / name / "after")
    assert set(before) == set(after)
    same = {path for path in before if before[path] == after[path]}
    assert {"tinylm/model.py", "README.md"} <= same
    assert not same & {"train.py", "scripts/train.sh", "requirements.txt", "notebooks/explore.ipynb"}


@pytest.mark.parametrize("name", NAMES)
def test_modes_stay(name: str) -> None:
    for path in (PROJECTS / name / "before").rglob("*.sh"):
        ported = PROJECTS / name / "after" / path.relative_to(PROJECTS / name / "before")
        assert ported.stat().st_mode == path.stat().st_mode

"""The hooks, as the real pre-commit program installs and runs them on a scratch repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
MAX_BYTES = 60 * 1024 * 1024

# The environment takes half a minute to install, so that one process does all of these.
pytestmark = pytest.mark.xdist_group("precommit")

BEFORE = """\
import torch

model = torch.nn.Linear(2, 2).cuda()
torch.cuda.synchronize()
"""
AFTER = """\
import torch

model = torch.nn.Linear(2, 2).to("neuron")
torch.accelerator.synchronize()
"""


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "init.defaultBranch=main"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    # Run by a hook itself, git would find the outer repository through these.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def commit_all(folder: Path) -> str:
    git(folder, "init", "-q")
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "--no-verify", "-m", "as it is")
    return git(folder, "rev-parse", "HEAD").strip()


class Scratch:
    """A repository of a user who has set up both hooks, and the folder that pre-commit keeps its environments in."""

    def __init__(self, folder: Path, tool: Path, revision: str) -> None:
        self.folder = folder / "user"
        self.home = folder / "home"
        self.tool = tool
        self.folder.mkdir()
        (self.folder / ".pre-commit-config.yaml").write_text(
            f"repos:\n- repo: {tool.as_uri()}\n  rev: {revision}\n"
            "  hooks:\n  - id: neuron-port-check\n  - id: neuron-port-fix\n"
        )
        (self.folder / "clean.py").write_text("import torch\n\nx = torch.zeros(2)\n")
        commit_all(self.folder)

    def run(self, hook: str, *files: str) -> tuple[int, str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment |= {"PRE_COMMIT_HOME": str(self.home), "PRE_COMMIT_COLOR": "never"}
        command = [sys.executable, "-m", "pre_commit", "run", hook, "--files", *files]
        run = subprocess.run(
            command, cwd=self.folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        return run.returncode, run.stdout


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scratch]:
    folder = tmp_path_factory.mktemp("precommit")
    tool = folder / "tool"
    for name in git(REPOSITORY, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if name and (REPOSITORY / name).is_file():
            (tool / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, tool / name)
    yield Scratch(folder, tool, commit_all(tool))


def test_check_hook_passes(scratch: Scratch) -> None:
    status, output = scratch.run("neuron-port-check", "clean.py")
    assert status == 0, output
    assert re.search(r"^neuron-port check\.+Passed$", output, re.MULTILINE)


def test_check_hook_fails_with_the_findings(scratch: Scratch) -> None:
    (scratch.folder / "train.py").write_text(BEFORE)
    git(scratch.folder, "add", "train.py")
    status, output = scratch.run("neuron-port-check", "train.py", "clean.py")
    assert status == 1, output
    assert re.search(
        r"^neuron-port check\.+Failed\n- hook id: neuron-port-check\n- exit code: 1$", output, re.MULTILINE
    )
    assert [code for code in ("NP110", "NP130") if code in output] == ["NP110", "NP130"]
    assert "clean.py" not in output
    assert (scratch.folder / "train.py").read_text() == BEFORE


def test_fix_hook_writes_the_port(scratch: Scratch) -> None:
    (scratch.folder / "train.py").write_text(BEFORE)
    git(scratch.folder, "add", "train.py")
    status, output = scratch.run("neuron-port-fix", "train.py")
    assert status == 1, output
    assert "files were modified by this hook" in output
    assert (scratch.folder / "train.py").read_text() == AFTER
    git(scratch.folder, "add", "train.py")
    for hook in ("neuron-port-fix", "neuron-port-check"):
        status, output = scratch.run(hook, "train.py")
        assert status == 0, output
    assert (scratch.folder / "train.py").read_text() == AFTER


def test_other_files_are_not_looked_at(scratch: Scratch) -> None:
    (scratch.folder / "notes.txt").write_text("torch.cuda.synchronize()\n")
    status, output = scratch.run("neuron-port-check", "notes.txt")
    assert status == 0
    assert "(no files to check)Skipped" in output


def test_environment_is_small_and_without_torch(scratch: Scratch) -> None:
    scratch.run("neuron-port-check", "clean.py")
    environments = list(scratch.home.glob("repo*/py_env-*"))
    assert len(environments) == 1
    packages = environments[0].glob("lib/python*/site-packages/*.dist-info")
    installed = {path.name.split("-")[0].lower() for path in packages}
    assert {"neuron_port", "click", "libcst"} <= installed
    assert [name for name in installed if name.startswith(("torch", "numpy", "nvidia"))] == []
    size = sum(path.lstat().st_size for path in environments[0].rglob("*") if path.is_file())
    assert 1_000_000 < size < MAX_BYTES


def test_rules_and_examples_are_installed(scratch: Scratch) -> None:
    scratch.run("neuron-port-check", "clean.py")
    (data,) = scratch.home.glob("repo*/py_env-*/lib/python*/site-packages/neuron_port/data")
    for kind in ("rules", "fixtures"):
        expected = {
            name.removeprefix(f"{kind}/")
            for name in git(scratch.tool, "ls-files", "-z", kind).split("\0")
            if name and not name.startswith(("fixtures/scripts/", "fixtures/projects/"))
        }
        installed = [path for path in (data / kind).rglob("*.*") if path.suffix != ".pyc"]
        assert expected == {path.relative_to(data / kind).as_posix() for path in installed}
        assert len(expected) > 50

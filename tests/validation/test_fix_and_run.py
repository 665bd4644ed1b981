"""``fix --validate``: the port runs, written or not; the diff has standard output for itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
PROGRAM = """\
import sys

import torch
from layers import layer

net = layer().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(100):
    net(torch.ones(2, 4).cuda()).sum().backward()
    optimizer.step()
print("arguments", sys.argv[1:])
"""
LAYERS = """\
import torch


def layer():
    torch.zeros(1).cuda()
    return torch.nn.Linear(4, 2)
"""


def fix(folder: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "neuron_port", "fix", "--unsafe-fixes", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    return subprocess.run(command, cwd=cwd or folder, env=environment, capture_output=True, text=True, timeout=250)


@pytest.fixture
def project(tmp_path) -> Path:
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "layers.py").write_text(LAYERS)
    return tmp_path


def test_the_port_runs_without_being_written(project) -> None:
    done = fix(project, "--validate", "train.py", "layers.py", "--steps", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("--- a/layers.py")
    assert "EMULATED PASS" in done.stderr
    assert "EMULATED PASS" not in done.stdout
    assert "2 steps" in done.stderr
    assert "train.py:9  host to device" in done.stderr
    assert (project / "train.py").read_text() == PROGRAM


def test_what_was_not_ported_is_found(project) -> None:
    done = fix(project, "--validate", "train.py")
    assert done.returncode == 1
    assert "layers.py:5  NP101  torch.cuda (a tensor)" in done.stderr


def test_from_another_folder(project) -> None:
    paths = [str(project / name) for name in ("train.py", "layers.py")]
    done = fix(project, "--validate", *paths, "--steps", "1", cwd=Path("/"))
    assert done.returncode == 0, done.stderr


def test_what_is_written_is_what_runs_and_arguments_are_the_programs(project) -> None:
    source = PROGRAM.replace("range(100)", "range(1)")
    (project / "train.py").write_text(source)
    done = fix(project, "--apply", "--validate", "train.py", "layers.py", "--", "--apply", "4")
    assert done.returncode == 0, done.stderr
    assert "arguments ['--apply', '4']" in done.stderr
    assert '.to("neuron")' in (project / "train.py").read_text()


@pytest.mark.parametrize("paths", [[], ["."], ["-"]])
def test_a_program_is_needed(project, paths) -> None:
    done = fix(project, "--validate", *paths)
    assert done.returncode == 2
    assert "--validate needs a program to run" in done.stderr

"""The shipped repository trains before and after the port: the original on the CPU, the port on the emulated device."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PROJECT = ROOT / "fixtures" / "projects" / "tinylm"


def train(folder: Path, *command: str) -> str:
    environment = {
        **os.environ,
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(ROOT),
    }
    # Losses of both runs are those of float32, and each step is printed.
    config = folder / "configs" / "train.yaml"
    text = (
        config.read_text(encoding="utf-8").replace("amp: true", "amp: false").replace("log_every: 50", "log_every: 1")
    )
    config.write_text(text, encoding="utf-8")
    arguments = [sys.executable, "-W", "ignore", *command]
    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_port_of_the_repository_learns_the_same(tmp_path: Path) -> None:
    shutil.copytree(PROJECT / "before", tmp_path / "before")
    shutil.copytree(PROJECT / "after", tmp_path / "after")
    expected = train(tmp_path / "before", "train.py", "--device", "cpu", "--steps", "3").splitlines()
    found = train(tmp_path / "after", "-m", "neuron_port.emulator", "train.py", "--steps", "3").splitlines()
    assert [line[:6] for line in expected[:3]] == ["step 0", "step 1", "step 2"]
    assert found[:3] == expected[:3]
    assert found[3].startswith("peak memory")
    assert (tmp_path / "after" / "tinylm.pt").exists()

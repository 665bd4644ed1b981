"""The programs that need nothing but torch run on the CPU before and after the port, and print the same numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent.parent / "fixtures" / "scripts"

# name -> (arguments for a run of a few seconds, first line on stdout, number of lines)
RUNS = {
    "cifar-cnn": ("--fake-data --epochs 1 --steps 2 --batch-size 8", "==> Building model..", 4),
    "dcgan": ("--fake_data --steps 2 --batch_size 16 --sample_interval 0", "[Epoch 0/200] [Batch 0/16] [D loss:", 2),
    "fsdp2-training": ("--steps 2 --dim 32 --layers 2", "step 0 loss", 2),
    "gpt-ddp-amp": ("--device=cpu --compile=False --max_iters=2 --n_layer=2 --n_embd=32", "iter 0: loss", 2),
    "gpu-benchmark": ("--steps 2 --warmup 1 --batch 4", "CPU", 4),
    "ppo": ("--total-timesteps 1024 --num-steps 32", "update=1 step=256 loss=", 4),
}


def run(name: str, file: str, folder: Path) -> str:
    command = [sys.executable, "-W", "ignore", str(SCRIPTS / name / file), *RUNS[name][0].split()]
    # One thread: sums in one order, and the runs stay cheap beside others.
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", sorted(RUNS))
def test_same_numbers_on_the_cpu(name: str, tmp_path: Path) -> None:
    before = run(name, "before.py", tmp_path)
    first, count = RUNS[name][1:]
    assert before.startswith(first)
    assert len(before.splitlines()) == count
    assert run(name, "after.py", tmp_path) == before

"""torch.distributed over the backend neuron: real torchrun, 1 to 4 ranks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def torchrun(ranks, program, *options, **environment):
    run = [sys.executable, "-W", "ignore", "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    command = [*run, "-m", "neuron_port.emulator", *options, str(program)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **environment}
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("ranks", [2, 4])
def test_collectives(ranks):
    done = torchrun(ranks, HERE / "programs" / "collectives.py")
    assert done.stdout.count("all right") == ranks, done.stderr[-3000:]


def test_cpu_tensors_take_part_when_gloo_is_asked_for():
    done = torchrun(2, HERE / "programs" / "collectives.py", BACKEND="cpu:gloo,neuron:neuron")
    assert done.stdout.count("all right") == 2, done.stderr[-3000:]


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_parallel_training(ranks):
    done = torchrun(ranks, HERE / "programs" / "parallel.py")
    assert done.stdout.count("all right") == ranks, done.stderr[-3000:]


def test_the_device_before_the_process_group():
    done = torchrun(1, HERE / "programs" / "device_first.py")
    assert "AssertionError: Neuron runtime should not be initialized before the init_process_group." in done.stderr
    done = torchrun(1, HERE / "programs" / "device_first.py", "--allow", "device-before-group")
    assert done.stdout == "all right\n"


@pytest.mark.parametrize("ranks", [1, 3])
def test_batch_norm_over_the_ranks(ranks):
    done = torchrun(ranks, HERE / "programs" / "sync_batch_norm.py")
    assert done.stdout.count("all right") == ranks, done.stderr[-3000:]

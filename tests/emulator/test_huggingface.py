"""Transformers and Accelerate find the device, and give the CPU's tokens and losses (tiny random models)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("transformers")
pytest.importorskip("accelerate")

HERE = Path(__file__).parent


def run(program, *arguments, prefix=()):
    command = [sys.executable, "-W", "ignore", *prefix, str(HERE / "programs" / program), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1]), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr[-3000:]
    return [line for line in done.stdout.splitlines() if line.startswith(("[", "step: "))]


EMULATED = ("-m", "neuron_port.emulator")


def test_generation_gives_the_cpus_tokens():
    assert run("generate.py", "neuron", prefix=EMULATED) == run("generate.py", "cpu")


@pytest.mark.parametrize("options", [(), ("bf16", "checkpointing")])
def test_the_trainer_gives_the_cpus_losses(options):
    seen = run("trainer.py", "neuron", *options, prefix=EMULATED)
    expected = run("trainer.py", "cpu", *options)
    assert "step: device neuron" in seen
    assert [line for line in seen if "device" not in line] == [line for line in expected if "device" not in line]


def test_the_trainer_compiles():
    assert "step: device neuron" in run("trainer.py", "neuron", "compile", prefix=EMULATED)


def test_the_trainer_on_two_ranks():
    launch = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", *EMULATED)
    assert "step: device neuron" in run("trainer.py", "neuron", prefix=launch)

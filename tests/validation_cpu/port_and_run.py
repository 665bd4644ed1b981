"""Ports a program with the engine and runs it on the CPU, beside the original on the stand-ins for the XLA packages."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from neuron_port.config import Settings
from neuron_port.engine import Engine
from neuron_port.findings import Applicability
from neuron_port.rules.loader import load_rules

STANDINS = Path(__file__).parent.parent / "standins"
ENGINE = Engine(load_rules(), Settings())


def ported(source: str) -> str:
    """The port of dedented source text, with unsafe fixes."""
    return ENGINE.fix_text(textwrap.dedent(source), "program.py", level=Applicability.UNSAFE).after


def run_original(source: str, folder: Path, processes: int = 1) -> str:
    """What the program prints on the stand-ins."""
    script = folder / "before.py"
    script.write_text(textwrap.dedent(source), encoding="utf-8")
    return _run([str(script)], folder, processes, {"PYTHONPATH": str(STANDINS)})


def run_port(source: str, folder: Path, processes: int = 1) -> str:
    """What the ported text prints where "neuron" is read as the CPU."""
    script = folder / "after.py"
    script.write_text(textwrap.dedent(source), encoding="utf-8")
    return _run([str(STANDINS / "run_on_cpu.py"), str(script)], folder, processes, {})


def _run(command: list[str], folder: Path, processes: int, variables: dict[str, str]) -> str:
    """Run it, under torchrun when there are several processes."""
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(processes)]
    # One thread: sums in one order, and the runs stay cheap beside others.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", **variables}
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            *(torchrun if processes > 1 else []),
            str(STANDINS / "to_the_end.py"),
            *command,
        ],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout

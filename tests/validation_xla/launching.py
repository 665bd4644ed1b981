"""Runs programs in forks of a process that has torch loaded already: a run takes a second instead of five."""

from __future__ import annotations

import io
import os
import runpy
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from tests.forked import forks_of, free_port, torchrun_variables
from tests.standins import run_on_cpu

STANDINS = Path(run_on_cpu.__file__).parent


@dataclass(frozen=True)
class Program:
    """A script with its arguments; ``processes`` run it like torchrun does, or one without any of its variables."""

    script: Path
    arguments: str = ""
    processes: int = 0
    environment: tuple[tuple[str, str], ...] = ()

    def on_standins(self, folder: Path) -> list[str]:
        """Runs the program where the XLA packages are the stand-ins; returns the lines it prints."""
        return self._launch(_run_plainly, folder)

    def on_cpu(self, folder: Path) -> list[str]:
        """Runs the program with the CPU for the Neuron device; returns the lines it prints."""
        return self._launch(run_on_cpu.run, folder)

    def _launch(self, run: Callable[[Path], None], folder: Path) -> list[str]:
        folder.mkdir(parents=True)
        output = folder.parent / f"{folder.name}.txt"
        ranks = [torchrun_variables(rank, self.processes) for rank in range(self.processes)] or [{}]
        port = {"MASTER_PORT": str(free_port())} if self.processes else {}
        fork = forks_of("tests.validation_xla.loaded")
        children = [
            fork.Process(target=_child, args=(self, run, folder, output, {**dict(self.environment), **own, **port}))
            for own in ranks
        ]
        for child in children:
            child.start()
        for child in children:
            child.join(timeout=120)
        codes = [child.exitcode for child in children]
        for child in children:
            if child.is_alive():
                child.kill()
        text = output.read_text(encoding="utf-8")
        assert codes == [0] * len(codes), f"{codes}\n{text}"
        return text.splitlines()


def _run_plainly(script: Path) -> None:
    sys.path.insert(0, str(STANDINS))
    runpy.run_path(str(script), run_name="__main__")


def _child(program: Program, run: Callable[[Path], None], folder: Path, output: Path, environment: dict) -> None:
    torch.set_num_threads(1)  # sums in one order
    os.environ.update(environment)
    os.chdir(folder)
    # Appended, so that processes do not write over each other; logs go nowhere, a failure goes with the lines.
    with open(output, "a", encoding="utf-8") as stream, open(os.devnull, "w") as nowhere:
        os.dup2(stream.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        sys.stdout, sys.stderr = io.TextIOWrapper(io.FileIO(1, "w", closefd=False)), nowhere
        sys.argv = [str(program.script), *program.arguments.split()]
        try:
            run(program.script)
        except BaseException:
            traceback.print_exc(file=sys.stdout)
            raise
        finally:
            sys.stdout.flush()

"""Runs programs in forks of one process that has the Hugging Face libraries loaded: a run takes seconds, not a minute."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.forked import forks_of, free_port, torchrun_variables

ROOT = Path(__file__).parents[2]
TIME_LIMIT = 240


@dataclass(frozen=True)
class Run:
    """What a program printed in its first process, and what the emulated device saw there."""

    folder: Path
    lines: list[str]
    log: str
    executed: dict[str, int]
    events: list[dict]

    def seen(self, kind: str) -> list[dict]:
        """Events of a kind, of which docs/emulator.md has the list."""
        return [event for event in self.events if event["kind"] == kind]


def run_program(script: Path, arguments: str, folder: Path, processes: int = 0) -> Run:
    """Runs a script on the emulated device in a folder; ``processes`` run it like torchrun does."""
    run = _launch(_run_script, (str(script), shlex.split(arguments)), folder, processes)
    assert "deprecated" not in run.log, run.log
    return run


def run_function(function: Callable[..., None], *arguments: object, folder: Path) -> list[str]:
    """Runs a function in a process of its own; returns the lines it prints."""
    return _launch(_run_function, (function, arguments), folder, 0).lines


def _launch(body: Callable[..., None], arguments: tuple, folder: Path, processes: int) -> Run:
    folder.mkdir(parents=True, exist_ok=True)
    port = {"MASTER_PORT": str(free_port())}
    outputs = [folder / f"output.{rank}" for rank in range(processes or 1)]
    fork = forks_of("tests.validation_huggingface.loaded")
    children = [
        fork.Process(
            target=_child,
            args=(
                body,
                arguments,
                folder,
                output,
                {**torchrun_variables(rank, processes), **port} if processes else {},
            ),
        )
        for rank, output in enumerate(outputs)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(TIME_LIMIT)
    codes = [child.exitcode for child in children]
    for child in children:
        if child.is_alive():
            child.kill()
    texts = [output.read_text(encoding="utf-8") for output in outputs]
    assert codes == [0] * len(codes), f"{codes}\n" + "\n".join(f"{output}.log: {_end(output)}" for output in outputs)
    seen = json.loads(Path(f"{outputs[0]}.json").read_text(encoding="utf-8"))
    return Run(folder, texts[0].splitlines(), _end(outputs[0]), **seen)


def _end(output: Path) -> str:
    return Path(f"{output}.log").read_text(encoding="utf-8")[-4000:]


def _run_script(script: str, arguments: list[str]) -> None:
    from neuron_port.emulator.running import run_script

    status = run_script(script, arguments)
    if status:
        raise SystemExit(status)


def _run_function(function: Callable[..., None], arguments: tuple) -> None:
    function(*arguments)


def _child(
    body: Callable[..., None], arguments: tuple, folder: Path, output: Path, environment: dict[str, str]
) -> None:
    import torch

    from neuron_port import emulator
    from neuron_port.emulator import package

    package.prepare({})  # the import path of this process is that of its parent
    emulator.log.clear()
    torch.set_num_threads(1)  # sums in one order
    os.environ.update(environment)
    os.chdir(folder)
    # What the program prints goes to one file, what the libraries log to another.
    with open(output, "w", encoding="utf-8") as stream, open(f"{output}.log", "w", encoding="utf-8") as log:
        os.dup2(stream.fileno(), 1)
        os.dup2(log.fileno(), 2)
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8", write_through=True)
        status = 1
        try:
            body(*arguments)
            status = 0
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else 1
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        with contextlib.suppress(OSError):
            seen = {
                "executed": dict(emulator.log.executed),
                "events": [event.as_dict() for event in emulator.log.events()],
            }
            Path(f"{output}.json").write_text(json.dumps(seen), encoding="utf-8")
        # The threads of gloo abort some processes while Python is torn down.
        os._exit(status)

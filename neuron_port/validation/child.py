"""One process of a run: ``python -m neuron_port.validation.child`` runs the program under an observer and writes the record."""

from __future__ import annotations

import atexit
import os
import sys
import time
import traceback
import warnings
from pathlib import Path

# First of all: a backend that torch loads by itself must find torch complete, and not be imported from within.
import torch  # noqa: F401

from neuron_port.emulator.observation import Place, log, rank_of_file
from neuron_port.emulator.running import run_module, run_script
from neuron_port.validation.capture import Capture
from neuron_port.validation.notebook import is_notebook, run_notebook
from neuron_port.validation.observer import NoDevice, observer
from neuron_port.validation.record import Failure, Record
from neuron_port.validation.request import NO_DEVICE, VARIABLE, Request
from neuron_port.validation.steps import Finished, Steps


def main() -> None:
    """Run what the request says; leaves the process with the status of the program."""
    request = Request.read(Path(os.environ[VARIABLE]))
    record = Record(rank=int(os.environ.get("RANK", 0)), device=request.device)
    folder = Path(request.folder)
    begun = time.perf_counter()
    watching = observer(request)
    try:
        watching.start()
    except NoDevice as error:
        record.ended, record.status = "no device", NO_DEVICE
        record.failure = Failure("NoDevice", str(error), "", 0)
        record.write(folder)
        sys.exit(NO_DEVICE)
    capture = Capture(request.capture) if request.capture else None
    steps = Steps(
        request.steps,
        before=capture.gradients if capture else lambda which: None,
        after=lambda number: (watching.step(number), capture.step(number) if capture else None),
    )
    if capture:
        capture.install()
        # Dynamo would tell the user about hooks that are not theirs.
        warnings.filterwarnings("ignore", message="Using `torch.compile.module.` when there are global hooks")
    steps.install()
    try:
        record.status = _run(request, record)
    except Finished:
        record.ended = "steps"
    record.steps = steps.made
    record.seconds = time.perf_counter() - begun
    watching.finish(record)
    if capture:
        capture.write(folder / f"rank-{record.rank}.pt")
    record.write(folder)
    # Threads of gloo or of the runtime may outlive the interpreter and crash it at exit.
    sys.stdout.flush()
    sys.stderr.flush()
    atexit._run_exitfuncs()
    os._exit(record.status)


def _run(request: Request, record: Record) -> int:
    args = list(request.args)
    if request.module:
        return run_module(request.script, args, lambda error: _failed(record, error))
    if is_notebook(request.script):
        return run_notebook(
            request.script,
            args,
            lambda error: _failed(record, error),
            lambda text, file, line: log.record("left-out", text, where=Place(file, line)),
        )
    return run_script(request.script, args, lambda error: _failed(record, error))


def _failed(record: Record, error: BaseException) -> None:
    """Note the exception with the user's line: the innermost frame of the user's code, else of an installed package."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if rank_of_file(frame.filename) == 0]
    others = [frame for frame in frames if rank_of_file(frame.filename) == 1]
    frame = (own or others or list(frames) or [None])[-1]
    record.ended = "error"
    record.failure = Failure(
        type(error).__name__, str(error), frame.filename if frame else "", (frame.lineno or 0) if frame else 0
    )


if __name__ == "__main__":
    main()

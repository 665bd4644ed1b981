"""One process of a run: ``python -m neuron_port.validation.child`` runs the program under an observer and writes the record."""

from __future__ import annotations

import atexit
import os
import sys
import threading
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
from neuron_port.validation.termination import on_termination


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

    def complete() -> None:
        record.steps = steps.made
        record.seconds = time.perf_counter() - begun
        watching.finish(record)

    def terminated() -> None:
        record.ended = "timeout"
        complete()
        record.write(folder)

    on_termination(terminated)
    _watch_threads()
    try:
        record.status = _run(request, record)
    except Finished:
        record.ended = "steps"
    complete()
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
    record.ended = "error"
    record.failure = Failure(type(error).__name__, _said(error), *_place(error))


def _place(error: BaseException) -> tuple[str, int]:
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return error.filename, error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if rank_of_file(frame.filename) == 0]
    others = [frame for frame in frames if rank_of_file(frame.filename) == 1]
    frame = (own or others or list(frames) or [None])[-1]
    return (frame.filename, frame.lineno or 0) if frame else ("", 0)


def _said(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return error.msg or ""
    try:
        return str(error)
    except Exception:
        return "an exception that cannot be printed"


def _watch_threads() -> None:
    """An exception that ends a thread ends no process, but it is no pass either."""
    before = threading.excepthook

    def ended(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
            text = f"{type(args.exc_value).__name__}: {_said(args.exc_value)}"
            log.record("thread", text.partition("\n")[0], where=Place(*_place(args.exc_value)))
        before(args)

    threading.excepthook = ended


if __name__ == "__main__":
    main()

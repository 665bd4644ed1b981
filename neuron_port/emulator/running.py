"""Runs a user's script as ``__main__``: its own ``sys.argv``, import path, exit status and traceback."""

from __future__ import annotations

import io
import os
import runpy
import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Stop(BaseException):
    """Ends the program from outside: no traceback, and no ``except Exception`` of the program catches it."""


def _own(frame: traceback.FrameSummary) -> bool:
    return (
        frame.filename.startswith(_HERE)
        or frame.filename.startswith("<frozen runpy")
        or frame.filename == runpy.__file__
    )


def _strip(shown: traceback.TracebackException, seen: set[int]) -> None:
    if id(shown) in seen:
        return
    seen.add(id(shown))
    shown.stack = traceback.StackSummary.from_list([frame for frame in shown.stack if not _own(frame)])
    for other in (shown.__cause__, shown.__context__):
        if other is not None:
            _strip(other, seen)


def print_traceback(error: BaseException) -> None:
    """The traceback without the emulator's own frames."""
    shown = traceback.TracebackException.from_exception(error)
    _strip(shown, set())
    sys.stderr.write("".join(shown.format()))


def exit_status(error: SystemExit) -> int:
    """The status of a ``SystemExit``, as the interpreter computes it."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code
    print(error.code, file=sys.stderr)
    return 1


def _run(body: Callable[[], object], on_error: Callable[[BaseException], None] | None) -> int:
    try:
        body()
    except SystemExit as error:
        return exit_status(error)
    except KeyboardInterrupt:
        return 130
    except BaseException as error:
        if isinstance(error, Stop):
            raise
        sys.stdout.flush()
        print_traceback(error)
        if on_error is not None:
            on_error(error)
        return 1
    return 0


def run_script(script: str, args: list[str], on_error: Callable[[BaseException], None] | None = None) -> int:
    """Run a file; returns its exit status. ``on_error`` gets the exception that ends it."""
    path = Path(script)
    try:
        with io.open_code(str(path)) as file:
            source = file.read()
    except OSError as error:
        print(f"python -m neuron_port.emulator: can't open file {script!r}: {error.strerror}", file=sys.stderr)
        return 2
    return run_as_main(script, args, lambda main: exec(compile(source, script, "exec"), main.__dict__), on_error)


def run_as_main(
    script: str,
    args: list[str],
    body: Callable[[types.ModuleType], object],
    on_error: Callable[[BaseException], None] | None = None,
) -> int:
    """Call ``body`` with a fresh module ``__main__`` for a file; as ``run_script``."""
    sys.argv = [script, *args]
    sys.path[0] = str(Path(script).resolve().parent)
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=script, __builtins__=__builtins__, __spec__=None, __cached__=None)
    sys.modules["__main__"] = module
    return _run(lambda: body(module), on_error)


def run_module(name: str, args: list[str], on_error: Callable[[BaseException], None] | None = None) -> int:
    """Run ``python -m name``; as ``run_script``."""
    sys.argv = [name, *args]
    sys.path[0] = os.getcwd()
    return _run(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True), on_error)

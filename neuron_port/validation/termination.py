"""What a process still does when it is asked to end (SIGTERM): time ran out, or torchrun ends it because of another rank."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable


def on_termination(act: Callable[[], None]) -> None:
    """Call ``act`` at SIGTERM and leave the process with the status of a process that the signal ended.

    A thread does it: the main one may be waiting in a collective, where Python's handlers do not run. Processes that are
    forked from here end as usual.
    """
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    os.register_at_fork(after_in_child=_forget)
    threading.Thread(target=_wait, args=(read, act), daemon=True).start()


def _wait(pipe: int, act: Callable[[], None]) -> None:
    while signal.SIGTERM not in os.read(pipe, 64):
        pass
    try:
        for attempt in range(3):
            try:
                act()
                break
            except RuntimeError:  # the program goes on meanwhile: what is read changes
                if attempt == 2:
                    raise
    finally:
        os._exit(128 + signal.SIGTERM)


def _forget() -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

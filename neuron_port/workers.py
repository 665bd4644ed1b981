"""Worker processes that can neither hang nor take down the command."""

from __future__ import annotations

import gc
import multiprocessing
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ctypes import c_long
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from multiprocessing.sharedctypes import RawValue
from pathlib import Path
from typing import Generic, TypeVar

from neuron_port.runner import Failure, attempt

R = TypeVar("R")

# How often the workers' progress is looked at when no result comes.
_LOOK_EVERY = 0.5
_STOP_WITHIN = 0.5
# A spawned process imports everything anew, on a machine that may be busy.
_START_WITHIN = 120.0
_SEND_AFTER = 0.02
_NO_FILE = -1

_Chunk = list[int]


def _stop(signum: int, frame: object) -> None:
    # An exception, so that a write that is under way cleans up after itself.
    sys.exit(1)


def _worker(
    work: Callable[[Path], object],
    items: Sequence[Path],
    channel: Connection,
    present: c_long,
    foreign: list[Connection],
) -> None:
    """The life of a worker: numbers of files in, their results out in order; ``present`` says which one it is at."""
    # Ctrl-C reaches the whole group of processes; the parent alone decides what follows from it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    # The parent's ends, inherited by forking: while a worker holds them, others would not see the parent die.
    for connection in foreign:
        connection.close()
    # What was there before is not to be looked through, or copied, by a collection; see also `attempt`.
    gc.freeze()
    gc.disable()
    try:
        while True:
            results = []
            begin = time.monotonic()
            for index in channel.recv():
                present.value = index
                results.append(attempt(work, items[index]))
                # What took a while is handed over at once: it is not to be done again should the next file be fatal.
                if time.monotonic() - begin > _SEND_AFTER:
                    _send(channel, results)
                    results = []
                    begin = time.monotonic()
            if results:
                _send(channel, results)
    except (EOFError, OSError):
        # The parent is done with this worker, or is no more.
        return


def _send(channel: Connection, results: list[object]) -> None:
    try:
        message = ForkingPickler.dumps(results)
    except Exception:
        message = ForkingPickler.dumps([attempt(_checked_picklable, result) for result in results])
    channel.send_bytes(message)


def _checked_picklable(result: object) -> object:
    ForkingPickler.dumps(result)
    return result


class _Member:
    """A worker as the parent sees it."""

    def __init__(self, process: BaseProcess, channel: Connection, present: c_long) -> None:
        self.process = process
        self.channel = channel
        self.chunk: _Chunk = []
        self.used = False
        # Memory that both processes see: asking is free, where messages would cost more than most of the files.
        self._present = present
        self._seen = _NO_FILE
        self._since = 0.0

    def give(self, chunk: _Chunk) -> None:
        self.chunk = chunk
        self.used = True
        self._seen = self._present.value = _NO_FILE
        self._since = time.monotonic()
        # A worker that is dead already is found out when the parent reads from the channel.
        with suppress(OSError):
            self.channel.send(chunk)

    def present_file(self) -> int | None:
        """The number of the file that the worker is at; None when it is at none that it has not reported."""
        return self._present.value if self._present.value in self.chunk else None

    def seconds_in_file(self) -> float:
        """How long it has been at its present file, or on its way to the first, as far as it has been looked at."""
        now = time.monotonic()
        if self._seen != self._present.value:
            self._seen, self._since = self._present.value, now
        return now - self._since


class Pool(Generic[R]):
    """The workers of one run; see ``neuron_port.runner.run`` for what it promises."""

    def __init__(
        self,
        items: Sequence[Path],
        work: Callable[[Path], R],
        on_crash: Callable[[Path, str], R],
        progress: Callable[[int, int], None] | None,
        time_limit: float,
    ) -> None:
        self._items = items
        self._work = work
        self._on_crash = on_crash
        self._progress = progress
        self._time_limit = time_limit
        self._context = _context()
        self._members: list[_Member] = []
        self._results: dict[int, R] = {}
        self._chunks: deque[_Chunk] = deque()
        self._retries: deque[int] = deque()
        self._retried: set[int] = set()
        self._failed_starts = 0

    def run(self, chunks: list[_Chunk], jobs: int) -> list[R]:
        """Return the results of all items; ``chunks`` holds their numbers, in the order to begin them in."""
        self._chunks.extend(chunks)
        try:
            while len(self._results) < len(self._items):
                self._fill(jobs)
                if not self._members:
                    self._work_here()
                else:
                    self._receive()
        except BaseException:
            self._stop()
            raise
        self._kill(self._members)
        return [self._results[index] for index in range(len(self._items))]

    def _fill(self, jobs: int) -> None:
        """See to it that there are ``jobs`` workers, unless they do not start, and that all have something to do."""
        for member in [member for member in self._members if not member.chunk]:
            if self._retries and member.used:
                # A file that has cost a worker gets a new process, which shares nothing with the others.
                self._kill([member])
            elif self._retries:
                member.give([self._retries.popleft()])
            elif self._chunks:
                member.give(self._chunks.popleft())
        while len(self._members) < jobs and (self._retries or self._chunks) and self._failed_starts <= jobs:
            try:
                member = self._start()
            except OSError:
                self._failed_starts = jobs + 1
                return
            member.give([self._retries.popleft()] if self._retries else self._chunks.popleft())

    def _start(self) -> _Member:
        channel, far_channel = multiprocessing.Pipe()
        present = RawValue(c_long, _NO_FILE)
        is_fork = self._context.get_start_method() == "fork"
        foreign = [channel, *(member.channel for member in self._members)] if is_fork else []
        process = self._context.Process(
            target=_worker, args=(self._work, self._items, far_channel, present, foreign), daemon=True
        )
        with _interrupts_held():
            process.start()
            member = _Member(process, channel, present)
            self._members.append(member)
        far_channel.close()
        return member

    def _receive(self) -> None:
        busy = {member.channel: member for member in self._members if member.chunk}
        for channel in wait(list(busy), timeout=_LOOK_EVERY):
            member = busy.pop(channel)
            try:
                results = member.channel.recv()
            except (EOFError, OSError):
                self._died(member)
            else:
                self._finished(member, results)
        for member in busy.values():
            limit = _START_WITHIN if member.present_file() is None else self._time_limit
            if member.seconds_in_file() > limit:
                self._overdue(member)

    def _finished(self, member: _Member, results: list[R | Failure]) -> None:
        done, member.chunk = member.chunk[: len(results)], member.chunk[len(results) :]
        for index, result in zip(done, results, strict=True):
            if not isinstance(result, Failure):
                self._results[index] = result
            elif result.retry:
                self._failed(index, result.message)
            else:
                self._results[index] = self._on_crash(self._items[index], result.message)
        self._report()

    def _died(self, member: _Member) -> None:
        member.process.join(_STOP_WITHIN)
        index = self._take_back(member)
        if index is not None:
            self._failed(index, f"the worker process died ({_exit_reason(member.process.exitcode)})")

    def _overdue(self, member: _Member) -> None:
        index = self._take_back(member)
        if index is not None:
            message = f"it took longer than {self._time_limit:g} seconds"
            self._results[index] = self._on_crash(self._items[index], message)
            self._report()

    def _take_back(self, member: _Member) -> int | None:
        """End a worker, put back what it has not reported, and return the file that it was at."""
        self._kill([member])
        index = member.present_file()
        if index is None:
            self._failed_starts += 1
        rest = [other for other in member.chunk if other != index]
        if rest:
            self._chunks.appendleft(rest)
        return index

    def _failed(self, index: int, message: str) -> None:
        if index in self._retried:
            self._results[index] = self._on_crash(self._items[index], message)
            self._report()
        else:
            self._retried.add(index)
            self._retries.append(index)

    def _work_here(self) -> None:
        """Do what is left in this process, as no worker can be started; but not what has cost a worker already."""
        for index, item in enumerate(self._items):
            if index in self._results:
                continue
            if index in self._retried:
                result = Failure("the worker process died, and no other could be started", retry=False)
            else:
                result = attempt(self._work, item)
            self._results[index] = self._on_crash(item, result.message) if isinstance(result, Failure) else result
            self._report()

    def _report(self) -> None:
        if self._progress:
            self._progress(len(self._results), len(self._items))

    def _kill(self, members: list[_Member]) -> None:
        for member in members:
            member.process.kill()
        for member in members:
            member.process.join()
            member.channel.close()
        self._members = [member for member in self._members if member not in members]

    def _stop(self) -> None:
        """End all workers, giving them a moment to clean up."""
        for member in self._members:
            member.process.terminate()
        deadline = time.monotonic() + _STOP_WITHIN
        for member in self._members:
            member.process.join(max(0.0, deadline - time.monotonic()))
        self._kill(self._members)


def _context() -> BaseContext:
    # A forked process has a copy of every lock but not of the threads that would release them.
    is_safe = sys.platform == "linux" and threading.active_count() == 1
    return multiprocessing.get_context("fork" if is_safe else "spawn")


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back: a new worker could not yet ignore it, and the parent would lose track of the worker."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _exit_reason(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            return f"signal {signal.Signals(-code).name}"
        except ValueError:
            return f"signal {-code}"
    return f"exit status {code}"

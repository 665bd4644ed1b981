"""The same work on many files: here, or in worker processes when there is enough of it."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

R = TypeVar("R")

# Below this many bytes the work is done before the processes would have started.
SERIAL_BYTES = 256 * 1024
TIME_LIMIT = 120.0

# So many objects that nothing but the garbage collector can free are some 50 MB of syntax trees.
_MOST_GARBAGE = 200_000
# A file costs something besides its bytes: opening it, looking up, reporting.
_COST_PER_FILE = 2048
_CHUNKS_PER_WORKER = 12
_MOST_FILES_PER_CHUNK = 256


@dataclass(frozen=True, slots=True)
class Failure:
    """What stands in place of a result when the work raised an exception."""

    message: str
    retry: bool


def available_jobs() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run(
    items: Sequence[Path],
    work: Callable[[Path], R],
    *,
    on_crash: Callable[[Path, str], R],
    jobs: int = 0,
    progress: Callable[[int, int], None] | None = None,
    time_limit: float = TIME_LIMIT,
) -> list[R]:
    """Return ``work(item)`` for each item, in the order of the items, whatever the number of jobs.

    Few or small files are worked on in this process. Else worker processes are forked where that is safe (Linux,
    and no other thread is running in this process), or spawned, and then ``work`` and its results must be picklable.

    An exception from ``work`` concerns its file only. When a worker dies, its file is tried once more in a process
    of its own. A worker that needs more than ``time_limit`` seconds for a file is ended (this and the death of a
    worker can only be caught in worker processes). On KeyboardInterrupt all workers are ended before it goes on.

    Args:
        items: the files.
        work: called with each of them; twice for a file when a worker dies at it, or has been at it for an instant.
        on_crash: gives the result for a file that ``work`` failed on, from the file and a message.
        jobs: number of worker processes; 0 for as many as there are processors.
        progress: called in this process with the numbers of finished files and of all files.
        time_limit: seconds that one file may take.
    """
    jobs = jobs or available_jobs()
    sizes = [_size(item) for item in items]
    if jobs > 1 and len(items) > 1 and sum(sizes) > SERIAL_BYTES:
        # Not imported above: multiprocessing takes 30 ms to import, and most runs are for a few files.
        from neuron_port.workers import Pool

        return Pool(items, work, on_crash, progress, time_limit).run(_chunks(sizes, jobs), jobs)
    results = []
    with garbage_kept():
        for item in items:
            result = attempt(work, item)
            results.append(on_crash(item, result.message) if isinstance(result, Failure) else result)
            if progress:
                progress(len(results), len(items))
    return results


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _chunks(sizes: Sequence[int], jobs: int) -> list[list[int]]:
    """Cut the files into pieces of like cost, the largest files first so that none of them is left for the end."""
    order = sorted(range(len(sizes)), key=lambda index: (-sizes[index], index))
    limit = (sum(sizes) + len(sizes) * _COST_PER_FILE) // (jobs * _CHUNKS_PER_WORKER) + 1
    chunks: list[list[int]] = []
    cost = limit
    for index in order:
        if cost >= limit or len(chunks[-1]) == _MOST_FILES_PER_CHUNK:
            chunks.append([])
            cost = 0
        chunks[-1].append(index)
        cost += sizes[index] + _COST_PER_FILE
    return chunks


@contextmanager
def garbage_kept() -> Iterator[None]:
    """Keep the garbage collector from looking through growing syntax trees, which costs half as much as parsing."""
    is_on = gc.isenabled()
    gc.disable()
    # What was there before is not to be looked through, or copied by a forked process, by any collection.
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        if is_on:
            gc.enable()


def attempt(work: Callable[[Path], R], item: Path) -> R | Failure:
    """Return ``work(item)``, or what went wrong."""
    if gc.get_count()[0] > _MOST_GARBAGE:
        gc.collect()
    try:
        return work(item)
    except MemoryError:
        return Failure("out of memory", retry=True)
    except (KeyboardInterrupt, SystemExit):
        raise
    # Not Exception: what panics in a compiled extension comes out as something else.
    except BaseException as error:
        return Failure(f"{type(error).__name__}: {error}", retry=False)

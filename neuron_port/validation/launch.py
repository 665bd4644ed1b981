"""Starts the processes of a run, waits no longer than allowed, leaves none behind, and reads their records."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from neuron_port.validation.record import Record
from neuron_port.validation.request import VARIABLE, Request

_CHILD = "neuron_port.validation.child"
# How long a group of processes may take to end by itself after it was asked to.
_GRACE = 5.0
_ROOT = str(Path(__file__).resolve().parents[2])


@dataclass(frozen=True)
class Outcome:
    """What became of a run: the status of its first process, whether time ran out, and a record for each rank that wrote one.

    ``lost`` are the ranks that left no record: they died, or were killed.
    """

    request: Request
    status: int
    timed_out: bool
    seconds: float
    records: tuple[Record, ...]
    lost: tuple[int, ...]

    def seen_from(self, run: Path, user: Path) -> Outcome:
        """The same with files below ``user`` in the place of those below ``run``, where the program ran in a mirror."""
        records = tuple(record.moved(str(run), str(user).rstrip(os.sep)) for record in self.records)
        return replace(self, records=records)

    @property
    def captures(self) -> list[Path]:
        """The files with outputs, losses and gradients, one for each rank."""
        return sorted(Path(self.request.folder).glob("rank-*.pt"))


def launch(request: Request, *, quiet: bool = False, cwd: Path | None = None, to_stderr: bool = False) -> Outcome:
    """Run a request in the folder ``cwd``.

    What the program prints goes where the parent's goes, all of it to standard error (``to_stderr``), or nowhere (``quiet``).
    """
    if not request.folder:
        request = replace(request, folder=tempfile.mkdtemp(prefix="neuron-port-"))
    folder = Path(request.folder)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "request.json"
    request.write(file)
    error = subprocess.DEVNULL if quiet else None
    output = sys.stderr.fileno() if to_stderr and not quiet else error
    begun = time.monotonic()
    # A session of its own: the whole group can be ended, and Ctrl-C reaches the parent first.
    process = subprocess.Popen(
        command(request),
        cwd=cwd,
        env=_environment(file, request),
        start_new_session=True,
        stdout=output,
        stderr=error,
    )
    timed_out = False
    try:
        status = process.wait(request.timeout)
    except subprocess.TimeoutExpired:
        timed_out, status = True, 124
    finally:
        _end(process)
    ranks = request.processes or 1
    records = [Record.read(each) for each in sorted(folder.glob("rank-*.json"))]
    known = {record.rank for record in records}
    lost = tuple(rank for rank in range(ranks) if rank not in known)
    return Outcome(request, status, timed_out, time.monotonic() - begun, tuple(records), lost)


def command(request: Request) -> list[str]:
    """The command line: torchrun where a number of processes was asked for, one child otherwise."""
    if request.processes is None:
        return [sys.executable, "-m", _CHILD]
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={request.processes}"]
    return [sys.executable, *launcher, "-m", _CHILD]


def _environment(file: Path, request: Request) -> dict[str, str]:
    inherited: Sequence[str] = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    environment = {
        **os.environ,
        VARIABLE: str(file),
        "PYTHONPATH": os.pathsep.join([*inherited, _ROOT] if _ROOT not in inherited else inherited),
    }
    if request.device == "emulated":
        # The real backend must not load itself into a process that emulates it.
        environment.setdefault("OMP_NUM_THREADS", "1")
        environment["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    return environment


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and all that it started: politely, then not."""
    for sign, patience in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, _GRACE)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
            if not _alive(process.pid):
                return
            time.sleep(0.1)


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True

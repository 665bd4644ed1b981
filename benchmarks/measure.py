"""Running a command and measuring it: wall time, processor time and memory of the whole process tree."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

# As after an installation by pip: Python may keep the bytecode of what it imports.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class CommandFailed(RuntimeError):
    """A measured command ended with an exit status that it must not have; the message holds its standard error."""


@dataclass
class Series:
    """The counted runs of one command."""

    name: str
    command: list[str]
    files: int
    size: int
    allowed: tuple[int, ...] = (0,)
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak: list[float] = field(default_factory=list)

    def run(self) -> None:
        """Run the command once and add the figures.

        Peak memory is that of the largest process of the tree; it cannot come out below that of this process, which a
        child shares until it starts its program.

        Raises:
            CommandFailed: the exit status is not one of the allowed ones.
        """
        start = time.perf_counter()
        process = subprocess.Popen(self.command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stderr.close()
        if process.returncode not in self.allowed:
            message = errors.decode(errors="replace")[-2000:]
            raise CommandFailed(f"{self.name} ended with {process.returncode}:\n{message}")
        self.wall.append(wall)
        self.cpu.append(usage.ru_utime + usage.ru_stime)
        self.peak.append(usage.ru_maxrss / 1024)

    def result(self) -> dict[str, object]:
        """Medians and all single values, for JSON."""
        wall = statistics.median(self.wall)
        return {
            "name": self.name,
            "n": len(self.wall),
            "files": self.files,
            "megabytes": round(self.size / 1e6, 2),
            "wall_s": round(wall, 3),
            "cpu_s": round(statistics.median(self.cpu), 3),
            "peak_mib": round(max(self.peak), 1),
            "files_per_s": round(self.files / wall, 1),
            "megabytes_per_s": round(self.size / 1e6 / wall, 2),
            "wall_s_all": [round(value, 3) for value in self.wall],
            "cpu_s_all": [round(value, 3) for value in self.cpu],
        }


def side_by_side(series: Sequence[Series], runs: int) -> None:
    """Run all commands in turn, ``runs`` times, so that a change in the machine's load meets all of them."""
    for _ in range(runs):
        for one in series:
            one.run()


def table(results: Sequence[dict[str, object]]) -> str:
    """The results as a Markdown table."""
    rows = ["| command | n | files | wall s | CPU s | files/s | MB/s | peak MiB |", "|---|---|---|---|---|---|---|---|"]
    keys = ("name", "n", "files", "wall_s", "cpu_s", "files_per_s", "megabytes_per_s", "peak_mib")
    rows += ["| " + " | ".join(str(result[key]) for key in keys) + " |" for result in results]
    return "\n".join(rows)

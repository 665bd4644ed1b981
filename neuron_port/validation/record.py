"""What one process of a run saw, as data; the child writes it, the parent reads it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Seen:
    """Something that happened ``count`` times at a line of the user's code (line 0: no such line); ``bytes`` where they moved."""

    kind: str
    operation: str
    file: str
    line: int
    detail: str = ""
    count: int = 1
    bytes: int = 0


@dataclass(frozen=True)
class Failure:
    """The exception that ended the program, and the innermost line of the user's code in its traceback."""

    kind: str
    message: str
    file: str
    line: int


@dataclass
class Record:
    """One process.

    ``device`` is what the run was seen on (``neuron`` or ``emulated``), ``reached`` whether it computed anything there.
    ``executed`` counts operators; ``step_syncs`` host syncs in each step; ``peak`` is bytes of tensors; ``seconds`` the
    whole run and ``compile_seconds`` the part of it spent in the compiler. ``ended`` is ``exit``, ``steps``, ``error`` or ``timeout``.
    """

    rank: int = 0
    device: str = "emulated"
    version: str = ""
    reached: bool = False
    ended: str = "exit"
    status: int = 0
    steps: int = 0
    seen: list[Seen] = field(default_factory=list)
    executed: dict[str, int] = field(default_factory=dict)
    step_syncs: list[int] = field(default_factory=list)
    late_compiles: list[Seen] = field(default_factory=list)
    peak: int = 0
    seconds: float = 0.0
    compile_seconds: float = 0.0
    limits: list[str] = field(default_factory=list)
    failure: Failure | None = None

    def write(self, folder: Path) -> None:
        """Write the record into the run's folder."""
        (folder / f"rank-{self.rank}.json").write_text(json.dumps(asdict(self)), encoding="utf-8")

    def moved(self, old: str, new: str) -> Record:
        """The same with the folder ``new`` in the place of ``old``."""
        text = json.dumps(asdict(self))
        return self._from(json.loads(text.replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1])))

    @classmethod
    def read(cls, file: Path) -> Record:
        """Read a record."""
        return cls._from(json.loads(file.read_text(encoding="utf-8")))

    @classmethod
    def _from(cls, data: dict[str, Any]) -> Record:
        for name in ("seen", "late_compiles"):
            data[name] = [Seen(**each) for each in data[name]]
        data["failure"] = Failure(**data["failure"]) if data["failure"] else None
        return cls(**data)

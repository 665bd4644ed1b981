"""What a validation run is asked for; it travels to the child processes as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

VARIABLE = "NEURON_PORT_VALIDATION"
# Exit status of a child: the device was not there, and the program was not begun.
NO_DEVICE = 3


@dataclass(frozen=True)
class Request:
    """One run of a program.

    ``device`` is ``neuron`` or ``emulated``; ``steps`` ends the run after that many optimizer steps or generate calls;
    ``capture`` is the number of first steps whose outputs, losses and gradients are kept; ``folder`` takes the records.
    """

    script: str
    args: tuple[str, ...] = ()
    module: bool = False
    device: str = "emulated"
    processes: int | None = None
    steps: int | None = None
    timeout: float | None = None
    capture: int = 0
    allow: tuple[str, ...] = ()
    refuse: tuple[str, ...] = ()
    shape_only: bool = False
    folder: str = ""

    def write(self, file: Path) -> None:
        """Write the request as JSON."""
        file.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Request:
        """Read what ``write`` wrote."""
        data = json.loads(file.read_text(encoding="utf-8"))
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in data.items()})

"""The finished ports of ``fixtures/scripts``."""

from __future__ import annotations

from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "fixtures" / "scripts"


def finished_port(name: str) -> Path:
    """What the fix writes, or that finished by hand where findings remain that a person must settle."""
    by_hand = SCRIPTS / name / "ported.py"
    return by_hand if by_hand.is_file() else SCRIPTS / name / "after.py"


def careless(name: str, folder: Path, right: str, wrong: str) -> Path:
    """A port in which something was forgotten: ``wrong`` is there in the place of ``right``."""
    text = finished_port(name).read_text(encoding="utf-8")
    assert text.count(right) == 1
    script = folder / "careless.py"
    script.write_text(text.replace(right, wrong), encoding="utf-8")
    return script

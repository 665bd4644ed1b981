"""Replacing functions of PyTorch whose originals know nothing of a backend in Python."""

from __future__ import annotations

from typing import Any

_replaced: list[tuple[Any, str, Any]] = []


def replace(owner: Any, name: str, value: Any) -> None:
    """Set an attribute and remember what was there."""
    _replaced.append((owner, name, getattr(owner, name, None)))
    setattr(owner, name, value)


def replaced() -> list[str]:
    """The names that were replaced, for the documentation and for tests."""
    return [f"{getattr(owner, '__name__', owner)}.{name}" for owner, name, _ in _replaced]

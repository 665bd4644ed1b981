"""Step closures: kept until the step ends, then called in their order."""

from __future__ import annotations

from collections.abc import Callable

_closures: list[Callable[[], object]] = []


def add(closure: Callable, args: tuple) -> None:
    _closures.append(lambda: closure(*args))


def run() -> None:
    pending = _closures[:]
    _closures.clear()
    for closure in pending:
        closure()

"""Which operators TorchNeuron runs on the CPU, as data (``fallbacks.toml``)."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@cache
def families() -> dict[str, list[str]]:
    """Operator base names by family (``aten.`` left out)."""
    with open(Path(__file__).parent / "fallbacks.toml", "rb") as file:
        return tomllib.load(file)["family"]


@cache
def names() -> frozenset[str]:
    """All base names; a trailing ``*`` stands for any ending."""
    return frozenset(name for family in families().values() for name in family)


@cache
def _prefixes() -> tuple[str, ...]:
    return tuple(name[:-1] for name in names() if name.endswith("*"))


@cache
def falls_back(base: str) -> bool:
    """Whether an operator (``std``, ``normal_``) has no native lowering."""
    plain = base.rstrip("_") if not base.startswith("__") else base
    return base in names() or plain in names() or base.startswith(_prefixes())

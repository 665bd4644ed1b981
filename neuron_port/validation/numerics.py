"""Compares what two runs captured: outputs, losses, gradients.

The measure is the relative norm ``|a - b| / |b|`` of each tensor, held against a tolerance for its dtype. What proves nothing
is not called agreement: a reference that is zero or nearly so, and two runs that computed the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

# By the name of the narrower dtype of the two. float32 products are made of bfloat16 passes on the device, so that
# float32's own precision cannot be asked for.
TOLERANCES = {"float64": 1e-3, "float32": 1e-3, "float16": 5e-3, "bfloat16": 3e-2}
_WIDEST_FIRST = ("float64", "float32", "float16", "bfloat16")
# Below this root mean square a reference is taken for zero.
_NOTHING = 1e-7


class Verdict(Enum):
    """What one pair of tensors says."""

    AGREES = "agrees"
    DIFFERS = "differs"
    NO_EVIDENCE = "no evidence"
    SAME_PATH = "same path"
    MISSING = "missing"


@dataclass(frozen=True)
class Pair:
    """One value of both runs; ``distance`` is the relative norm, ``None`` where there is none."""

    name: str
    verdict: Verdict
    distance: float | None = None
    tolerance: float | None = None
    reason: str = ""


def compare(seen: Path, reference: Path, *, same_path: bool, same_kernels: bool = False) -> list[Pair]:
    """Compare two files of captured values, in the order in which the reference made them.

    ``same_path`` says that both runs computed with the same kernels in the same precision: then equality proves nothing.
    ``same_kernels`` says that they did unless a number shows otherwise.
    """
    import torch

    ours = torch.load(seen, map_location="cpu", weights_only=True)
    theirs = torch.load(reference, map_location="cpu", weights_only=True)
    pairs = [_pair(name, ours.get(name), value, same_path, same_kernels) for name, value in theirs.items()]
    extra = [name for name in ours if name not in theirs]
    return pairs + [Pair(name, Verdict.MISSING, reason="only this run has it") for name in extra]


def _pair(name: str, ours: object, theirs: object, same_path: bool, same_kernels: bool) -> Pair:
    import torch

    assert isinstance(theirs, torch.Tensor)
    if not isinstance(ours, torch.Tensor):
        return Pair(name, Verdict.MISSING, reason="only the reference has it")
    if ours.shape != theirs.shape:
        return Pair(name, Verdict.DIFFERS, reason=f"shape {list(ours.shape)}, reference {list(theirs.shape)}")
    names = [str(each.dtype).removeprefix("torch.") for each in (ours, theirs)]
    narrow = max(names, key=lambda each: _WIDEST_FIRST.index(each) if each in _WIDEST_FIRST else 0)
    tolerance = TOLERANCES.get(narrow, TOLERANCES["float32"])
    a, b = ours.double().flatten(), theirs.double().flatten()
    if not bool(b.isfinite().all()):
        return Pair(name, Verdict.NO_EVIDENCE, reason="the reference is not finite")
    if not bool(a.isfinite().all()):
        return Pair(name, Verdict.DIFFERS, reason="not finite, the reference is")
    size = float(b.norm())
    difference = float((a - b).norm())
    if size <= _NOTHING * max(b.numel(), 1) ** 0.5:
        small = difference <= 10 * _NOTHING * max(b.numel(), 1) ** 0.5
        verdict = Verdict.NO_EVIDENCE if small else Verdict.DIFFERS
        return Pair(name, verdict, reason="the reference is nearly zero")
    distance = difference / size
    if distance > tolerance:
        return Pair(name, Verdict.DIFFERS, distance, tolerance)
    if same_path or (same_kernels and distance == 0):
        return Pair(name, Verdict.SAME_PATH, distance, tolerance, "both runs computed on the CPU with the same kernels")
    return Pair(name, Verdict.AGREES, distance, tolerance)

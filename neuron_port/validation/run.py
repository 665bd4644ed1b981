"""A whole validation: the run, the CPU run beside it where one was asked for, the judgement."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from neuron_port.validation.judgement import Judgement, judge
from neuron_port.validation.launch import Outcome, launch
from neuron_port.validation.numerics import Pair, compare
from neuron_port.validation.request import NO_DEVICE, Request

# What shows that the emulated device computed otherwise than a plain CPU does.
_NARROWING = frozenset({"wide"})
_PROBE = "import torch, sys; sys.exit(0 if hasattr(torch, 'neuron') and torch.neuron.is_available() else 1)"


class NoTorch(Exception):
    """The run cannot begin; the text says why and what to do."""


@dataclass(frozen=True)
class Mirror:
    """A program that runs in a mirror (``neuron_port.validation.mirror``) of the folder ``user``, its working folder ``cwd``."""

    folder: Path
    user: Path
    cwd: Path


def validate(
    request: Request, fail_on: Sequence[str] = (), *, mirror: Mirror | None = None, to_stderr: bool = False
) -> Judgement:
    """Run a request and judge it; ``device="auto"`` takes the neuron device where it answers.

    In a ``mirror`` the judgement names the user's files. ``to_stderr`` is where all that the program prints goes.

    Raises:
        NoTorch: torch is missing, or the device that was asked for.
    """
    if importlib.util.find_spec("torch") is None:
        raise NoTorch("validate needs torch: pip install 'neuron-port[validate]'")
    if request.device == "auto":
        request = replace(request, device="neuron" if _has_device() else "emulated")
    with tempfile.TemporaryDirectory(prefix="neuron-port-", ignore_cleanup_errors=True) as folder:
        cwd = mirror.cwd if mirror else None
        outcome = launch(replace(request, folder=str(Path(folder) / "run")), cwd=cwd, to_stderr=to_stderr)
        if outcome.status == NO_DEVICE and outcome.records and outcome.records[0].failure is not None:
            raise NoTorch(outcome.records[0].failure.message)
        pairs = _against_cpu(outcome, Path(folder) / "cpu", cwd) if request.capture else []
        seen = outcome.seen_from(mirror.folder, mirror.user) if mirror else outcome
        return judge(seen, pairs, fail_on)


def _has_device() -> bool:
    """Asked in a process of its own: loading the backend takes the cores."""
    if importlib.util.find_spec("torch_neuronx") is None:
        return False
    probe = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, timeout=300, check=False)
    return probe.returncode == 0


def _against_cpu(outcome: Outcome, folder: Path, cwd: Path | None) -> list[Pair]:
    """Compare with the same program on the CPU: the emulated device without any limit computes what the CPU does."""
    request = replace(outcome.request, device="emulated", allow=("all",), refuse=(), folder=str(folder))
    reference = launch(request, quiet=True, cwd=cwd)
    emulated = bool(outcome.records) and outcome.records[0].device == "emulated"
    narrowed = any(each.kind in _NARROWING for record in outcome.records for each in record.seen)
    pairs: list[Pair] = []
    for ours, theirs in zip(outcome.captures, reference.captures):
        found = compare(ours, theirs, same_path=emulated and not narrowed, same_kernels=emulated)
        rank = f"rank {ours.stem.removeprefix('rank-')}: " if len(outcome.captures) > 1 else ""
        pairs += [replace(pair, name=f"{rank}{pair.name}") for pair in found]
    shutil.rmtree(folder, ignore_errors=True)
    return pairs

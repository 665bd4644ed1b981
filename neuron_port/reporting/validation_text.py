"""A judgement as text for people: prose fills the width; the lines of the lists are cut to it on a terminal only."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import groupby

from neuron_port.findings import Severity
from neuron_port.reporting.paint import Paint
from neuron_port.reporting.width import cut, one_line, wrap
from neuron_port.validation.judgement import KINDS, Judgement, Observation
from neuron_port.validation.numerics import Verdict

_SHOWN = 8


_UNCUT = 1 << 16


def lines(judgement: Judgement, paint: Paint, width: int = 80, whole: bool = False) -> Iterator[str]:
    """Yield the lines of the report; ``whole`` leaves every place and operation as long as it is."""
    room = _UNCUT if whole else width
    device = "the emulated neuron device" if judgement.device == "emulated" else "the neuron device"
    yield paint.bold(f"Seen on {device} ({judgement.version or 'no record'})")
    ranks = f", {judgement.ranks} ranks" if judgement.ranks > 1 else ""
    yield f"  {_times(judgement.steps, 'step')}, {_times(judgement.executed, 'operator call')} on the device{ranks}"
    yield f"  peak {size(judgement.peak)} of tensors in a core (24 GiB there), {judgement.seconds:.1f} s"
    if judgement.compile_seconds:
        yield f"  {judgement.compile_seconds:.1f} s of them in the compiler"
    if judgement.steps > 1:
        yield f"  the host waits {judgement.syncs_per_step:.1f} times in a step"
    for kind, group in groupby(judgement.observations, key=lambda each: each.kind):
        yield from _kind(kind, list(group), paint, room)
    yield from _regions(judgement, paint, room)
    yield from _numerics(judgement, paint, room)
    yield from _failure(judgement, paint, width)
    yield ""
    if judgement.passed:
        where = "EMULATED PASS" if judgement.device == "emulated" else "PASS"
        yield paint.bold(f"{where}: nothing was seen that speaks against the port")
    else:
        for problem in judgement.problems:
            for line in _wrapped(f"FAILED: {problem}", width):
                yield paint.severity(line, Severity.ERROR)
    for note in judgement.notes:
        yield from _wrapped(f"note: {note}", width)
    rules = dict.fromkeys(each.rule for each in judgement.observations if each.rule)
    if judgement.known is not None and judgement.known.rule:
        rules[judgement.known.rule] = None
    if rules:
        yield from _wrapped(
            f"rules: neuron-port explain {next(iter(rules))}"
            + (f" (also {', '.join(list(rules)[1:])})" if len(rules) > 1 else ""),
            width,
        )


def _times(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def size(count: int) -> str:
    """Bytes as people read them."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024 or unit == "GiB":
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    raise AssertionError


def place(file: str, line: int) -> str:
    """A place as it is shown: relative to the working folder where it lies in it."""
    if not line:
        return "(not in user code)"
    relative = os.path.relpath(file)
    return f"{file if relative.startswith('..') else relative}:{line}"


def _kind(kind: str, found: Sequence[Observation], paint: Paint, width: int) -> Iterator[str]:
    if kind == "compile":
        return  # shown by region
    yield ""
    total = sum(each.count for each in found)
    yield paint.bold(f"{KINDS.get(kind, kind)}: {total}")
    for each in found[:_SHOWN]:
        moved = f", {size(each.bytes)}" if each.bytes else ""
        detail = f" ({one_line(each.detail)})" if each.detail else ""
        rule = f"  {each.rule}" if each.rule else ""
        where = f"{place(each.file, each.line)}{rule}"
        yield cut(f"  {each.count:>6}x {where}  {one_line(each.operation)}{moved}{detail}", width)
    if len(found) > _SHOWN:
        yield f"          and {len(found) - _SHOWN} more places"


def _regions(judgement: Judgement, paint: Paint, width: int) -> Iterator[str]:
    if not judgement.regions:
        return
    yield ""
    yield paint.bold(f"compiled regions: {len(judgement.regions)}")
    for region in judgement.regions[:_SHOWN]:
        late = f", {region.late} after the first step" if region.late else ""
        signatures = f"{len(region.signatures)} input signature{'s' if len(region.signatures) != 1 else ''}"
        graphs = f"{region.graphs} graph{'s' if region.graphs != 1 else ''}"
        yield cut(f"  {place(region.file, region.line)}  {graphs}, {signatures}{late}", width)


def _numerics(judgement: Judgement, paint: Paint, width: int) -> Iterator[str]:
    if not judgement.pairs:
        return
    yield ""
    counts = {verdict: sum(pair.verdict is verdict for pair in judgement.pairs) for verdict in Verdict}
    summary = ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items() if count)
    yield paint.bold(f"against the CPU run: {summary}")
    worst = [pair for pair in judgement.pairs if pair.verdict in (Verdict.DIFFERS, Verdict.MISSING)]
    for pair in worst[:_SHOWN]:
        measured = (
            f"relative norm {pair.distance:.2g}, allowed {pair.tolerance:.2g}"
            if pair.distance is not None
            else pair.reason
        )
        yield cut(f"  {pair.name}: {measured}", width)
    if len(worst) > _SHOWN:
        yield f"  and {len(worst) - _SHOWN} more"


def _failure(judgement: Judgement, paint: Paint, width: int) -> Iterator[str]:
    if judgement.failure is None or judgement.known is None:
        return
    yield ""
    yield paint.bold(f"{judgement.failure.kind} at {place(judgement.failure.file, judgement.failure.line)}")
    yield from _wrapped(f"  cause: {judgement.known.cause}", width)
    yield from _wrapped(f"  do:    {judgement.known.fix}", width)
    if judgement.known.rule:
        yield f"  rule:  {judgement.known.rule}"


def _wrapped(text: str, width: int) -> Iterator[str]:
    """Fill lines; the second and later ones are set in by two."""
    indent = " " * (len(text) - len(text.lstrip()))
    first, *more = wrap(one_line(text), width - len(indent) - 2, -2)
    yield f"{indent}{first}"
    yield from (f"{indent}  {line}" for line in more)

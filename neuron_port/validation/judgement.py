"""From records to a judgement: what was seen, with line, count and rule, and whether the run passes."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass, field

from neuron_port.validation.errors import KnownError, explain
from neuron_port.validation.launch import Outcome
from neuron_port.validation.numerics import Pair, Verdict
from neuron_port.validation.record import Failure, Seen
from neuron_port.validation.rules import rule_of

# What each kind of event means. The order is the order of the report.
KINDS = {
    "refused": "refused by the device",
    "old-platform": "asked the old platform",
    "thread": "a thread ended by an exception",
    "order": "device chosen before the process group",
    "fallback": "ran on the CPU",
    "recompile": "compiled again after the first step",
    "break": "graph break",
    "sync": "host waited for the device",
    "wide": "64-bit arithmetic, done in 32 bit",
    "complex": "complex arithmetic",
    "attention": "attention with a mask or dropout",
    "copy": "copy between host and device",
    "collective": "collective",
    "compile": "graph compiled",
    "left-out": "not run: only IPython knows it",
}
# The first step warms up; what a program reads once for each step is no fault of its loop.
FAIL_ON = ("fallback", "recompile", "sync", "numerics")
_OLD_PLATFORMS = ("cuda", "xla")
_ALWAYS = ("refused", "old-platform")


@dataclass(frozen=True)
class Observation:
    """One kind of event at one place over all ranks; ``count`` is the sum, ``ranks`` how many of them saw it.

    ``rule`` is the code of the rule that it belongs to; empty where there is none.
    """

    kind: str
    operation: str
    file: str
    line: int
    detail: str
    count: int
    bytes: int
    ranks: int
    rule: str = ""


@dataclass(frozen=True)
class Region:
    """A compiled region: the place it was first called from, its graphs, and the input signatures that were seen."""

    file: str
    line: int
    graphs: int
    signatures: tuple[str, ...]
    late: int


@dataclass(frozen=True)
class Judgement:
    """The whole of a run.

    ``device`` is what it was seen on; ``problems`` says why it does not pass, one sentence each; none: it passes.
    """

    device: str
    version: str
    problems: tuple[str, ...]
    observations: tuple[Observation, ...]
    regions: tuple[Region, ...]
    pairs: tuple[Pair, ...]
    failure: Failure | None
    known: KnownError | None
    steps: int
    syncs_per_step: float
    executed: int
    peak: int
    seconds: float
    compile_seconds: float
    limits: tuple[str, ...]
    ranks: int
    notes: tuple[str, ...] = field(default=())

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against the port, as far as the run could show."""
        return not self.problems


def judge(outcome: Outcome, pairs: Sequence[Pair] = (), fail_on: Sequence[str] = ()) -> Judgement:
    """Judge a run."""
    records = outcome.records
    observations = _merged(outcome)
    failure = next((record.failure for record in records if record.failure is not None), None)
    first = records[0] if records else None
    after_warm_up = [count for record in records for count in record.step_syncs[1:]]
    problems = [*_ended(outcome, failure)]
    if records and not problems and not all(record.reached for record in records):
        silent = [record.rank for record in records if not record.reached]
        ranks = "" if len(records) == 1 else f" on rank {', '.join(map(str, silent))}"
        moved = any(each.kind == "copy" for record in records for each in record.seen)
        problems.append(
            f"nothing was computed on the device{ranks}: tensors were only moved there"
            if moved
            else f"the device was never reached{ranks}: everything ran on the CPU"
        )
    counted = {kind: sum(each.count for each in observations if each.kind == kind) for kind in KINDS}
    # The program went on behind an import that failed: it asked whether the package is there.
    asked = sum(each.count for each in observations if each.operation.startswith("import "))
    counted["old-platform"] -= asked
    for kind in _ALWAYS:
        if counted[kind] and failure is None:
            problems.append(f"{counted[kind]} times {KINDS[kind]}")
    if counted["thread"]:
        problems.append("a thread of the program ended by an exception")
    if "fallback" in fail_on and counted["fallback"]:
        problems.append(f"{counted['fallback']} operator calls ran on the CPU (--fail-on fallback)")
    if "recompile" in fail_on and counted["recompile"]:
        graphs = "1 graph was" if counted["recompile"] == 1 else f"{counted['recompile']} graphs were"
        problems.append(f"{graphs} compiled after the first step (--fail-on recompile)")
    syncs = sum(after_warm_up) / len(after_warm_up) if after_warm_up else 0.0
    if "sync" in fail_on and syncs:
        problems.append(f"the host waited {syncs:.1f} times in a step (--fail-on sync)")
    bad = [pair for pair in pairs if pair.verdict in (Verdict.DIFFERS, Verdict.MISSING)]
    if "numerics" in fail_on and bad:
        problems.append(f"{len(bad)} of {len(pairs)} values differ from the CPU run (--fail-on numerics)")
    return Judgement(
        device=first.device if first else outcome.request.device,
        version=first.version if first else "",
        problems=tuple(problems),
        observations=observations,
        regions=_regions(outcome),
        pairs=tuple(pairs),
        failure=failure,
        known=explain(failure) if failure is not None else None,
        steps=max((record.steps for record in records), default=0),
        syncs_per_step=syncs,
        executed=sum(sum(record.executed.values()) for record in records),
        peak=max((record.peak for record in records), default=0),
        seconds=max((record.seconds for record in records), default=outcome.seconds),
        compile_seconds=max((record.compile_seconds for record in records), default=0.0),
        limits=tuple(first.limits) if first else (),
        ranks=len(records),
        notes=tuple(_notes(outcome, pairs)),
    )


def _ended(outcome: Outcome, failure: Failure | None) -> list[str]:
    if outcome.timed_out:
        return [f"the run was ended after {outcome.request.timeout:g} s"]
    # A rank that leaves breaks the collectives of the others: name it first.
    left = [record for record in outcome.records if record.status and record.failure is None and record.ended == "exit"]
    who = [f"rank {record.rank}" if outcome.request.processes else "the program" for record in left]
    found = [f"{name} left with status {record.status}" for name, record in zip(who, left)]
    if failure is not None:
        where = f" at {failure.file}:{failure.line}" if failure.line else ""
        found.append(f"{failure.kind}{where}: {failure.message.strip().partition(chr(10))[0]}")
    elif outcome.lost and not left:
        ranks = ", ".join(map(str, outcome.lost))
        found.append(f"the process of rank {ranks} died without a record ({_status(outcome.status)})")
    return found


def _status(number: int) -> str:
    """What a process left with: its status, or the signal that ended it."""
    if number < 0:
        try:
            return signal.Signals(-number).name
        except ValueError:
            pass
    return f"status {number}"


def _merged(outcome: Outcome) -> tuple[Observation, ...]:
    together: dict[tuple[str, str, str, int, str], list[tuple[int, int]]] = {}
    for record in outcome.records:
        late = [Seen("recompile", *_rest(each)) for each in record.late_compiles]
        for each in (*record.seen, *late):
            if each.kind == "refused" and each.detail in _OLD_PLATFORMS:
                continue  # the event of kind "old-platform" beside it says more
            key = (each.kind, each.operation, each.file, each.line, each.detail)
            together.setdefault(key, []).append((each.count, each.bytes))
    merged = [
        Observation(
            *key,
            count=sum(c for c, _ in found),
            bytes=sum(b for _, b in found),
            ranks=len(found),
            rule=rule_of(key[0], key[1], key[4]),
        )
        for key, found in together.items()
    ]
    order = list(KINDS)
    return tuple(sorted(merged, key=lambda each: (order.index(each.kind) if each.kind in order else 99, -each.count)))


def _rest(each: Seen) -> tuple[str, str, int, str, int, int]:
    return each.operation, each.file, each.line, each.detail, each.count, each.bytes


def _regions(outcome: Outcome) -> tuple[Region, ...]:
    """Compiled regions by place; the ranks of one program compile the same, so the first rank speaks for all."""
    record = outcome.records[0] if outcome.records else None
    if record is None:
        return ()
    places: dict[tuple[str, int], list[Seen]] = {}
    for each in record.seen:
        if each.kind == "compile":
            places.setdefault((each.file, each.line), []).append(each)
    late = {(each.file, each.line): 0 for each in record.late_compiles}
    for each in record.late_compiles:
        late[each.file, each.line] += each.count
    return tuple(
        Region(file, line, len(found), tuple(dict.fromkeys(each.detail for each in found)), late.get((file, line), 0))
        for (file, line), found in places.items()
    )


def _notes(outcome: Outcome, pairs: Sequence[Pair]) -> list[str]:
    notes = []
    if outcome.records and outcome.records[0].device == "emulated":
        notes.append(
            "seen on the emulated device: this is no pass on Trainium; speed, compile time, the numerics of the chip and its "
            "compiler were not seen"
        )
    if pairs and all(pair.verdict in (Verdict.SAME_PATH, Verdict.NO_EVIDENCE) for pair in pairs):
        notes.append("the numbers prove nothing about the chip: both runs computed on the CPU with the same kernels")
    if outcome.request.shape_only:
        notes.append("shapes alone: no value was computed")
    return notes

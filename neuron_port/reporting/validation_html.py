"""A judgement as one HTML page without anything from outside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from neuron_port.reporting.validation_text import place, size
from neuron_port.validation.judgement import KINDS, Judgement

# A file and its line stay on one line where there is room.
_PLACE = re.compile(r":\d+\Z")
_WHOLE_PLACE = 40
_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c1c1c; background: #fff }
h1 { font-size: 1.3rem } h2 { font-size: 1.05rem; margin-top: 1.8rem }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .25rem .6rem .25rem 0; vertical-align: top }
th { font-weight: 600; border-bottom: 1px solid #bbb } td.n { text-align: right; font-variant-numeric: tabular-nums }
code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere }
code.place { white-space: nowrap } table.facts { width: auto } table.facts td:first-child { color: #666; padding-right: 2rem }
.verdict { padding: .6rem .9rem; border-left: 5px solid } .ok { border-color: #2b7a3d; background: #eef6ef } .bad { border-color: #b3261e; background: #fbeeed }
@media (prefers-color-scheme: dark) { body { color: #e4e4e4; background: #191919 } th { border-color: #555 } .ok { background: #1d2b20 } .bad { background: #331d1c } }
"""


def page(judgement: Judgement) -> str:
    """Return the page."""
    device = "the emulated neuron device" if judgement.device == "emulated" else "the neuron device"
    title = f"Seen on {device}"
    passed = "Emulated pass" if judgement.device == "emulated" else "Pass"
    failed = "Emulated run failed" if judgement.device == "emulated" else "Run failed"
    verdict = (
        [f"{passed}: nothing was seen that speaks against the port"]
        if judgement.passed
        else [f"{failed}:", *judgement.problems]
    )
    kind = "ok" if judgement.passed else "bad"
    facts = [
        ("version", judgement.version),
        ("ranks", judgement.ranks),
        ("steps", judgement.steps),
        ("operator calls on the device", judgement.executed),
        ("peak of tensors in a core", size(judgement.peak)),
        ("host waits in a step", f"{judgement.syncs_per_step:.1f}"),
        ("run time", f"{judgement.seconds:.1f} s"),
        ("of it in the compiler", f"{judgement.compile_seconds:.1f} s"),
    ]
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<div class="verdict {kind}">{"<br>".join(escape(each) for each in verdict)}</div>',
        *(f"<p>{escape(note)}.</p>" for note in judgement.notes),
        _facts([(name, str(value)) for name, value in facts]),
    ]
    if judgement.known is not None and judgement.failure is not None:
        where = place(judgement.failure.file, judgement.failure.line)
        parts.append(f"<h2>{escape(judgement.failure.kind)} at <code>{escape(where)}</code></h2>")
        parts.append(f"<p>Cause: {escape(judgement.known.cause)}.</p><p>Do: {escape(judgement.known.fix)}.</p>")
        if judgement.known.rule:
            parts.append(f"<p>Rule: <code>{escape(judgement.known.rule)}</code></p>")
    seen = [each for each in judgement.observations if each.kind != "compile"]
    if seen:
        rows = [
            (
                KINDS.get(each.kind, each.kind),
                str(each.count),
                place(each.file, each.line),
                each.rule,
                each.operation,
                each.detail,
            )
            for each in seen
        ]
        parts += ["<h2>What was seen</h2>", _table(("what", "times", "where", "rule", "operation", "detail"), rows)]
    if judgement.regions:
        rows = [
            (place(each.file, each.line), str(each.graphs), "; ".join(each.signatures), str(each.late))
            for each in judgement.regions
        ]
        parts += [
            "<h2>Compiled regions</h2>",
            _table(("where", "graphs", "input signatures", "after the first step"), rows),
        ]
    if judgement.pairs:
        rows = [
            (pair.name, pair.verdict.value, "" if pair.distance is None else f"{pair.distance:.2g}", pair.reason)
            for pair in judgement.pairs
        ]
        parts += ["<h2>Against the CPU run</h2>", _table(("value", "verdict", "relative norm", ""), rows)]
    if judgement.limits:
        parts += ["<h2>Limits that were emulated</h2>", f"<p>{escape(', '.join(judgement.limits))}</p>"]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(parts) + "\n</body></html>\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = "".join(f"<th>{escape(each)}</th>" for each in head)
    body = "".join("<tr>" + "".join(_cell(each) for each in row) + "</tr>\n" for row in rows)
    return f"<table>{f'<tr>{cells}</tr>' if head else ''}\n{body}</table>"


def _facts(rows: Iterable[tuple[str, str]]) -> str:
    body = "".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>\n" for name, value in rows)
    return f'<table class="facts">\n{body}</table>'


def _cell(text: str) -> str:
    if text.replace(".", "").isdigit():
        return f'<td class="n">{escape(text)}</td>'
    if _PLACE.search(text) and len(text) <= _WHOLE_PLACE:
        return f'<td><code class="place">{escape(text)}</code></td>'
    return f"<td><code>{escape(text)}</code></td>" if ":" in text or "[" in text else f"<td>{escape(text)}</td>"

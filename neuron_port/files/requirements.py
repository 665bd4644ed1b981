"""Requirement files of pip: packages, and the indexes that they come from.

torch==2.5.1+cu124                                          ->  torch==2.14.0
--extra-index-url https://download.pytorch.org/whl/cu124    ->  (removed)
flash-attn==2.6.3  # not used yet                           ->  (removed)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from neuron_port.files.base import FileContext, TextEdit, TextReport
from neuron_port.files.dependencies import Place, parse, reports

_ORIGIN = re.compile(r"[ \t]+#[^\n]*(?:\n|$)")
_COMMENT = re.compile(r"(?:^|\s)#.*$")
# Options behind a requirement: hashes and their like.
_OPTIONS = re.compile(r"\s+--?[a-z][\w-]*(?:[= ].*)?$")
_INDEX = re.compile(r"\s*(?:-i|-f|--index-url|--extra-index-url|--find-links)[ =]\s*(?P<url>\S+)")
CUDA_INDEX = re.compile(r"download\.pytorch\.org/whl/(?:[\w/-]+/)?(?:cu\d+|rocm[\d.]+)|pypi\.(?:ngc\.)?nvidia\.com")
NEURON_INDEX = re.compile(r"pip\.repos\.neuron\.amazonaws\.com")


def check(text: str) -> None:
    """Any text may be one."""


def inspect(context: FileContext) -> Iterator[TextReport]:
    """Report packages and indexes."""
    yield from reports(context, places(context))
    for start, end in _lines(context.text):
        line = context.text[start:end]
        match = _INDEX.match(_COMMENT.sub("", line.rstrip("\n")))
        if match is not None:
            yield from index(context, match["url"], start + match.start("url"), (start, end))


def index(context: FileContext, url: str, start: int, whole: tuple[int, int] | None) -> Iterator[TextReport]:
    """Report an index of packages by its address; ``whole`` is what goes with it."""
    end = start + len(url)
    if CUDA_INDEX.search(url):
        edits = [TextEdit(*whole, "")] if whole is not None else []
        yield context.report(
            "NP833",
            start,
            end,
            "this index has wheels built for GPUs; torch for Neuron comes from the plain index",
            edits=edits,
        )
    elif NEURON_INDEX.search(url):
        row = context.row("index:neuron")
        if row is not None:
            yield context.report(row[0].code, start, end, row[1].message or row[0].summary, row=row[1])


def places(context: FileContext) -> Iterator[Place]:
    """The requirements of the file."""
    text = context.text
    for number, (start, end) in enumerate(_lines(text), 1):
        line = text[start:end]
        bare = _COMMENT.sub("", re.split(r"\\\r?\n", line)[0].rstrip("\r\n"))
        stripped = _OPTIONS.sub("", bare).rstrip()
        lead = len(stripped) - len(stripped.lstrip())
        written = stripped.lstrip()
        if written.startswith(("-e ", "--editable ")):
            skipped = len(written) - len(written.partition(" ")[2].lstrip())
            lead, written = lead + skipped, written[skipped:]
        if not written or written.startswith("-"):
            continue
        requirement = parse(written, context.path, number)
        if requirement is not None:
            yield Place(
                requirement,
                start + lead,
                start + lead + len(written),
                (start, _with_origin(text, end)),
                None if lead else "\n",
                spelled="--hash" not in line,
            )


def _with_origin(text: str, end: int) -> int:
    """Where the indented comments behind a requirement end, in which pip-compile and uv write what asked for it."""
    while (comment := _ORIGIN.match(text, end)) is not None:
        end = comment.end()
    return end


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Where the logical lines are: those that end in a backslash go on."""
    start = position = 0
    while position < len(text):
        stop = text.find("\n", position)
        stop = len(text) if stop < 0 else stop + 1
        if not text[position:stop].rstrip("\r\n").endswith("\\") or stop == len(text):
            yield start, stop
            start = stop
        position = stop

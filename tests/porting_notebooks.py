"""Shorthands for tests that check and port notebooks."""

from __future__ import annotations

import json

from neuron_port.findings import Applicability
from tests.porting import ENGINES


def notebook(*cells: str | tuple[str, str], language: str = "python") -> str:
    """The text of a notebook; a cell is its code, or its type and source."""
    made = []
    for number, cell in enumerate(cells):
        kind, source = cell if isinstance(cell, tuple) else ("code", cell)
        body = {"cell_type": kind, "id": f"c{number}", "metadata": {}, "source": source.splitlines(keepends=True)}
        made.append(body if kind == "markdown" else body | {"execution_count": None, "outputs": []})
    metadata = {"language_info": {"name": language}}
    return json.dumps({"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def found(text: str) -> list[tuple[str, int | None, int, int]]:
    """Code, cell, row and column of each finding."""
    return [
        (finding.code, finding.cell, finding.location.row, finding.location.column)
        for finding in ENGINES["neuron"].check_text(text, "a.ipynb")
    ]


def fixed(text: str, level: str = "unsafe") -> str:
    """The notebook after the fix."""
    return ENGINES["neuron"].fix_text(text, "a.ipynb", level=Applicability.parse(level)).after


def cells_of(text: str) -> dict[int, str]:
    """The sources of the cells by their numbers."""
    return {number: "".join(cell["source"]) for number, cell in enumerate(json.loads(text)["cells"], 1)}

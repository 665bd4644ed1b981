"""Runs the code cells of a notebook in order, as one program; each line keeps its cell and its place there.

A line of cell 3 is shown as ``train.ipynb:cell 3:12``. What only IPython can run (shell commands, magics, cells in other
languages) is left out and said.
"""

from __future__ import annotations

import linecache
import types
from collections.abc import Callable
from pathlib import Path

from neuron_port.emulator.running import run_as_main
from neuron_port.sources.magics import CellCode, read_cell
from neuron_port.sources.notebook import Cell, Notebook
from neuron_port.sources.python import read

Leave = Callable[[str, str, int], None]


def is_notebook(script: str) -> bool:
    """Whether a program is a notebook, by its name."""
    return script.endswith(".ipynb")


def run_notebook(
    script: str, args: list[str], on_error: Callable[[BaseException], None] | None = None, left_out: Leave | None = None
) -> int:
    """Run a notebook; returns its exit status.

    ``left_out`` is called for what is not run, with its text, the name of its cell (as in tracebacks) and its line there.
    """

    def body(module: types.ModuleType) -> None:
        notebook = Notebook.parse(read(Path(script)).text)
        module.__dict__.update(display=print)
        module.__dict__.pop("__file__", None)
        for cell in notebook.code:
            _run_cell(script, cell, module, left_out or (lambda text, file, line: None))

    return run_as_main(script, args, body, on_error)


def _run_cell(script: str, cell: Cell, module: types.ModuleType, left_out: Leave) -> None:
    name = f"{script}:cell {cell.number}"
    code = read_cell(cell.source)
    if code.python is None:
        if cell.source.strip():
            left_out(cell.source.strip().partition("\n")[0], name, 1)
        return
    if code.filename is not None:
        Path(code.filename).write_text(cell.source.partition("\n")[2], encoding="utf-8")
        return
    for text, line in _not_run(cell.source, code):
        left_out(text, name, line)
    linecache.cache[name] = (len(cell.source), None, cell.source.splitlines(keepends=True), name)
    exec(compile(code.python, name, "exec"), module.__dict__)


def _not_run(source: str, code: CellCode) -> list[tuple[str, int]]:
    """The lines that only IPython runs, with their numbers; the head of a cell such as ``%%time`` is no loss."""
    found = []
    lines = source.splitlines()
    position = 0
    for mask in code.masks:
        if mask.is_prefix or mask.original.startswith("%%"):
            continue
        number = next((n for n in range(position, len(lines)) if lines[n].strip() == mask.original), None)
        if number is not None:
            found.append((mask.original, number + 1))
            position = number + 1
    return found

"""``setup.py``: lists of requirements that are written out, and the versions of Python.

setup(install_requires=["torch==2.4.0", "flash-attn"])     ->  setup(install_requires=["torch==2.14.0"])
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.files.base import FileContext, TextReport
from neuron_port.files.dependencies import Place, parse, python_version, reports
from neuron_port.files.listed import place_of
from neuron_port.project.requirement import specifier_of

_LISTS = frozenset({"install_requires", "extras_require", "setup_requires", "tests_require"})


def check(text: str) -> None:
    """Python is checked by its own reader."""


def inspect(context: FileContext) -> Iterator[TextReport]:
    """Report packages in the arguments of ``setup``, written there or in a variable of the file."""
    try:
        tree = ast.parse(context.text)
    except (SyntaxError, ValueError, RecursionError):
        return
    offsets = _Offsets(context.text)
    assigned = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    places: list[Place] = []
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or getattr(call.func, "attr", getattr(call.func, "id", "")) != "setup":
            continue
        for keyword in call.keywords:
            value = (
                assigned.get(keyword.value.id, keyword.value) if isinstance(keyword.value, ast.Name) else keyword.value
            )
            if keyword.arg in _LISTS:
                places += _places(context, value, offsets)
            elif keyword.arg == "python_requires" and isinstance(value, ast.Constant):
                start = offsets.of(value)
                yield from python_version(context, specifier_of(str(value.value)), start + 1, offsets.end(value) - 1)
    yield from reports(context, places)


def _places(context: FileContext, value: ast.expr, offsets: _Offsets) -> Iterator[Place]:
    if isinstance(value, ast.Dict):
        for item in value.values:
            yield from _places(context, item, offsets)
    elif isinstance(value, (ast.List, ast.Tuple)):
        for item in value.elts:
            if isinstance(item, ast.Constant) and isinstance(item.value, str):
                requirement = parse(item.value, context.path, item.lineno)
                start = offsets.of(item)
                spelled = context.text[start + 1 : start + 1 + len(item.value)] == item.value
                if requirement is not None and spelled and context.text[start] in "\"'":
                    yield place_of(context.text, requirement, start)


class _Offsets:
    """Offsets in characters for the places of ``ast``, which counts bytes."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def of(self, node: ast.expr) -> int:
        return self._at(node.lineno, node.col_offset)

    def end(self, node: ast.expr) -> int:
        return self._at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def _at(self, line: int, column: int) -> int:
        before = self._lines[line - 1].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass")
        return self._starts[line - 1] + len(before)

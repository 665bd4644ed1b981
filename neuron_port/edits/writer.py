"""The writer: carries out operations on one file."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property

from neuron_port.edits.errors import WriteError
from neuron_port.edits.lines import Lines
from neuron_port.edits.operations import Operation
from neuron_port.edits.places import Places
from neuron_port.edits.splices import Splice, spliced
from neuron_port.findings import Edit

__all__ = ["WriteError", "Writer"]


class Writer:
    """Writes the operations of one file.

    ``text`` is the decoded file without a byte order mark and ``tree`` is ``ast.parse(text)``. ``ast`` says where
    things stand; libcst takes lists (arguments, elements, imported names) apart and is only imported for them.
    """

    def __init__(self, text: str, tree: ast.Module) -> None:
        self._text = text
        self._tree = tree

    def apply(self, operations: Sequence[Operation]) -> str:
        """Return the new text; operations on nested nodes compose.

        Raises:
            WriteError: see ``edits``; also when the new text would not parse.
        """
        splices = self._splices(operations)
        text = spliced(self._text, splices)
        if splices:
            try:
                ast.parse(text)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                raise WriteError(f"the new text does not parse: {error}") from error
        return text

    def edits(self, operations: Sequence[Operation]) -> tuple[Edit, ...]:
        """Return the operations as independent edits of the original text, in order and without overlaps.

        Raises:
            WriteError: an anchor is not in the tree, operations contradict each other, or libcst refuses some text.
        """
        location = self._places.lines.location
        return tuple(
            Edit(splice.text, location(splice.start), location(splice.end)) for splice in self._splices(operations)
        )

    @cached_property
    def _places(self) -> Places:
        return Places(Lines(self._text), self._tree)

    def _splices(self, operations: Sequence[Operation]) -> list[Splice]:
        if not operations:
            return []
        from neuron_port.edits.plan import Plan

        try:
            splices = Plan(operations, self._places).splices()
        except RecursionError as error:
            raise WriteError("nested too deeply") from error
        return [splice for splice in splices if splice.text != self._text[splice.start : splice.end]]

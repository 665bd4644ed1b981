"""Cut pieces of source into their parts with libcst. Importing this module imports libcst."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import libcst as cst

from neuron_port.edits.commas import CommaList
from neuron_port.edits.errors import WriteError

_Node = TypeVar("_Node", bound=cst.CSTNode)
_NO_SPACE = cst.SimpleWhitespace("")


class Fragments:
    """Parses and prints pieces of one file."""

    def __init__(self, newline: str) -> None:
        self._module = cst.Module([], default_newline=newline)
        self.newline = newline

    def code(self, node: cst.CSTNode) -> str:
        """Return the text of a node."""
        return self._module.code_for_node(node)

    def expression(self, code: str, *kinds: type[_Node]) -> _Node:
        """Parse an expression that may go over several rows.

        Raises:
            WriteError: libcst refuses it, or it is none of ``kinds``.
        """
        module = self._parsed(f"({code})\n")
        node = module.body[0].body[0].value
        return _checked(node.with_changes(lpar=node.lpar[1:], rpar=node.rpar[:-1]), kinds)

    def statement(self, code: str, *kinds: type[_Node]) -> _Node:
        """Parse a statement that stands at the left margin.

        Raises:
            WriteError: libcst refuses it, or it is none of ``kinds``.
        """
        node = self._parsed(f"{code}\n").body[0]
        if isinstance(node, cst.SimpleStatementLine):
            node = node.body[0]
        return _checked(node, kinds)

    def comma_list(
        self, lead: cst.CSTNode | None, elements: Sequence[cst.CSTNode], tail: cst.CSTNode | None
    ) -> CommaList:
        """Return elements that may carry a comma, with what stands before the first and behind the last."""
        items, gaps = [], []
        for element in elements:
            changes = {"comma": cst.MaybeSentinel.DEFAULT}
            if isinstance(element, cst.Arg):
                changes["whitespace_after_arg"] = _NO_SPACE
            items.append(self.code(element.with_changes(**changes)))
            gaps.append(self.code(element)[len(items[-1]) :])
        before = self.code(lead) if lead else ""
        behind = self.code(tail) if tail else ""
        if gaps:
            gaps[-1] += behind
        else:
            before += behind
        return CommaList(before, items, gaps, self.newline)

    def _parsed(self, code: str) -> cst.Module:
        config = cst.PartialParserConfig(default_newline=self.newline)
        try:
            module = cst.parse_module(code, config=config)
            same = module.code == code
        except BaseException as error:  # TypeError, RecursionError, and a panic of its Rust half, which is no Exception
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise WriteError(f"libcst cannot parse {_short(code)}: {type(error).__name__}") from error
        if not same:
            raise WriteError(f"libcst does not give back {_short(code)}")
        return module


def _checked(node: cst.CSTNode, kinds: tuple[type[_Node], ...]) -> _Node:
    if not isinstance(node, kinds):
        raise WriteError(f"expected {' or '.join(kind.__name__ for kind in kinds)}, found {type(node).__name__}")
    return node


def _short(code: str) -> str:
    return repr(code if len(code) <= 60 else f"{code[:57]}...")

"""Add elements to list, tuple, set and dict displays, and take some out. Importing this module imports libcst."""

from __future__ import annotations

import libcst as cst

from neuron_port.edits.fragments import Fragments


def changed(code: str, added: list[str], dropped: list[int], fragments: Fragments) -> str:
    """Return the display ``code`` without the elements at the indexes ``dropped``, and with further ones at its end.

    Raises:
        WriteError: ``code`` is no list, tuple, set or dict display.
    """
    node = fragments.expression(code, cst.List, cst.Tuple, cst.Set, cst.Dict)
    opening, closing, lead, tail = _brackets(node)
    items = fragments.comma_list(lead, node.elements, tail)
    for index in sorted(set(dropped), reverse=True):
        items.drop(index)
    for element in added:
        single = isinstance(node, cst.Tuple) and len(items.items) == 1
        items.insert(len(items.items), element)
        if single and items.gaps[-1].comma and not items.gaps[-1].after.strip(" \t"):
            # The comma made the tuple; it is no habit of the author.
            items.gaps[-1].comma, items.gaps[-1].after = False, ""
        if isinstance(node, cst.Tuple) and len(items.items) == 1:
            items.gaps[-1].comma = True
    return f"{opening}{items}{closing}"


def _brackets(node: cst.BaseExpression) -> tuple[str, str, cst.CSTNode | None, cst.CSTNode | None]:
    match node:
        case cst.List():
            return "[", "]", node.lbracket.whitespace_after, node.rbracket.whitespace_before
        case cst.Tuple(lpar=[*_, lpar], rpar=[rpar, *_]):
            return "(", ")", lpar.whitespace_after, rpar.whitespace_before
        case cst.Tuple():
            return "", "", None, None
    return "{", "}", node.lbrace.whitespace_after, node.rbrace.whitespace_before

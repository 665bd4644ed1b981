"""Make new text fit the place of an expression: parentheses, neighbouring words, quotes inside f-strings."""

from __future__ import annotations

import ast
import re

from neuron_port.edits.errors import WriteError
from neuron_port.edits.places import Places
from neuron_port.edits.precedence import F_STRINGS, FIELDS, Level, required
from neuron_port.edits.strings import quote_at

_CLOSED = re.compile(r"\s*\)")
_COMMENT = re.compile(r"#[^\r\n]*")
_BRACKETED = (ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def fitted(code: str, strength: Level, node: ast.expr, places: Places) -> str:
    """Return ``code``, of the given strength, so that it can stand in the place of ``node``.

    Raises:
        WriteError: the quotes of an f-string around it leave no way to write it.
    """
    lines = places.lines
    text, (start, end) = lines.text, lines.span(node)
    parent = places.parent(node)
    code = _quoted(code, node, places)
    if isinstance(node, ast.GeneratorExp):
        # Its parentheses may be those of the call around it.
        return code if code.startswith("(") and _wrapped(code) else f"({code})"
    needed = strength < required(parent, node) and not parenthesised(node, places)
    needed = needed or (loose_newline(code) and not bracketed(node, places))
    needed = needed or (isinstance(parent, ast.withitem) and code.startswith("(") and _is_tuple(code))
    joined = (start > 0 and _word(text[start - 1]) and _word(code[0])) or (
        end < len(text) and _word(text[end]) and _word(code[-1])
    )
    if needed or joined:
        return f"({code})"
    # Two braces in a row would be a brace of the f-string's text.
    doubled = code.startswith("{") and text[start - 1 : start] == "{" and in_f_string(node, places)
    return f" {code}" if doubled else code


def in_f_string(node: ast.expr, places: Places) -> bool:
    """Say whether an expression stands in a field of an f-string."""
    return any(isinstance(parent, F_STRINGS) for parent in places.ancestors(node))


def parenthesised(node: ast.expr, places: Places) -> bool:
    """Say whether an expression has parentheses of its own; those of a call or a ``class`` around it do not count."""
    text, (start, end) = places.lines.text, places.lines.span(node)
    if not _CLOSED.match(text, end) or not _opened(text, start):
        return False
    parent = places.parent(node)
    if isinstance(parent, ast.Call) and node is not parent.func:
        gap = _COMMENT.sub("", text[places.lines.span(parent.func)[1] : start])
        return bool(gap.strip("() \t\f\r\n")) or gap.count("(") > 1
    return not isinstance(parent, (ast.ClassDef, ast.withitem))


def bracketed(node: ast.AST, places: Places) -> bool:
    """Say whether a node stands inside brackets of any kind, so that its text may go over several rows."""
    child: ast.AST = node
    for parent in places.ancestors(node):
        match parent:
            case ast.Call(func=func) if func is not child:
                return True
            case ast.Subscript(value=value) if value is not child:
                return True
            case ast.ClassDef(decorator_list=decorators) if child not in decorators:
                return True
            case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments) if arguments is child:
                return True
        if isinstance(parent, _BRACKETED):
            return True
        if isinstance(child, ast.expr) and parenthesised(child, places):
            return True
        if isinstance(parent, ast.Tuple) and _wrapped(places.lines.text[slice(*places.lines.span(parent))]):
            return True
        child = parent
    return False


def loose_newline(code: str) -> bool:
    """Say whether an expression goes over several rows without brackets of its own."""
    if "\n" not in code and "\r" not in code:
        return False
    try:
        ast.parse(code, mode="eval")
    except SyntaxError:
        return True
    return False


def _opened(text: str, start: int) -> bool:
    while start > 0 and text[start - 1].isspace():
        start -= 1
    return text[start - 1 : start] == "("


def _word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _wrapped(code: str) -> bool:
    """Say whether one pair of parentheses encloses all of an expression."""
    try:
        call = ast.parse(f"_{code}", mode="eval").body
    except SyntaxError:
        return False
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name)


def _is_tuple(code: str) -> bool:
    """Say whether an expression is a tuple, whose parentheses a ``with`` would take for its own."""
    return isinstance(ast.parse(f"({code}\n)", mode="eval").body, ast.Tuple)


def _quoted(code: str, node: ast.expr, places: Places) -> str:
    """Choose quotes that the f-strings around a node do not use; before Python 3.12 they must not come twice."""
    around = [parent for parent in places.ancestors(node) if isinstance(parent, F_STRINGS)]
    # A format specification is an f-string of its own to ``ast``, but has no quotes.
    around = [each for each in around if not isinstance(places.parent(each), FIELDS)]
    if not around:
        return code
    start, end = places.lines.span(node)
    old = places.lines.text[start:end]
    if "\\" in code and "\\" not in old:
        raise WriteError("a backslash cannot stand inside an f-string")
    for parent in around:
        quote = quote_at(parent, start, places.lines)
        if quote in old or quote not in code:
            continue
        other = "'" if quote == '"' else '"'
        if len(quote) > 1 or other in code:
            raise WriteError("the quotes of an f-string are taken")
        code = code.replace(quote, other)
    return code

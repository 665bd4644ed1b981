"""Find nodes by their text, and carry each case out in several surroundings."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from neuron_port.edits.comments import drops_comment
from neuron_port.edits.operations import Operation
from neuron_port.edits.writer import Writer
from neuron_port.findings import Edit, Location


class Code:
    """A text, its tree, and the nodes that are written in a certain way (white space does not count)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)

    def expr(self, source: str, nth: int = 0) -> ast.expr:
        return self._find(ast.expr, source, nth)

    def stmt(self, source: str, nth: int = 0) -> ast.stmt:
        found = [node for node in self._nodes(ast.stmt) if self._segment(node).startswith(_plain(source))]
        return found[nth]

    def keyword(self, name: str | None, nth: int = 0) -> ast.keyword:
        return [node for node in self._nodes(ast.keyword) if node.arg == name][nth]

    def alias(self, source: str, nth: int = 0) -> ast.alias:
        return self._find(ast.alias, source, nth)

    def item(self, source: str) -> ast.withitem:
        return next(
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.withitem) and self._segment(node.context_expr) == _plain(source)
        )

    def call(self) -> ast.Call:
        return next(node for node in ast.walk(self.tree) if isinstance(node, ast.Call))

    def _find(self, kind: type[ast.AST], source: str, nth: int) -> ast.AST:
        return [node for node in self._nodes(kind) if self._segment(node) == _plain(source)][nth]

    def _nodes(self, kind: type[ast.AST]) -> list[ast.AST]:
        nodes = [node for node in ast.walk(self.tree) if isinstance(node, kind)]
        return sorted(nodes, key=lambda node: (node.lineno, node.col_offset))

    def _segment(self, node: ast.AST) -> str:
        return _plain(ast.get_source_segment(self.text, node) or "")


def _plain(source: str) -> str:
    return re.sub(r"\s+", " ", source)


Make = Callable[[Code], Sequence[Operation]]


def spliced(text: str, edits: Sequence[Edit]) -> str:
    """Carry edits out in the plainest way, from the last to the first."""
    starts = [0, *(match.end() for match in re.finditer(r"\r\n?|\n", text))]

    def offset(location: Location) -> int:
        return starts[location.row - 1] + location.column - 1

    for edit in reversed(edits):
        text = text[: offset(edit.location)] + edit.content + text[offset(edit.end_location) :]
    return text


def comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(re.sub(r"\r\n?", "\n", text)).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def written(text: str, make: Make) -> str:
    """Return the new text, having checked what holds for every operation."""
    code = Code(text)
    operations = make(code)
    writer = Writer(text, code.tree)
    result = writer.apply(operations)
    edits = writer.edits(operations)
    ast.parse(result)
    assert spliced(text, edits) == result
    places = [place for edit in edits for place in (edit.location, edit.end_location)]
    assert places == sorted(places)
    assert drops_comment(text, operations) == bool(comments(text) - comments(result))
    return result


def crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


def carriage_return(text: str) -> str:
    return text.replace("\n", "\r")


def method(text: str) -> str:
    return "class K:\n    def f(self):\n" + "".join(_right(line, " " * 8) for line in text.splitlines(keepends=True))


def tabs(text: str) -> str:
    lines = re.sub(r"(?m)^(?: {4})+", lambda match: "\t" * (len(match[0]) // 4), text).splitlines(keepends=True)
    return "if True:\n" + "".join(_right(line, "\t") for line in lines)


def open_end(text: str) -> str:
    return text.removesuffix("\n")


def wide(text: str) -> str:
    return f'"ü😀é"; {text}'


def _right(line: str, indent: str) -> str:
    return indent + line if line.strip() else line


AROUND_STATEMENTS = [str, crlf, carriage_return, method, tabs]
AROUND_EXPRESSIONS = [*AROUND_STATEMENTS, open_end, wide]


@pytest.fixture
def write() -> Callable[[str, Make], str]:
    return written


@pytest.fixture
def everywhere() -> Callable[[str, Make, str], None]:
    """Check a case with other line ends, in a method and with tabs."""

    def check(before: str, make: Make, after: str) -> None:
        for around in AROUND_STATEMENTS:
            assert written(around(before), make) == around(after), around.__name__

    return check


@pytest.fixture
def everywhere_on_a_line() -> Callable[[str, Make, str], None]:
    """Check a case as ``everywhere`` does, and without a last line end, and behind wide characters."""

    def check(before: str, make: Make, after: str) -> None:
        for around in AROUND_EXPRESSIONS:
            assert written(around(before), make) == around(after), around.__name__

    return check


@pytest.fixture(params=AROUND_STATEMENTS, ids=lambda around: around.__name__)
def around(request: pytest.FixtureRequest) -> Callable[[str], str]:
    return request.param


@pytest.fixture
def code() -> type[Code]:
    return Code

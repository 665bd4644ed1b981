"""``torch.version.cuda``, which is ``None`` on Neuron.

    float(torch.version.cuda)                      reported: it raises
    torch.version.cuda.split(".")                  reported: it raises
    if torch.version.cuda: ...                     a note: the way of a build without CUDA is taken
    print(torch.version.cuda)                      a note
    if torch.version.cuda is not None and parse(torch.version.cuda) >= ...      a note: guarded

A variable that only holds the version is followed to where it is read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.guards import block_of, exits, implied, test_of
from neuron_port.semantics.module import ancestors

_SHOWS = frozenset({"print", "str", "repr", "format", "dumps", "info", "debug", "warning", "write", "append", "join"})
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def inspect(site: Site) -> Iterator[Report]:
    """Report a read of the version."""
    if not site.row.options.get("test_message"):
        yield from by_table(site)
        return
    node = site.node
    guarded = _guarded(site)
    if _only_looks(node) or guarded:
        yield site.report(
            "torch.version.cuda is None on Neuron, and a test in front of this use keeps it from running there"
            if guarded
            else site.row.options["test_message"],
            severity=Severity.INFO,
            applicability=Applicability.MANUAL,
        )
        return
    yield site.report(applicability=Applicability.MANUAL, cuda_only=True)


def _only_looks(node: ast.expr) -> bool:
    """A use that ``None`` does no harm to: a truth test, a comparison for identity or equality, text."""
    parent = node.parent
    if isinstance(parent, ast.Compare):
        return not any(isinstance(operator, _ORDERS) for operator in parent.ops)
    if isinstance(parent, ast.Call):
        if node not in parent.args:
            return False
        function = parent.func
        return (function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")) in _SHOWS
    if isinstance(parent, (ast.Attribute, ast.Subscript, ast.BinOp, ast.Starred)):
        return isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mod) and parent.right is node
    if isinstance(parent, ast.Tuple):
        # "%s" % (a, b) shows it, int(x), (a, b) < (c, d) and the like do not.
        return isinstance(parent.parent, ast.BinOp) and isinstance(parent.parent.op, ast.Mod)
    return True


def _guarded(site: Site) -> bool:
    """Whether the use only runs where the version is known to be there."""
    child: ast.AST = site.node
    for around in ancestors(site.node):
        test = test_of(around)
        if test is not None and child is not test:
            body = getattr(around, "body", None)
            in_body = child is body or (isinstance(body, list) and child in body)
            if _says_present(site, test, in_body):
                return True
        elif isinstance(around, ast.BoolOp) and child in around.values:
            outcome = isinstance(around.op, ast.And)
            before = around.values[: around.values.index(child)]
            if any(_says_present(site, value, outcome) for value in before):
                return True
        if isinstance(child, ast.stmt):
            for earlier in block_of(child):
                if earlier is child:
                    break
                leaves = isinstance(earlier, ast.If) and exits(earlier.body) and not earlier.orelse
                if leaves and _says_present(site, earlier.test, False):
                    return True
        child = around
    return False


def _says_present(site: Site, test: ast.expr, outcome: bool) -> bool:
    for part, truth in implied(test, outcome):
        if isinstance(part, ast.Compare) and len(part.ops) == 1 and _is_version(site, part.left):
            against = part.comparators[0]
            none = isinstance(against, ast.Constant) and against.value is None
            if none and isinstance(part.ops[0], (ast.IsNot, ast.NotEq)) and truth:
                return True
            if none and isinstance(part.ops[0], (ast.Is, ast.Eq)) and not truth:
                return True
        elif truth and _is_version(site, part):
            return True
    return False


def _is_version(site: Site, node: ast.expr) -> bool:
    return site.module.qualname(node) == site.qualname

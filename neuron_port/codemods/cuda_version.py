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

_SHOWS = frozenset(
    {"print", "str", "repr", "format", "dumps", "info", "debug", "warning", "write", "append", "join", "bool"}
)
_TAKES_APART = frozenset(
    {"int", "float", "len", "tuple", "list", "map", "Version", "LooseVersion", "StrictVersion", "parse"}
)
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def inspect(site: Site) -> Iterator[Report]:
    """Report a read of the version."""
    if not site.row.options.get("test_message"):
        yield from by_table(site)
        return
    if _guarded(site):
        yield site.report(
            f"{site.qualname} is None on Neuron, and a test in front of this use keeps it from running there",
            severity=Severity.INFO,
            applicability=Applicability.MANUAL,
        )
        return
    severity = _harm(site.node)
    yield site.report(
        site.row.options["test_message"] if severity is Severity.INFO else None,
        severity=severity,
        applicability=Applicability.MANUAL,
        cuda_only=severity is Severity.ERROR,
    )


def _harm(node: ast.expr) -> Severity:
    """What ``None`` does to a use: nothing to a truth test, an equality or text, else it raises."""
    parent = node.parent
    if isinstance(parent, ast.Compare):
        return Severity.ERROR if any(isinstance(operator, _ORDERS) for operator in parent.ops) else Severity.INFO
    if isinstance(parent, ast.Call) and node in parent.args:
        function = parent.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in _SHOWS:
            return Severity.INFO
        return Severity.ERROR if name in _TAKES_APART else Severity.WARNING
    if isinstance(parent, ast.Tuple):
        # "%s" % (a, b) shows it, f(x), (a, b) < (c, d) and the like do not.
        parent, node = parent.parent, parent
    if isinstance(parent, ast.BinOp):
        return Severity.INFO if isinstance(parent.op, ast.Mod) and parent.right is node else Severity.ERROR
    return (
        Severity.ERROR if isinstance(parent, (ast.Attribute, ast.Subscript, ast.Call, ast.Starred)) else Severity.INFO
    )


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

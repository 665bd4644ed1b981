"""A report of the metrics of PyTorch/XLA: a statement that prints nothing else goes.

print(met.metrics_report())                    (removed)
xm.master_print("Metrics:", met.metrics_report(), flush=True)      (removed)
text = met.metrics_report()                    reported
print(met.metrics_report(), file=log)          reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.ranks import is_alias
from neuron_port.edits.operations import RemoveStatement
from neuron_port.findings import Applicability
from neuron_port.semantics.module import scope_at

_MASTER_PRINT = "torch_xla.core.xla_model.master_print"
_CONSOLE = ("sys.stdout", "sys.stderr")


def inspect(site: Site) -> Iterator[Report]:
    """Report a report."""
    if is_alias(site):
        return
    statement = _printed(site, site.call) if site.call is not None else None
    if statement is None:
        yield site.report(applicability=Applicability.MANUAL)
    else:
        yield site.report(operations=[RemoveStatement(statement)], use=(site.binding, None) if site.binding else None)


def _printed(site: Site, report: ast.Call) -> ast.Expr | None:
    """The statement that only prints the report."""
    text: ast.expr = report
    if isinstance(text.parent, ast.FormattedValue):
        text = text.parent.parent
        if any(isinstance(part, ast.FormattedValue) and part.value is not report for part in text.values):
            return None
    printing = text.parent
    if not isinstance(printing, ast.Call) or text not in printing.args or not isinstance(printing.parent, ast.Expr):
        return None
    function = printing.func
    is_print = isinstance(function, ast.Name) and function.id == "print" and scope_at(function).lookup("print") is None
    if not is_print and site.module.qualname(function) != _MASTER_PRINT:
        return None
    others = [each for each in printing.args if each is not text]
    if all(isinstance(each, ast.Constant) for each in others) and all(
        _is_layout(site, keyword) for keyword in printing.keywords
    ):
        return printing.parent
    return None


def _is_layout(site: Site, keyword: ast.keyword) -> bool:
    """``flush=True``, ``local=True``, ``file=sys.stderr``: an argument that sends the text nowhere but to the console."""
    if keyword.arg in ("file", "fd"):
        return site.module.qualname(keyword.value) in _CONSOLE
    return keyword.arg is not None and isinstance(keyword.value, ast.Constant)

"""Transformers reads weights with several threads, which Neuron does not support: a variable turns that off.

    model = AutoModel.from_pretrained(name, device_map="neuron")
        ->  os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"            (unsafe)
            model = AutoModel.from_pretrained(name, device_map="neuron")

Said once in a file, at the first model that is loaded onto the device; the variable is set at the top of a program, and in a
module of others the finding is all.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.pretrained_argument import loaded
from neuron_port.edits.operations import InsertStatement, Operation
from neuron_port.edits.requirements import last_leading_import
from neuron_port.findings import Applicability
from neuron_port.semantics.module import enclosing_function
from neuron_port.semantics.values import sources

_VARIABLE = "HF_DEACTIVATE_ASYNC_LOAD"
# No place of a load onto Neuron: the host, and what another branch of the program is for.
_ELSEWHERE = frozenset({"cpu", "disk", "meta", "mps", "xpu", "npu", "hpu"})


def inspect(site: Site) -> Iterator[Report]:
    """Report the first load onto the device."""
    if _VARIABLE in site.context.memo or _VARIABLE in site.module.text:
        return
    if site.form != "method" and site.row.options.get("config"):
        target = called(site)
        found = [(site, target)] if target is not None else []
    else:
        found = [(each, target) for each, target in loaded(site) if _is_on_device(each, target)]
    for each, target in found[:1]:
        site.context.memo.add(_VARIABLE)
        yield each.report(
            node=target.call.func,
            applicability=Applicability.UNSAFE,
            operations=[] if each.context.portable else _set(each, target.call),
        )


def _is_on_device(site: Site, target: Called) -> bool:
    for argument in target.arguments("device_map"):
        if any(_is_device(value) for value in sources(site.module, value_of(argument))):
            return True
    return False


def _is_device(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return value.value is not None and value.value not in _ELSEWHERE
    if isinstance(value, ast.Dict):
        return any(_is_device(each) for each in value.values)
    return True


def _set(site: Site, call: ast.Call) -> list[Operation]:
    """The statement behind the imports of a program."""
    if enclosing_function(call) is not None and not site.context.processes.is_program:
        return []
    body = site.module.tree.body
    # Nothing is put between the statements of one line: an import that comes with it stands above or below the whole line.
    own = [each for before, each in zip((None, *body), body) if before is None or before.end_lineno < each.lineno]
    # An added `import os` goes behind the last of the leading imports: no use of it may come earlier.
    last = last_leading_import(site.module.tree)
    behind = [each for each in own if last is not None and each.lineno > last.end_lineno]
    first = next((each for each in behind if not _is_leading(each)), None)
    environ = site.spell("os.environ", first) if first is not None else None
    if environ is None:  # no import at the top, or os is imported further down: in front of the load
        first = next(each for each in site.module.tree.body if any(node is call for node in ast.walk(each)))
        environ = site.spell("os.environ", first)
    if environ is None:
        return []
    apart = 2 if isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else 1
    text = f'{environ.text}["{_VARIABLE}"] = "1"'
    return [InsertStatement(first, text, apart=apart, above=True), *environ.operations]


def _is_leading(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)

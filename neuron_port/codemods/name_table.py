"""The plain name table: a qualified name is renamed, removed or flagged as its row says.

torch.cuda.synchronize(device=d)   ->  torch.accelerator.synchronize(d)
torch.cuda.ipc_collect()           ->  (removed)
torch.cuda.empty_cache()           ->  if torch.accelerator.is_available(): torch.accelerator.empty_cache()
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.arguments import Unmappable, carry, signature
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import GuardStatement, InsertArgument, Operation, RemoveStatement, Replace
from neuron_port.findings import Applicability, Severity


def inspect(site: Site) -> Iterator[Report]:
    """Report a name by its row."""
    row = site.row
    if row is None or (row.forms and site.form not in row.forms):
        return
    if site.form == "import":
        yield site.report(row.message or _message(site))
    elif row.action == "rewrite":
        yield rewrite(site)
    elif row.action == "remove":
        yield remove(site)
    else:
        yield site.report(row.message)


def rewrite(site: Site) -> Report:
    """The report for a row with ``to``: rename, carry the arguments over, guard where the new function needs it."""
    row = site.row
    message = row.message or _message(site)
    if _under_cuda_key(site.node):
        return site.report(
            f'{message}; it is the entry for "cuda" of a table and stays',
            severity=Severity.INFO,
            applicability=Applicability.MANUAL,
        )
    if site.form in ("assign", "string"):
        return site.report(message, applicability=Applicability.MANUAL)
    if site.context.target not in row.options.get("targets", (site.context.target,)):
        return site.report(message, applicability=Applicability.MANUAL)
    call = site.call
    first, added = row.options.get("first"), row.options.get("add", {})
    if call is None and (first or added):
        return site.report(f"{message}; it is passed on without a call", applicability=Applicability.MANUAL)
    operations: list[Operation] = []
    try:
        if call is not None and row.call:
            operations += carry(call, row.call, drop=row.options.get("drop", ()), shift=1 if first else 0)
        if call is not None:
            operations += _insertions(site, call, first, added)
    except Unmappable as reason:
        return site.report(f"{message}; {reason}", applicability=Applicability.MANUAL)
    renamed = site.rename(row.to, row.import_to)
    if renamed is None:
        return site.report(f"{message}; the name torch means something else here", applicability=Applicability.MANUAL)
    operations += renamed[0]
    if row.options.get("guard") and call is not None and not site.context.guards.available(call):
        guard = _guard(site, call)
        if guard:
            operations += guard
        else:
            message = f"{message}; on a host without an accelerator the new call raises where the old one did not"
    return site.report(message, operations=operations, use=renamed[1])


def _guard(site: Site, call: ast.Call) -> list[Operation]:
    """``if available:`` around a statement, ``... if available else 0`` around a value that the row gives a stand-in for."""
    condition = site.spell("torch.accelerator.is_available")
    stand_in = site.row.options.get("guard_value", "None")
    if condition is None:
        return []
    if isinstance(call.parent, ast.Expr):
        return [GuardStatement(call.parent, f"{condition.text}()"), *condition.operations]
    if stand_in == "False":
        return [Replace(call, f"{condition.text}() and {{call}}", {"call": call}), *condition.operations]
    text = f"{{call}} if {condition.text}() else {stand_in}".replace("{}", "{{}}")
    return [Replace(call, text, {"call": call}), *condition.operations]


def _insertions(site: Site, call: ast.Call, first: str | None, added: dict[str, str]) -> list[Operation]:
    """Arguments that the new function needs besides the carried ones."""
    operations: list[Operation] = []
    keywords = {keyword.arg for keyword in call.keywords}
    if site.row.call and not any(isinstance(item, ast.Starred) for item in call.args):
        keywords.update(signature(site.row.call).old[: len(call.args)])
    for text, keyword in [(first, None), *((text, name) for name, text in added.items())]:
        if text is None or keyword in keywords:
            continue
        unsure = site.context.portable or site.row.options.get("every_host", False)
        unsure = unsure and not site.context.guards.available(call)
        device = site.device(text="{type}" in text, node=call, or_cpu=unsure)
        if device is None:
            raise Unmappable("the name torch means something else here")
        code = text.replace("{type}", device.text).replace("{device}", device.text)
        operations += [InsertArgument(call, code.replace("{", "{{").replace("}", "}}"), keyword), *device.operations]
    return operations


def _under_cuda_key(node: ast.AST) -> bool:
    """``{"cuda": torch.cuda.synchronize, "cpu": ...}``: the table gets another entry instead."""
    table = node.parent
    if not isinstance(table, ast.Dict) or node not in table.values:
        return False
    keys = [key.value if isinstance(key, ast.Constant) else None for key in table.keys]
    return keys[table.values.index(node)] == "cuda" and bool({"cpu", "mps", "xpu", "npu"} & {*keys})


def remove(site: Site) -> Report:
    """The report for a row with ``remove``: only a whole statement can go."""
    row = site.row
    message = row.message or _message(site)
    if site.context.target not in row.options.get("targets", (site.context.target,)):
        return site.report(message, applicability=Applicability.MANUAL)
    statement = removable(site)
    if statement is None:
        return site.report(f"{message}; it is part of a larger statement", applicability=Applicability.MANUAL)
    return site.report(
        message, operations=[RemoveStatement(statement)], use=(site.binding, None) if site.binding else None
    )


def removable(site: Site) -> ast.stmt | None:
    """The statement that consists of the site's call or assignment alone."""
    node: ast.AST = site.call or site.node
    parent = getattr(node, "parent", None)
    if isinstance(parent, ast.Expr):
        return parent
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and parent.targets[0] is node:
        return parent
    return None


def _message(site: Site) -> str:
    row = site.row
    if row is None:
        return site.rule.summary
    if row.to:
        return f"{site.qualname} is bound to CUDA; use {row.to}"
    if row.action == "remove":
        return f"{site.qualname} has no meaning on Neuron; remove it"
    return f"{site.qualname}: {site.rule.summary[0].lower()}{site.rule.summary[1:]}"

"""Activation checkpointing: the function of torch works on Neuron.

    from torch_xla.utils.checkpoint import checkpoint   ->  from torch.utils.checkpoint import checkpoint
    checkpoint(layer, x)                                ->  checkpoint(layer, x, use_reentrant=True)
    torch.utils.checkpoint.checkpoint = checkpoint      ->  (removed)
    fsdp.checkpoint_module(block)                       ->  checkpoint_wrapper(block)               (unsafe)

A function that is put in the place of torch's and calls the one of PyTorch/XLA would call itself: it is not put there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.codemods.ranks import is_alias
from neuron_port.edits.operations import InsertArgument, Operation, RemoveStatement, Rename, RequireImport
from neuron_port.findings import Applicability
from neuron_port.semantics.module import ancestors, scope_at

_PATCHED = "torch.utils.checkpoint.checkpoint"
_WRAPPERS = "torch.distributed.algorithms._checkpoint.checkpoint_wrapper"


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of the checkpoint functions of PyTorch/XLA."""
    if is_alias(site):
        return
    if site.row.options.get("wraps"):
        yield _wrapper(site)
        return
    parent = site.node.parent
    if isinstance(parent, ast.Assign) and parent.value is site.node and _is_patch(site, parent):
        yield site.report(
            "torch's own checkpoint is replaced by the one of PyTorch/XLA, and works on Neuron as it is: remove it",
            operations=[RemoveStatement(parent)],
            use=(site.binding, None) if site.binding else None,
        )
        return
    for report in by_table(site):
        if report.fixable:
            report.operations += _additions(site)
        yield report


def _additions(site: Site) -> tuple[Operation, ...]:
    """The keyword that torch wants to be given, and the end of a patch that would call itself."""
    call = site.call
    operations: list[Operation] = []
    if call is not None and not any(keyword.arg in ("use_reentrant", None) for keyword in call.keywords):
        operations.append(InsertArgument(call, "True", "use_reentrant"))
    inside = {around.name for around in ancestors(site.node) if isinstance(around, ast.FunctionDef)}
    for _, statement in _patches(site):
        if isinstance(statement.value, ast.Name) and statement.value.id in inside:
            operations.append(RemoveStatement(statement))
    return tuple(operations)


def _patches(site: Site) -> Iterator[tuple[ast.expr, ast.Assign]]:
    """The assignments to ``torch.utils.checkpoint.checkpoint``."""
    for target, value in site.module.found.stores.get("checkpoint", ()):
        statement = target.parent
        if value is not None and isinstance(statement, ast.Assign) and _is_patch(site, statement):
            yield target, statement


def _is_patch(site: Site, statement: ast.Assign) -> bool:
    return len(statement.targets) == 1 and site.module.qualname(statement.targets[0]) == _PATCHED


def _wrapper(site: Site) -> Report:
    """``checkpoint_module``: the wrapper is imported by name, since importing torch does not load its module."""
    last = "checkpoint_wrapper"
    taken = scope_at(site.node).lookup(last)
    if site.call is not None and isinstance(site.call.parent, ast.Expr):
        return site.report(
            "checkpoint_module changed the module in place; checkpoint_wrapper returns another one, which has to take its place "
            "in the model",
            applicability=Applicability.MANUAL,
        )
    if taken is not None and any(binding.qualname != f"{_WRAPPERS}.{last}" for binding in taken[1]):
        return site.report(applicability=Applicability.MANUAL)
    return site.report(
        operations=[Rename(site.node, last), RequireImport(_WRAPPERS, last)],
        applicability=Applicability.UNSAFE,
        use=(site.binding, None) if site.binding else None,
    )

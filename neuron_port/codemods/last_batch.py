"""The last batch of a training loader, which is shorter than the others.

loader = DataLoader(data, batch_size=32, shuffle=True)  ->  DataLoader(data, batch_size=32, shuffle=True, drop_last=True)
for x, y in loader: ... loss.backward()
DataLoader(data, batch_size=1), batch_sampler=..., drop_last=...       left alone, as are loaders of no training loop
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import InsertArgument
from neuron_port.semantics.literals import is_none
from neuron_port.semantics.module import ancestors
from neuron_port.semantics.spreads import spreads_of

_NAMES = ("train_loader", "train_dataloader", "train_dl", "trainloader", "train_data_loader", "training_loader")
_VALIDATION = ("val", "test", "eval", "dev")


def inspect(site: Site) -> Iterator[Report]:
    """Report a loader whose batches train a model, with a last one that may be shorter."""
    call = site.call
    if site.form != "call" or call is None:
        return
    target = Called(call, spreads=spreads_of(site.module, call))
    if target.hidden or target.argument("drop_last", 8) is not None or _batches_otherwise(target):
        return
    evidence = _trains(site, call)
    if evidence is None:
        return
    yield site.report(operations=[InsertArgument(call, "True", "drop_last")], evidence=evidence)


def _batches_otherwise(target: Called) -> bool:
    """Whether batches are of one, of everything, or made by the dataset or a sampler."""
    if target.argument("batch_sampler", 4) is not None:
        return True
    size = target.argument("batch_size", 1)
    value = value_of(size) if size is not None else None
    if value is None or is_none(value) or (isinstance(value, ast.Constant) and value.value == 1):
        return True
    return isinstance(value, ast.Call) and getattr(value.func, "id", "") == "len"


def _trains(site: Site, call: ast.Call) -> str | None:
    """Why the loader is one for training: a training loop of this file runs over it, or it is called so and shuffles."""
    holder = call.parent
    target = holder.targets[0] if isinstance(holder, ast.Assign) and len(holder.targets) == 1 else None
    name = getattr(target, "id", getattr(target, "attr", None))
    if name is None:
        return None
    lowered = name.lower()
    if any(word in lowered for word in _VALIDATION) and "train" not in lowered:
        return None
    for loop in _loops_over(site, call, name):
        place = site.context.places.of(loop.body[0])
        if place.kind == "training" and place.owner is loop:
            return f"the training loop of line {loop.lineno} runs over {name}"
    if lowered.removeprefix("self.").removeprefix("_") in _NAMES:
        return f"it is called {name}"
    return None


def _loops_over(site: Site, call: ast.Call, name: str) -> Iterator[ast.For]:
    """The loops over the loader, through enumerate, tqdm and their like: where it is made, or where a field is read."""
    reads: list[ast.expr] = list(site.module.attribute_reads(name))
    home = _function(call)
    for scope in site.module.found.scopes:
        reads += [read for read in scope.references.get(name, ()) if "train" in name.lower() or _function(read) is home]
    for read in reads:
        around = read
        while isinstance(around.parent, ast.Call) and around in around.parent.args:
            around = around.parent
        if isinstance(around.parent, ast.For) and around.parent.iter is around:
            yield around.parent


def _function(node: ast.AST) -> ast.AST | None:
    return next(
        (around for around in ancestors(node) if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef))), None
    )

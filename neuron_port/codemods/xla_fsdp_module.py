"""What is done with a module in the FSDP of PyTorch/XLA: clipping, accumulation, what it wraps, its checkpoints, its policies.

    norm = model.clip_grad_norm_(1.0)     ->  norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).full_tensor()   (unsafe)
    with model.no_sync(): body            ->  model.set_requires_gradient_sync(False)
                                              body
                                              model.set_requires_gradient_sync(True)                                         (unsafe)
    model.module.head                     ->  model.head                                                                     (unsafe)
    model.get_shard_metadata()                reported: torch.distributed.checkpoint writes the description itself

A method counts when its module was wrapped in this file, or when the file wraps modules and the method is one that
nothing else in the file could have.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called
from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.codemods.xla_fsdp_call import NAMES, Unsure, sharding_of
from neuron_port.edits.operations import InsertStatement, RemoveWithItem, Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.module import Module

_NATIVE = ("torch.distributed.fsdp.fully_shard", "torch.distributed._composable.fsdp.fully_shard")
# Others have methods of these names too: Accelerate, Lightning, DeepSpeed.
_FOREIGN = ("accelerator", "fabric", "trainer", "engine", "strategy")
_CLIP = (
    "clip_grad_norm_ of a wrapped module: FSDP2 leaves it to torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm), whose "
    "norm is a DTensor"
)
_SYNC = "no_sync of a wrapped module: FSDP2 has model.set_requires_gradient_sync(False) before and (True) after"
_MODULE = "FSDP2 does not wrap: what .module gave is the sharded module itself"


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of a wrapped module, or a function that belongs to wrapping."""
    if site.form == "method":
        name = site.node.func.attr
        if name == "get_shard_metadata":
            yield site.report(site.rule.options["metadata"], applicability=Applicability.MANUAL)
        elif name == "clip_grad_norm_":
            yield from _clip(site)
        else:
            yield from _no_sync(site)
    elif site.form == "value":
        if is_wrapped(site.module, site.node.value, native=False):
            yield site.report(
                _MODULE,
                applicability=Applicability.UNSAFE,
                operations=[Replace(site.node, "{model}", {"model": site.node.value})],
            )
    elif site.row is not None and site.row.options.get("policy") and _is_loop(site):
        yield site.report(
            applicability=Applicability.UNSAFE, operations=(), use=(site.binding, None) if site.binding else None
        )
    else:
        yield from by_table(site)


# -- is this a wrapped module? ------------------------------------------------------------------------------------------


def is_wrapped(module: Module, node: ast.expr, *, native: bool = True) -> bool:
    """Whether a name or attribute holds a wrapped module, or with ``native`` one that FSDP2 shards: the port of such a one."""
    if native and any(call.args and same_chain(call.args[0], node) for call in module.calls_to(*_NATIVE)):
        return True
    if isinstance(node, ast.Name) and hasattr(node, "scope"):
        values = [binding.value for binding in module.bindings(node)]
    elif isinstance(node, ast.Attribute):
        values = [value for store, value in module.found.stores.get(node.attr, ()) if same_chain(store, node)]
    else:
        values = [node]
    return any(isinstance(value, ast.Call) and _wraps(module, value) for value in values if value is not None)


def _wraps(module: Module, call: ast.Call) -> bool:
    """``FSDP(...)``, or a call of a function of this file that gives what ``FSDP(...)`` does."""
    if module.qualname(call.func) in NAMES:
        return True
    if not isinstance(call.func, ast.Name) or not hasattr(call.func, "scope"):
        return False
    for binding in module.bindings(call.func):
        function = binding.value if isinstance(binding.value, ast.Lambda) else binding.node
        if isinstance(function, ast.Lambda):
            if isinstance(function.body, ast.Call) and module.qualname(function.body.func) in NAMES:
                return True
        elif isinstance(function, ast.FunctionDef):
            for inner in ast.walk(function):
                value = inner.value if isinstance(inner, ast.Return) else None
                if isinstance(value, ast.Call) and module.qualname(value.func) in NAMES:
                    return True
                if isinstance(value, ast.Name) and any(
                    isinstance(other.value, ast.Call) and module.qualname(other.value.func) in NAMES
                    for other in module.bindings(value)
                ):
                    return True
    return False


def _is_likely(site: Site, receiver: ast.expr) -> bool:
    """Whether the file wraps modules, and the receiver is none of those that have such a method for other reasons."""
    if not any((binding.qualname or "") in NAMES for binding in site.module.found.imports) and not site.module.calls_to(
        *NAMES
    ):
        return False
    name = receiver.attr if isinstance(receiver, ast.Attribute) else getattr(receiver, "id", "")
    return bool(name) and not any(word in name.lower() for word in _FOREIGN)


# -- what is done with it -----------------------------------------------------------------------------------------------


def _clip(site: Site) -> Iterator[Report]:
    call = site.node
    receiver = call.func.value
    # No other function of this name has replica groups.
    known = is_wrapped(site.module, receiver) or any(word.arg == "groups" for word in call.keywords)
    if not known and not (_is_likely(site, receiver) and len(call.args) < 2):
        return
    try:
        given = passed(call, ("max_norm", "norm_type", "groups"))
    except Unmappable as reason:
        yield site.report(f"{_CLIP}; {reason}", applicability=Applicability.MANUAL)
        return
    groups = given.pop("groups", None)
    value = groups.value if isinstance(groups, ast.keyword) else groups
    if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
        yield site.report(
            f"{_CLIP} and covers the mesh that the parameters are sharded over; groups= has no place in it",
            applicability=Applicability.MANUAL,
        )
        return
    torch = site.spell("torch.nn.utils.clip_grad_norm_", call)
    if torch is None or "max_norm" not in given:
        yield site.report(_CLIP, applicability=Applicability.MANUAL)
        return
    holes: dict[str, ast.expr] = {"model": receiver}
    parts = ["{model}.parameters()"]
    for name, argument in given.items():
        holes[name] = argument.value if isinstance(argument, ast.keyword) else argument
        parts.append(f"{name}={{{name}}}" if isinstance(argument, ast.keyword) else f"{{{name}}}")
    # The norm is a part of one in each process; what reads it wants the whole.
    last = "" if isinstance(call.parent, ast.Expr) else ".full_tensor()"
    yield site.report(
        _CLIP,
        applicability=Applicability.UNSAFE,
        operations=[Replace(call, f"{torch.text}({', '.join(parts)}){last}", holes), *torch.operations],
    )


def _no_sync(site: Site) -> Iterator[Report]:
    call = site.node
    receiver = call.func.value
    if call.args or call.keywords or not is_wrapped(site.module, receiver):
        return
    item = call.parent
    around = item.parent if isinstance(item, ast.withitem) and item.optional_vars is None else None
    if not isinstance(around, ast.With) or any(_leaves(statement) for statement in around.body):
        yield site.report(f"{_SYNC}; unfold it by hand", applicability=Applicability.MANUAL)
        return
    holes = {"model": receiver}
    yield site.report(
        _SYNC,
        applicability=Applicability.UNSAFE,
        operations=[
            InsertStatement(around, "{model}.set_requires_gradient_sync(False)", holes),
            RemoveWithItem(around, item),
            InsertStatement(around, "{model}.set_requires_gradient_sync(True)", holes, after=True),
        ],
    )


def _leaves(statement: ast.stmt) -> bool:
    """Whether a statement may leave the block: what comes behind it would not run."""
    pending: list[tuple[ast.AST, bool]] = [(statement, False)]
    while pending:
        node, looped = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, (ast.Return, ast.Raise)) or (isinstance(node, (ast.Break, ast.Continue)) and not looped):
            return True
        looped = looped or isinstance(node, (ast.For, ast.AsyncFor, ast.While))
        pending += [(child, looped) for child in ast.iter_child_nodes(node)]
    return False


def _is_loop(site: Site) -> bool:
    """Whether the policy that the name is part of becomes a loop, so that the name goes."""
    for call in site.module.calls_to(*NAMES):
        try:
            sharding = sharding_of(site.module, Called(call))
        except Unsure:
            continue
        if sharding.looped:
            policy = sharding.policy
            made = policy.statement.value if policy.statement is not None else policy.value
            if any(inner is site.node for inner in ast.walk(made)):
                return True
    return False

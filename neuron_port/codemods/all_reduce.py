"""``xm.all_reduce``: a new tensor for a tensor, in place for a list.

y = xm.all_reduce(xm.REDUCE_SUM, x)           ->  y = x.detach().clone()
                                                  torch.distributed.all_reduce(y, op=torch.distributed.ReduceOp.SUM)
    in an expression, or without a sure group ->  y = all_reduced(x, torch.distributed.ReduceOp.SUM)
xm.all_reduce("sum", [x, y], scale=1 / xr.world_size())
                                              ->  for tensor in [x, y]:
                                                      torch.distributed.all_reduce(tensor, op=torch.distributed.ReduceOp.AVG)
xm.all_reduce("sum", x)                           reported: its result is unused
xm.all_reduce(xm.REDUCE_MUL, x)                   reported
op = xm.REDUCE_SUM                            ->  op = torch.distributed.ReduceOp.SUM
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from neuron_port.codemods import collective
from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.codemods.collective import Group, Left
from neuron_port.codemods.ranks import is_alias
from neuron_port.codemods.settings import harmless
from neuron_port.edits.operations import InsertStatement, Operation, Rename, Replace, ReplaceStatement
from neuron_port.findings import Applicability
from neuron_port.semantics.module import enclosing_function, statement
from neuron_port.semantics.scopes import Binding, BindingKind

_PARAMETERS = ("reduce_type", "inputs", "scale", "groups", "pin_layout")
_BUCKETS = ("gradients", "scale", "groups", "pin_layout", "bucket_cap_mb")
_FETCH = "torch_xla.core.xla_model._fetch_gradients"
_MANY = re.compile(r"(?i)(grads|gradients|tensors|params|parameters|buffers|bucket|_list|_bucket)\Z")
_COMPILED = "; in code that torch.compile compiles, use torch.distributed._functional_collectives.all_reduce"
_UNUSED = (
    "its result is unused: since torch_xla 2.5 a tensor is reduced into a new one, so that this does nothing, while 2.1 to 2.4 "
    "reduced it in place; torch.distributed.all_reduce(tensor, op=...) works in place"
)
_MESSAGES = {
    "statements": "xm.all_reduce makes a new tensor; torch.distributed.all_reduce works in place, so copy the tensor first",
    "helper": "xm.all_reduce makes a new tensor; torch.distributed.all_reduce works in place and returns none, so a function copies first",
    "loop": "xm.all_reduce reduces a list in place; torch.distributed.all_reduce takes one tensor at a time",
}


@dataclass(frozen=True, slots=True)
class _Call:
    """An ``xm.all_reduce`` with what it is given, and what is written for it."""

    inputs: ast.expr
    op: Spelling
    scale: ast.expr | None
    group: Group | None
    dropped: tuple[ast.expr, ...]

    @property
    def holes(self) -> dict[str, ast.expr]:
        found = {"inputs": self.inputs, **(self.group.holes if self.group is not None else {})}
        return {**found, "scale": self.scale} if self.scale is not None else found

    @property
    def options(self) -> str:
        """What follows the tensor in a call of ``torch.distributed.all_reduce``."""
        return f"op={self.op.text}" + (f", group={self.group.code}" if self.group is not None else "")


def inspect(site: Site) -> Iterator[Report]:
    """Report a reduction, or the name of one."""
    if is_alias(site):
        return
    last = site.qualname.rpartition(".")[2]
    try:
        if last.startswith("REDUCE_"):
            yield _constant(site)
        else:
            yield _reduction(site, _read_buckets(site) if last != "all_reduce" else _read(site))
    except Left as reason:
        yield site.report(
            f"{site.row.message}; {reason}", node=site.call or site.node, applicability=Applicability.MANUAL
        )


def _constant(site: Site) -> Report:
    """``xm.REDUCE_SUM``, for whatever takes it."""
    op = collective.operator(site, site.node)
    passed = isinstance(site.node.parent, (ast.Call, ast.keyword))
    return site.report(
        f"{site.row.message}; torch.distributed takes {op.text}",
        applicability=Applicability.UNSAFE if passed else Applicability.SAFE,
        operations=[Rename(site.node, op.text), *op.operations],
        use=(site.binding, None) if site.binding else None,
    )


def _read(site: Site) -> _Call:
    given = collective.arguments(site, _PARAMETERS)
    if "reduce_type" not in given or "inputs" not in given:
        raise Left("what it reduces is not to be seen")
    collective.claim_kind(site, given["reduce_type"])
    group, scale = collective.group(site, given.get("groups")), given.get("scale")
    average = group is None and collective.is_sum(site, given["reduce_type"]) and collective.is_average(site, scale)
    op = collective.operator(site, given["reduce_type"], average)
    kept = None if average or collective.is_one(scale) else scale
    return _Call(given["inputs"], op, kept, group, tuple(given[name] for name in ("pin_layout",) if name in given))


def _read_buckets(site: Site) -> _Call:
    """``xm.all_reduce_bucketized_gradients(gradients, scale, groups, pin_layout, bucket_cap_mb)``: a sum of a list."""
    given = collective.arguments(site, _BUCKETS)
    if "gradients" not in given or not isinstance(site.call.parent, ast.Expr):
        raise Left("it is part of a larger expression")
    group, scale = collective.group(site, given.get("groups")), given.get("scale")
    average = group is None and collective.is_average(site, scale)
    op = collective.operator(site, ast.Constant("sum"), average)
    kept = None if average or collective.is_one(scale) else scale
    dropped = tuple(given[name] for name in ("pin_layout", "bucket_cap_mb") if name in given)
    return _Call(given["gradients"], op, kept, group, dropped)


def _reduction(site: Site, read: _Call) -> Report:
    call = site.call
    many, sure = _is_many(site, read.inputs)
    many |= not site.qualname.endswith(".all_reduce")
    unused = isinstance(call.parent, ast.Expr)
    if many and not unused and not _is_stored_back(call, read.inputs):
        raise Left(
            "its result, the list that it reduces in place, is used: reduce in a statement of its own, and use the list"
        )
    if unused and not many:
        raise Left(_UNUSED)
    line = None if many else _differentiated(site)
    if line is not None:
        raise Left(
            f"backward() is called on its result on line {line}, and neither xm.all_reduce nor torch.distributed.all_reduce passes "
            "gradients on: call backward() on the value before the reduction, or reduce with torch.distributed.nn.functional.all_reduce"
        )
    if many:
        operations, how = _loop(site, read), "loop"
    elif _stored_in(call) is not None and site.context.processes.grouped(site.node):
        operations, how = _statements(site, read, _stored_in(call)), "statements"
    else:
        operations, how = _helper(site, read), "helper"
    level = Applicability.SAFE if sure and read.group is None and harmless(list(read.dropped)) else Applicability.UNSAFE
    return site.report(
        _MESSAGES[how] + (_COMPILED if _is_compiled(site) else ""),
        node=call,
        applicability=level,
        operations=[*operations, *read.op.operations, *(read.group.operations if read.group is not None else ())],
        use=(site.binding, None) if site.binding else None,
        follows=read.group.follows if read.group is not None else (),
    )


def _statements(site: Site, read: _Call, target: ast.Name) -> list[Operation]:
    """A copy, and its reduction in place."""
    function = collective.distributed(site, "all_reduce")
    lines = [f"{function.text}({target.id}, {read.options})"]
    if read.scale is not None:
        lines.append(f"{target.id} *= {{scale}}")
    place = statement(site.call)
    return [
        Replace(
            site.call, "{inputs}.clone()" if _is_detached(read.inputs) else "{inputs}.detach().clone()", read.holes
        ),
        InsertStatement(place, "\n".join(lines), read.holes, after=True),
        *function.operations,
    ]


def _helper(site: Site, read: _Call) -> list[Operation]:
    helper = collective.helper(site, "all_reduced")
    text = f"{helper.text}({{inputs}}, {read.op.text}" + (f", {read.group.code})" if read.group is not None else ")")
    return [Replace(site.call, text + (" * {scale}" if read.scale is not None else ""), read.holes), *helper.operations]


def _loop(site: Site, read: _Call) -> list[Operation]:
    """A reduction of each element, or of the only one."""
    function = collective.distributed(site, "all_reduce")
    holes = read.holes
    only = isinstance(read.inputs, (ast.List, ast.Tuple)) and len(read.inputs.elts) == 1
    if only and not isinstance(read.inputs.elts[0], ast.Starred):
        holes["inputs"], name, rows = read.inputs.elts[0], "{inputs}", []
    else:
        name = collective.fresh(
            site, *(("gradient", "tensor") if _is_gradients(site, read.inputs) else ("tensor", "each"))
        )
        rows = [f"for {name} in {{inputs}}:"]
    indent = "    " * len(rows)
    body = [f"{function.text}({name}, {read.options})"]
    if read.scale is not None:
        body.append(f"{name}.mul_({{scale}})")
    rows += [indent + line for line in body]
    operations = list(function.operations)
    if not site.context.processes.grouped(site.node):
        asked = collective.distributed(site, "is_initialized")
        rows = [f"if {asked.text}():", *("    " + row for row in rows)]
        operations += asked.operations
    place = statement(site.call)
    return [ReplaceStatement(place, "\n".join(rows), holes), *operations]


def _is_many(site: Site, inputs: ast.expr) -> tuple[bool, bool]:
    """Whether a list is reduced, and whether that is sure."""
    if isinstance(inputs, (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp)):
        return True, True
    if isinstance(inputs, ast.Call) and _makes_list(site, inputs):
        return True, True
    if isinstance(inputs, ast.Name):
        others = [binding for binding in site.module.bindings(inputs) if binding.value is not site.call]
        if others and all(_holds_list(site, binding) for binding in others):
            return True, True
    if site.context.receivers.kind(inputs).kind == "tensor":
        return False, True
    name = inputs.attr if isinstance(inputs, ast.Attribute) else getattr(inputs, "id", "")
    return bool(_MANY.search(name)), not _MANY.search(name)


def _holds_list(site: Site, binding: Binding) -> bool:
    value = binding.value if binding.kind is BindingKind.ASSIGN else None
    return isinstance(value, (ast.List, ast.ListComp)) or _makes_list(site, value)


def _makes_list(site: Site, value: ast.expr | None) -> bool:
    if not isinstance(value, ast.Call):
        return False
    name = getattr(value.func, "id", "")
    return name in ("list", "sorted", "reversed") or site.module.qualname(value.func) == _FETCH


def _is_gradients(site: Site, inputs: ast.expr) -> bool:
    return "grad" in ast.unparse(inputs).lower()


def _is_detached(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "detach"


def _stored_in(call: ast.Call) -> ast.Name | None:
    """The variable that the result goes to, and nothing else does."""
    parent = call.parent
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        return parent.targets[0]
    return None


def _differentiated(site: Site) -> int | None:
    """The line of a call of ``backward`` on the variable that the result goes to."""
    target = _stored_in(site.call)
    bindings = target.scope.owner(target.id).bindings[target.id] if target is not None else ()
    for binding in bindings:
        for reference in site.module.references(binding) if binding.node is target else ():
            parent = reference.parent
            if isinstance(parent, ast.Attribute) and parent.attr == "backward" and reference.lineno > target.lineno:
                return reference.lineno
    return None


def _is_stored_back(call: ast.Call, inputs: ast.expr) -> bool:
    """``grads = xm.all_reduce("sum", grads)``, ``_ = ...``."""
    target = _stored_in(call)
    return target is not None and (target.id == "_" or (isinstance(inputs, ast.Name) and inputs.id == target.id))


def _is_compiled(site: Site) -> bool:
    """Whether the call is in a function that the file may compile."""
    compiles = site.module.calls_of("compile")
    function = enclosing_function(site.node)
    name = getattr(function, "name", None)
    if not compiles or name is None:
        return False
    given = {getattr(argument, "id", getattr(argument, "attr", None)) for call in compiles for argument in call.args}
    return name == "forward" or name in given

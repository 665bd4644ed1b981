"""The layers of NeuronX Distributed become plain layers and a plan.

    self.up = ColumnParallelLinear(d, h, bias=False, gather_output=False)
    self.down = RowParallelLinear(h, d, input_is_parallel=True, init_method=init)
        ->  self.up = nn.Linear(d, h, bias=False)
            self.down = nn.Linear(h, d)
            init(self.down.weight)
            ...
            TENSOR_PARALLEL_PLAN = {Mlp: {"up": ColwiseParallel(), "down": RowwiseParallel()}}

The plan stands behind the classes. Where this file places the model on the device, ``placement`` applies it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import placement
from neuron_port.codemods.argument_table import spell_closest
from neuron_port.codemods.arguments import Unmappable, carry
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.parallel_plan import PARAMETERS, PLAN, Layer, Plan, entry, plan_of, source_of
from neuron_port.edits.operations import (
    AddElement,
    InsertStatement,
    Operation,
    Rename,
    Replace,
    RequireDefinition,
)
from neuron_port.findings import Applicability
from neuron_port.semantics.module import enclosing_function, statement
from neuron_port.semantics.scopes import Binding, BindingKind

_PLAIN = {"column": "torch.nn.Linear", "row": "torch.nn.Linear", "embedding": "torch.nn.Embedding"}
_LINEAR = "(in_features=input_size, out_features=output_size, bias, *, device, dtype)"
_EMBEDDING = (
    "(num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, *, device, dtype)"
)
_NOTE = 'apply_plan(model, mesh["tp"], TENSOR_PARALLEL_PLAN) where the model is placed'


def inspect(site: Site) -> Iterator[Report]:
    """Report a layer where it is made, named or inherited from."""
    call = site.call
    if call is None:
        yield site.report(_named(site), applicability=Applicability.MANUAL)
        return
    plan = plan_of(site.context)
    layer = plan.layer(call)
    if layer is None:
        reason = plan.reasons.get(id(call), "it is not seen where it is kept")
        yield site.report(f"{site.row.message}; {reason}", applicability=Applicability.MANUAL)
        return
    try:
        operations = [*_ported(site, layer), *(_planned(site, plan) if layer is plan.layers[0] else ())]
    except Unmappable as reason:
        yield site.report(f"{site.row.message}; {reason}", applicability=Applicability.MANUAL)
        return
    follows = [other.call.func for other in plan.layers if other is not layer]
    yield site.report(operations=operations, applicability=Applicability.UNSAFE, follows=follows)
    if layer is plan.layers[0]:
        yield from placement.plain(site)


def _named(site: Site) -> str:
    parent = site.node.parent
    if isinstance(parent, ast.ClassDef):
        return f"{site.row.message}; a class derived from it is written anew, on top of the plain layer"
    if isinstance(parent, ast.Call) and getattr(parent.func, "id", "") in ("isinstance", "issubclass"):
        return f"{site.row.message}; natively no type tells a sharded layer, its weight is a DTensor"
    return f"{site.row.message}; here it is passed on without a call"


# -- a layer ------------------------------------------------------------------------------------------------------------


def _ported(site: Site, layer: Layer) -> list[Operation]:
    call = layer.call
    plain = spell_closest(site, _PLAIN[layer.kind], call)
    if plain is None:
        raise Unmappable("the name torch means something else here")
    new = _EMBEDDING if layer.kind == "embedding" else _LINEAR
    old = PARAMETERS[layer.kind]
    operations: list[Operation] = [Rename(call.func, plain.text), *plain.operations]
    operations += carry(call, f"({', '.join(old)}) -> {new}", drop=old)
    padding = layer.values.get("padding_idx")
    if isinstance(padding, ast.Constant) and padding.value == 0 and padding.value is not False:
        operations.append(Replace(padding, "None"))  # NeuronX Distributed took the index 0 for none
    init = layer.values.get("init_method")
    if init is not None and not (isinstance(init, ast.Constant) and init.value is None):
        operations.append(_initialised(site, layer, init))
    return operations


def _initialised(site: Site, layer: Layer, init: ast.expr) -> Operation:
    """``init_method=f`` becomes a call of it on the weight."""
    where = statement(layer.call)
    if layer.element:
        text, depth = f"{{init}}({layer.element}.weight)", ""
    elif layer.path.endswith(".*") and layer.path.count(".") == 1:
        name = f"{enclosing_function(layer.call).args.args[0].arg}.{layer.path[:-2]}"
        text, depth = f"for layer in {name}:\n    {{init}}(layer.weight)", ""
    else:
        raise Unmappable("its init_method has to be called on the weight of each layer by hand")
    if not _is_function(site, init):
        text = f"if {{init}} is not None:\n    {depth}" + text.replace("\n", "\n    ")
    return InsertStatement(where, text, {"init": init}, after=True)


def _is_function(site: Site, value: ast.expr, depth: int = 0) -> bool:
    """Whether ``value`` is surely not ``None``."""
    if isinstance(value, (ast.Lambda, ast.Call)):
        return True
    if site.module.qualname(value) is not None:
        return True
    if not isinstance(value, ast.Name) or depth > 3:
        return False
    bindings = site.module.bindings(value)
    return bool(bindings) and all(_binds_function(site, binding, depth) for binding in bindings)


def _binds_function(site: Site, binding: Binding, depth: int) -> bool:
    if binding.kind in (BindingKind.FUNCTION, BindingKind.IMPORT):
        return True
    return binding.kind is BindingKind.ASSIGN and _is_function(site, binding.value, depth + 1)


# -- the plan -----------------------------------------------------------------------------------------------------------


def _planned(site: Site, plan: Plan) -> list[Operation]:
    """The plan behind its classes, or more entries for the one that is there."""
    module = site.module
    operations: list[Operation] = []
    for source, name in plan.names:
        spelling = site.imported(source, name)
        if spelling is None:
            raise Unmappable(f"the name {name} means something else in this file")
        operations += spelling.operations
    for owner in plan.owners:
        if owner not in plan.classes:
            text = "\n".join(entry(f"{PLAN}[{owner.name}] = ", plan.styles(owner)))
            operations.append(InsertStatement(owner, _as_template(text), after=True, apart=1))
    if PLAN in module.scope.bindings:
        return [*operations, *_added(module.scope.bindings[PLAN], plan)]
    applied = placement.applied(site.context)
    if plan.classes:
        text = source_of(plan, "" if applied else _NOTE)
        operations.append(InsertStatement(plan.classes[-1], _as_template(text), after=True, apart=2))
    else:
        operations.append(RequireDefinition(PLAN, f"{PLAN} = {{}}"))
    helper = site.helper("apply_plan") if not applied else None
    return [*operations, *(helper.operations if helper is not None else ())]


def _added(present: list[Binding], plan: Plan) -> list[Operation]:
    """More entries for the plan that the file has already."""
    value = present[0].value
    last = max((owner.lineno for owner in plan.classes), default=0)
    if len(present) > 1 or not isinstance(value, ast.Dict) or value.lineno < last:
        raise Unmappable(f"{PLAN} is there already and cannot be added to")
    return [AddElement(value, "\n".join(entry(f"{owner.name}: ", plan.styles(owner)))) for owner in plan.classes]


def _as_template(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")

"""Where the model goes onto the device, the plan for its layers is applied.

    move_model_to_device(model, xm.xla_device())
        ->  apply_plan(model, mesh["tp"], TENSOR_PARALLEL_PLAN)
            model.to(torch.device("neuron"))
    model = Net().to(device)
        ->  model = Net().to(device)
            apply_plan(model, mesh["tp"], TENSOR_PARALLEL_PLAN)
    move_model_to_device(self, device)     ->  self.to(device)      the whole model gets its plan later

Sharding makes new parameters, so that an optimizer has to be built after it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Context, Report, Site
from neuron_port.codemods.mesh import Mesh, is_shared, mesh_at
from neuron_port.codemods.parallel_plan import PLAN, plan_of
from neuron_port.edits.operations import InsertStatement, ReplaceStatement
from neuron_port.findings import Applicability
from neuron_port.semantics.module import ancestors, enclosing_class, enclosing_function, statement

CODE = "NP284"
_ELSEWHERE = (
    f"; its layers come from another file: import apply_plan and {PLAN} from there after its port, call "
    f'apply_plan(model, mesh["tp"], {PLAN}), and then model.to(device)'
)
_EARLY = "its parameters are read before this; sharding makes new ones, so build the optimizer after apply_plan"
_APPLIED = "the plan of this model's layers is applied where the model is placed, before an optimizer is built"


def inspect(site: Site) -> Iterator[Report]:
    """Report a call that moves a model of parallel layers to the device."""
    yield _moved(site)


def applied(context: Context) -> bool:
    """Whether the port applies the plan somewhere in the file."""
    if not plan_of(context).layers:
        return False
    moves = [call for call in context.module.calls_to(*_movers(context)) if _model(call) is not None]
    if any(not isinstance(_problem(context, call, _model(call)), str) for call in moves if not _is_self(_model(call))):
        return True
    return bool(_plain(context))


def plain(site: Site) -> Iterator[Report]:
    """Reports about ``model.to(device)`` in a file whose layers get a plan, where no other call places the model."""
    context = site.context
    for call, model in _plain(context):
        mesh = mesh_at(context, call)
        helper = site.helper("apply_plan")
        if helper is None or isinstance(mesh, str):
            continue
        where = statement(call)
        text = f'apply_plan({{model}}, {mesh.name}["tp"], {PLAN})'
        made_here = not isinstance(call.func.value, ast.Name)
        insert = InsertStatement(where, text, {"model": model}, after=made_here)
        yield site.report(
            _APPLIED,
            node=call,
            code=CODE,
            operations=[insert, *helper.operations],
            applicability=Applicability.UNSAFE,
            follows=(*mesh.calls, *_layers(context)),
        )


def _moved(site: Site) -> Report:
    call = site.call
    message = site.row.message
    model = _model(call) if call is not None else None
    if model is None or not isinstance(call.parent, ast.Expr):
        return site.report(applicability=Applicability.MANUAL)
    holes = {"model": model, "device": _device(call)}
    if _is_self(model):
        return site.report(
            f"{message}; the plan is applied to the whole model",
            operations=[ReplaceStatement(call.parent, "{model}.to({device})", holes)],
            applicability=Applicability.UNSAFE,
        )
    context = site.context
    plan = plan_of(context)
    if not plan.layers and not plan.reasons:
        mesh = mesh_at(context, call)
        if _whole(mesh):
            return site.report(
                operations=[ReplaceStatement(call.parent, "{model}.to({device})", holes)],
                applicability=Applicability.UNSAFE,
                follows=mesh.calls,
            )
        return site.report(f"{message}{_ELSEWHERE}", applicability=Applicability.MANUAL)
    problem = "the layers of this file are not ported" if not plan.layers else _problem(context, call, model)
    helper = site.helper("apply_plan")
    if isinstance(problem, str) or helper is None:
        reason = problem if isinstance(problem, str) else "the name apply_plan means something else here"
        return site.report(f"{message}; {reason}", applicability=Applicability.MANUAL)
    text = f'apply_plan({{model}}, {problem.name}["tp"], {PLAN})\n{{model}}.to({{device}})'
    return site.report(
        operations=[ReplaceStatement(call.parent, text, holes), *helper.operations],
        applicability=Applicability.UNSAFE,
        follows=(*problem.calls, *_layers(context)),
    )


def _layers(context: Context) -> list[ast.AST]:
    return [layer.call.func for layer in plan_of(context).layers]


def _movers(context: Context) -> list[str]:
    return [row.source for row in context.rules[CODE].rows]


def _arguments(call: ast.Call) -> dict[str, ast.expr]:
    try:
        found = passed(call, ("model", "device"))
    except Unmappable:
        return {}
    return {key: item.value if isinstance(item, ast.keyword) else item for key, item in found.items()}


def _model(call: ast.Call) -> ast.expr | None:
    """The model that a call moves, a name or a chain of attributes, when the device is given as well."""
    found = _arguments(call)
    node = found.get("model")
    if "device" not in found:
        return None
    link = node
    while isinstance(link, ast.Attribute):
        link = link.value
    return node if isinstance(link, ast.Name) else None


def _device(call: ast.Call) -> ast.expr:
    return _arguments(call)["device"]


def _is_self(model: ast.expr) -> bool:
    """Whether a module places itself while it is made."""
    function = enclosing_function(model)
    if not isinstance(model, ast.Name) or not isinstance(function, ast.FunctionDef) or enclosing_class(model) is None:
        return False
    arguments = [*function.args.posonlyargs, *function.args.args]
    return bool(arguments) and arguments[0].arg == model.id and function.parent is enclosing_class(model)


def _whole(mesh: Mesh | str) -> bool:
    """Whether the mesh has one tensor parallel process, so that no layer is sharded."""
    if isinstance(mesh, str) or not mesh.made:
        return False
    sizes = [each.sizes.get("tp") for each in mesh.made]
    return all(size is None or (isinstance(size, ast.Constant) and size.value == 1) for size in sizes)


def _problem(context: Context, call: ast.Call, model: ast.expr) -> Mesh | str:
    """The mesh that the plan is applied with, or why it cannot be applied here."""
    mesh = mesh_at(context, call)
    if isinstance(mesh, str):
        return f"the layers need a plan and a mesh: {mesh}"
    return _EARLY if _read_before(context, call, model) else mesh


def _read_before(context: Context, call: ast.Call, model: ast.expr) -> bool:
    wanted = ast.dump(model)
    function = enclosing_function(call)
    return any(
        isinstance(read.value, type(model))
        and ast.dump(read.value) == wanted
        and enclosing_function(read) is function
        and read.lineno < call.lineno
        for name in ("parameters", "named_parameters")
        for read in context.module.attribute_reads(name)
    )


# -- model.to(device) ---------------------------------------------------------------------------------------------------


def _plain(context: Context) -> list[tuple[ast.Call, ast.expr]]:
    """The first ``.to`` of each model of this file's planned classes, and the name of the model."""
    module = context.module
    plan = plan_of(context)
    if not plan.layers or any(
        not _is_self(_model(call)) for call in module.calls_to(*_movers(context)) if _model(call)
    ):
        return []
    classes = _models(context, {owner.name for owner in plan.owners})
    found: dict[tuple[int, str], tuple[ast.Call, ast.expr]] = {}
    for call in module.calls_of("to"):
        if not isinstance(call.func, ast.Attribute) or not call.args or _is_dtype(context, call.args[0]):
            continue
        model = _named_model(context, call, classes)
        if model is None or not _reads_mesh(context, call, model):
            continue
        found.setdefault((id(enclosing_function(call)), model.id), (call, model))
    return list(found.values())


def _reads_mesh(context: Context, call: ast.Call, model: ast.expr) -> bool:
    """Whether the plan can be applied here without a name that only this place would make global."""
    mesh = _problem(context, call, model)
    if isinstance(mesh, str):
        return False
    return mesh.function is None or mesh.function in ancestors(call) or not mesh.made or is_shared(context, mesh)


def _named_model(context: Context, call: ast.Call, classes: set[str]) -> ast.Name | None:
    """The name of the model that ``.to`` is called on, or that is made and moved in one go."""
    receiver, parent = call.func.value, call.parent
    if isinstance(receiver, ast.Call) and _makes(receiver, classes):
        alone = isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name)
        return parent.targets[0] if alone else None
    if not isinstance(receiver, ast.Name) or not isinstance(parent, (ast.Expr, ast.Assign)):
        return None
    kept = parent.value if isinstance(parent, ast.Assign) else None
    values = [binding.value for binding in context.module.bindings(receiver) if binding.value is not kept]
    made = all(isinstance(value, ast.Call) and _makes(value, classes) for value in values)
    return receiver if values and made else None


def _makes(call: ast.Call, classes: set[str]) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in classes


def _models(context: Context, planned: set[str]) -> set[str]:
    """The classes of the module that hold, or derive from, a planned one."""
    classes = {node.name: node for node in context.module.tree.body if isinstance(node, ast.ClassDef)}
    names = {
        name: {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)} for name, node in classes.items()
    }
    found = set(planned)
    while True:
        more = {name for name, used in names.items() if name not in found and used & found}
        if not more:
            return found
        found |= more


def _is_dtype(context: Context, node: ast.expr) -> bool:
    name = context.module.qualname(node) or ""
    return name.startswith("torch.") and name.rpartition(".")[2] in ("bfloat16", "float16", "float32", "float", "half")

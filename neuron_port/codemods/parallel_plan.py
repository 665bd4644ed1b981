"""Which layers of NeuronX Distributed become plain layers, and the plan for ``parallelize_module`` that goes with them.

    self.up = ColumnParallelLinear(d, h, gather_output=False)     "up": ColwiseParallel()
    self.down = RowParallelLinear(h, d, input_is_parallel=True)   "down": RowwiseParallel()
    self.net = nn.Sequential(ColumnParallelLinear(d, h), act)     "net.0": ColwiseParallel(output_layouts=Replicate())
    self.blocks.append(RowParallelLinear(h, d))                   "blocks.*": RowwiseParallel(input_layouts=Replicate())

A class is ported as a whole or not at all: its forward function fits together only then.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from neuron_port.codemods.argument_table import value_of
from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Context
from neuron_port.semantics.module import ancestors, enclosing_function

RULES = ("NP282", "NP283")
PLAN = "TENSOR_PARALLEL_PLAN"
_WIDTH = 100

_SHARED = ("keep_master_weight", "skip_bias_add", "pad", "tensor_model_parallel_group", "reduce_dtype", "rank_ordering")
_LINEAR = ("input_size", "output_size", "bias")
_WEIGHT = ("dtype", "device", "stride", "init_method", "sequence_parallel_enabled", "sequence_dimension")
_EMBEDDING = ("num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse")
PARAMETERS = {
    "column": (
        *(*_LINEAR, "gather_output", *_WEIGHT, "keep_master_weight", "skip_bias_add", "pad"),
        *("pad_alignment_size_per_rank", "keep_padded_output", "tensor_model_parallel_group", "reduce_dtype"),
        "rank_ordering",
    ),
    "row": (
        *(*_LINEAR, "input_is_parallel", *_WEIGHT, "keep_master_weight", "skip_bias_add", "pad", "reduce_output"),
        *("tensor_model_parallel_group", "reduce_dtype", "tile_cc", "rank_ordering"),
    ),
    "embedding": (
        *(*_EMBEDDING, "init_method", "device", "dtype", "shard_across_embedding", "pad", "sequence_parallel_enabled"),
        *("tensor_model_parallel_group", "use_spmd_rank", "sequence_dimension", "tile_cc", "rank_ordering"),
        "collect_output",
    ),
}
# What a layer has no counterpart for unless the argument says what it says when it is left out.
_HARMLESS: dict[str, tuple[object, ...]] = {
    "stride": (1,),
    "sequence_parallel_enabled": (False,),
    "skip_bias_add": (False,),
    "pad": (False,),
    "keep_padded_output": (False,),
    "tensor_model_parallel_group": (None,),
    "rank_ordering": (None,),
    "collect_output": (True,),
}
_REASONS = {
    "stride": "a stride fuses several matrices into one whose rows are dealt out in turn; make it one nn.Linear for each",
    "sequence_parallel_enabled": (
        "with sequence parallelism the plan has SequenceParallel() for the norms and Shard(1) as the input layout of column "
        "and the output layout of row layers, and activations are (batch, sequence, hidden): NeuronX Distributed sharded "
        "dimension 0 unless sequence_dimension said otherwise"
    ),
    "skip_bias_add": "with skip_bias_add the layer returns its bias beside the output; nn.Linear adds it",
    "pad": "DTensor does not pad; choose sizes that the tensor parallel size divides",
    "keep_padded_output": "DTensor does not pad; choose sizes that the tensor parallel size divides",
    "tensor_model_parallel_group": "a layer with a group of its own needs an entry for that part of the mesh",
    "rank_ordering": "a mesh has no other order of ranks than its own",
    "collect_output": "an embedding that keeps its output on the rank has no parallel style",
}
_CONTAINERS = {"torch.nn.ModuleList": True, "torch.nn.Sequential": False}


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """One layer that becomes a plain one.

    ``path`` is its place in the plan of ``owner``, ``element`` the expression for it, empty for layers made in a loop;
    ``values`` holds what is passed for the old parameters.
    """

    call: ast.Call
    kind: str
    owner: ast.ClassDef
    path: str
    element: str
    style: str
    values: dict[str, ast.expr]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The layers of a file: those that are ported, and why the others are not (by the id of the call)."""

    layers: tuple[Layer, ...]
    reasons: dict[int, str]

    def layer(self, call: ast.Call) -> Layer | None:
        """The layer that ``call`` makes, when it is ported."""
        return next((layer for layer in self.layers if layer.call is call), None)

    @property
    def owners(self) -> list[ast.ClassDef]:
        """The classes of the plan in source order."""
        return list({id(layer.owner): layer.owner for layer in self.layers}.values())

    @property
    def classes(self) -> list[ast.ClassDef]:
        """The classes that the module defines, and not a function."""
        return [owner for owner in self.owners if isinstance(owner.parent, ast.Module)]

    def styles(self, owner: ast.ClassDef) -> dict[str, str]:
        """The entry of one class."""
        return {layer.path: layer.style for layer in self.layers if layer.owner is owner}

    @property
    def names(self) -> list[tuple[str, str]]:
        """What the plan needs, as modules and names."""
        words = " ".join(layer.style for layer in self.layers)
        styles = [("torch.distributed.tensor.parallel", name) for name in ("ColwiseParallel", "RowwiseParallel")]
        layouts = [("torch.distributed.tensor", name) for name in ("Partial", "Replicate")]
        return [pair for pair in (*layouts, *styles) if pair[1] in words]


def plan_of(context: Context) -> Plan:
    """All layers of the file that rows with a ``kind`` are about."""
    kinds = {row.source: row.options.get("kind") for code in RULES for row in context.rules[code].rows}
    reasons: dict[int, str] = {}
    classes: dict[int, list[Layer]] = {}
    broken: dict[int, ast.Call] = {}
    for call in context.module.calls_to(*kinds):
        owner = _owner(call)
        kind = kinds[context.module.qualname(call.func)]
        found = _layer(context, call, kind, owner) if kind else "it has no plain counterpart"
        if isinstance(found, Layer):
            others = classes.setdefault(id(owner), [])
            if any(other.path == found.path and other.style != found.style for other in others):
                found = f"{found.path} is made in two ways"
            else:
                others.append(found)
        if isinstance(found, str):
            reasons[id(call)] = found
            if owner is not None:
                broken.setdefault(id(owner), call)
    layers: list[Layer] = []
    for key, members in classes.items():
        if key in broken:
            line = broken[key].lineno
            reasons.update(
                {id(layer.call): f"a class is ported as a whole, and line {line} is not" for layer in members}
            )
        else:
            layers += members
    layers.sort(key=lambda layer: (layer.call.lineno, layer.call.col_offset))
    return Plan(tuple(layers), reasons)


def source_of(plan: Plan, note: str = "") -> str:
    """The statement that defines the plan; ``note`` is a comment behind its opening brace."""
    rows = []
    for owner in plan.classes:
        rows += entry(f"{owner.name}: ", plan.styles(owner), ",")
    head = f"{PLAN} = {{" + (f"  # {note}" if note else "")
    return "\n".join([head, *(f"    {row}" for row in rows), "}"])


def entry(head: str, styles: dict[str, str], end: str = "") -> list[str]:
    """The rows of one class: ``head``, its styles in braces, and ``end``."""
    pairs = [f'"{path}": {style}' for path, style in styles.items()]
    row = f"{head}{{{', '.join(pairs)}}}{end}"
    if len(row) + 4 <= _WIDTH:
        return [row]
    return [f"{head}{{", *(f"    {pair}," for pair in pairs), f"}}{end}"]


# -- one layer ----------------------------------------------------------------------------------------------------------


def _owner(call: ast.Call) -> ast.ClassDef | None:
    """The class in whose method the call stands."""
    function = enclosing_function(call)
    parent = getattr(function, "parent", None)
    return parent if isinstance(parent, ast.ClassDef) else None


def _is_local(owner: ast.ClassDef) -> bool:
    """Whether a function defines the class, so that the plan gets its entry when the function runs."""
    function = enclosing_function(owner)
    return function is not None and not any(isinstance(around, ast.ClassDef) for around in _within(owner, function))


def _within(node: ast.AST, outer: ast.AST) -> Iterator[ast.AST]:
    for around in ancestors(node):
        if around is outer:
            return
        yield around


def _layer(context: Context, call: ast.Call, kind: str, owner: ast.ClassDef | None) -> Layer | str:
    if owner is None:
        return "it is made outside the methods of a class; give the module it goes into an entry in a plan for parallelize_module"
    if not isinstance(owner.parent, ast.Module) and not _is_local(owner):
        return "its class is defined inside a class or under a condition, where the plan cannot name it"
    place = _place(context, call)
    if place is None:
        return "it is not stored as an attribute of self, so that its path in a plan is not known"
    try:
        values = {key: value_of(item) for key, item in passed(call, PARAMETERS[kind]).items()}
        _check(values)
        return Layer(call, kind, owner, *place, _style(kind, values), values)
    except Unmappable as reason:
        return str(reason)


def _check(values: dict[str, ast.expr]) -> None:
    for name, harmless in _HARMLESS.items():
        value = values.get(name)
        if value is not None and not (isinstance(value, ast.Constant) and value.value in harmless):
            raise Unmappable(_REASONS[name])


def _style(kind: str, values: dict[str, ast.expr]) -> str:
    """The parallel style of a layer.

    Raises:
        Unmappable: it cannot be seen, or there is none.
    """
    choice = {"column": ("gather_output", True), "row": ("input_is_parallel", False)}
    name, default = choice.get(kind, ("shard_across_embedding", False))
    chosen = _flag(values.get(name), default)
    whole = _flag(values.get("reduce_output"), True)
    if chosen is None or whole is None:
        unclear = name if chosen is None else "reduce_output"
        raise Unmappable(f"{unclear} is not written as True or False, and the layouts of the plan follow from it")
    if kind == "column" or (kind == "embedding" and chosen):
        return "ColwiseParallel(output_layouts=Replicate())" if chosen else "ColwiseParallel()"
    layouts = [] if chosen else ["input_layouts=Replicate()"]
    if not whole:
        if _flag(values.get("bias"), True) is not False:
            raise Unmappable("without reduce_output the parts are added up later, and a bias must be added only once")
        layouts.append("output_layouts=Partial()")
    return f"RowwiseParallel({', '.join(layouts)})"


def _flag(value: ast.expr | None, default: bool) -> bool | None:
    if value is None:
        return default
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, bool) else None


# -- where it is stored -------------------------------------------------------------------------------------------------


def _place(context: Context, call: ast.Call) -> tuple[str, str] | None:
    """The path of a layer below ``self``, and the expression for it; the expression is empty for a layer made in a loop."""
    path: list[str] = []
    element = ""
    repeated = False
    for child, parent in _climb(call):
        if isinstance(parent, (ast.IfExp, ast.Starred)):
            if isinstance(parent, ast.IfExp) and child is parent.test:
                return None
        elif isinstance(parent, (ast.List, ast.Tuple)):
            held = _container(context, parent.parent, parent)
            if held is None or any(isinstance(item, ast.Starred) for item in parent.elts):
                return None
            path.insert(0, str(parent.elts.index(child)))
            element = f"[{path[0]}]{element}"
        elif isinstance(parent, (ast.ListComp, ast.GeneratorExp)):
            held = _container(context, parent.parent, parent)
            if held is None or child is not parent.elt or len(parent.generators) != 1:
                return None
            path.insert(0, "*")
            repeated = True
        elif isinstance(parent, ast.Call) and child is call and _appends(parent):
            held = parent.func.value
            return f"{held.attr}.*", f"{held.value.id}.{held.attr}[-1]"
        elif isinstance(parent, ast.Call):
            name = context.module.qualname(parent.func)
            if name not in _CONTAINERS or (isinstance(child, ast.Call) and _CONTAINERS[name]):
                return None
            if isinstance(child, ast.Call):
                if any(isinstance(item, ast.Starred) for item in parent.args):
                    return None
                path.insert(0, str(parent.args.index(child)))
                element = f"[{path[0]}]{element}"
        elif isinstance(parent, (ast.Assign, ast.AnnAssign)):
            target = parent.targets[0] if isinstance(parent, ast.Assign) else parent.target
            if isinstance(parent, ast.Assign) and len(parent.targets) != 1:
                return None
            if not isinstance(target, ast.Attribute) or not _is_self(target.value):
                return None
            path.insert(0, target.attr)
            return ".".join(path), "" if repeated else f"{target.value.id}.{target.attr}{element}"
        else:
            return None
    return None


def _appends(call: ast.Call) -> bool:
    """``self.layers.append(...)`` as a statement."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr != "append" or not isinstance(call.parent, ast.Expr):
        return False
    return isinstance(function.value, ast.Attribute) and _is_self(function.value.value)


def _climb(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    child = node
    for parent in ancestors(node):
        yield child, parent
        child = parent


def _container(context: Context, call: ast.AST, argument: ast.AST) -> str | None:
    """Which container takes ``argument``: the list of a ModuleList, or the starred one of a Sequential."""
    starred = isinstance(call, ast.Starred)
    call = call.parent if starred else call
    if not isinstance(call, ast.Call) or len(call.args) != 1:
        return None
    name = context.module.qualname(call.func)
    return name if name in _CONTAINERS and _CONTAINERS[name] is not starred else None


def _is_self(node: ast.expr) -> bool:
    function = enclosing_function(node)
    if not isinstance(node, ast.Name) or not isinstance(function, ast.FunctionDef):
        return False
    arguments = [*function.args.posonlyargs, *function.args.args]
    return bool(arguments) and arguments[0].arg == node.id

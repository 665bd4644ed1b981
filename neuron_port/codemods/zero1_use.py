"""What a program does with a ZeRO-1 optimizer and its model, as far as a port to FSDP2 depends on it.

``fully_shard`` makes the parameters of a model DTensors: whoever reads them, or saves them, reads shards. So every use of the
two names has to be seen, or the optimizer is left to a person.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from neuron_port.codemods.base import Context
from neuron_port.semantics.module import Module, ancestors, enclosing_class, enclosing_function, is_chain, statement
from neuron_port.semantics.scopes import BindingKind

# What the wrapped optimizer offers just as well.
_PLAIN = frozenset({"step", "zero_grad", "defaults"})
_SAVES = "torch_xla.core.xla_model.save"
_WRAPPERS = ("DistributedDataParallel", "FullyShardedDataParallel", "torch.compile")
_READS = frozenset({"parameters", "named_parameters"})
_STATES = frozenset({"state_dict", "load_state_dict", "save_pretrained"})
_FETCH = "torch_xla.core.xla_model._fetch_gradients"


class Unclear(Exception):
    """The program cannot be followed; the text says where."""


@dataclass(frozen=True, slots=True, eq=False)
class Uses:
    """``first`` is the statement in front of which the model is sharded; ``steps``, ``norms`` and ``saves`` are uses to port."""

    model: ast.expr
    optimizer: ast.expr
    first: ast.stmt
    steps: tuple[ast.Call, ...]
    norms: tuple[ast.Attribute, ...]
    saves: tuple[ast.Call, ...]

    @property
    def name(self) -> str:
        """The model as source text."""
        return ast.unparse(self.model)


def uses_of(context: Context, call: ast.Call, parameters: ast.expr) -> Uses:
    """The uses of the optimizer that ``call`` makes from ``parameters``, and of its model.

    Raises:
        Unclear: something of it cannot be ported.
    """
    module = context.module
    assignment = call.parent
    if not isinstance(assignment, ast.Assign) or len(assignment.targets) != 1 or not is_chain(assignment.targets[0]):
        raise Unclear("the optimizer is not assigned to a name")
    optimizer = assignment.targets[0]
    if _assigned(module, optimizer) > 1:
        raise Unclear(f"{ast.unparse(optimizer)} is also made in another way")
    reads = _reads(module, parameters, set())
    model = reads[0].value if reads else None
    if model is None or not is_chain(model) or any(not _same(read.value, model) for read in reads):
        raise Unclear(
            "its parameters are not seen to be those of one model; call fully_shard(model) before they are read"
        )
    first = min((statement(read) for read in reads), key=lambda node: node.lineno)
    function = enclosing_function(call)
    if any(enclosing_function(read) is not function for read in reads):
        raise Unclear("the parameters of the model are read in another function")
    _bound_before(module, model, first)
    steps, norms = _of_optimizer(module, optimizer, model, call)
    for other in (*module.calls_to(_FETCH), *module.calls_of("average_gradients")):
        if any(_same(argument, optimizer) for argument in other.args):
            raise Unclear(f"line {other.lineno} takes its gradients, which are shards and averaged after fully_shard")
    return Uses(model, optimizer, first, steps, norms, tuple(_saves(module, model, first)))


def odd_uses(module: Module, call: ast.Call) -> Iterator[ast.Attribute]:
    """The attributes that are read of the optimizer which ``call`` makes, and that a plain optimizer lacks."""
    assignment = call.parent
    if isinstance(assignment, ast.Assign) and is_chain(assignment.targets[0]):
        yield from (
            read for read in _attributes(module, assignment.targets[0]) if read.attr not in (*_PLAIN, "param_groups")
        )


# -- the model ----------------------------------------------------------------------------------------------------------


def _reads(module: Module, node: ast.expr, seen: set[int]) -> list[ast.Attribute]:
    """``model.parameters`` and the like in an expression, and in what its names are bound to."""
    found: list[ast.Attribute] = []
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and inner.attr in _READS and isinstance(inner.parent, ast.Call):
            found.append(inner)
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            for binding in module.bindings(inner):
                value = binding.value
                if value is not None and id(value) not in seen and not isinstance(inner.parent, ast.Attribute):
                    seen.add(id(value))
                    found += _reads(module, value, seen)
    return found


def _bound_before(module: Module, model: ast.expr, first: ast.stmt) -> None:
    """A name that is bound again later, by a wrapper for one, means another model there."""
    if not isinstance(model, ast.Name):
        return
    bindings = module.bindings(model)
    if not bindings or any(binding.node.lineno >= first.lineno for binding in bindings):
        raise Unclear(f"{model.id} is bound again after its parameters are read")
    if enclosing_function(bindings[0].node) is not enclosing_function(first):
        raise Unclear(f"{model.id} is not made in the function of its optimizer")
    for binding in bindings:
        made = module.qualname(binding.value.func) if isinstance(binding.value, ast.Call) else None
        if (made or "").endswith(_WRAPPERS):
            raise Unclear(f"{model.id} is wrapped by {made.rpartition('.')[2]} already; shard the model inside instead")


def _assigned(module: Module, target: ast.expr) -> int:
    """How often a name, or an attribute of an object, is assigned."""
    if isinstance(target, ast.Name):
        return len(module.bindings(target))
    around = enclosing_class(target)
    stores = module.found.stores.get(target.attr, ()) if isinstance(target, ast.Attribute) else ()
    return sum(_same(store, target) and enclosing_class(store) is around for store, _ in stores)


def _saves(module: Module, model: ast.expr, first: ast.stmt) -> Iterator[ast.Call]:
    """The calls that save the weights of the model and nothing else."""
    for name in _STATES:
        for read in module.attribute_reads(name):
            early = enclosing_function(read) is enclosing_function(first) and read.lineno < first.lineno
            if not _may_be(module, read.value, model) or early:
                continue
            taken = read.parent.parent if isinstance(read.parent, ast.Call) else None
            whole = name == "state_dict" and isinstance(taken, ast.Call) and taken.args[:1] == [read.parent]
            saved = whole and module.qualname(taken.func) == _SAVES and isinstance(taken.parent, ast.Expr)
            if not saved or len(taken.args) != 2 or taken.keywords:
                raise Unclear(
                    f"line {read.lineno} reads its weights, which are shards after fully_shard: every process calls "
                    "torch.distributed.checkpoint.state_dict.get_model_state_dict(model, "
                    "options=StateDictOptions(full_state_dict=True)) for whole ones, or torch.distributed.checkpoint saves shards"
                )
            yield taken


# -- the optimizer ------------------------------------------------------------------------------------------------------


def _of_optimizer(
    module: Module, optimizer: ast.expr, model: ast.expr, call: ast.Call
) -> tuple[tuple[ast.Call, ...], tuple[ast.Attribute, ...]]:
    steps: list[ast.Call] = []
    norms: list[ast.Attribute] = []
    for read in _attributes(module, optimizer):
        if read.attr == "grad_norm":
            norms.append(read)
        elif read.attr == "param_groups":
            if any(isinstance(node, ast.Constant) and node.value == "params" for node in ast.walk(statement(read))):
                raise Unclear(f"line {read.lineno} reads its parameters, which are shards after fully_shard")
        elif read.attr not in _PLAIN:
            raise Unclear(
                f"line {read.lineno} uses its {read.attr}, which a plain optimizer does not have in this form"
            )
        if read.attr == "step":
            taken = read.parent
            if (
                not isinstance(taken, ast.Call)
                or taken.args
                or taken.keywords
                or not isinstance(taken.parent, ast.Expr)
            ):
                raise Unclear(f"line {read.lineno} does more with its step() than to call it")
            if not _sees(module, taken, optimizer, model, call):
                raise Unclear(f"line {read.lineno} steps in a function that does not get {ast.unparse(model)} as well")
            steps.append(taken)
    if not steps:
        raise Unclear("its step(), in front of which the gradients have to be clipped, is not in this file")
    return tuple(steps), tuple(norms)


def _attributes(module: Module, optimizer: ast.expr) -> Iterator[ast.Attribute]:
    """Every attribute that is read of something written like the optimizer."""
    found = [
        node
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and _may_be(module, node.value, optimizer)
    ]
    yield from sorted(found, key=lambda node: (node.lineno, node.col_offset))


def _sees(module: Module, step: ast.Call, optimizer: ast.expr, model: ast.expr, made: ast.Call) -> bool:
    """Whether the names of the optimizer and of the model mean the same where it steps."""
    if not isinstance(optimizer, ast.Name):
        return enclosing_class(step) is enclosing_class(made) and not isinstance(model, ast.Name)
    if not isinstance(model, ast.Name):
        return False
    function, home = enclosing_function(step), enclosing_function(made)
    if function is home or (home in ancestors(step) and not _binds(function, home, optimizer, model)):
        return True
    if not isinstance(function, ast.FunctionDef):
        return False
    parameters = [argument.arg for argument in function.args.args]
    if optimizer.id not in parameters or model.id not in parameters:
        return False
    places = parameters.index(optimizer.id), parameters.index(model.id)
    calls = [
        call
        for call in module.calls_of(function.name)
        if isinstance(call.func, ast.Name) and enclosing_function(call) in (home, *ancestors(made))
    ]
    return bool(calls) and all(
        _passed(call, places[0], optimizer.id) and _passed(call, places[1], model.id) for call in calls
    )


def _binds(function: ast.AST, home: ast.AST | None, *names: ast.Name) -> bool:
    """Whether a function between the two has a variable of one of the names."""
    while function is not None and function is not home:
        if any(name.id in function.inner.bindings for name in names):
            return True
        function = enclosing_function(function)
    return False


def _passed(call: ast.Call, index: int, name: str) -> bool:
    values = [keyword.value for keyword in call.keywords if keyword.arg == name]
    if index < len(call.args) and not any(isinstance(item, ast.Starred) for item in call.args):
        values.append(call.args[index])
    return any(isinstance(value, ast.Name) and value.id == name for value in values)


def _may_be(module: Module, node: ast.expr, other: ast.expr) -> bool:
    """Whether ``node`` is written like ``other`` and is no other variable of that name: itself, or what a function was given."""
    if not _same(node, other):
        return False
    while isinstance(node, ast.Attribute):
        node, other = node.value, other.value
    found, known = module.bindings(node), module.bindings(other)
    return found == known or all(binding.kind is BindingKind.PARAMETER for binding in found)


def _same(node: ast.expr, other: ast.expr) -> bool:
    """Whether two names or chains are written alike, one read and one perhaps assigned."""
    while isinstance(node, ast.Attribute) and isinstance(other, ast.Attribute):
        if node.attr != other.attr:
            return False
        node, other = node.value, other.value
    return isinstance(node, ast.Name) and isinstance(other, ast.Name) and node.id == other.id

"""What one call of PyTorch/XLA's FSDP says, and what of it FSDP2 can be told."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from neuron_port.codemods.argument_table import Called, value_of
from neuron_port.semantics.module import Module, ancestors
from neuron_port.semantics.scopes import BindingKind

NAMES = (
    "torch_xla.distributed.fsdp.XlaFullyShardedDataParallel",
    "torch_xla.distributed.fsdp.xla_fully_sharded_data_parallel.XlaFullyShardedDataParallel",
)
_POLICIES = "torch_xla.distributed.fsdp.wrap."
# The parameters that may come by position, in their order; nobody passes more.
_POSITIONAL = ("module", "reshard_after_forward", "flatten_parameters")
# FSDP2 works otherwise and has no use for these.
_DROPPED = frozenset(
    {
        "flatten_parameters",
        "execute_sharding_on_init",
        "optimization_barrier_in_forward",
        "optimization_barrier_in_backward",
        "sync_on_finalization",
        "disable_reshard_on_root",
        "compute_dtype",
        "buffer_dtype",
        "fp32_reduce_scatter",
        "shard_param_on_dim_0",
        "pin_layout_in_collective_ops",
        "reduce_scatter_bucket_size_mb",
        "coalesce_all_gather_ops",
    }
)
# What these ask for takes more than an argument.
_REFUSED = {
    "sharding_groups": 'groups of ranks are a mesh of two dimensions, mesh=init_device_mesh("neuron", (replicate, shard), mesh_dim_names=...)',
    "sharding_rank": "it belongs to sharding_groups, which are a device mesh for FSDP2",
    "sharding_world_size": "it belongs to sharding_groups, which are a device mesh for FSDP2",
    "param_init_fn": "parameters on the meta device: shard first, then model.to_empty(device=...) and initialise",
}


class Unsure(Exception):
    """A call cannot be ported by itself; the text says why."""


@dataclass(frozen=True, slots=True)
class Policy:
    """An auto-wrap policy: the classes that it names, where it is one that names classes, and the statement that makes it."""

    value: ast.expr
    classes: ast.expr | None = None
    statement: ast.stmt | None = None


@dataclass(slots=True)
class Sharding:
    """The arguments of a call by name; those of ``**options`` are the arguments of the ``dict()`` that makes the options."""

    call: Called
    arguments: dict[str, ast.expr | ast.keyword]
    source: ast.Call | None = None
    unpacked: ast.expr | None = None
    policy: Policy | None = None
    wrapper: bool = False
    dropped: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    def value(self, name: str) -> ast.expr:
        """The value of an argument."""
        return value_of(self.arguments[name])

    def owner(self, name: str) -> ast.Call:
        """The call that an argument is written in: this one, or the ``dict()`` of the options."""
        return (
            self.source if self.source is not None and self.arguments[name] in self.source.keywords else self.call.call
        )

    @property
    def module(self) -> ast.expr | None:
        """The module that is wrapped; ``None`` where the call is made later, by ``functools.partial``."""
        return self.value("module") if "module" in self.arguments and not self.call.shift else None

    @property
    def statement(self) -> ast.stmt | None:
        """The statement that does nothing but to keep, to return or to drop what the call makes."""
        parent = self.call.call.parent
        if isinstance(parent, ast.Assign):
            plain = isinstance(parent.targets[0], (ast.Name, ast.Attribute, ast.Subscript))
            return parent if len(parent.targets) == 1 and plain else None
        return parent if isinstance(parent, (ast.Return, ast.Expr)) else None

    @property
    def looped(self) -> bool:
        """Whether the policy becomes a loop over the submodules of some classes."""
        named = self.policy is not None and self.policy.classes is not None and not self.wrapper
        return named and self.statement is not None and self.module is not None

    @property
    def dtype(self) -> ast.expr | None:
        """The dtype of the computation, where one is asked for."""
        if "compute_dtype" not in self.arguments:
            return None
        value = self.value("compute_dtype")
        if ast.unparse(value) in ("torch.float32", "torch.float"):
            return None  # that is what parameters have
        return None if isinstance(value, ast.Constant) and value.value is None else value

    @property
    def reduced(self) -> ast.expr | None:
        """What says that gradients are reduced in float32."""
        return self.value("fp32_reduce_scatter") if "fp32_reduce_scatter" in self.arguments else None


def sharding_of(module: Module, target: Called) -> Sharding:
    """Read a call.

    Raises:
        Unsure: an argument asks for more than an argument of FSDP2, or cannot be read.
    """
    sharding = Sharding(target, _written(target))
    forwarded = _is_forwarding(target)
    for keyword in target.call.keywords:
        if keyword.arg is None and not forwarded:
            _unpack(module, sharding, keyword.value)
    if not target.shift and "module" not in sharding.arguments:
        raise Unsure("the module is not passed by its name")
    for name, argument in sharding.arguments.items():
        value = value_of(argument)
        if name in _REFUSED and not _is_false(value):
            raise Unsure(_REFUSED[name])
        if name == "auto_wrap_policy" and not _is_false(value):
            sharding.policy = _policy(module, value)
            if sharding.owner(name) is not target.call:
                raise Unsure("the policy is one of unpacked options")
        elif name == "auto_wrapper_callable":
            _wrapper(sharding, value)
        elif name in _DROPPED or name in _REFUSED or name == "auto_wrap_policy" or name.startswith("_"):
            sharding.dropped.append(name)
        elif name == "reshard_after_forward":
            _reshard(sharding, value)
        elif name != "module":
            raise Unsure(f"the option {name} is not known")
    if sharding.dtype is not None and sharding.reduced is not None:
        if sharding.owner("compute_dtype") is not sharding.owner("fp32_reduce_scatter"):
            raise Unsure("the dtypes stand in two places")
    return sharding


def _wrapper(sharding: Sharding, value: ast.expr) -> None:
    """A wrapper for each submodule only has a meaning beside a policy, which then goes through the helper."""
    policy = sharding.arguments.get("auto_wrap_policy")
    if _is_false(value) or policy is None or _is_false(value_of(policy)):
        sharding.dropped.append("auto_wrapper_callable")
        return
    if not isinstance(sharding.arguments["auto_wrapper_callable"], ast.keyword):
        raise Unsure("the wrapper of submodules is one of unpacked options")
    sharding.wrapper = True


def _is_forwarding(target: Called) -> bool:
    """``lambda m, *args, **kwargs: FSDP(change(m), *args, **kwargs)``: the options come from who calls it."""
    call = target.call
    function = next((each for each in ancestors(call) if isinstance(each, (ast.FunctionDef, ast.Lambda))), None)
    if function is None or function.args.vararg is None or function.args.kwarg is None or len(call.args) != 2:
        return False
    starred, unpacked = call.args[1], call.keywords
    return (
        isinstance(starred, ast.Starred)
        and isinstance(starred.value, ast.Name)
        and starred.value.id == function.args.vararg.arg
        and len(unpacked) == 1
        and unpacked[0].arg is None
        and isinstance(unpacked[0].value, ast.Name)
        and unpacked[0].value.id == function.args.kwarg.arg
    )


def _reshard(sharding: Sharding, value: ast.expr) -> None:
    root = sharding.arguments.get("disable_reshard_on_root")
    sharded_root = root is not None and _is_false(value_of(root))
    if isinstance(value, ast.Constant) and value.value is True and not sharded_root:
        sharding.dropped.append("reshard_after_forward")
    else:
        sharding.kept.append("reshard_after_forward")


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _written(target: Called) -> dict[str, ast.expr | ast.keyword]:
    call = target.call
    found: dict[str, ast.expr | ast.keyword] = {}
    given = call.args[target.shift :]
    if _is_forwarding(target):
        given = given[:1]
    if len(given) > len(_POSITIONAL) or any(isinstance(item, ast.Starred) for item in given):
        raise Unsure("positional arguments hide which option is set")
    found.update(zip(_POSITIONAL, given, strict=False))
    if len(given) > 1:
        raise Unsure("options are passed by position")
    found.update({keyword.arg: keyword for keyword in call.keywords if keyword.arg is not None})
    return found


def _unpack(module: Module, sharding: Sharding, value: ast.expr) -> None:
    """``**options``, where the options are one ``dict(...)`` that nothing else reads or changes."""
    if sharding.unpacked is not None or not isinstance(value, ast.Name):
        raise Unsure(f"**{ast.unparse(value)} hides which options are set")
    bindings = module.bindings(value)
    made = bindings[0].value if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN else None
    plain = (
        isinstance(made, ast.Call)
        and isinstance(made.func, ast.Name)
        and made.func.id == "dict"
        and not made.args
        and all(keyword.arg is not None for keyword in made.keywords)
    )
    if not plain or not all(_is_unpacked(module, read) for read in module.references(bindings[0])):
        raise Unsure(f"**{value.id} hides which options are set")
    sharding.source, sharding.unpacked = made, value
    for keyword in made.keywords:
        if keyword.arg in sharding.arguments:
            raise Unsure(f"the option {keyword.arg} is set twice")
        sharding.arguments[keyword.arg] = keyword


def _is_unpacked(module: Module, read: ast.Name) -> bool:
    parent = read.parent
    call = getattr(parent, "parent", None)
    unpacked = isinstance(parent, ast.keyword) and parent.arg is None and isinstance(call, ast.Call)
    return unpacked and module.qualname(call.func) in NAMES


def _policy(module: Module, value: ast.expr) -> Policy:
    if _classes(module, value) is not None:
        return Policy(value, _classes(module, value))
    if isinstance(value, ast.Name):
        bindings = module.bindings(value)
        if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN and len(module.references(bindings[0])) == 1:
            made = bindings[0].value
            statement = made.parent
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                return Policy(value, _classes(module, made), statement)
    return Policy(value)


def _classes(module: Module, value: ast.expr) -> ast.expr | None:
    """The classes of ``partial(transformer_auto_wrap_policy, transformer_layer_cls={Block})``."""
    if not isinstance(value, ast.Call) or module.qualname(value.func) != "functools.partial" or len(value.args) != 1:
        return None
    policy = module.qualname(value.args[0])
    if policy != f"{_POLICIES}transformer_auto_wrap_policy" or len(value.keywords) != 1:
        return None
    keyword = value.keywords[0]
    return keyword.value if keyword.arg == "transformer_layer_cls" else None

"""FSDP of PyTorch/XLA, which wraps a module; FSDP2 shards a module in place.

    model = FSDP(model, flatten_parameters=True)             ->  fully_shard(model)                             (unsafe)
    model = FSDP(Net().to(device))                           ->  model = Net().to(device)
                                                                 fully_shard(model)                             (unsafe)
    blocks.append(FSDP(block, compute_dtype=torch.bfloat16, fp32_reduce_scatter=True))
        ->  blocks.append(fully_shard(block, mp_policy=MixedPrecisionPolicy(
                param_dtype=torch.bfloat16, reduce_dtype=torch.float32)))                                       (unsafe)
    model = FSDP(model, auto_wrap_policy=partial(transformer_auto_wrap_policy, transformer_layer_cls={Block}))
        ->  for module in model.modules():
                if isinstance(module, Block):
                    fully_shard(module)
            fully_shard(model)                                                                                  (unsafe)
    model = FSDP(model, auto_wrap_policy=policy)             ->  fully_shard_by_policy(model, policy)           (unsafe)
    lambda m, *args, **kwargs: FSDP(checkpoint_module(m), *args, **kwargs)     the options come from who calls it
    isinstance(model, FSDP)                                  ->  isinstance(model, FSDPModule)                  (unsafe)
    FSDP(model, sharding_groups=groups), class Own(FSDP)         reported

Options that FSDP2 does not have because it works otherwise (flattening, barriers, layouts) go. Both leave the root
unsharded after its forward pass unless they are told otherwise, so that ``reshard_after_forward=True`` goes as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import called
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.codemods.xla_fsdp_call import Sharding, Unsure, sharding_of
from neuron_port.edits.operations import (
    DropArgument,
    InsertArgument,
    Operation,
    RemoveStatement,
    Rename,
    ReplaceStatement,
    SetKeyword,
)
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.literals import is_none
from neuron_port.semantics.module import scope_at

_MODULE = "torch.distributed.fsdp"
_GONE = (
    "XlaFullyShardedDataParallel wrapped a module; FSDP2 shards it in place: fully_shard(module), inner modules first"
)


def inspect(site: Site) -> Iterator[Report]:
    """Report a wrapped module, or a question about one."""
    if site.form == "import" or site.row is None or not site.qualname.endswith(".XlaFullyShardedDataParallel"):
        yield from by_table(site)
        return
    target = called(site)
    if target is None:
        yield _asked(site)
        return
    try:
        sharding = sharding_of(site.module, target)
        operations = _operations(site, sharding)
    except Unsure as reason:
        yield site.report(f"{_GONE}; not done by itself: {reason}", applicability=Applicability.MANUAL)
        return
    yield site.report(
        _GONE,
        applicability=Applicability.UNSAFE,
        operations=operations,
        use=(site.binding, None) if site.binding is not None else None,
    )
    for name, argument in sharding.arguments.items():
        if name == "buffer_dtype" and not is_none(sharding.value(name)):
            yield site.report(
                "FSDP2 leaves buffers in their dtype; cast them by hand where the lower precision matters",
                node=argument,
                severity=Severity.WARNING,
                applicability=Applicability.MANUAL,
            )


def _asked(site: Site) -> Report:
    """``isinstance(model, FSDP)`` and annotations; every other use of the class is left to a person."""
    parent = site.node.parent
    around = parent.parent if isinstance(parent, ast.Tuple) else parent
    asks = (
        isinstance(around, ast.Call)
        and isinstance(around.func, ast.Name)
        and around.func.id in ("isinstance", "issubclass")
    )
    spelling = site.imported(_MODULE, "FSDPModule")
    if spelling is None or not (asks or site.form == "annotation"):
        return site.report(
            f"{_GONE}; the class is passed on here, where its calls are not known", applicability=Applicability.MANUAL
        )
    return site.report(
        "modules that FSDP2 has sharded are instances of FSDPModule",
        applicability=Applicability.UNSAFE,
        operations=[Rename(site.node, spelling.text), *spelling.operations],
        use=(site.binding, None) if site.binding is not None else None,
    )


def _operations(site: Site, sharding: Sharding) -> list[Operation]:
    """The operations for one call.

    Raises:
        Unsure: a name that is needed is taken.
    """
    call = sharding.call.call
    name = site.imported(_MODULE, "fully_shard")
    if name is None:
        raise Unsure("the name fully_shard means something else here")
    operations: list[Operation] = [*name.operations, *_options(site, sharding)]
    whole = sharding.statement
    if sharding.looped:
        return [*operations[len(name.operations) :], *_loop(site, sharding, whole, name.text), *name.operations]
    if sharding.policy is not None:
        helper = site.helper("fully_shard_by_policy")
        if helper is None or sharding.module is None:
            raise Unsure("the name fully_shard_by_policy means something else here")
        keyword = sharding.arguments["auto_wrap_policy"]
        operations = [*operations[len(name.operations) :], *helper.operations, Rename(call.func, helper.text)]
        if isinstance(keyword, ast.keyword) and not sharding.call.shift:
            operations.append(SetKeyword(call, keyword, None))
        if sharding.wrapper:
            operations.append(SetKeyword(call, sharding.arguments["auto_wrapper_callable"], "wrapper"))
        return operations
    named = Rename(site.node, name.text)
    if isinstance(whole, ast.Assign) and sharding.module is not None:
        target = whole.targets[0]
        if same_chain(target, sharding.module):
            return [*operations, named, ReplaceStatement(whole, "{call}", {"call": call})]
        if isinstance(target, ast.Name) and isinstance(sharding.module, ast.Call):
            return [
                *_options(site, sharding, only_source=True),
                *name.operations,
                *_split(site, sharding, whole, name.text),
            ]
    return [*operations, named]


def _options(site: Site, sharding: Sharding, *, only_source: bool = False) -> list[Operation]:
    """Take the arguments out that go, and put in what says them now."""
    operations: list[Operation] = []
    for name in sharding.dropped:
        owner = sharding.owner(name)
        if not only_source or owner is not sharding.call.call:
            operations.append(DropArgument(owner, sharding.arguments[name]))
    mixed = _mixed_precision(site, sharding)
    if mixed is not None:
        owner, template, holes, extra = mixed
        if not only_source or owner is not sharding.call.call:
            operations += [InsertArgument(owner, template, "mp_policy", holes=holes), *extra]
    return operations


def _mixed_precision(site: Site, sharding: Sharding):
    """``compute_dtype`` and ``fp32_reduce_scatter`` as one policy: where it goes, its source, its holes, its imports."""
    if sharding.dtype is None:
        return None
    policy = site.imported(_MODULE, "MixedPrecisionPolicy")
    torch = site.spell("torch.float32", sharding.call.call)
    if policy is None or torch is None:
        raise Unsure("the name MixedPrecisionPolicy means something else here")
    holes = {"dtype": sharding.dtype}
    template = f"{policy.text}(param_dtype={{dtype}}"
    reduced = sharding.reduced
    if isinstance(reduced, ast.Constant):
        template += f", reduce_dtype={torch.text}" if reduced.value else ""
    elif reduced is not None:
        template += f", reduce_dtype={torch.text} if {{reduced}} else None"
        holes["reduced"] = reduced
    return sharding.owner("compute_dtype"), f"{template})", holes, [*policy.operations, *torch.operations]


def _keywords(site: Site, sharding: Sharding) -> tuple[str, dict[str, ast.expr], list[Operation]]:
    """The options as source behind the module: for statements that are written anew."""
    parts: list[str] = []
    holes: dict[str, ast.expr] = {}
    operations: list[Operation] = []
    for name in sharding.kept:
        if sharding.owner(name) is sharding.call.call:
            holes[f"o{len(holes)}"] = sharding.value(name)
            parts.append(f"{name}={{o{len(holes) - 1}}}")
    mixed = _mixed_precision(site, sharding)
    if mixed is not None and mixed[0] is sharding.call.call:
        parts.append(f"mp_policy={mixed[1]}")
        holes.update(mixed[2])
        operations += mixed[3]
    if sharding.unpacked is not None:
        holes["options"] = sharding.unpacked
        parts.append("**{options}")
    return "".join(f", {part}" for part in parts), holes, operations


def _split(site: Site, sharding: Sharding, statement: ast.Assign, name: str) -> list[Operation]:
    """``model = FSDP(Net())`` in two statements."""
    keywords, holes, operations = _keywords(site, sharding)
    template = f"{{target}} = {{module}}\n{name}({{target}}{keywords})"
    holes = {**holes, "target": statement.targets[0], "module": sharding.module}
    return [ReplaceStatement(statement, template, holes), *operations]


def _loop(site: Site, sharding: Sharding, statement: ast.stmt, name: str) -> list[Operation]:
    """A policy that names classes is a loop over the submodules."""
    keywords, holes, operations = _keywords(site, sharding)
    policy, module = sharding.policy, sharding.module
    variable = "module" if scope_at(statement).lookup("module") is None else "submodule"
    if isinstance(policy.classes, (ast.Set, ast.Tuple, ast.List)) and policy.classes.elts:
        names = [f"c{index}" for index in range(len(policy.classes.elts))]
        holes.update(zip(names, policy.classes.elts, strict=True))
        classes = ", ".join(f"{{{each}}}" for each in names)
        classes = f"({classes})" if len(names) > 1 else classes
    else:
        holes["classes"] = policy.classes
        classes = "tuple({classes})"
    # Of classes that contain each other the inner one comes first.
    several = classes.startswith(("(", "tuple"))
    chain = isinstance(module, (ast.Name, ast.Attribute, ast.Subscript))
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    holes["module"] = module
    if not chain and target is None:
        raise Unsure("the wrapped module has no name")
    if not chain:
        holes["target"] = target
    head = "" if chain else "{target} = {module}\n"
    root = "{module}" if chain else "{target}"
    modules = f"reversed(list({root}.modules()))" if several else f"{root}.modules()"
    last = f"{name}({root}{keywords})"
    if isinstance(statement, ast.Return):
        last = f"return {last}"
    elif chain and target is not None and not same_chain(target, module):
        holes["target"] = target
        last = f"{{target}} = {last}"
    template = (
        f"{head}for {variable} in {modules}:\n"
        f"    if isinstance({variable}, {classes}):\n"
        f"        {name}({variable}{keywords})\n"
        f"{last}"
    )
    found: list[Operation] = [ReplaceStatement(statement, template, holes), *operations]
    if policy.statement is not None:
        found.append(RemoveStatement(policy.statement))
    return found

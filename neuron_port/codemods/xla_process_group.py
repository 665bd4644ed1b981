"""Process groups of PyTorch/XLA: what ``backend_string`` and the table of arguments leave.

    dist.init_process_group("xla", rank=xm.get_ordinal(), world_size=xm.xrt_world_size())
        ->  dist.init_process_group("neuron")
    dist.init_process_group("gloo", init_method="xla://")
        ->  dist.init_process_group("cpu:gloo,neuron:neuron")                                               (unsafe)
    dist.new_group(ranks, pg_options={"xla_pg_options": {"mesh": groups}})     ->  dist.new_group(ranks)        (unsafe)
    init_method = "xla://"                                     ->  init_method = "env://"
    isinstance(dist.group.WORLD, xbn.ProcessGroupXla)          ->  dist.get_backend() == "neuron"
    group._mesh                                                reported

A file that makes the group and never ends it is told so, once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import backend_string, lineage
from neuron_port.codemods.argument_table import Called, called, claim, drop, spell_closest, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import Replace, SetString
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import Role
from neuron_port.semantics.module import enclosing_function
from neuron_port.semantics.scopes import BindingKind

CODE = "NP253"
_METHODS = ("xla://", "pjrt://")
_BOTH = "cpu:gloo,neuron:neuron"
_GROUPS = ("group", "pg", "process_group")


def inspect(site: Site) -> Iterator[Report]:
    """Report a string, a class, or the replica groups of a process group."""
    if site.form == "string":
        if isinstance(site.node, ast.Constant) and site.node.value.startswith(_METHODS):
            yield from _method(site)
        else:
            yield from backend_string.inspect(site)
    elif site.form == "value":
        yield from _mesh(site)
    elif site.qualname.endswith(".ProcessGroupXla"):
        yield _class(site)
    else:
        yield from by_table(site)


def arguments(site: Site) -> Iterator[Report]:
    """Report what a call that makes a process group says about PyTorch/XLA besides the backend."""
    target = called(site)
    if target is None or CODE not in site.context.rules:
        return
    options = target.argument("pg_options", 7 if site.qualname.endswith(".init_process_group") else 3)
    if options is not None and _of_xla(site, value_of(options)):
        claim(site, value_of(options))
        yield site.report(
            "the options name the replica groups of PyTorch/XLA; a group on Neuron needs its ranks alone, and every process "
            "has to call new_group for every group",
            node=options,
            code=CODE,
            applicability=Applicability.UNSAFE,
            operations=[drop(target, options)],
        )
    if site.qualname.endswith(".init_process_group"):
        yield from _hosts_only(site, target)
        yield from _ranks(site, target)
        yield from _unended(site)


def _hosts_only(site: Site, target: Called) -> Iterator[Report]:
    """A gloo group beside the collectives of XLA programs: the one group of a Neuron process serves both."""
    method, backend = target.argument("init_method", 1), target.argument("backend", 0)
    word = value_of(backend) if backend is not None else None
    value = getattr(value_of(method), "value", None) if method is not None else None
    if not isinstance(value, str) or not value.startswith(_METHODS):
        return
    if isinstance(word, ast.Constant) and word.value == "gloo":
        yield site.report(
            "this group served the CPU tensors of programs whose collectives XLA compiled; on Neuron tensors of the device "
            f'need it too: "{_BOTH}"',
            node=word,
            code=CODE,
            applicability=Applicability.MANUAL if site.context.portable else Applicability.UNSAFE,
            operations=[] if site.context.portable else [SetString(word, _BOTH)],
        )


def _of_xla(site: Site, value: ast.expr) -> bool:
    """``{"xla_pg_options": ...}``, also through a variable."""
    values = [value]
    if isinstance(value, ast.Name):
        values = [
            binding.value
            for binding in site.module.bindings(value)
            if binding.kind is BindingKind.ASSIGN and binding.value is not None
        ]
    return any(
        isinstance(inner, ast.Constant) and inner.value == "xla_pg_options"
        for each in values
        if isinstance(each, (ast.Dict, ast.Call))
        for inner in ast.walk(each)
    )


def _ranks(site: Site, target: Called) -> Iterator[Report]:
    """Rank and world size that were asked of PyTorch/XLA are what torchrun says, where nothing else does."""
    method = target.argument("init_method", 1)
    value = getattr(value_of(method), "value", "") if method is not None else None
    if value is not None and not str(value).startswith((*_METHODS, "env://")):
        return
    asked = site.context.rules[CODE].options["ranks"]
    found = [
        argument
        for argument in (target.argument("world_size", 3), target.argument("rank", 4))
        if argument is not None
        and isinstance(value_of(argument), ast.Call)
        and site.module.qualname(value_of(argument).func) in asked
    ]
    for argument in found:
        claim(site, value_of(argument))
        yield site.report(
            "the rank and the number of processes were asked of PyTorch/XLA; torch reads them from what torchrun sets",
            node=argument,
            code=CODE,
            operations=[drop(target, argument, found)],
        )


def _unended(site: Site) -> Iterator[Report]:
    context = site.context
    if (
        "unended" in context.memo
        or lineage.standing(context) is not lineage.Standing.NEEDED
        or not (context.processes.is_program or enclosing_function(site.node) is None)
        or site.module.calls_of("destroy_process_group")
    ):
        return
    context.memo.add("unended")
    yield site.report(
        "the process group is never ended; call torch.distributed.destroy_process_group() at the end of the program",
        code=CODE,
        severity=Severity.INFO,
        applicability=Applicability.MANUAL,
    )


def _method(site: Site) -> Iterator[Report]:
    """``"xla://"`` outside the call that makes the group."""
    use = site.context.devices.use(site.node)
    if use.role is Role.TEXT:
        return
    compared = isinstance(site.node.parent, ast.Compare)
    yield site.report(
        f'"{site.node.value}" is how torch_xla finds the other processes; torchrun sets what "env://" reads',
        operations=[SetString(site.node, "env://")] if not compared else [],
        applicability=Applicability.MANUAL if compared else Applicability.SAFE,
        evidence=use.evidence,
    )


def _class(site: Site) -> Report:
    """``isinstance(group, ProcessGroupXla)``."""
    call = site.node.parent
    asked = spell_closest(site, "torch.distributed.get_backend", site.node)
    plain = (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "isinstance"
        and len(call.args) == 2
        and call.args[1] is site.node
    )
    if not plain or asked is None:
        return site.report(applicability=Applicability.MANUAL)
    group = call.args[0]
    world = (site.module.qualname(group) or "").endswith(("group.WORLD", "GroupMember.WORLD"))
    text = f'{asked.text}({"" if world else "{group}"}) == "neuron"'
    return site.report(
        operations=[Replace(call, text, {} if world else {"group": group}), *asked.operations],
        applicability=Applicability.SAFE if not site.context.portable else Applicability.UNSAFE,
        use=(site.binding, None) if site.binding else None,
    )


def _mesh(site: Site) -> Iterator[Report]:
    """``group._mesh``, where it is read from something that is called like a process group."""
    if _is_group(site, site.node.value) and lineage.standing(site.context) is lineage.Standing.NEEDED:
        yield site.report(
            "_mesh holds the replica groups of a process group of PyTorch/XLA; pass the group itself to torch.distributed, or "
            "ask torch.distributed.get_process_group_ranks(group) for its ranks",
            applicability=Applicability.MANUAL,
        )


def _is_group(site: Site, value: ast.expr) -> bool:
    """Whether an expression is called like a process group, or was made as one."""
    asked = value.func if isinstance(value, ast.Call) else value
    if getattr(asked, "attr", getattr(asked, "id", "")).lower().endswith(_GROUPS):
        return True
    made = [binding.value for binding in site.module.bindings(value)] if isinstance(value, ast.Name) else []
    return any(
        isinstance(each, ast.Call) and (site.module.qualname(each.func) or "").endswith(("new_group", "process_group"))
        for each in made
    )

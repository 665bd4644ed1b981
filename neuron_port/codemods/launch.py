"""Calls that start one process for each core: after the port torchrun does.

    xmp.spawn(work, args=(flags,), nprocs=8)
        ->  torch.distributed.init_process_group("neuron")
            work(torch.distributed.get_rank(), flags)
            torch.distributed.destroy_process_group()
    torch_xla.launch(work, args=(flags,))
        ->  the same with work(torch.distributed.get_node_local_rank(fallback_rank=0), flags)
    xmp.spawn(work, nprocs=1)                           ->  work(0)
    where ``work`` makes a process group itself         ->  work(int(os.environ.get("RANK", 0)))
    where ``work`` makes one in some cases              ->  a group around the call, and in ``work``
        dist.init_process_group("xla")                  ->  if not dist.is_initialized():
                                                                dist.init_process_group("neuron")

    if os.environ.get("WORLD_SIZE"):
        dist.init_process_group("xla")
        work(0)
    else:
        xmp.spawn(work)                                 ->  work(0)

Processes that share a queue are reported alone: under torchrun each would read all of it.

``xmp.spawn`` passed the number of the process among all, ``torch_xla.launch`` under torchrun the one on its host.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import process_group_order, process_spelling
from neuron_port.codemods.argument_table import Called, source, spell_closest, value_of
from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.codemods.ranks import is_alias
from neuron_port.edits.operations import GuardStatement, InsertStatement, Operation, Replace, ReplaceStatement
from neuron_port.findings import Applicability
from neuron_port.semantics.guards import block_of
from neuron_port.semantics.processes import Launch
from neuron_port.semantics.scopes import BindingKind

_SEEDS = ("manual_seed", "set_seed", "seed_everything", "manual_seed_all", "set_rng_state", "broadcast_master_param")
_DDP = ("torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.distributed.DistributedDataParallel")
_SHARED = frozenset({"Queue", "JoinableQueue", "SimpleQueue", "Value", "Array"})
_EXIT = 'raise SystemExit("start this program with torchrun")'
_BACKEND = "torch.distributed.get_default_backend_for_device({device})"


def inspect(site: Site) -> Iterator[Report]:
    """Report a call that starts processes."""
    if is_alias(site) and site.call is None:
        return
    if site.row.action == "flag":
        yield site.report()
        return
    launch = site.context.processes.launch(site.call) if site.call is not None else None
    if launch is None:
        yield site.report(f"{site.row.message}; it is passed on without a call", applicability=Applicability.MANUAL)
        return
    problem = _problem(site, launch)
    if problem is not None:
        yield site.report(f"{site.row.message}; {problem}", applicability=Applicability.MANUAL)
        return
    operations = _operations(site, launch)
    if operations is None:
        yield site.report(
            f"{site.row.message}; the name torch or os means something else here", applicability=Applicability.MANUAL
        )
        return
    yield site.report(
        "; ".join([site.row.message, *_remarks(site, launch)]),
        operations=operations,
        use=(site.binding, None) if site.binding else None,
    )
    if site.context.processes.joins(launch) and not site.context.processes.grouped_before(launch):
        yield from process_group_order.inspect(site)


def _problem(site: Site, launch: Launch) -> str | None:
    call = launch.call
    if Called(call).hidden:
        return "its arguments are unpacked"
    if launch.function is None:
        return "it names no function"
    shared = _shared(site, call)
    if shared is not None and not launch.single:
        return (
            f"all its processes share {shared}, and torchrun starts them apart from one another: let each process make its "
            "own, with its share of the data"
        )
    processes = site.context.processes
    if processes.joins(launch) and not processes.grouped_before(launch):
        for init in processes.other_inits(launch):
            if not isinstance(init.parent, ast.Expr):
                return f"the process group that line {init.lineno} makes in some cases has to be made in all"
    if not isinstance(call.parent, (ast.Expr, ast.Return)):
        return "its result is used, which torchrun does not give"
    return None


def _shared(site: Site, call: ast.Call) -> str | None:
    """The queue or other object of multiprocessing that the processes are given."""
    _, holes = _arguments(call)
    for name in (each for each in holes.values() if isinstance(each, ast.Name)):
        for binding in site.module.bindings(name):
            made = binding.value if binding.kind is BindingKind.ASSIGN else None
            maker = made.func if isinstance(made, ast.Call) else None
            package, _, kind = (
                (site.module.qualname(maker) or "").rpartition(".") if maker is not None else ("", "", "")
            )
            if package in ("multiprocessing", "torch.multiprocessing") and kind in _SHARED:
                return name.id
    return None


def _operations(site: Site, launch: Launch) -> list[Operation] | None:
    """A call of the function in this process, with a process group around it where none is there yet."""
    call, processes = launch.call, site.context.processes
    if processes.needs_torchrun(launch):
        return [ReplaceStatement(call.parent, _EXIT)]
    grouped = processes.grouped_before(launch)
    wrapped = processes.joins(launch) and not grouped
    index = _index(site, launch, wrapped=wrapped)
    if index is None:
        return None
    template, holes = _arguments(call)
    text = f"{{function}}({', '.join([index.text, *template])})"
    whole = call.parent
    operations: list[Operation] = [*index.operations]
    if not wrapped:
        return [Replace(call, text, {**holes, "function": launch.function}), *operations]
    made, ended = _made(site, call), _ended(site, call)
    if made is None or ended is None:
        return None
    operations += [*made.operations, *ended.operations]
    for init in processes.other_inits(launch):
        asked = spell_closest(site, "torch.distributed.is_initialized", init)
        if asked is None:
            return None
        operations += [GuardStatement(init.parent, f"not {asked.text}()"), *asked.operations]
    if isinstance(whole, ast.Return):
        statements = f"{made.text}\n{text}\n{ended.text}\nreturn"
        return [ReplaceStatement(whole, statements, {**holes, "function": launch.function}), *operations]
    return [
        InsertStatement(whole, made.text),
        Replace(call, text, {**holes, "function": launch.function}),
        InsertStatement(whole, ended.text, after=True),
        *operations,
    ]


def _index(site: Site, launch: Launch, *, wrapped: bool) -> Spelling | None:
    """What the function is told about its place among the processes."""
    if launch.single or site.context.processes.alone(launch.call):
        return Spelling("0")
    if launch.passes_local_rank:
        return process_spelling.local_rank(site, launch.call)
    if wrapped:
        return process_spelling.called(site, "torch.distributed.get_rank", launch.call)
    return process_spelling.variable(site, launch.call, "RANK", 0)  # right before the group exists too


def _arguments(call: ast.Call) -> tuple[list[str], dict[str, ast.expr]]:
    """The further arguments of the function as a template with its holes."""
    given = Called(call).argument("args", 1)
    value = value_of(given) if given is not None else None
    if value is None:
        return [], {}
    if not isinstance(value, (ast.Tuple, ast.List)):
        return ["*{args}"], {"args": value}
    parts: list[str] = []
    holes: dict[str, ast.expr] = {}
    for number, element in enumerate(value.elts):
        starred = isinstance(element, ast.Starred)
        parts.append(f"{'*' if starred else ''}{{a{number}}}")
        holes[f"a{number}"] = element.value if starred else element
    return parts, holes


def _made(site: Site, node: ast.AST) -> Spelling | None:
    """``torch.distributed.init_process_group("neuron")``; portable code asks for the accelerator's backend."""
    init = spell_closest(site, "torch.distributed.init_process_group", node)
    backend = source(site, _BACKEND, node) if site.context.portable else Spelling('"neuron"')
    if init is None or backend is None:
        return None
    return Spelling(f"{init.text}({backend.text})", (*init.operations, *backend.operations))


def _ended(site: Site, node: ast.AST) -> Spelling | None:
    """The end of the process group, which the program may have ended itself."""
    ended = process_spelling.called(site, "torch.distributed.destroy_process_group", node)
    asked = spell_closest(site, "torch.distributed.is_initialized", node)
    if ended is None or asked is None or not site.module.calls_of("destroy_process_group"):
        return ended
    return Spelling(f"if {asked.text}():\n    {ended.text}", ended.operations)


def alike(site: Site) -> bool:
    """Whether the file makes the models of all processes start alike: by a seed, a broadcast or DDP."""
    return any(site.module.calls_of(name) for name in _SEEDS) or any(
        binding.qualname in _DDP for binding in site.module.found.imports
    )


def _remarks(site: Site, launch: Launch) -> list[str]:
    """What the port needs besides the edit."""
    call, processes = launch.call, site.context.processes
    if launch.single:
        return ["here it is one process, so call the function"]
    if processes.alone(call):
        return ["this branch is for a program that torchrun did not start, which is one process now"]
    count = Called(call).argument("nprocs", 2) if not launch.passes_local_rank else None
    number = value_of(count) if count is not None else None
    known = number.value if isinstance(number, ast.Constant) and number.value is not None else "N"
    remarks = [f"call the function in the processes that `torchrun --nproc_per_node={known}` starts"]
    block = block_of(call.parent)
    behind = block[block.index(call.parent) + 1 :]
    if behind:
        remarks.append(f"what follows from line {behind[0].lineno} on runs in each of them now")
    method = Called(call).argument("start_method", 2 if launch.passes_local_rank else 5)
    forked = method is not None and getattr(value_of(method), "value", None) == "fork"
    if forked and not alike(site):
        remarks.append(
            "forked processes began with one random state, these do not: seed them, or their models start out different"
        )
    return remarks

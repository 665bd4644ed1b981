"""Questions to the runtime about ranks, counts of processes and the type of device.

    xm.get_ordinal()                 ->  torch.distributed.get_rank()               | int(os.environ.get("RANK", 0))
    xr.world_size()                  ->  torch.distributed.get_world_size()         | int(os.environ.get("WORLD_SIZE", 1))
    xr.local_ordinal()               ->  torch.distributed.get_node_local_rank(fallback_rank=0)
    xr.local_process_count()         ->  int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    xr.addressable_device_count()    ->  1                 | torch.accelerator.device_count()        (unsafe)
    xr.get_master_ip()               ->  os.environ.get("MASTER_ADDR", "localhost")
    xr.device_type() == "NEURON"     ->  torch.accelerator.current_accelerator().type == "neuron"    (unsafe)
    xr.set_device_type("NEURON")     ->  (removed)
    read = xm.get_ordinal            ->  read = lambda: int(os.environ.get("RANK", 0))
    @xr.requires_pjrt                ->  (removed)

The first spelling is for places where there surely is a process group, the second for all others. A row says with ``ask``
what is asked; rows without it are plain ones.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from neuron_port.codemods import process_spelling
from neuron_port.codemods.argument_table import called, spell_closest, value_of
from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.codemods.name_table import removable
from neuron_port.edits.operations import Operation, RemoveDecorator, RemoveStatement, Rename, Replace, SetString
from neuron_port.findings import Applicability
from neuron_port.semantics.processes import Parallel
from neuron_port.semantics.scopes import BindingKind

_ASKS: dict[str, Callable[[Site, ast.AST], Spelling | None]] = {
    "rank": process_spelling.rank,
    "world size": process_spelling.world_size,
    "local rank": process_spelling.local_rank,
    "local world size": process_spelling.local_world_size,
    "host": process_spelling.host,
}
_SPMD = "with SPMD one process drove all cores of a host, and after the port each core has its own"


def inspect(site: Site) -> Iterator[Report]:
    """Report a question by its row."""
    ask = site.row.options.get("ask")
    if is_alias(site):
        return
    if ask == "host" and site.context.processes.spmd:
        ask = "rank"  # each host had one process, which loaded its own part of the data
    if ask is None or site.form == "assign":
        yield from by_table(site)
    elif ask == "device type":
        yield _device_type(site)
    elif ask == "set device type":
        yield _set_device_type(site)
    elif ask == "cores":
        yield _answered(site, _cores(site))
    elif ask == "pjrt":
        yield _pjrt(site)
    elif ask in _ASKS:
        yield _answered(site, _ASKS[ask](site, site.node))
    else:
        yield _answered(site, Spelling(ask) if "." not in ask else _expression(site, ask))


def is_alias(site: Site) -> bool:
    """Whether the site's name is a variable that keeps the old function; what was assigned has been reported."""
    return isinstance(site.node, ast.Name) and all(
        binding.kind is not BindingKind.IMPORT for binding in site.module.bindings(site.node)
    )


def _expression(site: Site, text: str) -> Spelling | None:
    head, bracket, rest = text.partition("(")
    spelling = spell_closest(site, head, site.node)
    return Spelling(spelling.text + bracket + rest, spelling.operations) if spelling is not None else None


def _answered(site: Site, answer: Spelling | None) -> Report:
    """The report for a question that ``answer`` takes the place of."""
    message = f"{site.row.message}; use {answer.text}" if answer is not None else site.row.message
    level = site.row.applicability
    if site.context.processes.spmd:
        message, level = f"{message}; {_SPMD}", Applicability.UNSAFE
    if answer is None:
        return site.report(
            f"{message}; the name torch or os means something else here", applicability=Applicability.MANUAL
        )
    call = site.call
    if call is not None:
        operation: Operation = Replace(call, answer.text)
    elif answer.text.endswith("()") and answer.text.count("(") == 1:
        operation = Rename(site.node, answer.text[:-2])
    else:
        operation = Replace(site.node, f"lambda: {answer.text}")
    return site.report(
        message,
        operations=[operation, *answer.operations],
        applicability=level,
        use=(site.binding, None) if site.binding else None,
    )


def _cores(site: Site) -> Spelling | None:
    """How many cores this process has: one, as soon as there are several processes."""
    if site.context.processes.parallel is not Parallel.SINGLE:
        return Spelling("1")
    return process_spelling.called(site, "torch.accelerator.device_count", site.node)


def _device_type(site: Site) -> Report:
    """The type is written in small letters now, which matters to a comparison."""
    current = process_spelling.called(site, "torch.accelerator.current_accelerator", site.node)
    call = site.call
    if current is None or call is None:
        return site.report(applicability=Applicability.MANUAL)
    parent = call.parent
    other = parent.comparators[0] if isinstance(parent, ast.Compare) and parent.left is call else None
    equal = other is not None and len(parent.ops) == 1 and isinstance(parent.ops[0], (ast.Eq, ast.NotEq))
    operations: list[Operation] = []
    if equal and isinstance(other, ast.Constant) and other.value == "NEURON":
        operations = [Replace(call, f"{current.text}.type"), SetString(other, "neuron")]
    else:
        operations = [Replace(call, f"{current.text}.type.upper()")]
    return site.report(
        f"{site.row.message}; use {current.text}.type",
        operations=[*operations, *current.operations],
        use=(site.binding, None) if site.binding else None,
    )


def _set_device_type(site: Site) -> Report:
    target = called(site)
    argument = target.argument("pjrt_device", 0) if target is not None else None
    value = getattr(value_of(argument), "value", None) if argument is not None else None
    whole = removable(site)
    if value != "NEURON" or whole is None:
        return site.report(
            f"{site.row.message}; here it may choose another kind of device", applicability=Applicability.MANUAL
        )
    return site.report(operations=[RemoveStatement(whole)], use=(site.binding, None) if site.binding else None)


def _pjrt(site: Site) -> Report:
    """PJRT has been the only runtime since torch_xla 2.5: the test is true, the decorator does nothing."""
    use = (site.binding, None) if site.binding else None
    if site.call is not None:
        return site.report(operations=[Replace(site.call, "True")], use=use)
    owner = site.node.parent
    if isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef)) and site.node in owner.decorator_list:
        return site.report(operations=[RemoveDecorator(owner, site.node)], use=use)
    return site.report(applicability=Applicability.MANUAL)

"""Places where the processes of PyTorch/XLA wait for each other.

    xm.rendezvous("saved")                  ->  torch.distributed.barrier()
        where a group is not sure           ->  if torch.distributed.is_initialized():
                                                    torch.distributed.barrier()
        in a program of one process         ->  (removed)
    xm.rendezvous("sizes", payload)             reported: torch.distributed.all_gather_object

Each process keeps its number of barriers, so that pairs of them under ``if master`` and ``if not master`` go on working.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, spell_closest, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.ranks import is_alias
from neuron_port.codemods.settings import harmless
from neuron_port.edits.operations import GuardStatement, Operation, RemoveStatement, Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.processes import Parallel

# Parameters besides the tag, which is only logged, with their positions.
_PARAMETERS = {
    "rendezvous": (("payload", 1), ("replicas", 2)),
    "xla_rendezvous": (("payload", 0), ("ordinals", 1)),
}
_ALIAS = "torch_xla.experimental.pjrt.rendezvous"


def inspect(site: Site) -> Iterator[Report]:
    """Report a rendezvous."""
    if is_alias(site):
        return
    if site.row.action == "flag":
        yield site.report()
        return
    call = site.call
    barrier = spell_closest(site, "torch.distributed.barrier", site.node)
    if barrier is None:
        yield site.report(
            f"{site.row.message}; the name torch means something else here", applicability=Applicability.MANUAL
        )
        return
    grouped = site.context.processes.grouped(site.node)
    if call is None:
        yield _passed_on(site, barrier.text, barrier.operations, grouped=grouped)
        return
    said = _says_more(site, call)
    if said is not None:
        yield site.report(f"{site.row.message}; {said}", applicability=Applicability.MANUAL)
        return
    lost = (
        Applicability.SAFE if harmless([*call.args, *(word.value for word in call.keywords)]) else Applicability.UNSAFE
    )
    use = (site.binding, None) if site.binding else None
    if not isinstance(call.parent, ast.Expr):
        yield _in_expression(site, call, barrier.text, barrier.operations, grouped=grouped)
    elif site.context.processes.parallel is Parallel.SINGLE:
        message = "a program of one process has nobody to wait for; remove the rendezvous"
        yield site.report(message, operations=[RemoveStatement(call.parent)], applicability=lost, use=use)
    else:
        operations: list[Operation] = [Replace(call, f"{barrier.text}()"), *barrier.operations]
        if not grouped:
            initialized = spell_closest(site, "torch.distributed.is_initialized", site.node)
            operations.append(GuardStatement(call.parent, f"{initialized.text}()"))
        message = f"{site.row.message}; use {barrier.text}()"
        yield site.report(message, operations=operations, applicability=lost, use=use)


def _says_more(site: Site, call: ast.Call) -> str | None:
    """Why a call is more than a barrier."""
    target = Called(call)
    if target.hidden:
        return "its arguments are unpacked, so it may pass a payload"
    (payload, first), (others, second) = _PARAMETERS[
        "xla_rendezvous" if site.qualname == _ALIAS else site.qualname.rpartition(".")[2]
    ]
    given = target.argument(payload, first)
    if given is not None and not _is_nothing(value_of(given)):
        return (
            "it passes a payload, which torch.distributed.all_gather_object(list, payload) does, best in a gloo group"
        )
    some = target.argument(others, second)
    if some is not None and not _is_nothing(value_of(some)):
        return "it names some of the processes, and a barrier on Neuron is for all of them"
    return None


def _is_nothing(value: ast.expr) -> bool:
    if isinstance(value, (ast.List, ast.Tuple)):
        return not value.elts
    return isinstance(value, ast.Constant) and value.value in (b"", None)


def _in_expression(site: Site, call: ast.Call, barrier: str, needed: tuple[Operation, ...], *, grouped: bool) -> Report:
    """``lambda: xm.rendezvous("x")``: a barrier, when nothing reads the payloads that come back."""
    if isinstance(call.parent, ast.Lambda) and call.parent.body is call and grouped:
        return site.report(operations=[Replace(call, f"{barrier}()"), *needed])
    return site.report(
        f"{site.row.message}; here its result is used, which is the list of what all processes passed",
        applicability=Applicability.MANUAL,
    )


def _passed_on(site: Site, barrier: str, needed: tuple[Operation, ...], *, grouped: bool) -> Report:
    """``wait = xm.rendezvous``: called elsewhere with a tag."""
    if grouped:
        return site.report(
            operations=[Replace(site.node, f"lambda tag: {barrier}()"), *needed],
            applicability=Applicability.UNSAFE,
            use=(site.binding, None) if site.binding else None,
        )
    return site.report(f"{site.row.message}; it is passed on without a call", applicability=Applicability.MANUAL)

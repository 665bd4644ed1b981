"""Checkpoints that PyTorch/XLA writes from the CPU, in one process of each host.

    xm.save(model.state_dict(), path)
        in a program of one process     ->  torch.save({key: value.cpu() for key, value in model.state_dict().items()}, path)
        else                            ->  if torch.distributed.get_node_local_rank(fallback_rank=0) == 0:
                                                torch.save({key: value.cpu() ...}, path)                        (unsafe)
    xm.save(checkpoint, path)           ->  torch.save(to_device(checkpoint, "cpu"), path), under the same test
    save_pretrained(..., save_function=xm.save)     ->  save_pretrained(..., save_function=save_on_cpu)

The table of ``value.cpu()`` is for what surely is a flat state dict. The helper ``save_on_cpu`` is for everything else: saves in
an expression or by many calls, choices made at run time, and state dicts that all processes gather (FSDP, tensor parallel layers).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import process_spelling
from neuron_port.codemods.argument_table import Called, spell_closest, value_of
from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.codemods.ranks import is_alias
from neuron_port.edits.operations import GuardStatement, Operation, Rename, Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.collectives import Collectives
from neuron_port.semantics.guards import implied
from neuron_port.semantics.module import ancestors
from neuron_port.semantics.processes import Parallel
from neuron_port.semantics.scopes import BindingKind

_FEW = 2
_SAVE = "torch_xla.core.xla_model.save"
_MASTER = "torch_xla.core.xla_model.is_master_ordinal"
_NOT_MODULES = ("optim", "sched", "scaler", "ema", "loader", "sampler", "opt", "state")
# Their state dicts are gathered from all processes.
_GATHERED = (
    "torch_xla.distributed.fsdp",
    "torch_xla.experimental.spmd_fully_sharded_data_parallel",
    "torch.distributed.fsdp",
    "torch.distributed.tensor",
    "torch.distributed._composable",
    "neuronx_distributed",
)


def inspect(site: Site) -> Iterator[Report]:
    """Report a save."""
    if not is_alias(site) and site.form != "assign":
        yield _inline(site) or _by_helper(site)


def _by_helper(site: Site) -> Report:
    """The parameters of the helper are those of ``xm.save``."""
    helper = site.helper("save_on_cpu")
    if helper is None:
        return site.report(
            f"{site.row.message}; a name that save_on_cpu needs means something else here",
            applicability=Applicability.MANUAL,
        )
    return site.report(
        f"{site.row.message}; use {helper.text}, which is defined in this file{_remark(site)}",
        operations=[Rename(site.node, helper.text), *helper.operations],
        applicability=_level(site),
        use=(site.binding, None) if site.binding else None,
    )


def _inline(site: Site) -> Report | None:
    """The report for a save that torch.save does, in one process or under a test for the first one."""
    call = site.call
    target = Called(call) if call is not None else None
    if target is None or target.hidden:
        return None
    data, path = target.argument("data", 0), target.argument("file_or_path", 1)
    if data is None or path is None:
        return None
    single = site.context.processes.parallel is Parallel.SINGLE
    first = None if single else _condition(site, target)
    if not single and (first is None or not _stands_alone(site, call, asks=bool(first.text))):
        return None
    save, moved = spell_closest(site, "torch.save", call), _moved(site, value_of(data))
    if save is None or moved is None:
        return None
    operations: list[Operation] = [
        Replace(call, f"{save.text}({moved.text}, {{path}})", {"data": value_of(data), "path": value_of(path)}),
        *save.operations,
        *moved.operations,
    ]
    if first is not None and first.text:
        operations += [GuardStatement(call.parent, first.text), *first.operations]
    return site.report(
        f"{site.row.message}; use torch.save with the tensors on the CPU{_remark(site)}",
        operations=operations,
        applicability=_level(site),
        use=(site.binding, None) if site.binding else None,
    )


def _moved(site: Site, data: ast.expr) -> Spelling | None:
    """Template for the data with its tensors on the CPU; ``None`` for a module, which moves as a whole."""
    if _is_flat(site, data):
        return Spelling("{{key: value.cpu() for key, value in {data}.items()}}")
    helper = site.helper("to_device")
    if helper is None or site.context.receivers.kind(data).kind == "module":
        return None
    return Spelling(f'{helper.text}({{data}}, "cpu")', helper.operations)


def _condition(site: Site, target: Called) -> Spelling | None:
    """The test for the process that writes, empty where every one does; ``None``: it is not known before the program runs."""
    some, of_all = _flag(target, "master_only", 2, True), _flag(target, "global_master", 3, False)
    if some is None or of_all is None:
        return None
    if not some or _by_the_first(site, target.call, over_all=of_all):
        return Spelling("")
    first = process_spelling.rank(site, target.call) if of_all else process_spelling.local_rank(site, target.call)
    return Spelling(f"{first.text} == 0", first.operations) if first is not None else None


def _stands_alone(site: Site, call: ast.Call, *, asks: bool) -> bool:
    """Whether an ``if`` around the statement reads well, and the other processes need not compute the data."""
    if not isinstance(call.parent, ast.Expr) or (asks and len(site.module.calls_to(_SAVE)) > _FEW):
        return False
    if any((binding.qualname or "").startswith(_GATHERED) for binding in site.module.found.imports):
        return False
    return not Collectives(site.module, site.context.processes).inside(call)


def _by_the_first(site: Site, call: ast.Call, *, over_all: bool) -> bool:
    """Whether the call stands under ``if xm.is_master_ordinal():`` already."""
    child: ast.AST = call
    for around in ancestors(call):
        if isinstance(around, ast.If) and child in around.body:
            for part, truth in implied(around.test, True):
                asked = Called(part) if truth and isinstance(part, ast.Call) else None
                if asked is not None and site.module.qualname(part.func) == _MASTER:
                    if not over_all or _flag(asked, "local", 0, True) is False:
                        return True
        child = around
    return False


def _flag(target: Called, name: str, position: int, default: bool) -> bool | None:
    """The value of a literal argument; ``None`` when it is none."""
    given = target.argument(name, position)
    value = value_of(given) if given is not None else None
    if value is None:
        return default
    return bool(value.value) if isinstance(value, ast.Constant) else None


def _is_flat(site: Site, data: ast.expr) -> bool:
    """``model.state_dict()``, also through a variable."""
    if isinstance(data, ast.Name):
        bindings = site.module.bindings(data)
        if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].value is None:
            return False
        data = bindings[0].value
    if not isinstance(data, ast.Call) or data.args or data.keywords or not isinstance(data.func, ast.Attribute):
        return False
    receiver = data.func.value
    if data.func.attr != "state_dict" or site.module.calls_of("get_extra_state"):
        return False
    name = getattr(receiver, "attr", getattr(receiver, "id", "")).lower()
    if any(word in name for word in _NOT_MODULES) or "get_extra_state" in site.module.found.functions:
        return False
    return site.context.receivers.kind(receiver).kind == "module" or "model" in name or "net" in name


def _level(site: Site) -> Applicability:
    """Older releases of torch_xla let all processes wait at the end of a save, which a program may count on."""
    single = site.context.processes.parallel is Parallel.SINGLE
    return Applicability.SAFE if single else Applicability.UNSAFE


def _remark(site: Site) -> str:
    if site.context.processes.parallel is Parallel.SINGLE:
        return ""
    return "; before torch_xla 2.1 all processes also waited here, so put a barrier where others read the file"

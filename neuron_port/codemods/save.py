"""Checkpoints that PyTorch/XLA writes from the CPU, in one process of each host.

    xm.save(model.state_dict(), path)
        in a program of one process     ->  torch.save({key: value.cpu() for key, value in model.state_dict().items()}, path)
        else                            ->  if torch.distributed.get_node_local_rank(fallback_rank=0) == 0:
                                                torch.save({key: value.cpu() ...}, path)                        (unsafe)
    xm.save(checkpoint, path)
        in a program of one process     ->  torch.save(to_device(checkpoint, "cpu"), path)
        else                            ->  save_on_cpu(checkpoint, path)                                       (unsafe)
    save_pretrained(..., save_function=xm.save)     ->  save_pretrained(..., save_function=save_on_cpu)

The inline form is for what surely is a flat table of tensors. Where a state dict is gathered from all processes (FSDP, tensor
parallel layers), the helper computes it in each of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import process_spelling
from neuron_port.codemods.argument_table import Called, spell_closest, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.ranks import is_alias
from neuron_port.edits.operations import GuardStatement, Operation, Rename, Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.guards import implied
from neuron_port.semantics.module import ancestors
from neuron_port.semantics.processes import Parallel
from neuron_port.semantics.scopes import BindingKind

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
        yield _flat(site) or _alone(site) or _by_helper(site)


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


def _alone(site: Site) -> Report | None:
    """The report for nested data in a program of one process, which always writes."""
    call, helper = site.call, site.helper("to_device")
    target = Called(call) if call is not None else None
    save = spell_closest(site, "torch.save", site.node)
    if target is None or target.hidden or helper is None or save is None:
        return None
    data, path = target.argument("data", 0), target.argument("file_or_path", 1)
    if site.context.processes.parallel is not Parallel.SINGLE or data is None or path is None:
        return None
    if site.context.receivers.kind(value_of(data)).kind == "module":
        return None
    return site.report(
        f"{site.row.message}; use torch.save with the tensors on the CPU",
        operations=[
            Replace(
                call,
                f'{save.text}({helper.text}({{data}}, "cpu"), {{path}})',
                {"data": value_of(data), "path": value_of(path)},
            ),
            *helper.operations,
            *save.operations,
        ],
        use=(site.binding, None) if site.binding else None,
    )


def _flat(site: Site) -> Report | None:
    """The report for the state dict of one module, which needs no helper."""
    call = site.call
    target = Called(call) if call is not None else None
    if target is None or target.hidden or not isinstance(call.parent, ast.Expr):
        return None
    data, path = target.argument("data", 0), target.argument("file_or_path", 1)
    every, over_all = _flag(target, "master_only", 2, True), _flag(target, "global_master", 3, False)
    if data is None or path is None or every is None or over_all is None or not _is_flat(site, value_of(data)):
        return None
    save = spell_closest(site, "torch.save", call)
    single = site.context.processes.parallel is Parallel.SINGLE
    first = process_spelling.rank(site, call) if over_all else process_spelling.local_rank(site, call)
    if save is None or first is None or (not single and _gathered(site)):
        return None
    text = f"{save.text}({{{{key: value.cpu() for key, value in {{data}}.items()}}}}, {{path}})"
    operations: list[Operation] = [
        Replace(call, text, {"data": value_of(data), "path": value_of(path)}),
        *save.operations,
    ]
    if not single and every and not _by_the_first(site, call, over_all=over_all):
        operations += [GuardStatement(call.parent, f"{first.text} == 0"), *first.operations]
    return site.report(
        f"{site.row.message}; use torch.save with the tensors on the CPU{_remark(site)}",
        operations=operations,
        applicability=_level(site),
        use=(site.binding, None) if site.binding else None,
    )


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


def _gathered(site: Site) -> bool:
    return any((binding.qualname or "").startswith(_GATHERED) for binding in site.module.found.imports)


def _level(site: Site) -> Applicability:
    """Older releases of torch_xla let all processes wait at the end of a save, which a program may count on."""
    single = site.context.processes.parallel is Parallel.SINGLE
    return Applicability.SAFE if single else Applicability.UNSAFE


def _remark(site: Site) -> str:
    if site.context.processes.parallel is Parallel.SINGLE:
        return ""
    return "; before torch_xla 2.1 all processes also waited here, so put a barrier where others read the file"

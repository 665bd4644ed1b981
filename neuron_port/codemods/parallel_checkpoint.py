"""Checkpoints of NeuronX Distributed: saving is ``torch.distributed.checkpoint``, the rest is named.

checkpointing.save({"model": model.state_dict()}, path, save_serially=False)
    ->  torch.distributed.checkpoint.save({"model": model.state_dict()}, checkpoint_id=path)
checkpointing.save(state, path, down_cast_bf16=True)      reported
checkpointing.load(path, model)                           reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import value_of
from neuron_port.codemods.arguments import Unmappable, carry, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Rename, RequireImport
from neuron_port.findings import Applicability

_MODULE = "torch.distributed.checkpoint"
_SAVE = (
    "(checkpoint, output_dir, save_serially, save_xser, down_cast_bf16, master_dp_only) -> "
    "(checkpoint, /, *, checkpoint_id=output_dir)"
)


def inspect(site: Site) -> Iterator[Report]:
    """Report a function of the checkpoints."""
    if site.row.options.get("does") != "save" or site.call is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    try:
        yield _saved(site, site.call)
    except Unmappable as reason:
        yield site.report(f"{site.row.message}; {reason}", applicability=Applicability.MANUAL)


def _saved(site: Site, call: ast.Call) -> Report:
    names = tuple(name.strip() for name in _SAVE.partition(")")[0].strip("(").split(","))
    given = {name: value_of(item) for name, item in passed(call, names).items()}
    cast = given.get("down_cast_bf16")
    if cast is not None and not (isinstance(cast, ast.Constant) and cast.value is False):
        raise Unmappable("down_cast_bf16 casts what is saved; cast the tensors of the state before")
    torch = site.spell(f"{_MODULE}.save", call)
    if torch is None:
        raise Unmappable("the name torch means something else here")
    return site.report(
        operations=[Rename(call.func, torch.text), *carry(call, _SAVE, drop=names), RequireImport(_MODULE)],
        applicability=Applicability.UNSAFE,
    )

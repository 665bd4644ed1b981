"""Objects that forked processes of PyTorch/XLA shared.

    WRAPPED_MODEL = xmp.MpModelWrapper(Net())      ->  WRAPPED_MODEL = Net()
    SERIAL_EXEC = xmp.MpSerialExecutor()           ->  SERIAL_EXEC = SerialExecutor()      (unsafe)

Each process makes its own model now, so that a seed, a broadcast or DDP has to make them alike.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.launch import alike
from neuron_port.codemods.ranks import is_alias
from neuron_port.edits.operations import Rename, Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.processes import Parallel


def inspect(site: Site) -> Iterator[Report]:
    """Report a wrapper of a model, or an executor."""
    if is_alias(site):
        return
    if site.call is None:
        yield site.report(f"{site.row.message}; it is named without a call", applicability=Applicability.MANUAL)
    elif site.qualname.endswith(".MpSerialExecutor"):
        yield _executor(site)
    else:
        yield _wrapper(site)


def _wrapper(site: Site) -> Report:
    call = site.call
    given = Called(call).argument("model", 0)
    if given is None or Called(call).hidden or _reaches_inside(site, call):
        return site.report(f"{site.row.message}; here its inside is used", applicability=Applicability.MANUAL)
    same = alike(site) or site.context.processes.parallel is Parallel.SINGLE
    message = site.row.message
    if not same:
        message = f"{message}; no seed is set in this file, and without one each process starts with other weights"
    return site.report(
        message,
        operations=[Replace(call, "{model}", {"model": value_of(given)})],
        applicability=Applicability.SAFE if same else Applicability.UNSAFE,
        use=(site.binding, None) if site.binding else None,
    )


def _reaches_inside(site: Site, call: ast.Call) -> bool:
    """``WRAPPED_MODEL._model``."""
    around = call.parent
    targets = around.targets if isinstance(around, ast.Assign) else [around]
    names = {getattr(target, "id", getattr(target, "attr", None)) for target in targets}
    return any(
        read.value is call or getattr(read.value, "id", getattr(read.value, "attr", None)) in names
        for read in site.module.attribute_reads("_model")
    )


def _executor(site: Site) -> Report:
    helper = site.helper("SerialExecutor")
    if helper is None:
        return site.report(
            f"{site.row.message}; the name SerialExecutor means something else here", applicability=Applicability.MANUAL
        )
    return site.report(
        f"{site.row.message}; use {helper.text}, which is defined in this file",
        operations=[Rename(site.node, helper.text), *helper.operations],
        applicability=Applicability.UNSAFE,
        use=(site.binding, None) if site.binding else None,
    )

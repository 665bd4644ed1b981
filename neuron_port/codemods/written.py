"""Rows that say what is written in the place of a call.

parameters = "(numerator, denominator)", writes = "{numerator} // {denominator}"
    divide(heads, size)                ->  heads // size
writes = 'int(os.environ.get("LOCAL_WORLD_SIZE", 1))', imports = ["os"]
    get_local_world_size()             ->  int(os.environ.get("LOCAL_WORLD_SIZE", 1))
parameters = "(data, convert)", writes = 'to_device({data}, "cpu")', helper = "to_device"
    move_all_tensor_to_cpu(state)      ->  to_device(state, "cpu"), with the definition of to_device

writes = "False"
    if not cpu_mode(): body            ->  body

A call is rewritten when it passes what the text needs, and beside it only what ``drop`` names; that is unsafe unless the row
says ``safe``. A row without ``writes`` is one of the plain table.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import source, value_of
from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.known_value import settled
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import Operation, Replace, RequireImport
from neuron_port.edits.templates import names
from neuron_port.findings import Applicability

_TRUTHS = {"True": True, "False": False}


def inspect(site: Site) -> Iterator[Report]:
    """Report a call by its row."""
    if "writes" not in site.row.options:
        yield from by_table(site)
        return
    if site.call is None:
        yield site.report(f"{site.row.message}; it is passed on without a call", applicability=Applicability.MANUAL)
        return
    try:
        level = Applicability.SAFE if site.row.options.get("safe") else Applicability.UNSAFE
        yield site.report(operations=_operations(site), applicability=level)
    except Unmappable as reason:
        yield site.report(f"{site.row.message}; {reason}", applicability=Applicability.MANUAL)


def _operations(site: Site) -> list[Operation]:
    options = site.row.options
    text = options["writes"]
    parameters = tuple(name.strip() for name in options.get("parameters", "").strip("()").split(",") if name.strip())
    given = {name: value_of(item) for name, item in passed(site.call, parameters).items()}
    spelling = source(site, text, site.call)
    if spelling is None:
        raise Unmappable("a name that it needs means something else here")
    wanted = names(spelling.text)
    missing = [name for name in wanted if name not in given]
    more = [name for name in given if name not in wanted and name not in options.get("drop", ())]
    if missing or more:
        raise Unmappable(f"{missing[0]} is not given here" if missing else f"{more[0]} has no counterpart")
    helper = site.helper(options["helper"]) if "helper" in options else None
    if "helper" in options and helper is None:
        raise Unmappable("a name that it needs means something else here")
    if text in _TRUTHS:
        return settled(site.call, _TRUTHS[text])[1]
    holes = {name: given[name] for name in wanted}
    imports = [RequireImport(module) for module in options.get("imports", ())]
    more_operations = helper.operations if helper is not None else ()
    place = _place(site.call, spelling.text)
    return [Replace(place, spelling.text, holes), *spelling.operations, *imports, *more_operations]


def _place(call: ast.Call, text: str) -> ast.expr:
    """What is replaced: ``f() if x else None`` as a whole where the text is ``None``."""
    around = call.parent
    if isinstance(around, ast.IfExp) and around.test is not call:
        other = around.orelse if around.body is call else around.body
        if ast.unparse(other) == text:
            return around
    return call

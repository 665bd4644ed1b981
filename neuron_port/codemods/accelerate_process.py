"""What a program does with an Accelerator that suits CUDA only.

accelerator = Accelerator()
accelerator.pad_across_processes(ids, dim=1)           reported
if accelerator.use_fp16: ...                           ->  if accelerator.mixed_precision == "fp16": ...

The methods are data: the list ``methods_of`` of the rule; those with the same ``once`` are reported once in a file. Names of Accelerate are rows of the plain table.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import report_entry
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import Replace


def inspect(site: Site) -> Iterator[Report]:
    """Report a name, or the methods called on what the class makes."""
    if not site.row.source.endswith(".Accelerator"):
        yield from by_table(site)
        return
    call = site.call
    known = {entry["name"]: entry for entry in site.rule.options["methods_of"]}
    for holder in call.parent.targets if call is not None and isinstance(call.parent, ast.Assign) else ():
        for read in site.context.guards.reads(holder):
            attribute = read.parent
            entry = (
                known.get(attribute.attr) if isinstance(attribute, ast.Attribute) and attribute.value is read else None
            )
            if entry is None or entry.get("once") in site.context.memo:
                continue
            if "once" in entry:
                site.context.memo.add(entry["once"])
            operations = [Replace(attribute, entry["new"], {"accelerator": read})] if "new" in entry else []
            yield report_entry(site, entry, attribute, operations)

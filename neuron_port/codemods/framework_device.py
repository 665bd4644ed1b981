"""Devices of other libraries, each in the words that the library understands.

    PPO("MlpPolicy", env, device="cuda")                 ->  PPO("MlpPolicy", env, device="neuron")     (unsafe)
    pipeline("text-generation", device=0)                ->  pipeline("text-generation", device="neuron")
    load(name, attn_implementation="flash_attention_2")  ->  load(name, attn_implementation="sdpa")     (unsafe)
    model = YOLO("yolo11n.pt"); model.train(device="cuda")   reported: "neuron" is refused there

The rows and their arguments are data: rules/libraries/framework-device.toml.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuron_port.codemods import argument_table, method_table
from neuron_port.codemods.argument_table import Called, by_entries, entries
from neuron_port.codemods.base import Report, Site


def inspect(site: Site) -> Iterator[Report]:
    """Report an argument, a method or a name of a library."""
    if site.form == "keyword":
        yield from _keyword(site)
    elif site.form == "method":
        yield from method_table.inspect(site)
    elif site.form == "call" and any("methods" in entry for entry in entries(site)):
        yield from _instance(site)
    else:
        yield from argument_table.inspect(site)


def _with_row(site: Site, source: str) -> Site:
    return replace(site, row=next(row for row in site.rule.rows if row.source == source))


def _keyword(site: Site) -> Iterator[Report]:
    call = site.node.parent
    if isinstance(call, ast.Call):
        site = _with_row(site, f"keyword:{site.node.arg}")
        yield from by_entries(site, Called(call), entries(site))


def _instance(site: Site) -> Iterator[Report]:
    """The methods called on what a class of the library makes."""
    table = entries(site)
    for call, method in _calls(site):
        chosen = [entry for entry in table if method in entry["methods"]]
        yield from by_entries(replace(site, node=call.func), Called(call), chosen)


def _calls(site: Site) -> Iterator[tuple[ast.Call, str]]:
    """Calls of a method of the instance, directly or through the variable or attribute that holds it."""
    made = site.call
    holders: list[ast.expr] = [made]
    around = made.parent
    if isinstance(around, ast.Assign):
        for target in around.targets:
            holders += site.context.guards.reads(target)
    for holder in holders:
        parent = holder.parent
        if isinstance(parent, ast.Call) and parent.func is holder:
            yield parent, "__call__"
        elif isinstance(parent, ast.Attribute) and isinstance(parent.parent, ast.Call) and parent.parent.func is parent:
            yield parent.parent, parent.attr

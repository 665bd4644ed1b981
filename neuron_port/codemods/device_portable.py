"""How portable code spells a device of the old platform: the current accelerator, where there is one.

x.to("cuda")          ->  x.to(torch.accelerator.current_accelerator())
device = "cuda"       ->  device = torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"
f"cuda:{rank}"        ->  torch.device(torch.accelerator.current_accelerator().type, rank)
"""

from __future__ import annotations

import ast

from neuron_port.codemods.base import Site, Spelling
from neuron_port.codemods.device_spelling import DeviceString, is_rank
from neuron_port.edits.operations import Operation, Replace
from neuron_port.semantics.devices import Role, Use
from neuron_port.semantics.module import ancestors

QUERIES = frozenset(
    "torch.is_autocast_enabled torch.get_autocast_dtype torch.set_autocast_dtype torch.set_autocast_enabled".split()
)


def portable(site: Site, string: DeviceString, use: Use) -> tuple[Operation, ...]:
    """The string becomes the current accelerator, or its type where text is wanted.

    A call of torch with a CUDA device did not work without CUDA. Every other place did: a value that is stored, a
    ``torch.device`` object, a decorator, a function out of sight. There the CPU stands in where no accelerator is.
    """
    place = string.literal
    call = use.place
    name = site.module.qualname(call.func) if isinstance(call, ast.Call) else None
    direct = isinstance(string.built.parent, (ast.Call, ast.keyword))
    survives = not direct or not use.sure or name == "torch.device" or name in QUERIES or _in_decorator(place)
    unsure = survives and not site.context.guards.available(place)
    whole = name == "torch.device" and not unsure and len(call.args) == 1 and not call.keywords
    text = use.wants_text or not use.sure or (name == "torch.device" and not whole) or unsure
    spelling = site.device(text=text and not whole, node=place, or_cpu=unsure)
    if spelling is None:
        return ()
    return (Replace(call if whole else string.built, spelling.text), *spelling.operations)


def portable_index(site: Site, string: DeviceString, use: Use) -> tuple[Operation, ...]:
    """``f"cuda:{i}"`` -> ``torch.device(torch.accelerator.current_accelerator().type, i)``, or its text."""
    torch = site.spell("torch", string.literal)
    device = site.device(text=True, node=string.literal)
    if torch is None or device is None:
        return ()
    needed = (*torch.operations, *device.operations)
    holes = {"index": string.expression} if string.expression is not None else {}
    if holes and not is_rank(site.module, string.expression):
        # torch.device() wants an integer, and this may be text.
        return (Replace(string.built, f'{device.text} + ":" + str({{index}})', holes), *needed)
    text = f"{torch.text}.device({device.text}, {'{index}' if holes else string.index})"
    call = use.place
    whole = (
        isinstance(call, ast.Call) and call.args == [string.built] and site.module.qualname(call.func) == "torch.device"
    )
    if use.wants_text and not whole:
        text = f"str({text})"
    return (Replace(call if whole else string.built, text, holes), *needed)


def survivor(site: Site, string: DeviceString, use: Use) -> Spelling | None:
    """For a name that is stored before anybody asks for the device: ``device = "cuda"; if not available: device = "cpu"``.

    A torch without the backend does not even know the name neuron, so that a run on the CPU must not meet it.
    """
    stored = string.literal.parent
    if (
        not string.plain
        or not site.context.asks
        or not isinstance(stored, ast.Assign)
        or stored.value is not string.literal
    ):
        return None
    if use.role is not Role.DEVICE or site.context.guards.available(string.literal):
        return None
    return site.device(text=True, node=string.literal, or_cpu=True)


def asked_type(site: Site, string: DeviceString, use: Use) -> Spelling | None:
    """``torch.is_autocast_enabled("cuda")`` answers on every host; with a type that torch does not know it raises."""
    call = use.place
    name = site.module.qualname(call.func) if isinstance(call, ast.Call) else None
    if name not in QUERIES or not string.plain or site.context.guards.available(call):
        return None
    return site.device(text=True, node=string.literal, or_cpu=True)


def _in_decorator(node: ast.expr) -> bool:
    around = next(ancestor for ancestor in ancestors(node) if isinstance(ancestor, ast.stmt))
    return isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))

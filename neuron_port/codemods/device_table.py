"""Closed lists, tables and enumerations of devices: they grow, nothing in them is renamed.

choices=["cpu", "cuda"]                    ->  choices=["cpu", "cuda", "neuron"]
{"cuda": torch.cuda.synchronize, "cpu": f} ->  {..., "neuron": torch.accelerator.synchronize}
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.codemods.device_spelling import DeviceString, quoted
from neuron_port.codemods.device_undecided import undecided
from neuron_port.codemods.device_words import words
from neuron_port.edits.operations import AddElement
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import Use
from neuron_port.semantics.module import ancestors, enclosing_class

# Words that a list of devices is made of.
_DEVICES = frozenset(
    "cpu cuda mps xpu npu hpu mlu musa sdaa meta xla tpu ipu hip rocm vulkan mtia maia lazy privateuseone auto gpu neuron".split()
)


def choices(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    """Report a closed list without ``"neuron"``."""
    listed = use.place
    if all(around is not listed for around in ancestors(string.literal)):
        yield from undecided(site, string, use)  # it gets there through a variable
        return
    if isinstance(listed, (ast.List, ast.Tuple, ast.Set)):
        known = {item.value for item in listed.elts if isinstance(item, ast.Constant)}
        if "neuron" in known or id(listed) in site.context.claimed:
            return
        if not all(isinstance(word, str) and word.partition(":")[0] in _DEVICES for word in known):
            yield from undecided(site, string, use)
            return
        site.context.claimed.add(id(listed))
        operations = [AddElement(listed, quoted(site.module, string.literal, "neuron"))]
    else:
        operations = []
    option = use.evidence.startswith("choices of the option")
    yield site.report(
        f'a closed list of devices has no "neuron" ({use.evidence}): add it, the others stay',
        code=words(site).codes["table"],
        node=string.literal,
        severity=Severity.ERROR if option and use.sure else Severity.WARNING if use.sure else Severity.INFO,
        applicability=Applicability.SAFE if option and use.sure else Applicability.UNSAFE,
        operations=operations,
        evidence=use.evidence,
    )


def key(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    """Report a key that is the name of a device type."""
    table = use.place
    if all(around is not table for around in ancestors(string.literal)):
        yield from undecided(site, string, use)
        return
    keys = {key.value for key in table.keys if isinstance(key, ast.Constant)} if isinstance(table, ast.Dict) else set()
    if "neuron" in keys:
        return
    by_device = "cpu" in keys or bool(keys & {"mps", "xpu", "npu"})
    entry = _twin_of_value(site, table) if by_device else None
    if entry is not None:
        yield site.report(
            f'a table has an entry for "{string.device}" and none for "neuron": add one, and keep the key for old callers',
            code=words(site).codes["table"],
            severity=Severity.WARNING,
            applicability=Applicability.UNSAFE,
            operations=[
                AddElement(table, f"{quoted(site.module, string.literal, 'neuron')}: {entry.text}"),
                *entry.operations,
            ],
            evidence=use.evidence,
        )
        return
    if by_device:
        message = f'a table has an entry for "{string.device}" and none for "neuron": add one, and keep the key for old callers'
    else:
        message = (
            f'the key "{string.device}" may be part of a file format or an interface and is kept; check what writes and '
            "reads it"
        )
    yield site.report(
        message,
        code=words(site).codes["table"],
        severity=Severity.WARNING if by_device else Severity.INFO,
        applicability=Applicability.MANUAL,
        evidence=use.evidence,
    )


def _twin_of_value(site: Site, table: ast.Dict) -> Spelling | None:
    """What the value under the key stands for on Neuron, when it is a name with a twin: ``torch.cuda.synchronize``."""
    value = next(value for key, value in zip(table.keys, table.values) if key is site.node)
    qualname = site.module.qualname(value)
    found = site.context.row(qualname) if qualname is not None else None
    return site.spell(found[1].to) if found is not None and found[1].to else None


def enumeration(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    """Report a member of an enumeration."""
    around = enclosing_class(site.node)
    members = {
        node.value.value
        for node in (around.body if around else ())
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }
    if "neuron" in members:
        return
    yield site.report(
        'an enumeration of devices has no "neuron" member: add one, and keep the old value for its readers',
        code=words(site).codes["table"],
        severity=Severity.INFO,
        applicability=Applicability.MANUAL,
        evidence=use.evidence,
    )

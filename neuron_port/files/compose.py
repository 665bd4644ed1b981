"""Compose files: GPUs that a service reserves, its image, its variables and its command.

deploy:                                      devices:
  resources:                                   - /dev/neuron0
    reservations:
      devices:                   ->  (unsafe)
        - driver: nvidia
          count: all
          capabilities: [gpu]
runtime: nvidia                  ->  devices, or (removed) beside a reservation      (unsafe)
gpus: all                        ->  devices                                         (unsafe)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neuron_port.files.base import FileContext, TextEdit, TextReport
from neuron_port.files.containers import add_commands, entry_removal, image_reports, variable_reports
from neuron_port.files.fragment import Fragment
from neuron_port.files.shell import Shell
from neuron_port.files.yaml_nodes import (
    check_yaml,
    documents,
    entries,
    get,
    inner_span,
    items,
    line_start,
    removal,
    scalar,
    span,
)
from neuron_port.sources.python import UnreadableFile

_CODE = "NP851"
_DEVICES = "devices:\n{indent}  - /dev/neuron0\n"
_PATH = ("deploy", "resources", "reservations", "devices")


def inspect(context: FileContext) -> Iterator[TextReport]:
    """Report what the services of a compose file ask of another platform."""
    shell = Shell(context)
    try:
        roots = documents(context.text)
    except UnreadableFile:  # a template
        return
    roots = tuple(root for root in roots if _is_compose(root, context.path))
    services = [service for root in roots for _, _, service in entries(get(root, "services"))]
    shared = [value for root in roots for key, _, value in entries(root) if key.startswith("x-")]
    for service in [*services, *shared]:
        if service.id == "mapping":
            add_commands(context, shell, service, ("entrypoint", "command"))
            yield from image_reports(context, service)
            yield from _gpus(context, service)
    yield from shell.reports()
    for service in [*services, *shared]:
        if service.id == "mapping":
            yield from _environment(context, service, shell.spawns)


def check(text: str) -> None:
    """See that a text is YAML; templates are let through.

    Raises:
        UnreadableFile: it is not.
    """
    check_yaml(text)


def _is_compose(root: Any, path: Path) -> bool:
    """Whether a document's services say what they are made of; an override that is named like one need not."""
    keys = {key for _, _, service in entries(get(root, "services")) for key, _, _ in entries(service)}
    return bool(keys & {"image", "build", "extends"}) or (bool(keys) and "compose" in path.name.lower())


def _gpus(context: FileContext, service: Any) -> Iterator[TextReport]:
    """One report for each place that asks for GPUs; the first of them brings the device file."""
    rule = context.rules[_CODE]
    text = context.text
    places: list[tuple[Any, Any, str]] = []
    reserved = _reservation(service)
    if reserved is not None:
        places.append((*reserved, "reservation"))
    else:
        row = next(row for row in rule.rows if row.source == "compose:reservation")
        for device in filter(_is_gpu, items(get(service, *_PATH))):  # beside devices of another kind
            yield context.report(_CODE, *span(device), row.message, row=row)
    for name in ("gpus", "runtime"):
        for key, key_node, value in entries(service):
            if key == name and (name == "gpus" or scalar(value) == "nvidia"):
                places.append((key_node, value, name))
    has_devices = get(service, "devices") is not None
    for index, (key_node, value, kind) in enumerate(places):
        row = next(row for row in rule.rows if row.source == f"compose:{kind}")
        gone = removal(text, key_node, value) if not service.flow_style else None
        edits: list[TextEdit] = []
        if gone is not None and not context.portable:
            if index or has_devices:
                edits = [TextEdit(gone.start, gone.end, "")]
            else:
                first = service.value[0][0]
                indent = text[line_start(text, first.start_mark.index) : first.start_mark.index]
                edits = list(_moved(text, service, key_node, gone, indent))
        start, _ = span(key_node)
        yield context.report(
            _CODE, start, span(value)[1], row.message, row=row, edits=edits, applicability=rule.applicability
        )


def _moved(text: str, service: Any, key_node: Any, gone: Any, indent: str) -> Iterator[TextEdit]:
    """Take the entry out and name the device file in the service itself."""
    end = "" if text[gone.start : gone.end].endswith("\n") else "\n"
    if indent.strip():
        yield TextEdit(gone.start, gone.end, "")
        return
    content = indent + _DEVICES.format(indent=indent)
    for node, _ in service.value:
        if node is key_node:
            yield TextEdit(gone.start, gone.end, content.removesuffix("\n") if end else content)
            return
    # Somewhere below "deploy", which keeps other entries.
    deploy = next(node for node, _ in service.value if node.value == "deploy")
    place = line_start(text, deploy.start_mark.index)
    yield TextEdit(place, place, content)
    yield TextEdit(gone.start, gone.end, "")


def _reservation(service: Any) -> tuple[Any, Any] | None:
    """The outermost key below which there is nothing but the reservation of GPUs, and its value."""
    chain: list[tuple[Any, Any, int]] = []
    node = service
    for name in _PATH:
        found = next(((key_node, value) for key, key_node, value in entries(node) if key == name), None)
        if found is None:
            return None
        chain.append((*found, len(node.value)))
        node = found[1]
    devices = items(node)
    if not devices or not all(_is_gpu(device) for device in devices):
        return None
    index = len(chain) - 1
    while index > 0 and chain[index][2] == 1:
        index -= 1
    return chain[index][0], chain[index][1]


def _is_gpu(device: Any) -> bool:
    capabilities = [scalar(item) for item in items(get(device, "capabilities"))]
    return scalar(get(device, "driver")) == "nvidia" or "gpu" in capabilities


def _environment(context: FileContext, service: Any, spawns: bool) -> Iterator[TextReport]:
    text = context.text
    for key, key_node, value in entries(service):
        if key != "environment":
            continue
        if value.id == "mapping":
            for name, name_node, inner in entries(value):
                gone = entry_removal(context, key_node, value, name_node, inner)
                place = (span(name_node)[0], span(inner)[1])
                yield from variable_reports(context, name, place, inner, gone, spawns)
        for item in items(value):
            first, last = inner_span(text, item)
            name, equals, given = text[first:last].partition("=")
            if item.id == "scalar" and name.isidentifier():
                gone = entry_removal(context, key_node, value, item, item)
                part = Fragment.of_part(given, last - len(given)) if equals else None
                yield from variable_reports(context, name, (first, last), part, gone, spawns)

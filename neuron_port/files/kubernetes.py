"""Kubernetes manifests: GPUs as resources, tolerations and node selectors; images, variables and commands of containers.

    limits:
      nvidia.com/gpu: 8              ->    aws.amazon.com/neuron: 8                     (unsafe)
    tolerations:
    - key: nvidia.com/gpu            ->    - key: aws.amazon.com/neuron                 (unsafe)
    nodeSelector:
      nvidia.com/gpu.product: A100         reported
    runtimeClassName: nvidia               reported

A template that is no YAML before it is filled in (Helm) is searched for the resource's key line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from neuron_port.files.base import FileContext, TextEdit, TextReport
from neuron_port.files.command_rows import inspect_word
from neuron_port.files.containers import add_commands, entry_removal, image_reports, variable_reports
from neuron_port.files.shell import Shell
from neuron_port.files.yaml_nodes import (
    check_yaml,
    documents,
    entries,
    get,
    inner_span,
    items,
    mappings,
    scalar,
    span,
    word,
)
from neuron_port.rules.model import Row
from neuron_port.sources.python import UnreadableFile

_CODE = "NP852"
_RESOURCE = "nvidia.com/gpu"
_KEY_LINE = re.compile(r"^[ \t-]*(?P<quote>[\"']?)(?P<key>nvidia\.com/[\w.-]+)(?P=quote)\s*:", re.MULTILINE)
_SELECTORS = (
    "nvidia.com/",
    "cloud.google.com/gke-accelerator",
    "k8s.amazonaws.com/accelerator",
    "accelerator",
    "gpu-type",
    "gpu.nvidia.com/",
)
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")


def inspect(context: FileContext) -> Iterator[TextReport]:
    """Report what a manifest asks of another platform."""
    try:
        roots = documents(context.text)
    except UnreadableFile:
        yield from _lines(context)
        return
    shell = Shell(context)
    containers: list[Any] = []
    for root in roots:
        for node in mappings(root):
            yield from _resources(context, node)
            for key, key_node, value in entries(node):
                if key in _CONTAINERS:
                    containers += [item for item in items(value) if item.id == "mapping"]
                elif key == "runtimeClassName" and scalar(value) == "nvidia":
                    yield _report(context, "runtime class", key_node, value)
                elif key == "nodeSelector":
                    yield from _selected(context, value)
                elif key in (
                    "node.kubernetes.io/instance-type",
                    "beta.kubernetes.io/instance-type",
                    "instanceType",
                    "instance_type",
                ):
                    for each in items(value) or [value]:
                        if scalar(each):
                            yield from inspect_word(context, word(context.text, each))
                elif key == "key" and scalar(value).startswith("nvidia.com/"):
                    yield _keyed(context, value)
    for container in containers:
        add_commands(context, shell, container, ("command", "args"))
        yield from image_reports(context, container)
    yield from shell.reports()
    for container in containers:
        yield from _environment(context, container, shell.spawns)


def check(text: str) -> None:
    """See that a text is YAML; templates are let through.

    Raises:
        UnreadableFile: it is not.
    """
    check_yaml(text)


def _row(context: FileContext, name: str) -> Row:
    return next(row for row in context.rules[_CODE].rows if row.source == f"kubernetes:{name}")


def _report(context: FileContext, name: str, first: Any, last: Any, edits: list[TextEdit] | None = None) -> TextReport:
    row = _row(context, name)
    message = row.message.replace("{name}", scalar(first) or name)
    applicability = context.rules[_CODE].applicability if edits else None
    return context.report(
        _CODE, span(first)[0], span(last)[1], message, row=row, edits=edits or (), applicability=applicability
    )


def _resources(context: FileContext, node: Any) -> Iterator[TextReport]:
    """``limits`` and ``requests``."""
    for key, _, value in entries(node):
        if key not in ("limits", "requests"):
            continue
        for name, name_node, amount in entries(value):
            if name == _RESOURCE:
                edits = (
                    []
                    if context.portable
                    else [TextEdit(*inner_span(context.text, name_node), "aws.amazon.com/neuron")]
                )
                yield _report(context, "resource", name_node, amount, edits)
            elif name.startswith("nvidia.com/"):
                yield _report(context, "part of a GPU", name_node, amount)


def _selected(context: FileContext, node: Any) -> Iterator[TextReport]:
    for name, name_node, value in entries(node):
        if name.startswith(_SELECTORS) and (
            "nvidia" in name + scalar(value).lower() or name.startswith(("cloud.google", "k8s.amazonaws", "gpu"))
        ):
            yield _report(context, "node selector", name_node, value)


def _keyed(context: FileContext, value: Any) -> TextReport:
    """``key:`` of a toleration or of a node affinity."""
    exact = scalar(value) == _RESOURCE
    edits = (
        [TextEdit(*inner_span(context.text, value), "aws.amazon.com/neuron")] if exact and not context.portable else []
    )
    return _report(context, "toleration" if exact else "node selector", value, value, edits)


def _environment(context: FileContext, container: Any, spawns: bool) -> Iterator[TextReport]:
    for key, key_node, value in entries(container):
        if key != "env":
            continue
        for item in items(value):
            name = next(
                ((node, scalar(inner)) for each, _, inner in entries(item) for node in [inner] if each == "name"), None
            )
            if name is None:
                continue
            gone = _item_removal(context, key_node, value, item)
            yield from variable_reports(
                context, name[1], (name[0].start_mark.index, span(item)[1]), get(item, "value"), gone, spawns
            )


def _item_removal(context: FileContext, key_node: Any, value: Any, item: Any) -> Any:
    return entry_removal(context, key_node, value, item, item)


def _lines(context: FileContext) -> Iterator[TextReport]:
    """The resource's key in a template."""
    for found in _KEY_LINE.finditer(context.text):
        row = _row(context, "resource" if found["key"] == _RESOURCE else "part of a GPU")
        edits = []
        if found["key"] == _RESOURCE and not context.portable:
            edits = [TextEdit(*found.span("key"), "aws.amazon.com/neuron")]
        yield context.report(
            _CODE,
            *found.span("key"),
            row.message.replace("{name}", found["key"]),
            row=row,
            edits=edits,
            applicability=context.rules[_CODE].applicability if edits else None,
        )

"""What compose files and Kubernetes manifests have in common: images, commands and variables of a container."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from neuron_port.files.base import FileContext, TextReport
from neuron_port.files.fragment import Fragment
from neuron_port.files.images import inspect_image
from neuron_port.files.shell import Shell
from neuron_port.files.shell_syntax import Removal, Script
from neuron_port.files.variables import Place, inspect_variable
from neuron_port.files.yaml_nodes import command, get, inner_span, items, removal, scalar, shell_text

_SHELLS = ("-c", "-lc", "-ec", "-xc", "-exc", "-euc")


def add_commands(context: FileContext, shell: Shell, container: Any, keys: tuple[str, ...]) -> None:
    """Hand the commands of a container to the shell's inspector."""
    text = context.text
    words: list[Any] = []
    for key in keys:
        node = get(container, key)
        if node is None:
            continue
        if node.id == "scalar":
            fragment = shell_text(text, node)
            if fragment is not None and fragment.text:
                shell.add(fragment)
            continue
        words += items(node)
    if not words:
        return
    shell.scripts.append(Script(commands=[command(text, words)]))
    for before, node in pairwise(words):
        if scalar(before) in _SHELLS or (node.id == "scalar" and node.style in ("|", ">")):
            fragment = shell_text(text, node)
            if fragment is not None:
                shell.add(fragment)


def image_reports(context: FileContext, container: Any) -> Iterator[TextReport]:
    """Report an image of another platform."""
    node = get(container, "image")
    if scalar(node):
        start, end = inner_span(context.text, node)
        yield from inspect_image(context, Fragment.of_part(context.text[start:end], start))


def variable_reports(
    context: FileContext, name: str, place: tuple[int, int], value: Any, gone: Removal | None, spawns: bool
) -> Iterator[TextReport]:
    """Report one variable of a container; ``place`` begins with its name."""
    text = context.text
    part = None
    literal = True
    if isinstance(value, Fragment):
        part = value
    elif value is not None and value.id == "scalar":
        start, end = inner_span(text, value)
        part = Fragment.of_part(text[start:end], start)
    if part is not None:
        literal = "$" not in part.text
    report = inspect_variable(context, Place(name, *place, part, literal, gone, spawns))
    if report is not None:
        yield report


def entry_removal(context: FileContext, parent_key: Any, parent: Any, first: Any, last: Any) -> Removal | None:
    """How one entry goes; with it goes the key above where nothing is left."""
    if parent.flow_style:
        return None
    if len(parent.value) == 1:
        return removal(context.text, parent_key, last)
    return removal(context.text, first, last)

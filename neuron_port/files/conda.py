"""``environment.yml``: packages of conda, those that pip installs into the environment, channels.

- pytorch-cuda=12.1      ->  (removed)
- nvidia (a channel)     ->  (removed)
- pip:
  - flash-attn           ->  (removed)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from neuron_port.files import yaml_nodes
from neuron_port.files.base import FileContext, TextEdit, TextReport
from neuron_port.files.dependencies import Place, advise, parse, python_version, reports
from neuron_port.files.requirements import index
from neuron_port.project.conda import conda_requirement


def check(text: str) -> None:
    """See that a text is YAML.

    Raises:
        UnreadableFile: it is not.
    """
    yaml_nodes.check_yaml(text)


def inspect(context: FileContext) -> Iterator[TextReport]:
    """Report packages, channels and versions of Python."""
    for document in yaml_nodes.documents(context.text):
        yield from _channels(context, yaml_nodes.get(document, "channels"))
        listed = yaml_nodes.items(yaml_nodes.get(document, "dependencies"))
        for item in listed:
            if item.id == "scalar":
                yield from _conda(context, item, len(listed) > 1)
            pip = yaml_nodes.items(yaml_nodes.get(item, "pip"))
            for line in pip:
                yield from _pip(context, line, len(pip) > 1)


def _channels(context: FileContext, node: Any) -> Iterator[TextReport]:
    channels = yaml_nodes.items(node)
    for item in channels:
        known = context.row(f"channel:{yaml_nodes.scalar(item)}")
        if known is not None:
            rule, row = known
            start, end = yaml_nodes.span(item)
            whole = _line(context.text, item) if len(channels) > 1 else None
            edits = [TextEdit(*whole, "")] if whole is not None else []
            yield context.report(rule.code, start, end, row.message or rule.summary, row=row, edits=edits)


def _conda(context: FileContext, item: Any, others: bool) -> Iterator[TextReport]:
    text = yaml_nodes.scalar(item)
    requirement = conda_requirement(text, context.path, item.start_mark.line + 1)
    if requirement is None:
        return
    start, end = yaml_nodes.inner_span(context.text, item)
    if requirement.name == "python":
        yield from python_version(context, requirement.specifier, start, end)
        return
    said = advise(context, requirement)
    if said is not None:
        # conda has no packages for Neuron: a version that pip would take is no edit here.
        whole = _line(context.text, item) if others and said.new == () else None
        edits = [TextEdit(*whole, "")] if whole is not None else []
        yield context.report(said.rule.code, start, end, said.message, row=said.row, edits=edits)


def _pip(context: FileContext, item: Any, others: bool) -> Iterator[TextReport]:
    text = yaml_nodes.scalar(item)
    start, end = yaml_nodes.inner_span(context.text, item)
    whole = _line(context.text, item) if others else None
    if text.startswith("-"):
        option, _, url = text.replace("=", " ", 1).partition(" ")
        if option in ("--extra-index-url", "--index-url", "-i", "-f", "--find-links"):
            yield from index(context, url.strip(), start + context.text[start:end].index(url.strip()), whole)
        return
    requirement = parse(text, context.path, item.start_mark.line + 1)
    if requirement is not None:
        yield from reports(context, [Place(requirement, start, end, whole)])


def _line(text: str, item: Any) -> tuple[int, int] | None:
    """The line of an item that has one to itself."""
    start = yaml_nodes.line_start(text, item.start_mark.index)
    stop = text.find("\n", item.end_mark.index)
    stop = len(text) if stop < 0 else stop + 1
    _, end = yaml_nodes.span(item)
    if text[start : item.start_mark.index].strip() != "-" or text[end:stop].partition("#")[0].strip():
        return None
    return start, stop

"""``environment.yml``: packages of conda, and those that pip installs into the environment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml
from packaging.utils import canonicalize_name

from neuron_port.project.pip_files import read as read_pip
from neuron_port.project.requirement import Requirement, from_text, specifier_of

# channel::name=1.2=build, name>=1,<2, name 1.2.*
_CONDA = re.compile(r"(?:[\w./-]+::)?(?P<name>[A-Za-z0-9][\w.-]*)\s*(?P<version>[^\[\]]*)(?P<more>\[.*)?$")
# Packages that conda knows by another name than pip.
_PIP_NAMES = {"pytorch": "torch"}


def read(text: str, file: Path) -> tuple[list[Requirement], list[Path]]:
    """The requirements in the text of the file, and the files that its pip section includes.

    Only the nodes of the document are looked at: no object is ever made from it.

    Raises:
        ValueError: it is not valid YAML.
    """
    try:
        document = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
    found: list[Requirement] = []
    included: list[Path] = []
    for node in _entries(document, "dependencies"):
        if isinstance(node, yaml.ScalarNode):
            requirement = conda_requirement(node.value, file, node.start_mark.line + 1)
            if requirement is not None:
                found.append(requirement)
        for item in _entries(node, "pip"):
            if isinstance(item, yaml.ScalarNode):
                requirements, files = read_pip(item.value, file)
                line = item.start_mark.line + 1
                found += [
                    Requirement(each.name, each.specifier, file, line, each.text, each.marker) for each in requirements
                ]
                included += files
    return found, included


def _entries(node: yaml.Node | None, key: str) -> Iterator[yaml.Node]:
    """The items of the list under ``key``."""
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if isinstance(name, yaml.ScalarNode) and name.value == key and isinstance(value, yaml.SequenceNode):
                yield from value.value


def conda_requirement(text: str, file: Path, line: int) -> Requirement | None:
    match = _CONDA.match(text.strip())
    if match is None:
        return None
    name = canonicalize_name(match["name"])
    version = match["version"].strip()
    specifier = None if match["more"] or "|" in version else specifier_of(_specifier(version))
    if from_text(name, file, line) is None:
        return None
    return Requirement(_PIP_NAMES.get(name, name), specifier, file, line, text)


def _specifier(version: str) -> str:
    """conda's ``=1.2`` (any 1.2), ``=1.2=build``, ``==1.2`` and ``1.2`` as pip spells them."""
    if version.startswith("=") and not version.startswith("=="):
        number, _, build = version[1:].partition("=")
        return f"=={number}" if build or number.endswith("*") else f"=={number}.*"
    if version[:1].isdigit():
        return f"=={version.split()[0].partition('=')[0]}"
    return version

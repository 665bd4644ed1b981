"""What becomes of a package that a project asks for: gone, renamed, another version, or a word about it.

Rows are called ``requirement:NAME`` (canonical, ``requirement:nvidia-*`` for all that begin so) and may say

    admits = ">=2.13"           only a requirement that leaves no room for these versions is meant
    builds = ["cu"]             a local version that begins so (``2.5.1+cu124``) is meant, whatever it admits
    extras = ["neuronx"]        only with one of these extras
    remove = true               it goes
    imports = "pynvml"          what the code imports of it, where that is not its name
    to = "torch==2.14.0"        it becomes this, or several with a comma between; ``{specifier}`` is what it had
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Parsed
from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from neuron_port.files.base import FileContext, TextEdit, TextReport
from neuron_port.project.requirement import Requirement, from_text
from neuron_port.rules.model import Row, Rule

_BUILD = re.compile(r"\+([a-z]+)\d")
# The releases of Python that torch-neuronx has wheels for (release notes of SDK 2.33).
_PYTHONS = SpecifierSet(">=3.12,<3.15")
_WITH_EXTRAS = re.compile(r"\s*[\w.-]+\s*(?P<extras>\[[^\]]*\])")
_REPOSITORY = re.compile(r"(?:git\+)?(?:https?|ssh|git)://(?:[^\s/]+/)+(?P<name>[\w.-]+?)(?:\.git)?(?:[@#].*)?$")


@dataclass(frozen=True, slots=True)
class Advice:
    """What the rules say about one requirement. ``new`` are the requirements that take its place (none: it goes).

    ``new`` is ``None`` where a person decides.
    """

    rule: Rule
    row: Row
    message: str
    new: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a requirement stands: ``start`` to ``end`` is its text, ``whole`` what goes with it (``None``: not known).

    ``joint`` stands between two requirements that take its place (``None``: only one can). Where it is not ``spelled`` as pip
    does, or hashes belong to it, another requirement cannot just be written there.
    """

    requirement: Requirement
    start: int
    end: int
    whole: tuple[int, int] | None = None
    joint: str | None = None
    spelled: bool = True


def advice(context: FileContext, text: str) -> Advice | None:
    """What the rules say about a requirement as pip takes it; ``None``: nothing."""
    requirement = parse(text, context.path)
    return None if requirement is None else advise(context, requirement)


def parse(text: str, path: Path, line: int = 1) -> Requirement | None:
    """The requirement in a text; of an address without a name, the repository's."""
    wheel = _wheel(text, path, line)
    if wheel is not None:
        return wheel
    found = from_text(text, path, line)
    if found is None:
        repository = _REPOSITORY.match(text.strip())
        if repository is not None:
            return Requirement(canonicalize_name(repository["name"]), None, path, line, text)
    return found


def _wheel(text: str, path: Path, line: int) -> Requirement | None:
    """The requirement that the address of a wheel stands for."""
    address = text.strip().partition("#")[0]
    if not address.endswith(".whl") or "@" in address or " " in address:
        return None
    try:
        name, version, _, _ = parse_wheel_filename(unquote(address).rpartition("/")[2])
    except InvalidWheelFilename:
        return None
    return Requirement(name, SpecifierSet(f"=={version}"), path, line, text)


def advise(context: FileContext, requirement: Requirement) -> Advice | None:
    """What the rules say about a requirement; ``None``: nothing."""
    known = context.row(f"requirement:{requirement.name}")
    if known is None or known[0].family != "project":
        return None
    rule, row = known
    if not _concerned(requirement, row):
        return None
    new: tuple[str, ...] | None = None
    if row.action == "remove":
        new = ()
    elif row.to is not None:
        specifier = "" if requirement.specifier is None else str(requirement.specifier)
        new = tuple(part.strip().replace("{specifier}", specifier) for part in row.to.split(" | "))
        extras = _WITH_EXTRAS.match(requirement.text)
        if extras is not None and len(new) == 1 and _name(new[0]) == requirement.name:
            named = re.match(r"[\w.-]+", new[0])[0]
            new = (f"{named}{extras['extras']}{new[0][len(named) :]}",)
    return Advice(rule, row, (row.message or rule.summary).replace("{name}", requirement.name), new)


def _concerned(requirement: Requirement, row: Row) -> bool:
    extras = row.options.get("extras")
    if extras is not None and not _extras(requirement.text) & set(extras):
        return False
    builds = tuple(row.options.get("builds", ()))
    build = _BUILD.search(unquote(requirement.text))
    if builds and build is not None and build[1].startswith(builds):
        return True
    if builds and requirement.specifier is None and re.search(rf"/whl/(?:{'|'.join(builds)})\d", requirement.text):
        return True
    admits = row.options.get("admits")
    return admits is None or not requirement.admits(SpecifierSet(admits))


def _extras(text: str) -> set[str]:
    try:
        return set(Parsed(text).extras)
    except InvalidRequirement:
        return set()


def reports(context: FileContext, places: Iterable[Place]) -> Iterator[TextReport]:
    """The reports about the requirements of a file. What a file asks for already is not added once more."""
    places = list(places)
    present = {place.requirement.name for place in places}
    for place in places:
        said = advise(context, place.requirement)
        if said is None:
            continue
        new = said.new
        if new is not None and len(new) > 1:
            new = tuple(text for text in new if _name(text) not in present)
            present.update(map(_name, new))
        edits = () if new is None else _edits(place, new)
        yield context.report(
            said.rule.code,
            place.start,
            place.end,
            said.message,
            row=said.row,
            edits=edits,
            subject=_subject(place.requirement.name, said),
        )


def _subject(name: str, said: Advice) -> str | None:
    """The package that the code imports, where the requirement goes or is replaced by another one."""
    if said.new and _name(said.new[0]) == name:
        return None
    many = said.row.source.endswith("*")
    imported = said.row.options.get("imports", "" if many else name.replace("-", "_"))
    return f"package:{imported}" if imported else None


def _name(text: str) -> str:
    return canonicalize_name(re.split(r"[\[<>=!~; ]", text)[0])


def _edits(place: Place, new: tuple[str, ...]) -> list[TextEdit]:
    if not new:
        return [] if place.whole is None else [TextEdit(*place.whole, "")]
    if not place.spelled or (len(new) > 1 and place.joint is None):
        return []
    # As it is written, with the space in front of it.
    written = re.search(r"\s*;.*", place.requirement.text, re.DOTALL)
    marker = written[0] if place.requirement.marker and len(new) == 1 and written is not None else ""
    return [TextEdit(place.start, place.end, (place.joint or "").join(text + marker for text in new))]


def python_version(context: FileContext, specifier: SpecifierSet | None, start: int, end: int) -> Iterator[TextReport]:
    """Report a range of Python versions that leaves no room for those that torch-neuronx has wheels for."""
    if specifier is None:
        return
    wanted = Requirement("python", specifier, context.path, 1, "")
    if not wanted.admits(_PYTHONS):
        yield context.report(
            "NP835",
            start,
            end,
            "torch-neuronx 2.13.3 and 2.14.3 have wheels for Python 3.12 to 3.14 (so the release notes; some pages say 3.10 to "
            "3.14), and this leaves no room for them",
        )

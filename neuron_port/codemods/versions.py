"""Compares the versions that ported places need with those that the project asks for.

requirements.txt: transformers==4.40.0       a port that needs transformers>=5.13: reported at the import of transformers
requirements.txt: transformers>=4.40           5.13 may be installed: nothing is said

Reports carry what their ports need in ``requires``. Places that are ported already are found by the rows of NP485, whose
reports are silent: they say what is needed and nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from neuron_port.codemods.argument_table import branches, called, entries, matches, node_of, value_of
from neuron_port.codemods.base import Context, Report, Site
from neuron_port.findings import Applicability

if TYPE_CHECKING:
    from neuron_port.project.files import Project
    from neuron_port.project.requirement import Requirement

_CODE = "NP485"
# Packages that are imported by a name of their own; all others are, apart from dashes.
_IMPORTED_AS = {"torch-neuronx": "torch_neuronx"}


def inspect(site: Site) -> Iterator[Report]:
    """Say silently what a place needs that is written for Neuron already."""
    if site.form in ("import", "star"):
        return
    if site.form == "method":
        row = next(row for row in site.rule.rows if row.source == f"method:{site.node.func.attr}")
        site = replace(site, row=row)
    if "arguments" not in site.row.options:
        yield _silent(site, site.node, {})
        return
    target = called(site)
    for entry in entries(site) if target is not None else ():
        for argument in target.arguments(entry["keyword"], entry.get("position")):
            if any(matches(site, branch, entry) for branch in branches(value_of(argument))):
                yield _silent(site, node_of(argument), entry["requires"])


def _silent(site: Site, node: ast.AST, requires: Mapping[str, str]) -> Report:
    return replace(site.report(node=node, requires=requires), silent=True)


def told_apart(reports: Iterable[Report]) -> tuple[list[Report], list[Report]]:
    """The reports that are shown, and those that only say what their place needs."""
    spoken: list[Report] = []
    silent: list[Report] = []
    for report in reports:
        (silent if report.silent else spoken).append(report)
    return spoken, silent


@dataclass(slots=True)
class Pin:
    """A report about versions that are too old, with the reports whose ports need newer ones."""

    report: Report
    causes: tuple[Report, ...]

    def settle(self) -> None:
        """Take the report back when none of its causes is ported after all."""
        if not any(cause.silent or cause.fixable for cause in self.causes):
            self.report.void = True


def too_old(context: Context, reports: Sequence[Report], project: Project, file: Path) -> list[Pin]:
    """A report for each package that the project keeps below the version which a ported place needs."""
    rule = context.rules.get(_CODE)
    needs: dict[str, list[tuple[str, Report]]] = {}
    for report in reports:
        if report.requires and (report.silent or report.fixable):
            for name, version in report.requires.items():
                needs.setdefault(name, []).append((version, report))
    if rule is None or not needs:
        return []
    wanted = project.requirements(file)
    found = []
    for name, causes in needs.items():
        asked = [requirement for requirement in wanted if requirement.name == name]
        if asked:
            found += _compared(context, name, asked, causes, project)
    return found


def _compared(
    context: Context, name: str, asked: list[Requirement], causes: list[tuple[str, Report]], project: Project
) -> Iterator[Pin]:
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    hurt: list[tuple[str, Report, list[Requirement]]] = []
    for version, cause in causes:
        refused = _refusing(asked, SpecifierSet(version))
        if refused:
            hurt.append((version, cause, refused))
    if not hurt:
        return
    version, cause, refused = max(
        hurt, key=lambda each: (max(Version(item.version) for item in SpecifierSet(each[0])), -each[1].node.lineno)
    )
    first = refused[0]
    others = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
    place = _import_of(context, name) or cause.node
    why = "the code" if cause.silent else f"the port ({cause.rule.code})"
    yield Pin(
        Report(
            rule=context.rules[_CODE],
            node=place,
            message=f"{project.shown(first.file)}:{first.line}{others} asks for {first.text}, but {why} in line "
            f"{cause.node.lineno} needs {name}{version}; raise the version there",
            severity=context.rules[_CODE].severity,
            applicability=Applicability.MANUAL,
        ),
        tuple(report for _, report, _ in hurt),
    )


def _refusing(asked: list[Requirement], needed: object) -> list[Requirement]:
    """The requirements that leave no room for a version; of a file with several lines about a package all have to."""
    by_file: dict[Path, list[Requirement]] = {}
    for requirement in asked:
        by_file.setdefault(requirement.file, []).append(requirement)
    return [
        requirement
        for lines in by_file.values()
        if not any(requirement.admits(needed) for requirement in lines)
        for requirement in lines[:1]
    ]


def _import_of(context: Context, package: str) -> ast.AST | None:
    """The first import of the package in the file."""
    root = _IMPORTED_AS.get(package, package.replace("-", "_"))
    for binding in context.module.found.imports:
        if (binding.qualname or "").partition(".")[0] == root:
            return binding.node
    return None

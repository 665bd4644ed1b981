"""Options of text generation, wherever they are given, by the entries of a rule.

    model.generate(**inputs, num_beams=4)
    model.generate(**options), Thread(target=model.generate, kwargs=options)      with options = {...} in sight
    GenerationConfig(num_beams=4)
    pipeline("text-generation", model=name, num_beams=4), and calls of the pipeline
    model.generation_config.num_beams = 4
    GRPOConfig(cache_implementation="offloaded")        for a keyword that the rule lists

The entries (``[[options.arguments]]``) are those of ``argument_table``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, by_entries, matches, report_entry
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.decoding import Decoding, uses
from neuron_port.edits.operations import RemoveStatement, Replace, SetString
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.receivers import Grade


def inspect(site: Site) -> Iterator[Report]:
    """Report the options that the rule is about."""
    table = site.rule.options["arguments"]
    if site.form == "value" and not isinstance(site.node.ctx, ast.Load):
        yield from _assigned(site, table)
        return
    for use in _passed(site) if site.form == "keyword" else uses(site):
        for report in by_entries(site, use.target, table):
            if use.model is not None:
                report.evidence = use.model.text
                if use.model.grade < Grade.USAGE:
                    report.leave()
            yield _weighed(report, table)


def _weighed(report: Report, table: list) -> Report:
    """A value that nobody can read may be the one that is all right."""
    keyword = report.node if isinstance(report.node, ast.keyword) else report.node.parent
    name = keyword.arg if isinstance(keyword, ast.keyword) else None
    value = keyword.value if isinstance(keyword, ast.keyword) else report.node
    kept = next((entry["keep"][0] for entry in table if entry["keyword"] == name and "keep" in entry), None)
    if kept is not None and isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.IfExp)):
        report.severity = min(report.severity, Severity.WARNING)
        report.message = f"{report.message}; {kept} is all right"
    return report


def _passed(site: Site) -> Iterator[Decoding]:
    """The call that a keyword stands in, where it is another one than those of ``uses``: options on their way to them."""
    call = site.node.parent
    if (
        isinstance(call, ast.Call)
        and id(site.node.value) not in site.context.claimed
        and site.context.pretrained.in_use
    ):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if name != "generate":
            yield Decoding(Called(call), None)


def is_settings(site: Site, node: ast.expr) -> bool:
    """Whether an expression is a ``GenerationConfig``: ``model.generation_config``, or a variable that holds one."""
    if isinstance(node, ast.Attribute):
        return node.attr == "generation_config"
    if not isinstance(node, ast.Name):
        return False
    for binding in site.module.bindings(node):
        value = binding.value
        if isinstance(value, ast.Call):
            name = site.module.qualname(value.func) or ""
            if name.startswith("transformers.") and "GenerationConfig" in name.split("."):
                return True
        elif isinstance(value, ast.Attribute) and value.attr == "generation_config":
            return True
    return False


def _assigned(site: Site, table: list) -> Iterator[Report]:
    assignment = site.node.parent
    if not isinstance(assignment, ast.Assign) or len(assignment.targets) != 1:
        return
    if not site.context.pretrained.in_use or not is_settings(site, site.node.value):
        return
    value = assignment.value
    for entry in table:
        if entry["keyword"] == site.node.attr and not entry.get("missing") and matches(site, value, entry):
            operations = []
            if entry.get("remove"):
                operations = [RemoveStatement(assignment)]
            elif "new" in entry:
                text = entry["new"]
                is_text = isinstance(value, ast.Constant) and isinstance(value.value, str) and text.startswith('"')
                operations = [SetString(value, text[1:-1]) if is_text else Replace(value, text)]
            yield report_entry(site, entry, site.node, operations, applicability=Applicability.UNSAFE)
            return

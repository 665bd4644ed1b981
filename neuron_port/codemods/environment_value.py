"""``xu.getenv_as``: a variable of the environment, converted to a type.

xu.getenv_as("N", int, 4)       ->  int(os.environ.get("N", 4))
xu.getenv_as("N", int)          ->  int(os.environ["N"]) if "N" in os.environ else None
xu.getenv_as("D", str, "/tmp")  ->  os.environ.get("D", "/tmp")
xu.getenv_as("B", bool, False)  ->  bool(int(os.environ.get("B", False)))
xu.getenv_as(name, kind)            reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import spell_closest, value_of
from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.ranks import is_alias
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.module import scope_at

_TYPES = {"int": int, "float": float, "str": str, "bool": bool}


def inspect(site: Site) -> Iterator[Report]:
    """Report a variable that is read."""
    if is_alias(site):
        return
    try:
        given = passed(site.call, ("name", "type", "defval")) if site.call is not None else {}
    except Unmappable:
        given = {}
    values = {parameter: value_of(argument) for parameter, argument in given.items()}
    environ = spell_closest(site, "os.environ", site.node)
    kind = _builtin(values.get("type"))
    text = _written(values, kind, environ.text) if environ is not None and kind and "name" in values else None
    if text is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    holes = {"name": values["name"], "default": values.get("defval")}
    yield site.report(
        operations=[
            Replace(site.call, text, {hole: node for hole, node in holes.items() if f"{{{hole}}}" in text}),
            *environ.operations,
        ],
        use=(site.binding, None) if site.binding else None,
    )


def _builtin(node: ast.expr | None) -> str | None:
    """The name of a built-in type."""
    if isinstance(node, ast.Name) and node.id in _TYPES and scope_at(node).lookup(node.id) is None:
        return node.id
    return None


def _written(values: dict[str, ast.expr], kind: str, environ: str) -> str | None:
    converted = {"int": "int({})", "float": "float({})", "str": "{}", "bool": "bool(int({}))"}[kind]
    default = values.get("defval")
    if kind == "str":
        return f"{environ}.get({{name}}, {{default}})" if default is not None else f"{environ}.get({{name}})"
    if isinstance(default, ast.Constant) and isinstance(default.value, _TYPES[kind]):
        return converted.format(f"{environ}.get({{name}}, {{default}})")
    # The name is written twice, and the default is asked only when it is needed.
    if not isinstance(values["name"], (ast.Constant, ast.Name)) or not isinstance(
        default, (ast.Constant, ast.Name, ast.Attribute, type(None))
    ):
        return None
    otherwise = "{default}" if default is not None else "None"
    return f"{converted.format(f'{environ}[{{name}}]')} if {{name}} in {environ} else {otherwise}"

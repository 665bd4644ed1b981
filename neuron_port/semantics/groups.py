"""Process groups: which processes a group has, and whether it is one of the host.

dist.new_group([0, 1])                    ranks 0 and 1
dist.new_group(list(range(4, 8)))         ranks 4 to 7
dist.new_group(backend="gloo")            a group of the host
dist.group.WORLD, None                    everyone
"""

from __future__ import annotations

import ast

from neuron_port.semantics.module import Module
from neuron_port.semantics.values import sources

_EVERYONE = (".group.WORLD", ".GroupMember.WORLD", "._get_default_group")
_MAKERS = (".new_group", ".new_subgroups", ".new_subgroups_by_enumeration")
_INIT = ("torch.distributed.init_process_group", "torch.distributed.distributed_c10d.init_process_group")
_HOST = frozenset({"gloo", "mpi"})


def kind_of_group(module: Module, value: ast.expr) -> str:
    """``everyone``, ``host``, ``part`` or ``unknown``."""
    if isinstance(value, ast.Constant) and value.value is None:
        return "everyone"
    name = module.qualname(value.func if isinstance(value, ast.Call) else value) or ""
    if name.endswith(_EVERYONE):
        return "everyone"
    if not (isinstance(value, ast.Call) and name.endswith(_MAKERS)):
        return "unknown"
    keywords = {keyword.arg: keyword.value for keyword in value.keywords}
    backend = keywords.get("backend", value.args[2] if len(value.args) > 2 and name.endswith(".new_group") else None)
    if backend is not None and not (isinstance(backend, ast.Constant) and backend.value is None):
        literal = backend.value if isinstance(backend, ast.Constant) else None
        return "host" if literal in _HOST else "part" if isinstance(literal, str) else "unknown"
    if name.endswith(".new_group") and not value.args and "ranks" not in keywords:
        return "unknown"
    return "part"


def is_on_host(module: Module, group: ast.expr | None) -> bool:
    """Whether the group that a collective is given, or the default one, is a group of the host."""
    if group is None:
        return host_only(module)
    return any(kind_of_group(module, each) == "host" for each in sources(module, group))


def host_only(module: Module) -> bool:
    """Whether every process group that the file sets up as the default one is a group of the host."""
    given = [
        value
        for made in module.calls_to(*_INIT)
        for value in (*made.args[:1], *(item.value for item in made.keywords if item.arg == "backend"))
    ]
    named = {
        each.value if isinstance(each, ast.Constant) else None for value in given for each in sources(module, value)
    }
    return bool(named) and named <= _HOST


def ranks_of(module: Module, made: ast.expr) -> list[int] | None:
    """The ranks of a group that ``new_group`` makes with them written out."""
    if not (isinstance(made, ast.Call) and (module.qualname(made.func) or "").endswith(".new_group")):
        return None
    given = next((item.value for item in made.keywords if item.arg == "ranks"), made.args[0] if made.args else None)
    found = sources(module, given) if given is not None and not isinstance(given, ast.Starred) else []
    return _written(found[0]) if len(found) == 1 else None


def _written(value: ast.expr) -> list[int] | None:
    """``[0, 1]``, ``range(4)``, ``list(range(0, 8, 2))``."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and not value.keywords:
        if value.func.id == "list" and len(value.args) == 1:
            return _written(value.args[0])
        numbers = _numbers(value.args) if value.func.id == "range" else None
        return list(range(*numbers)) if numbers and len(numbers) <= 3 and numbers[2:] != [0] else None
    return _numbers(value.elts) if isinstance(value, (ast.List, ast.Tuple)) else None


def _numbers(items: list[ast.expr]) -> list[int] | None:
    values = [item.value if isinstance(item, ast.Constant) else None for item in items]
    return values if values and all(type(value) is int for value in values) else None

"""Environment variables of CUDA, NCCL and NVIDIA.

    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"          ->  os.environ["NEURON_LAUNCH_BLOCKING"] = "1"
    os.environ["CUDA_VISIBLE_DEVICES"] = "0"          ->  os.environ["NEURON_RT_VISIBLE_CORES"] = "0"      (unsafe)
        in a program that starts processes:           ->  (removed)                                       (unsafe)
    os.environ["NCCL_DEBUG"] = "INFO"                 ->  (removed)
    os.environ.setdefault("NCCL_DEBUG", "INFO")       ->  (removed)
    len(os.environ["CUDA_VISIBLE_DEVICES"].split(","))  ->  torch.accelerator.device_count()              (unsafe)
    os.environ.get("CUDA_VISIBLE_DEVICES")                reported
    subprocess.run(cmd, env={"CUDA_VISIBLE_DEVICES": "0"})    reported

Portable code keeps them for its CUDA users.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.settings import harmless
from neuron_port.edits.operations import Operation, RemoveStatement, Replace, SetString
from neuron_port.findings import Applicability, Severity
from neuron_port.rules.model import Row
from neuron_port.semantics.module import statement

_SETTERS = frozenset({"os.environ.setdefault", "os.putenv"})
_FORGETTERS = frozenset({"os.environ.pop", "os.unsetenv"})
_GETTERS = frozenset({"os.environ.get", "os.getenv", "os.environ.__getitem__"})
# What starts processes that take their core from LOCAL_RANK.
_SPAWNS = (
    "torch.multiprocessing.spawn",
    "torch.multiprocessing.start_processes",
    "torch.distributed.init_process_group",
    "torch.distributed.run",
    "torch.distributed.launch",
    "torch.distributed.launcher",
    "accelerate.notebook_launcher",
    "accelerate.launchers.notebook_launcher",
)


@dataclass(frozen=True, slots=True)
class _Access:
    """How a variable is used: ``kind`` is set, forget, read, test or entry (of a dict); ``place`` the whole of it."""

    kind: str
    place: ast.AST
    value: ast.expr | None = None


def inspect(site: Site) -> Iterator[Report]:
    """Report a string that names a variable where the environment is read or written."""
    node = site.node
    if not isinstance(node, ast.Constant):
        return
    row = _row(site, node.value)
    access = _access(site, node) if row is not None else None
    if row is None or access is None:
        return
    site = replace(site, row=row)
    if access.kind in ("read", "test"):
        yield _read(site, access)
    elif access.kind == "entry":
        yield _entry(site)
    else:
        yield from _written(site, access)


def _row(site: Site, name: str) -> Row | None:
    """The row for a variable: its own, else the longest pattern that it begins with."""
    best: Row | None = None
    for row in site.rule.rows:
        variable = row.options["variable"]
        if variable == name:
            return row
        longer = best is None or len(variable) > len(best.options["variable"])
        if longer and variable.endswith("*") and name.startswith(variable[:-1]):
            best = row
    return best


def _access(site: Site, node: ast.Constant) -> _Access | None:
    """How the string is used, ``None`` when it is no name of an environment variable."""
    parent = node.parent
    module = site.module
    if isinstance(parent, ast.Subscript) and parent.slice is node:
        if not _is_environment(site, parent.value):
            return None
        if isinstance(parent.ctx, ast.Store):
            around = parent.parent
            return _Access("set", around, around.value if isinstance(around, ast.Assign) else None)
        return _Access("forget" if isinstance(parent.ctx, ast.Del) else "read", parent)
    if isinstance(parent, ast.Call) and parent.args[:1] == [node]:
        function = parent.func
        method = function.attr if isinstance(function, ast.Attribute) else ""
        qualname = module.qualname(function) or ""
        if isinstance(function, ast.Attribute) and _is_environment(site, function.value):
            qualname = f"os.environ.{method}"
        if qualname in _SETTERS:
            return _Access("set", parent, parent.args[1] if len(parent.args) > 1 else None)
        if qualname in _FORGETTERS:
            return _Access("forget", parent)
        if qualname in _GETTERS:
            return _Access("read", parent)
        if method in ("setenv", "delenv"):  # pytest's monkeypatch
            return _Access("entry", parent)
        return None
    if isinstance(parent, ast.Compare) and parent.left is node and isinstance(parent.ops[0], (ast.In, ast.NotIn)):
        return _Access("test", parent) if _is_environment(site, parent.comparators[0]) else None
    if isinstance(parent, ast.Dict) and node in parent.keys:
        return _Access("entry", parent) if _becomes_environment(site, parent) else None
    return None


def _is_environment(site: Site, node: ast.expr) -> bool:
    """``os.environ``, or a copy of it that carries its name."""
    if site.module.qualname(node) == "os.environ":
        return True
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name.lower().strip("_") in ("env", "environ", "environment", "env_vars", "envs") or name.lower().endswith(
        ("_env", "_environ", "_env_vars")
    )


def _becomes_environment(site: Site, node: ast.Dict) -> bool:
    parent = node.parent
    if isinstance(parent, ast.keyword):
        return parent.arg in ("env", "env_vars", "environment")
    if isinstance(parent, ast.Call):
        function = parent.func
        return (
            isinstance(function, ast.Attribute) and function.attr == "update" and _is_environment(site, function.value)
        ) or (site.module.qualname(function) or "").endswith("patch.dict")
    if isinstance(parent, ast.Assign):
        return any(_is_environment(site, target) for target in parent.targets)
    if isinstance(parent, (ast.BinOp, ast.Dict)):
        around = parent if isinstance(parent, ast.Dict) else node
        return around is not node and _becomes_environment(site, around)
    return False


# -- reports -----------------------------------------------------------------------------------------------------------


def _written(site: Site, access: _Access) -> Iterator[Report]:
    row = site.row
    options = row.options
    held = options.get("contains")
    value = access.value.value if isinstance(access.value, ast.Constant) else None
    if held is not None:
        if any(isinstance(value, str) and text in value for text in held):
            yield site.report(applicability=Applicability.MANUAL)
        return
    if value in options.get("hide", ()) and value is not None:
        yield site.report(options["hide_message"], applicability=Applicability.MANUAL)
        return
    removes = row.action == "remove"
    message = row.message
    if options.get("spawns_remove") and _spawns(site):
        removes, message = True, options["spawns_message"]
    late = _late(site, access.place) and "late_message" in options and not removes
    if late:
        message = f"{message}; {options['late_message']}"
    operations: list[Operation] = []
    if row.action == "flag" or site.context.portable:
        pass
    elif not removes:
        operations = [SetString(site.node, row.to)]
    elif (whole := _statement(access.place)) is not None:
        operations = [RemoveStatement(whole)]
    doubt = late or (removes and access.value is not None and not harmless([access.value]))
    yield site.report(
        message,
        severity=max(row.severity, Severity.WARNING) if late else row.severity,
        operations=operations,
        applicability=min(row.applicability, Applicability.UNSAFE) if doubt else row.applicability,
    )


def _statement(place: ast.AST) -> ast.stmt | None:
    """The statement that only writes the variable."""
    if isinstance(place, ast.Assign):
        return place if len(place.targets) == 1 else None
    if isinstance(place, ast.Call):
        return place.parent if isinstance(place.parent, ast.Expr) else None
    around = getattr(place, "parent", None)
    return around if isinstance(around, ast.Delete) and len(around.targets) == 1 else None


def _read(site: Site, access: _Access) -> Report:
    row = site.row
    options = row.options
    if "contains" in options:
        return site.report(row.message, severity=Severity.INFO, applicability=Applicability.MANUAL)
    count = _count(access.place)
    if count is not None and "count_new" in options and not site.context.portable:
        spelling = site.spell(options["count_new"].removesuffix("()"), count)
        # An import of torch that is added would come before the place where the variable is set.
        if spelling is not None and not spelling.operations:
            return site.report(
                options["read_message"],
                node=count,
                severity=Severity.ERROR,
                operations=[Replace(count, f"{spelling.text}()")],
                applicability=Applicability.UNSAFE,
            )
    # What this file renames where it is written is renamed where it is read.
    renamed = row.action == "rewrite" and ("read_message" not in options or _is_set(site))
    subscript = isinstance(access.place, ast.Subscript)
    return site.report(
        options.get("read_message", row.message),
        severity=Severity.parse(options["read_severity"]) if subscript and "read_severity" in options else row.severity,
        operations=[SetString(site.node, row.to)] if renamed and not site.context.portable else [],
        applicability=row.applicability if renamed else Applicability.MANUAL,
    )


def _is_set(site: Site) -> bool:
    """Whether this file gives the variable a value that is renamed."""
    if site.row.options.get("spawns_remove") and _spawns(site):
        return False
    for node in site.module.found.strings:
        if isinstance(node, ast.Constant) and node.value == site.node.value:
            access = _access(site, node)
            value = access.value if access is not None and access.kind == "set" else None
            if value is not None and getattr(value, "value", None) not in site.row.options.get("hide", ()):
                return True
    return False


def _entry(site: Site) -> Report:
    """An entry of a dict that becomes an environment: only a variable with a counterpart is renamed."""
    row = site.row
    renamed = row.action == "rewrite" and not row.options.get("spawns_remove") and not site.context.portable
    return site.report(
        row.message,
        operations=[SetString(site.node, row.to)] if renamed else [],
        applicability=Applicability.UNSAFE if renamed else Applicability.MANUAL,
    )


def _count(place: ast.AST) -> ast.Call | None:
    """``len(place.split(","))``."""
    attribute = getattr(place, "parent", None)
    split = getattr(attribute, "parent", None)
    length = getattr(split, "parent", None)
    if (
        isinstance(attribute, ast.Attribute)
        and attribute.attr == "split"
        and isinstance(split, ast.Call)
        and isinstance(length, ast.Call)
        and isinstance(length.func, ast.Name)
        and length.func.id == "len"
        and length.args == [split]
    ):
        return length
    return None


def _spawns(site: Site) -> bool:
    """Whether the program starts processes that find their core themselves."""
    module = site.module
    for binding in module.found.imports:
        if (binding.qualname or "").startswith(_SPAWNS):
            return True
        for node in module.references(binding):
            link: ast.expr = node
            while isinstance(link.parent, ast.Attribute):
                link = link.parent
                if (module.qualname(link) or "").startswith(_SPAWNS):
                    return True
    return False


def _late(site: Site, place: ast.AST) -> bool:
    """Whether torch has been imported when the variable is set at module level."""
    whole = statement(place)
    if whole.parent is not site.module.tree:
        return False
    return any(
        binding.statement.lineno < whole.lineno
        for binding in site.module.found.imports
        if binding.scope is site.module.scope and (binding.qualname or "").partition(".")[0] == "torch"
    )

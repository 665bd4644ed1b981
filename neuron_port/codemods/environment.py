"""Environment variables of another platform: CUDA, NCCL and NVIDIA; PyTorch/XLA and the Neuron tools built on it.

    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"          ->  os.environ["NEURON_LAUNCH_BLOCKING"] = "1"
    os.environ["CUDA_VISIBLE_DEVICES"] = "0"          ->  os.environ["NEURON_RT_VISIBLE_CORES"] = "0"      (unsafe)
        in a program that starts processes:           ->  (removed)                                       (unsafe)
    os.environ["NCCL_DEBUG"] = "INFO"                 ->  (removed)
    os.environ.setdefault("NCCL_DEBUG", "INFO")       ->  (removed)
    len(os.environ["CUDA_VISIBLE_DEVICES"].split(","))  ->  torch.accelerator.device_count()              (unsafe)
    os.environ.get("CUDA_VISIBLE_DEVICES")                reported
    subprocess.run(cmd, env={"CUDA_VISIBLE_DEVICES": "0"})    reported
    os.environ["USE_TORCH_XLA"] = "1"                 ->  os.environ["USE_TORCH_XLA"] = "0"
    if os.environ.get("NEURON_EXTRACT_GRAPHS_ONLY"):  ->  if False:

Portable code keeps those of CUDA for its CUDA users; the rules say for which targets they write.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from neuron_port.codemods import compiler_flags
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.known_value import settled
from neuron_port.codemods.old_imports import is_old_import
from neuron_port.codemods.settings import harmless
from neuron_port.edits.operations import InsertComment, Operation, RemoveStatement, Replace, SetString
from neuron_port.findings import Applicability, Severity
from neuron_port.rules.model import Row
from neuron_port.semantics.module import statement

_SETTERS = frozenset({"os.environ.setdefault", "os.putenv"})
_FORGETTERS = frozenset({"os.environ.pop", "os.unsetenv"})
_GETTERS = frozenset({"os.environ.get", "os.getenv", "os.environ.__getitem__"})
# Keywords that take the environment of a process or container.
_PASSED = ("env", "env_vars", "environment")
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


_OWN_SWITCH = (
    "{} is set by this program itself, to leave work out; TorchNeuron has no such runs, so give the switch another name"
)


@dataclass(frozen=True, slots=True)
class Access:
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
    access = access_of(site, node) if row is not None else None
    if row is None or access is None or not _concerns(site, row):
        return
    site = replace(site, row=row, qualname=node.value)
    if "flags" in row.options:
        whole = whole_statement(access.place) if access.kind == "set" else None
        if _is_searched(access.place):
            yield site.report(
                row.options["searched_message"], severity=Severity.INFO, applicability=Applicability.MANUAL
            )
        yield from compiler_flags.inspect(site, access.value, whole)
    elif access.kind in ("read", "test"):
        if not row.options.get("written_only"):
            yield _read(site, access)
    elif row.options.get("written_only") and access.kind == "forget":
        return
    elif access.kind == "entry" and "set_to" not in row.options:
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


def _concerns(site: Site, row: Row) -> bool:
    """Whether the file is one that the row is about."""
    if row.options.get("with_xla") and not any(is_old_import(binding) for binding in site.module.found.imports):
        return False  # TensorFlow and JAX read variables of these names too
    return not row.options.get("spawns_only") or _spawns(site)


def writes(site: Site) -> bool:
    """Whether the target's code leaves the old platform's variables out."""
    return site.context.target in site.row.options.get("targets", site.rule.options.get("targets", ("neuron",)))


def access_of(site: Site, node: ast.Constant) -> Access | None:
    """How the string is used, ``None`` when it is no name of an environment variable."""
    parent = node.parent
    module = site.module
    if isinstance(parent, ast.Subscript) and parent.slice is node:
        if not _is_environment(site, parent.value):
            return None
        if isinstance(parent.ctx, ast.Store):
            around = parent.parent
            return Access("set", around, around.value if isinstance(around, (ast.Assign, ast.AugAssign)) else None)
        return Access("forget" if isinstance(parent.ctx, ast.Del) else "read", parent)
    if isinstance(parent, ast.Call) and parent.args[:1] == [node]:
        function = parent.func
        method = function.attr if isinstance(function, ast.Attribute) else ""
        qualname = module.qualname(function) or ""
        if isinstance(function, ast.Attribute) and _is_environment(site, function.value):
            qualname = f"os.environ.{method}"
        if qualname in _SETTERS:
            return Access("set", parent, parent.args[1] if len(parent.args) > 1 else None)
        if qualname in _FORGETTERS:
            return Access("forget", parent)
        if qualname in _GETTERS:
            return Access("read", parent)
        if method in ("setenv", "delenv"):  # pytest's monkeypatch
            return Access("entry", parent, parent.args[1] if len(parent.args) > 1 else None)
        return None
    if isinstance(parent, ast.Compare) and parent.left is node and isinstance(parent.ops[0], (ast.In, ast.NotIn)):
        return Access("test", parent) if _is_environment(site, parent.comparators[0]) else None
    if isinstance(parent, ast.Dict) and node in parent.keys:
        value = parent.values[parent.keys.index(node)]
        return Access("entry", parent, value) if _becomes_environment(site, parent) else None
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
        return parent.arg in _PASSED
    if isinstance(parent, ast.Call):
        function = parent.func
        return (
            isinstance(function, ast.Attribute) and function.attr == "update" and _is_environment(site, function.value)
        ) or (site.module.qualname(function) or "").endswith("patch.dict")
    if isinstance(parent, ast.Assign):
        return any(_is_environment(site, target) or _is_passed(site, target) for target in parent.targets)
    if isinstance(parent, (ast.BinOp, ast.Dict)):
        around = parent if isinstance(parent, ast.Dict) else node
        return around is not node and _becomes_environment(site, around)
    return False


def _is_passed(site: Site, target: ast.expr) -> bool:
    """``Model(env=config)``: whether a variable is passed as the environment of something."""
    reads = [read for each in site.module.bindings(target) for read in site.module.references(each)] if isinstance(
        target, ast.Name
    ) else []  # fmt: skip
    return any(isinstance(read.parent, ast.keyword) and read.parent.arg in _PASSED for read in reads)


# -- reports -----------------------------------------------------------------------------------------------------------


def _written(site: Site, access: Access) -> Iterator[Report]:
    row = site.row
    options = row.options
    held = options.get("contains")
    value = access.value.value if isinstance(access.value, ast.Constant) else None
    if held is not None:
        if any(isinstance(value, str) and text in value for text in held):
            yield site.report(applicability=Applicability.MANUAL)
        return
    if isinstance(value, str) and any(_fits(value, pattern) for pattern in options.get("hide", ())):
        yield site.report(options["hide_message"], applicability=Applicability.MANUAL)
        return
    if value is not None and value in options.get("fine", ()):
        return
    if options.get("written_only") and not isinstance(value, str):
        return  # what an option of the program comes out as is not known here
    if options.get("per_rank") and access.value is not None and _names_rank(access.value):
        return
    if (
        options.get("per_rank")
        and access.value is not None
        and not isinstance(access.value, (ast.Constant, ast.JoinedStr))
    ):
        # A launcher that hands one core to each process is right, and what the value is cannot be seen here.
        yield site.report(
            f"{row.message}; what it is set to is worked out elsewhere",
            severity=Severity.WARNING,
            applicability=Applicability.MANUAL,
        )
        return
    if "set_to" in options:
        yield _set_to(site, access, options["set_to"])
        return
    if options.get("unset") and _is_set(site):
        yield site.report(_OWN_SWITCH.format(site.qualname), applicability=Applicability.MANUAL)
        return
    removes = row.action == "remove"
    message = row.message
    if options.get("spawns_remove") and _spawns(site):
        removes, message = True, options["spawns_message"]
    late = _late(site, access.place) and "late_message" in options and not removes
    if late:
        message = f"{message}; {options['late_message']}"
    operations: list[Operation] = []
    if row.action == "flag" or not writes(site):
        pass
    elif not removes and not (_is_written(site, row.to) and whole_statement(access.place) is not None):
        operations = [SetString(site.node, row.to)]
    elif (whole := whole_statement(access.place)) is not None:
        operations = [RemoveStatement(whole), *_comment(site, whole, value)]
    is_off = value is not None and value in options.get("off", ())
    doubt = late or (removes and access.value is not None and not harmless([access.value]))
    yield site.report(
        message,
        severity=max(row.severity, Severity.WARNING) if late else Severity.INFO if is_off else row.severity,
        operations=operations,
        applicability=min(row.applicability, Applicability.UNSAFE) if doubt else row.applicability,
    )


def _is_searched(place: ast.AST) -> bool:
    """``"--flag" in os.environ.get("NEURON_CC_FLAGS", "")``."""
    around = getattr(place, "parent", None)
    return isinstance(around, ast.Compare) and around.comparators == [place] and isinstance(around.ops[0], ast.In)


def _names_rank(value: ast.expr) -> bool:
    """Whether a value is worked out from the rank of the process."""
    words = (getattr(node, "id", getattr(node, "attr", getattr(node, "value", ""))) for node in ast.walk(value))
    return any(isinstance(word, str) and "rank" in word.lower() for word in words)


def _fits(value: str, pattern: str) -> bool:
    return value.startswith(pattern[:-1]) if pattern.endswith("*") else value == pattern


def _set_to(site: Site, access: Access, wanted: str) -> Report:
    """The variable keeps its name and gets the one value that is right on Neuron."""
    literal = access.value if isinstance(access.value, ast.Constant) and isinstance(access.value.value, str) else None
    operations: list[Operation] = []
    if literal is not None:
        site.context.claimed.add(id(literal))  # "cuda:0" is no device string of its own here
    if not writes(site):
        pass
    elif literal is not None:
        operations = [SetString(literal, wanted)]
    elif access.value is not None:
        operations = [Replace(access.value, f'"{wanted}"')]
    return site.report(
        operations=operations,
        applicability=site.row.applicability if literal is not None else Applicability.UNSAFE,
    )


def _comment(site: Site, whole: ast.stmt, value: object) -> list[Operation]:
    """A note where a variable goes that did more than the platform's own business."""
    text = site.row.options.get("comment")
    if text is None or value in site.row.options.get("off", ()):
        return []
    return [InsertComment(whole, f"TODO(neuron-port): {site.rule.code} {text}")]


def whole_statement(place: ast.AST) -> ast.stmt | None:
    """The statement that only writes the variable."""
    if isinstance(place, ast.Assign):
        return place if len(place.targets) == 1 else None
    if isinstance(place, ast.AugAssign):
        return place
    if isinstance(place, ast.Call):
        return place.parent if isinstance(place.parent, ast.Expr) else None
    around = getattr(place, "parent", None)
    return around if isinstance(around, ast.Delete) and len(around.targets) == 1 else None


def _read(site: Site, access: Access) -> Report:
    row = site.row
    options = row.options
    if "contains" in options:
        return site.report(row.message, severity=Severity.INFO, applicability=Applicability.MANUAL)
    if options.get("unset"):
        return _unset(site, access)
    count = _count(access.place)
    if count is not None and "count_new" in options and writes(site):
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
        severity=_read_severity(row, subscript),
        operations=[SetString(site.node, row.to)] if renamed and writes(site) else [],
        applicability=row.applicability if renamed else Applicability.MANUAL,
    )


def _read_severity(row: Row, subscript: bool) -> Severity:
    """How bad a read is: only ``os.environ[name]`` fails where nobody sets the variable."""
    if subscript:
        return Severity.parse(row.options["read_severity"]) if "read_severity" in row.options else row.severity
    return min(row.severity, Severity.WARNING)


def _unset(site: Site, access: Access) -> Report:
    """A question about a variable that nobody sets any more: its outcome is known."""
    if _is_set(site):
        return site.report(_OWN_SWITCH.format(site.qualname), applicability=Applicability.MANUAL)
    found = _outcome(access.place)
    message = site.row.options.get("read_message", site.row.message)
    if found is None:
        return site.report(message, applicability=Applicability.MANUAL)
    place, operations = settled(*found)
    return site.report(message, node=place, operations=operations if writes(site) else [])


def _outcome(place: ast.AST) -> tuple[ast.expr, object] | None:
    """The largest expression around ``place`` that has a known value without the variable, and that value."""
    if isinstance(place, ast.Compare):
        return place, isinstance(place.ops[0], ast.NotIn)
    if not isinstance(place, ast.Call):
        return None
    default = place.args[1] if len(place.args) > 1 else ast.Constant(None)
    if not isinstance(default, ast.Constant) or place.keywords:
        return None
    value = default.value
    parent = place.parent
    converts = getattr(parent.func, "id", "") if isinstance(parent, ast.Call) and parent.args == [place] else ""
    if converts == "bool" or (converts == "int" and str(value).isdigit()):
        value = bool(value) if converts == "bool" else int(value)
        place, parent = parent, parent.parent
    if isinstance(parent, ast.Compare) and parent.left is place and len(parent.ops) == 1:
        other, operator = parent.comparators[0], parent.ops[0]
        if isinstance(other, ast.Constant) and isinstance(operator, (ast.Eq, ast.Is, ast.NotEq, ast.IsNot)):
            same = value == other.value and type(value) is type(other.value)
            return parent, same is isinstance(operator, (ast.Eq, ast.Is))
    return place, value


def _is_written(site: Site, name: str) -> bool:
    """Whether the file gives the variable of the new name a value already."""
    accesses = (
        access_of(site, node)
        for node in site.module.found.strings
        if isinstance(node, ast.Constant) and node.value == name
    )
    return any(access is not None and access.kind == "set" for access in accesses)


def _is_set(site: Site) -> bool:
    """Whether this file gives the variable a value that is renamed."""
    if site.row.options.get("spawns_remove") and _spawns(site):
        return False
    for node in site.module.found.strings:
        if isinstance(node, ast.Constant) and node.value == site.node.value:
            access = access_of(site, node)
            value = access.value if access is not None and access.kind == "set" else None
            if value is not None and getattr(value, "value", None) not in site.row.options.get("hide", ()):
                return True
    return False


def _entry(site: Site) -> Report:
    """An entry of a dict that becomes an environment: only a variable with a counterpart is renamed."""
    row = site.row
    renamed = row.action == "rewrite" and not row.options.get("spawns_remove") and writes(site)
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
    """Whether the program starts processes that find their core themselves, or is one of them."""
    module = site.module
    if site.context.processes.has_group:
        return True
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

"""Where Python files take up what project files set: options of their command line, keys of configurations, packages.

parser.add_argument("--device", default="cuda")     option:device
device: str = "cuda"        (in a dataclass)        option:device, key:device
cfg.train.device, config["device"]                  key:device
import flash_attn                                   package:flash_attn
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from neuron_port.checking.reading import read_text
from neuron_port.sources.python import UnreadableFile, read_bytes

# What a configuration or the parsed command line is called where it is read.
_HOLDER = r"(?:\w*(?:cfg|conf|config|hparams|settings)|args?|opts?|params|options|flags|FLAGS|hp)"
_DECLARING = frozenset({"add_argument", "option", "add_option", "argument"})
_FLAGS = re.compile(r"DEFINE_\w+")


@dataclass(frozen=True, slots=True, order=True)
class Use:
    """A place that takes up ``subject``: the lines from ``row`` to ``end_row``, and what happens there in words."""

    row: int
    subject: str
    end_row: int
    how: str


@dataclass(frozen=True)
class UsesOf:
    """Finds the places of one file that take up any of ``subjects``; what cannot be read has none."""

    subjects: frozenset[str]

    def __call__(self, path: Path) -> tuple[Use, ...]:
        try:
            if not self._trigger.search(read_bytes(path)):
                return ()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(read_text(path))
        except (UnreadableFile, SyntaxError, ValueError, RecursionError, MemoryError):
            return ()
        return tuple(sorted({use for use in _uses(tree) if use.subject in self.subjects}))

    @cached_property
    def _trigger(self) -> re.Pattern[bytes]:
        options, keys, packages = (self._names(kind) for kind in ("option", "key", "package"))
        parts = []
        if options:
            parts.append(rf"""["']-{{0,2}}{options}["']""")
        if options or keys:
            parts.append(rf"^[ \t]+(?:{options or keys}|{keys or options})[ \t]*:")
        if keys:
            parts.append(rf"""{_HOLDER}\b[\w.\[\]"']*?(?:\.|\[["']|\.get\(["']){keys}\b""")
        if packages:
            parts.append(rf"^[ \t]*(?:import|from)[ \t]+(?:[\w.]+[ \t]*,[ \t]*)*{packages}\b")
        return re.compile("|".join(parts).encode() or b"(?!)", re.MULTILINE)

    def _names(self, kind: str) -> str:
        names = sorted(subject.partition(":")[2] for subject in self.subjects if subject.startswith(f"{kind}:"))
        words = "|".join(re.escape(name).replace("_", "[_-]") for name in names)
        return f"(?:{words})" if words else ""


def option_subject(name: str) -> str:
    """The subject of an option of a command line, however many dashes it has."""
    return f"option:{name.lstrip('-').replace('-', '_')}"


def _uses(tree: ast.Module) -> Iterator[Use]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from _imports(node, [alias.name for alias in node.names])
        elif isinstance(node, ast.ImportFrom):
            if node.module and not node.level:
                yield from _imports(node, [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
        elif isinstance(node, ast.Call):
            yield from _declared(node)
        elif isinstance(node, ast.ClassDef):
            yield from _fields(node)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and _is_holder(node.value):
            yield _use(f"key:{node.attr}", node, f"reads {ast.unparse(node)}")
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and _is_holder(node.value):
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                yield _use(f"key:{node.slice.value}", node, f"reads {ast.unparse(node)}")


def _imports(node: ast.stmt, names: Iterable[str]) -> Iterator[Use]:
    for name in names:
        parts = name.split(".")
        for length in range(1, min(len(parts), 2) + 1):
            package = ".".join(parts[:length])
            yield _use(f"package:{package}", node, f"imports {package}")


def _declared(node: ast.Call) -> Iterator[Use]:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    names = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    default = next((keyword.value for keyword in node.keywords if keyword.arg == "default"), None)
    if called in _DECLARING:
        names = [name for name in names if name.startswith("-")]
    elif _FLAGS.fullmatch(called) and names:
        default = node.args[1] if len(node.args) > 1 else default
        names = names[:1]
    elif called == "get" and isinstance(node.func, ast.Attribute) and _is_holder(node.func.value) and names:
        yield _use(f"key:{names[0]}", node, f"reads {ast.unparse(node)}")
        return
    else:
        return
    for name in names:
        subject = option_subject(name)
        yield _use(subject, node, f"declares {name}{_default(default)}")
        yield _use(subject.replace("option:", "key:"), node, f"declares {name}{_default(default)}")


def _fields(node: ast.ClassDef) -> Iterator[Use]:
    """The fields of a dataclass, from which parsers and configurations are made."""
    if not any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list):
        return
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
            how = f"declares {node.name}.{name}{_default(statement.value)}"
            yield _use(f"option:{name}", statement, how)
            yield _use(f"key:{name}", statement, how)


def _default(node: ast.expr | None) -> str:
    return f" with the default {node.value!r}" if isinstance(node, ast.Constant) and node.value is not None else ""


def _is_holder(node: ast.expr) -> bool:
    while True:
        if isinstance(node, ast.Attribute):
            if re.fullmatch(_HOLDER, node.attr):
                return True
            node = node.value
        elif isinstance(node, ast.Subscript):
            node = node.value
        else:
            return isinstance(node, ast.Name) and re.fullmatch(_HOLDER, node.id) is not None


def _use(subject: str, node: ast.stmt | ast.expr, how: str) -> Use:
    return Use(node.lineno, subject, node.end_lineno or node.lineno, how)

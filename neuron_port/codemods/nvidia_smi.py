"""``nvidia-smi``, run as a command.

    os.system("nvidia-smi")                              ->  os.system("neuron-ls")              (unsafe)
    subprocess.run(["nvidia-smi", "-L"])                 ->  subprocess.run(["neuron-ls"])       (unsafe)
    subprocess.check_output(["nvidia-smi", "--query-gpu=name"])    reported: its text is taken apart

Texts that only speak of the command, and commands that get it as an argument, are left alone.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Operation, Replace, SetString
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import Role
from neuron_port.semantics.module import ancestors

_RUNS = (
    "subprocess.",
    "os.system",
    "os.popen",
    "os.exec",
    "os.spawn",
    "asyncio.create_subprocess",
    "shlex.split",
    "pexpect.",
    "sh.",
)
# Ways to the text of an answer, and what shows a text.
_TEXT = frozenset({"stdout", "decode", "read", "strip"})
_SINKS = frozenset({"print", "print0", "info", "debug", "write", "log", "echo"})
_SILENT = frozenset({"os.system", "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.Popen"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a string that begins with the command."""
    node = site.node
    site = replace(site, row=site.rule.rows[0])
    options = site.row.options
    command = options["command"]
    text = node.value if isinstance(node, ast.Constant) else node.values[0].value
    words = _words(text)
    if not words or words[0] != command:
        return
    listed = node.parent if isinstance(node.parent, (ast.List, ast.Tuple)) else None
    if listed is not None and listed.elts[0] is not node:
        return  # an argument of some other command
    call = _runner(site, node)
    if call is None:
        if site.context.devices.use(node).role is not Role.TEXT:
            yield from _elsewhere(site)
        return
    given = _arguments(listed, words) if isinstance(node, ast.Constant) else None
    plain = given is not None and " ".join(given) in options["arguments"]
    if plain and not site.context.portable and _answer_is_shown(site, call):
        yield site.report(operations=_twin(site, listed), applicability=Applicability.UNSAFE)
    else:
        yield site.report(options["other_message"], applicability=Applicability.MANUAL)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _arguments(listed: ast.List | ast.Tuple | None, words: list[str]) -> list[str] | None:
    """The arguments of the command, ``None`` when they cannot be read."""
    if listed is None:
        return words[1:]
    if not all(isinstance(item, ast.Constant) and isinstance(item.value, str) for item in listed.elts):
        return None
    return [item.value for item in listed.elts[1:]]


def _twin(site: Site, listed: ast.List | ast.Tuple | None) -> Sequence[Operation]:
    if listed is None or len(listed.elts) == 1:
        return [SetString(site.node, site.row.to)]
    return [Replace(listed, f'["{site.row.to}"]')]


def _runner(site: Site, node: ast.expr) -> ast.Call | None:
    """The call that runs the command which the literal, or the list it begins, holds."""
    for around in ancestors(node):
        if isinstance(around, ast.Call):
            qualname = site.module.qualname(around.func) or ""
            if qualname.startswith(_RUNS):
                return around
            function = around.func
            if not (isinstance(function, ast.Attribute) and function.attr in ("split", "format", "join")):
                return None
        elif not isinstance(around, (ast.List, ast.Tuple, ast.Attribute, ast.BinOp, ast.JoinedStr, ast.keyword)):
            return None
    return None


def _answer_is_shown(site: Site, call: ast.Call) -> bool:
    """Whether the command's text goes to the terminal or a log as it is, and nothing takes it apart."""
    node: ast.expr = call
    while isinstance(node.parent, ast.Attribute) and node.parent.attr in _TEXT:
        node = node.parent
        if isinstance(node.parent, ast.Call) and node.parent.func is node:
            node = node.parent
    around = node.parent
    if isinstance(around, ast.Expr):
        return site.module.qualname(call.func) in _SILENT and node is call
    if not isinstance(around, ast.Call) or node not in around.args:
        return False
    function = around.func
    return (function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")) in _SINKS


def _elsewhere(site: Site) -> Iterator[Report]:
    """A command kept in a variable, or looked for with ``shutil.which``: a note."""
    yield site.report(site.row.options["other_message"], severity=Severity.INFO, applicability=Applicability.MANUAL)

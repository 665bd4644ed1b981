"""The attention that a Transformers model computes with: kernels of the flash_attn family need CUDA.

from_pretrained(name, attn_implementation="flash_attention_2")    ->  attn_implementation="sdpa"    (unsafe)
config._attn_implementation = "flash_attention_2"                 ->  "sdpa"                        (unsafe)
model.set_attn_implementation("flash_attention_2")                ->  "sdpa"                        (unsafe)
load("google/gemma-2-9b", attn_implementation="flash_attention_2")  ->  "eager": sdpa has no softcapping
attn = "flash_attention_2" if is_flash_attn_2_available() else "sdpa"   noted: never chosen
model = model.to_bettertransformer()                              ->  (removed)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.argument_table import claim
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.method_table import with_row
from neuron_port.codemods.pretrained_argument import inspect as by_arguments
from neuron_port.edits.operations import RemoveStatement, Replace, SetString
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import ancestors, enclosing_function, statement

_KERNELS = re.compile(
    r"(paged\|)?flash_attention_[234]\Z|kernels-community/(?:vllm-)?flash-attn\d?|kernels-community/(?:aiter|metal|flash-mla)"
)
_NAMES = re.compile(r"(?i)(?:\A|_|-)attn|attention_impl|attention_type|attention_backend|_attention\Z|\Aattention\Z")
_SOFTCAPPED = re.compile(r"(?i)gemma-?2(?![0-9])")
_ASKS = re.compile(r"is_flash_attn|flash_attn|is_available|find_spec")


def inspect(site: Site) -> Iterator[Report]:
    """Report a string, an argument or a method."""
    if site.form == "string":
        yield from _choice(site)
    elif site.form == "method" and site.node.func.attr.endswith("bettertransformer"):
        known = with_row(site)
        if known is not None:
            yield _transformed(known, site.node, site.node.func.value)
    elif site.row is not None and site.row.options.get("wrapper"):
        if site.call is not None and site.call.args:
            yield _transformed(site, site.call, site.call.args[0])
        elif site.form == "import":
            yield site.report(applicability=Applicability.MANUAL)
    else:
        yield from by_arguments(site)


def _choice(site: Site) -> Iterator[Report]:
    node = site.node
    text = node.value if isinstance(node, ast.Constant) else None
    if not isinstance(text, str) or not _KERNELS.match(text) or not _is_choice(site, node):
        return
    guard = _guard(node)
    if guard is not None:
        yield site.report(
            f'"{text}" is only chosen where {ast.unparse(guard)}, which is not so on Neuron',
            severity=Severity.INFO,
            applicability=Applicability.MANUAL,
        )
        return
    softcapped = _SOFTCAPPED.search(site.module.text) is not None and any(
        _SOFTCAPPED.search(str(each.value))
        for each in ast.walk(site.module.tree)
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and "\n" not in each.value
    )
    new = "eager" if softcapped else "sdpa"
    reason = (
        'the logit softcapping of Gemma 2 needs "eager"'
        if softcapped
        else '"sdpa" computes the same ("eager" for a model with logit softcapping)'
    )
    yield site.report(
        f'"{text}" is attention by a CUDA kernel and raises where the model is loaded; {reason}',
        applicability=Applicability.UNSAFE,
        operations=[] if site.context.portable else [SetString(node, new)],
    )


def _is_choice(site: Site, node: ast.expr) -> bool:
    """Whether the string is what a model computes its attention with, and not compared, listed or printed."""
    child: ast.AST = node
    for around in ancestors(node):
        if isinstance(around, ast.keyword):
            if _NAMES.search(around.arg or ""):
                return True
            return (
                around.arg in ("default", "const") and isinstance(around.parent, ast.Call) and _is_option(around.parent)
            )
        if isinstance(around, ast.Dict):
            keys = [key for key, value in zip(around.keys, around.values) if value is child]
            name = getattr(keys[0], "value", None) if keys else None
            if isinstance(name, str) and _NAMES.search(name):
                return True
            if not isinstance(around.parent, (ast.keyword, ast.Call)):
                return False  # a table of names
        elif isinstance(around, (ast.Assign, ast.AnnAssign)):
            targets = around.targets if isinstance(around, ast.Assign) else [around.target]
            return any(_NAMES.search(_name(target)) for target in targets)
        elif isinstance(around, ast.arguments):
            return _is_default(around, child)
        elif isinstance(around, ast.Return):
            function = enclosing_function(around)
            return _NAMES.search(getattr(function, "name", "")) is not None
        elif isinstance(around, ast.Call):
            function = around.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name == "set_attn_implementation":
                return True
            if name in ("get", "pop", "setdefault", "getattr") and child in around.args:
                key = next((item for item in around.args if isinstance(item, ast.Constant)), None)
                return key is not child and isinstance(key.value, str) and bool(_NAMES.search(key.value))
            return False
        elif not isinstance(around, (ast.IfExp, ast.BoolOp)) or child is getattr(around, "test", None):
            return False
        child = around
    return False


def _name(target: ast.expr) -> str:
    if isinstance(target, ast.Subscript):
        key = target.slice
        return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
    return target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


def _is_option(call: ast.Call) -> bool:
    """``add_argument("--attn_implementation", default=...)``, and a dataclass field of such a name."""
    if any(isinstance(item, ast.Constant) and _NAMES.search(str(item.value)) for item in call.args):
        return True
    around = call.parent
    return isinstance(around, ast.AnnAssign) and bool(_NAMES.search(_name(around.target)))


def _is_default(around: ast.arguments, value: ast.AST) -> bool:
    positional = [*around.posonlyargs, *around.args]
    pairs = [*zip(positional[len(positional) - len(around.defaults) :], around.defaults)]
    pairs += zip(around.kwonlyargs, around.kw_defaults)
    return any(default is value and _NAMES.search(argument.arg) for argument, default in pairs)


def _guard(node: ast.expr) -> ast.expr | None:
    """The condition that the kernel's package is there, in whose branch the string is chosen."""
    child: ast.AST = node
    for around in ancestors(node):
        if isinstance(around, (ast.If, ast.IfExp)) and child is not around.test:
            body = around.body if isinstance(around.body, list) else [around.body]
            test = ast.unparse(around.test)
            if child in body and "flash" in test and _ASKS.search(test) and not test.startswith("not "):
                return around.test
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return None
        child = around
    return None


def _transformed(site: Site, call: ast.Call, model: ast.expr) -> Report:
    """A call that gives the model back: the statement goes where it only assigns the model to itself."""
    whole = statement(call)
    target = whole.targets[0] if isinstance(whole, ast.Assign) and len(whole.targets) == 1 else None
    alone = isinstance(whole, ast.Expr) and whole.value is call
    alone = alone or (target is not None and whole.value is call and ast.unparse(target) == ast.unparse(model))
    claim(site, call.func)
    return site.report(
        node=call,
        applicability=Applicability.SAFE if alone else Applicability.UNSAFE,
        operations=[RemoveStatement(whole)] if alone else [Replace(call, "{model}", {"model": model})],
        use=(site.binding, None) if site.binding else None,
    )

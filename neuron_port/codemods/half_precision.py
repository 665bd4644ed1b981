"""float16 in programs with pretrained models: the types of a file change together, so that weights and inputs fit.

latents = latents.to(device, dtype=torch.float16)          ->  ...dtype=torch.bfloat16)                      (unsafe)
def load(dtype=torch.float16):                             ->  def load(dtype=torch.bfloat16):               (unsafe)
dtype = torch.float16 if cuda else torch.float32           ->  torch.bfloat16 if cuda else torch.float32     (unsafe)
vae.half()                                                 ->  vae.to(torch.bfloat16)                        (unsafe)
X.from_pretrained(name, dtype=torch.float16)                   the business of the rules about loading
if args.precision == "fp16": dtype = torch.float16             noted: what a switch for fp16 chooses
x.dtype == torch.float16, {"fp16": torch.float16}              left alone

Only files that import diffusers, or that load a model of Transformers, are looked at.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.argument_table import claim, spell_closest
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.method_table import imports
from neuron_port.codemods.pretrained_argument import names_model
from neuron_port.edits.operations import Operation, Rename, Replace
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import ancestors, is_chain
from neuron_port.semantics.receivers import Grade
from neuron_port.semantics.scopes import Binding, BindingKind

_LOADERS = ("from_pretrained", "from_config", "from_single_file", "from_pipe", "pipeline")
_LIBRARIES = ("diffusers.", "transformers.", "peft.", "trl.", "sentence_transformers.", "optimum.")
_SWITCH = re.compile(r"(?i)fp16|float16|half|mixed_precision")
_TYPE = "bfloat16 is Neuron's 16-bit type, and weights that are loaded as bfloat16 do not go with float16"
_SWITCHED = "this is what a switch for float16 chooses; on Neuron choose bfloat16"


def inspect(site: Site) -> Iterator[Report]:
    """Report float16 where it becomes the type of something."""
    if not _is_concerned(site):
        return
    if site.form == "method":
        yield from _method(site)
    elif site.form in ("attribute", "call"):
        yield from _type(site)


def _is_concerned(site: Site) -> bool:
    if imports(site, "diffusers"):
        return True
    return imports(site, "transformers") and any(site.module.calls_of(name) for name in _LOADERS)


def _method(site: Site) -> Iterator[Report]:
    call = site.node
    receiver = call.func.value
    if call.args or call.keywords or site.module.qualname(receiver) is not None:
        return
    evidence = site.context.receivers.kind(receiver)
    if evidence.kind == "other" or evidence.grade < Grade.FILE:
        return
    spelling = site.spell("torch.bfloat16", call)
    operations: list[Operation] = []
    if spelling is not None:
        operations = [Replace(call, f"{{receiver}}.to({spelling.text})", {"receiver": receiver}), *spelling.operations]
    yield site.report(_TYPE, node=call, operations=operations)


def _type(site: Site) -> Iterator[Report]:
    node = site.node
    if isinstance(node, ast.Name) and site.binding is None:
        return  # a variable: what it is given is looked at
    value = _whole(node)
    if not _becomes_type(site, value):
        return
    if _is_switched(node):
        yield site.report(_SWITCHED, severity=Severity.INFO, applicability=Applicability.MANUAL)
        return
    claim(site, node)
    spelling = spell_closest(site, "torch.bfloat16", node)
    yield site.report(
        operations=[Rename(node, spelling.text), *spelling.operations] if spelling is not None else [],
        use=(site.binding, None) if site.binding else None,
    )


def _whole(node: ast.expr) -> ast.expr:
    """The conditional value that a type is a branch of."""
    while isinstance(node.parent, ast.IfExp) and node is not node.parent.test:
        node = node.parent
    return node


def _becomes_type(site: Site, value: ast.expr) -> bool:
    """Whether the value is given to something: an argument, a variable, a default, a result."""
    parent = value.parent
    if isinstance(parent, ast.keyword):
        call = parent.parent
        quantizes = (parent.arg or "").startswith("bnb_")
        return isinstance(call, ast.Call) and not quantizes and not _is_loader(site, call)
    if isinstance(parent, ast.Call):
        return (
            value in parent.args and not _is_loader(site, parent) and site.module.qualname(parent.func) != "torch.finfo"
        )
    if isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is value:
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        return not any(isinstance(target, ast.Name) and _feeds_loader(site, _bound(target)) for target in targets)
    if isinstance(parent, ast.arguments):
        return not _feeds_loader(site, _parameter(parent, value))
    return isinstance(parent, ast.Return)


def _is_loader(site: Site, call: ast.Call) -> bool:
    """A call that loads weights, which has rules of its own for its type; a class of another module has none."""
    name = getattr(call.func, "attr", None) or getattr(call.func, "id", "")
    if name not in _LOADERS:
        return False
    receiver = getattr(call.func, "value", None)
    if not is_chain(receiver) or (site.module.qualname(call.func) or "").startswith(_LIBRARIES):
        return True
    return imports(site, "transformers") and names_model(receiver)


def _bound(target: ast.Name) -> Binding | None:
    owner = target.scope.owner(target.id)
    return next((binding for binding in owner.bindings.get(target.id, ()) if binding.node is target), None)


def _parameter(arguments: ast.arguments, default: ast.expr) -> Binding | None:
    """The parameter that ``default`` belongs to."""
    function = arguments.parent
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(reversed(positional), reversed(arguments.defaults)))
    pairs += list(zip(arguments.kwonlyargs, arguments.kw_defaults))
    name = next((argument.arg for argument, value in pairs if value is default), None)
    scope = getattr(function, "inner", None)
    found = scope.bindings.get(name, ()) if scope is not None and name is not None else ()
    return next((binding for binding in found if binding.kind is BindingKind.PARAMETER), None)


def _feeds_loader(site: Site, binding: Binding | None) -> bool:
    """Whether a variable is passed to a load: the rules about loading change what it is given."""
    if binding is None:
        return False
    for read in site.module.references(binding):
        keyword = read.parent
        if isinstance(keyword, ast.keyword) and keyword.arg in ("dtype", "torch_dtype"):
            if isinstance(keyword.parent, ast.Call) and _is_loader(site, keyword.parent):
                return True
    return False


def _is_switched(node: ast.expr) -> bool:
    """Whether an ``if`` around asks for float16: ``if args.fp16``, ``torch.float16 if precision == "fp16" else ...``."""
    inner: ast.AST = node
    for around in ancestors(node):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return False
        if isinstance(around, (ast.If, ast.IfExp)) and inner is not around.test and _asks_half(around.test):
            return True
        inner = around
    return False


def _asks_half(test: ast.expr) -> bool:
    words = (getattr(node, "attr", getattr(node, "id", getattr(node, "value", None))) for node in ast.walk(test))
    return any(isinstance(word, str) and _SWITCH.search(word) for word in words)

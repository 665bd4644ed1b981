"""The tokens of a chat: ``apply_chat_template`` of a tokenizer returns a ``BatchEncoding`` since Transformers 5.

ids = tokenizer.apply_chat_template(chat, return_tensors="pt")     ->  ids = tokenizer.apply_chat_template(chat, return_tensors="pt", return_dict=False)
model.generate(ids)                                                    model.generate(ids)
text = tokenizer.apply_chat_template(chat, tokenize=False)             left alone, as is what is read like a dict
tokenizer.apply_chat_template(chats, pad_to_multiple_of=128)       ->  tokenizer.apply_chat_template(chats, tokenizer_kwargs={"pad_to_multiple_of": 128})
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.decoding import Decoding, of_call
from neuron_port.edits.operations import DropArgument, InsertArgument
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.literals import is_false
from neuron_port.semantics.pretrained_names import is_tokenizer
from neuron_port.semantics.spreads import spreads_of

_TENSOR = frozenset(
    "shape size dim ndim unsqueeze squeeze repeat expand view reshape tolist numel numpy clone cat split append extend index".split()
)
_MAPPING = frozenset("input_ids attention_mask items keys values get data pop update char_to_token word_ids".split())
_MOVES = frozenset("to cuda cpu long int".split())
# Functions that take token ids, and do not know a BatchEncoding.
_READERS = frozenset(
    "generate decode batch_decode tensor cat stack len list range convert_ids_to_tokens enumerate".split()
)
# Arguments of the tokenizer that the template takes for its own.
_FOR_TOKENIZER = ("pad_to_multiple_of", "padding_side", "return_attention_mask", "add_special_tokens")
_MAX_DEPTH = 4


def inspect(site: Site) -> Iterator[Report]:
    """Report a call whose result is used as ids."""
    call = site.node
    if not _is_tokenizer(site, call.func.value):
        return
    given = of_call(site.context, Called(call, spreads=spreads_of(site.module, call)))
    yield from _misplaced(site, given)
    if given.hidden is not None or given.argument("return_dict") is not None or is_false(given.value("tokenize")):
        return
    if given.argument("tokenize") is None and len(call.args) > 5:
        return
    used = _Uses(site).of(call, 0)
    if "mapping" in used:
        return
    certain = "tensor" in used
    message = site.rule.options["certain" if certain else "doubt"]
    yield site.report(
        message,
        severity=Severity.ERROR if certain else Severity.WARNING,
        applicability=Applicability.SAFE if certain else Applicability.UNSAFE,
        operations=[InsertArgument(call, "False", "return_dict")],
    )


def _is_tokenizer(site: Site, node: ast.expr) -> bool:
    """Whether a value is a tokenizer: a processor returns no dict unless it is asked to."""
    if not site.context.pretrained.in_use:
        return False
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    if isinstance(node, ast.Attribute) and name == "tokenizer":
        return True
    origin = site.context.pretrained.origin(node)
    if origin.kind == "processor":
        return is_tokenizer(origin.name.rpartition(".")[2]) or (not origin.name and "tok" in name.lower())
    return origin.kind == "unknown" and "tok" in name.lower()


def _misplaced(site: Site, given: Decoding) -> Iterator[Report]:
    """Arguments of the tokenizer that end in the template, which ignores them."""
    call = given.target.call
    found = [item for item in call.keywords if item.arg in _FOR_TOKENIZER]
    if not found:
        return
    names = ", ".join(item.arg for item in found)
    operations = []
    if given.argument("tokenizer_kwargs") is None and given.hidden is None:
        entries = ", ".join(f'"{item.arg}": {{v{index}}}' for index, item in enumerate(found))
        holes = {f"v{index}": item.value for index, item in enumerate(found)}
        operations = [DropArgument(call, item) for item in found]
        operations.append(InsertArgument(call, f"{{{{{entries}}}}}", "tokenizer_kwargs", holes=holes))
    yield site.report(
        f"{names}: {site.rule.options['misplaced']}",
        node=found[0],
        severity=Severity.WARNING,
        applicability=Applicability.UNSAFE,
        operations=operations,
    )


class _Uses:
    """Whether the result is used as a tensor or list of ids, or like a dict."""

    def __init__(self, site: Site) -> None:
        self._module = site.module
        self._seen: set[int] = set()

    def of(self, node: ast.expr, depth: int) -> set[str]:
        """The kinds of all uses: ``tensor``, ``mapping``, ``unknown``."""
        parent = node.parent
        if depth > _MAX_DEPTH:
            return {"unknown"}
        if isinstance(parent, ast.Attribute):
            if parent.attr in _MAPPING:
                return {"mapping"}
            if parent.attr in _MOVES and isinstance(parent.parent, ast.Call):
                return self.of(parent.parent, depth)
            return {"tensor"} if parent.attr in _TENSOR else {"unknown"}
        if isinstance(parent, ast.Subscript) and parent.value is node:
            is_text = isinstance(parent.slice, ast.Constant) and isinstance(parent.slice.value, str)
            return {"mapping" if is_text else "tensor"}
        if isinstance(parent, ast.Starred):
            return {"unknown"}
        if isinstance(parent, ast.keyword):
            if parent.arg is None:
                return {"mapping"}
            return {"tensor"} if parent.arg in ("input_ids", "inputs", "token_ids") else {"unknown"}
        if isinstance(parent, ast.Call) and node in parent.args:
            name = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
            return {"tensor"} if name in _READERS else {"unknown"}
        if isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is node:
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            if len(targets) == 1 and isinstance(targets[0], ast.Name):
                return self._variable(targets[0], depth)
            return {"unknown"}
        if isinstance(parent, (ast.BinOp, ast.For)):
            return {"tensor"}
        return {"unknown"}

    def _variable(self, target: ast.Name, depth: int) -> set[str]:
        if id(target) in self._seen:
            return set()
        self._seen.add(id(target))
        binding = next((item for item in self._module.bindings(target) if item.node is target), None)
        if binding is None:
            return {"unknown"}
        following = [
            other.node.lineno
            for other in self._module.bindings(target)
            if other is not binding and other.scope is binding.scope and other.node.lineno > target.lineno
        ]
        end = min(following, default=None)
        found: set[str] = set()
        for read in self._module.references(binding):
            if (
                read.lineno >= target.lineno
                and (end is None or read.lineno <= end)
                and not _inside(read, target.parent)
            ):
                found |= self.of(read, depth + 1)
        return found or {"unknown"}


def _inside(node: ast.AST, around: ast.AST) -> bool:
    return any(inner is node for inner in ast.walk(around))

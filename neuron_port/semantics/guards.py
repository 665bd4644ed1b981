"""Which code runs only with an accelerator, only without one, or only where a newer API is missing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.semantics.module import Module, ancestors, enclosing_class
from neuron_port.semantics.scopes import BindingKind

CUDA_AVAILABLE = frozenset({"torch.cuda.is_available", "torch.cuda.device_count"})
_AVAILABLE = CUDA_AVAILABLE | {
    "torch.accelerator.is_available",
    "torch.accelerator.device_count",
    "torch.neuron.is_available",
    "torch.accelerator.current_accelerator",
}
_DEVICES = ("cuda", "xla", "neuron")
_MISSING = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError"})
_VERSION = re.compile(r"(?i)(?<![a-z0-9])(?:py)?(torch|pt)\w*(version|greater|_ge_?|_at_least|\d_\d)|\b__version__\Z")
# Words in conditions that ask for accelerators other than the one that is ported from.
_OTHER_BACKENDS = {
    "cuda": re.compile(r"(?i)(\b|_)(mps|xpu|npu|mlu|hpu|musa|sdaa|tpu|xla)(\b|_)"),
    "xla": re.compile(r"(?i)(\b|_)(mps|xpu|npu|mlu|hpu|musa|sdaa|cuda|gpu)(\b|_)"),
}
_ELSEWHERE = frozenset("cpu meta mps xpu npu mlu hpu musa vulkan hip".split())
# The last five are kinds of tensors that Neuron does not have.
_OTHER_TENSORS = frozenset(
    "is_cpu is_meta is_mps is_xpu is_npu is_hpu is_sparse is_sparse_csr is_nested is_quantized is_mkldnn".split()
)
_OTHER_PROBE = re.compile(r"_?(is|has)_(torch_)?(mps|xpu|npu|mlu|hpu|musa|hip|rocm)(_available)?")
_MAX_DEPTH = 6
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def implied(test: ast.expr, outcome: bool) -> Iterator[tuple[ast.expr, bool]]:
    """The parts of ``test`` whose truth is known once the whole came out as ``outcome``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from implied(test.operand, not outcome)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) == outcome:
            for value in test.values:
                yield from implied(value, outcome)
    elif _truth_compared(test) is not None:
        yield from implied(test.left, outcome is _truth_compared(test))
    elif _as_truth(test) is not None:
        yield from implied(_as_truth(test), outcome)
    elif isinstance(test, ast.NamedExpr):
        yield test.target, outcome
        yield from implied(test.value, outcome)
    else:
        yield test, outcome


def _as_truth(test: ast.expr) -> ast.expr | None:
    """What ``True if x else False`` and ``bool(x)`` are the truth of."""
    if isinstance(test, ast.IfExp) and isinstance(test.body, ast.Constant) and isinstance(test.orelse, ast.Constant):
        return test.test if (test.body.value, test.orelse.value) == (True, False) else None
    if (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and test.func.id == "bool"
        and len(test.args) == 1
    ):
        return test.args[0]
    return None


def _truth_compared(test: ast.expr) -> bool | None:
    """``x is True``, ``x == False``: the truth of ``x`` that makes the comparison true."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant):
        value = test.comparators[0].value
        if isinstance(value, bool):
            if isinstance(test.ops[0], (ast.Is, ast.Eq)):
                return value
            if isinstance(test.ops[0], (ast.IsNot, ast.NotEq)):
                return not value
    return None


def test_of(node: ast.AST) -> ast.expr | None:
    """The condition of a statement or expression that has one."""
    return getattr(node, "test", None) if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)) else None


def exits(body: list[ast.stmt]) -> bool:
    """Whether a block always leaves the code that follows it."""
    last = body[-1] if body else None
    if isinstance(last, _ENDS):
        return True
    if isinstance(last, ast.Assert) and isinstance(last.test, ast.Constant) and not last.test.value:
        return True
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        function = last.value.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return name in ("exit", "_exit", "quit", "skip")
    return False


def block_of(statement: ast.stmt) -> list[ast.stmt]:
    """The list of statements that ``statement`` stands in."""
    parent = statement.parent
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and statement in block:
            return block
    return [statement]


def _known_at(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """The conditions around ``node``, and those that left its block before it, with the truth that they have there."""
    child = node
    for around in ancestors(node):
        test = test_of(around)
        if test is not None and child is not test:
            body = around.body if not isinstance(around, ast.Assert) else None
            yield from implied(test, child is body or (isinstance(body, list) and child in body))
        elif isinstance(around, ast.BoolOp) and isinstance(around.op, ast.And) and child in around.values:
            for value in around.values[: around.values.index(child)]:
                yield from implied(value, True)
        if isinstance(child, ast.stmt):
            for earlier in block_of(child):
                if earlier is child:
                    break
                left = isinstance(earlier, ast.If) and exits(earlier.body) and not earlier.orelse
                if left or isinstance(earlier, ast.Assert):
                    yield from implied(earlier.test, isinstance(earlier, ast.Assert))
        child = around


def _names_device(node: ast.expr) -> bool:
    """``x.device.type``, ``device_type``, ``str(device)``, ``torch.device(name).type``: by the last name of the expression."""
    if isinstance(node, ast.Call):
        return bool(node.args) and _names_device(node.args[0])
    if isinstance(node, ast.Attribute):
        return node.attr == "type" or "device" in node.attr
    return isinstance(node, ast.Name) and "device" in node.id


class Guards:
    """Answers questions about conditions for one module."""

    def __init__(self, module: Module) -> None:
        self.module = module

    # -- is the accelerator there? ----------------------------------------------------------------------------------

    def means_available(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether ``node`` being true says that an accelerator is there."""
        if depth > _MAX_DEPTH:
            return False
        if isinstance(node, ast.Call):
            qualname = self.module.qualname(node.func)
            if qualname in _AVAILABLE:
                return True
            return qualname == "bool" and bool(node.args) and self.means_available(node.args[0], depth + 1)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compare_means_available(node, depth)
        if isinstance(node, ast.Attribute):
            if node.attr in ("is_cuda", "is_neuron"):
                return True
            return any(
                self._implies_available(value, depth + 1)
                for target, value in self.module.found.stores.get(node.attr, ())
                if value is not None and same_chain(target, node)
            )
        if isinstance(node, ast.Name) and hasattr(node, "scope"):
            bindings = self.module.bindings(node)
            values = [
                binding.value
                for binding in bindings
                if binding.kind is BindingKind.ASSIGN and binding.value is not None
            ]
            return (
                bool(values)
                and len(values) == len(bindings)
                and any(self._implies_available(value, depth + 1) for value in values)
            )
        return False

    def _implies_available(self, value: ast.expr, depth: int) -> bool:
        return any(outcome and self.means_available(part, depth) for part, outcome in implied(value, True))

    def _compare_means_available(self, node: ast.Compare, depth: int) -> bool:
        sides = (node.left, node.comparators[0])
        texts = [side.value for side in sides if isinstance(side, ast.Constant)]
        if isinstance(node.ops[0], ast.Eq):
            return any(isinstance(text, str) and text.partition(":")[0] in _DEVICES for text in texts)
        if isinstance(node.ops[0], ast.NotEq):
            return "cpu" in texts
        if isinstance(node.ops[0], (ast.Gt, ast.GtE)):
            return self.means_available(node.left, depth + 1)
        if isinstance(node.ops[0], ast.In):
            return isinstance(node.left, ast.Constant) and node.left.value in _DEVICES
        return False

    def several_backends(self, owner: ast.AST | None, besides: str = "cuda") -> bool:
        """Whether a condition is one of a chain that asks for several kinds of accelerators, ``besides`` the old one."""
        if not isinstance(owner, (ast.If, ast.IfExp)):
            return False
        top: ast.AST = owner
        while isinstance(top.parent, type(top)) and top in (
            top.parent.orelse if isinstance(top, ast.If) else [top.parent.orelse]
        ):
            top = top.parent
        tests = []
        node: ast.AST | None = top
        while isinstance(node, (ast.If, ast.IfExp)):
            tests.append(node.test)
            rest = node.orelse
            node = (
                rest[0] if isinstance(rest, list) and len(rest) == 1 else rest if isinstance(rest, ast.expr) else None
            )
        for test in tests:
            for inner in ast.walk(test):
                name = (
                    inner.attr
                    if isinstance(inner, ast.Attribute)
                    else getattr(inner, "id", getattr(inner, "value", ""))
                )
                if isinstance(name, str) and _OTHER_BACKENDS[besides].search(name):
                    return True
        return False

    def available(self, node: ast.AST) -> bool:
        """Whether ``node`` runs only when an accelerator is there."""
        return any(truth and self.means_available(part) for part, truth in _known_at(node))

    def elsewhere(self, node: ast.AST) -> bool:
        """Whether ``node`` runs only for another device than an accelerator of Neuron (the CPU, mps, xpu, a CUDA capability),
        or for a kind of tensor that Neuron does not have."""
        return any(self._means_elsewhere(part, truth) for part, truth in _known_at(node))

    def _means_elsewhere(self, node: ast.expr, truth: bool) -> bool:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            sides = (node.left, node.comparators[0])
            equal = isinstance(node.ops[0], ast.Eq if truth else ast.NotEq)
            if equal and any(_names_device(side) for side in sides):
                texts = [side.value for side in sides if isinstance(side, ast.Constant)]
                return any(isinstance(text, str) and text.partition(":")[0] in _ELSEWHERE for text in texts)
            return any(
                isinstance(part, ast.Call) and self.module.qualname(part.func) == "torch.cuda.get_device_capability"
                for part in ast.walk(node)
            )
        name = node.func if isinstance(node, ast.Call) else node
        word = getattr(name, "attr", getattr(name, "id", ""))
        return truth and (word in _OTHER_TENSORS or _OTHER_PROBE.fullmatch(word) is not None)

    # -- what does a condition guard? -------------------------------------------------------------------------------

    def region(self, atom: ast.expr) -> tuple[list[ast.AST], ast.AST | None, bool]:
        """What runs only when ``atom`` is true: ``(nodes, owner, positive)``.

        ``owner`` is the ``if``, ternary, ``while`` or ``assert`` that ``atom`` decides; ``positive`` says whether its
        first branch is the guarded one. ``([], None, True)`` when ``atom`` is not part of a condition.
        """
        node: ast.AST = atom
        parent = node.parent
        while isinstance(parent, (ast.BoolOp, ast.UnaryOp)) or (
            isinstance(parent, ast.Compare)
            and parent.left is node
            and (isinstance(parent.ops[0], (ast.Gt, ast.GtE)) or _truth_compared(parent) is not None)
        ):
            node, parent = parent, parent.parent
        if test_of(parent) is not node:
            return self._short_circuit(atom), None, True
        probe = self._probe(atom)
        nodes: list[ast.AST] = list(self._short_circuit(atom))
        positive = True
        if any(part is probe and truth for part, truth in implied(node, True)):
            if not isinstance(parent, ast.Assert):
                nodes += parent.body if isinstance(parent.body, list) else [parent.body]
        if any(part is probe and truth for part, truth in implied(node, False)):
            positive = False
            if isinstance(parent, ast.IfExp):
                nodes.append(parent.orelse)
            elif isinstance(parent, ast.If):
                nodes += parent.orelse
                if not parent.orelse and exits(parent.body):
                    block = block_of(parent)
                    nodes += block[block.index(parent) + 1 :]
        return nodes, parent, positive

    @staticmethod
    def _probe(atom: ast.expr) -> ast.expr:
        """``torch.cuda.device_count() > 1``: the comparison is what the condition knows."""
        parent = atom.parent
        if isinstance(parent, ast.Compare) and parent.left is atom and isinstance(parent.ops[0], (ast.Gt, ast.GtE)):
            return parent
        return atom

    @staticmethod
    def _short_circuit(atom: ast.expr) -> list[ast.AST]:
        """``available() and f()``: what stands behind the ``and``."""
        parent = atom.parent
        if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And) and atom in parent.values:
            return list(parent.values[parent.values.index(atom) + 1 :])
        return []

    def flag_region(self, atom: ast.expr) -> list[ast.AST]:
        """What is guarded by the variables or attributes that store a truth which implies ``atom``."""
        node: ast.AST = atom
        parent = node.parent
        while isinstance(parent, (ast.BoolOp, ast.UnaryOp, ast.NamedExpr, ast.Compare)) or (
            isinstance(parent, ast.expr) and _as_truth(parent) is node
        ):
            node, parent = parent, parent.parent
        known = any(part is self._probe(atom) and truth for part, truth in implied(node, True))
        while isinstance(parent, ast.IfExp) and parent.test is not node:
            node, parent, known = parent, parent.parent, True  # one of the values that the flag can have
        if not isinstance(parent, (ast.Assign, ast.AnnAssign)) or parent.value is not node or not known:
            return []
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        nodes: list[ast.AST] = []
        for target in targets:
            for read in self.reads(target):
                nodes += self.region(read)[0]
        return nodes

    def reads(self, target: ast.expr) -> list[ast.expr]:
        """Where the variable or attribute that ``target`` stores to is read again in this file."""
        if isinstance(target, ast.Name):
            for binding in target.scope.owner(target.id).bindings.get(target.id, ()):
                if binding.node is target:
                    return list(self.module.references(binding))
            return []
        if isinstance(target, ast.Attribute):
            return [read for read in self.module.attribute_reads(target.attr) if same_chain(read, target)]
        return []

    # -- fallbacks --------------------------------------------------------------------------------------------------

    def optional_import(self, node: ast.AST) -> bool:
        """Whether ``node`` stands in a ``try`` whose handler catches a missing module or attribute."""
        child = node
        for around in ancestors(node):
            if isinstance(around, ast.Try) and child in around.body:
                return any(_catches_missing(handler) for handler in around.handlers)
            if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                return False
            child = around
        return False

    def fallback(self, node: ast.AST) -> bool:
        """Whether ``node`` only runs where a newer torch API was found missing."""
        child = node
        for around in ancestors(node):
            if isinstance(around, ast.Try) and isinstance(child, ast.ExceptHandler) and _catches_missing(child):
                return any(self._is_newer_torch(statement) for statement in around.body)
            test = test_of(around)
            if isinstance(around, (ast.If, ast.IfExp)) and child is not test:
                body = around.body
                in_body = child is body or (isinstance(body, list) and child in body)
                for part, truth in implied(test, in_body):
                    if not truth and (self._asks_newer(part) or _asks_version(part)):
                        return True
                    if truth and _asks_version(part, older=True):
                        return True
            child = around
        return False

    def _is_newer_torch(self, statement: ast.stmt) -> bool:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            return _is_newer_torch(statement)
        names = (self.module.qualname(node) or "" for node in ast.walk(statement) if isinstance(node, ast.Attribute))
        return any(name.startswith(("torch.amp.", "torch.accelerator.", "torch.autocast")) for name in names)

    def _asks_newer(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hasattr":
            if len(node.args) == 2 and isinstance(node.args[1], ast.Constant):
                owner = self.module.qualname(node.args[0])
                return owner in ("torch", "torch.amp") and node.args[1].value not in ("cuda",)
        return False


def _asks_version(node: ast.expr, *, older: bool = False) -> bool:
    """``torch.__version__ >= "2.4"``, ``TORCH_GREATER_EQUAL_2_4``, ``is_torch_version(">=", "2.4")``: newer is the true side.

    With ``older`` the question is ``torch.__version__ < "2.4"``.
    """
    if isinstance(node, ast.Compare):
        if not isinstance(node.ops[0], (ast.Lt, ast.LtE) if older else (ast.Gt, ast.GtE)):
            return False
        node = node.left
    elif older or _compares_text(node):
        return False
    names = [inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", "") for inner in ast.walk(node)]
    return any(_VERSION.search(name) for name in names)


def _compares_text(node: ast.expr) -> bool:
    """``torch.__version__.startswith("2.0")``: neither side is the newer one."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith"


def _catches_missing(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type
    if kinds is None:
        return True
    names = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
    return any(isinstance(name, ast.Name) and name.id in (*_MISSING, "TypeError", "Exception") for name in names)


def _is_newer_torch(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        module = statement.module or ""
        return module.partition(".")[0] == "torch" and not module.startswith("torch.cuda")
    if isinstance(statement, ast.Import):
        return any(
            alias.name.startswith("torch.") and not alias.name.startswith("torch.cuda") for alias in statement.names
        )
    return False


def same_chain(left: ast.expr, right: ast.expr) -> bool:
    """Whether two attribute chains are spelled alike and begin in the same scope, or at ``self`` of the same class."""
    while isinstance(left, ast.Attribute) and isinstance(right, ast.Attribute):
        if left.attr != right.attr:
            return False
        left, right = left.value, right.value
    if not (isinstance(left, ast.Name) and isinstance(right, ast.Name) and left.id == right.id):
        return False
    if left.id in ("self", "cls"):
        return enclosing_class(left) is enclosing_class(right)
    return True

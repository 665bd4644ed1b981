"""Is an expression a tensor, of which kind are its elements, and is it on the host? With the evidence.

mask = x > 0            bool, where x is a tensor
idx = scores.argsort()  int
x.float()               float
torch.from_numpy(a)     on the host, as is x.cpu()

Stricter than ``receivers``: names count only by what happens to them in their own scope, and what numpy arrays have
too (``shape``, ``reshape``) is no evidence.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.loops import container_of
from neuron_port.semantics.module import Module
from neuron_port.semantics.nearest import nearest
from neuron_port.semantics.receivers import Evidence, Grade, Receivers
from neuron_port.semantics.scopes import Binding, BindingKind

_MAX_DEPTH = 8
# Steps for one question: a name with many assignments to itself has exponentially many ways through them.
_MOST_STEPS = 400

_NO_VALUES = frozenset({BindingKind.IMPORT, BindingKind.FUNCTION, BindingKind.CLASS, BindingKind.EXCEPT})
# Methods that tensors have and modules, numpy arrays, lists and dictionaries do not.
_DECISIVE = frozenset(
    "backward detach unsqueeze permute masked_fill masked_fill_ masked_select new_zeros new_ones new_tensor new_full "
    "new_empty index_select index_add_ index_copy_ scatter_ scatter_add_ expand expand_as view_as contiguous "
    "is_cuda is_contiguous unbind chunk softmax log_softmax logsumexp topk bmm matmul_ addmm zero_ clamp_ mul_ "
    "add_ sub_ div_ copy_ normal_ uniform_ fill_ bernoulli_ long int bool type_as grad_fn requires_grad retain_grad "
    "data_ptr element_size repeat_interleave index_fill_ isnan isinf logical_not cumsum_ unsqueeze_ "
    "squeeze_".split()
)
# Names of torch that give something else than a tensor.
_NO_TENSOR = frozenset(
    "torch.equal torch.allclose torch.numel torch.finfo torch.iinfo torch.result_type torch.promote_types torch.can_cast "
    "torch.broadcast_shapes torch.typename torch.set_grad_enabled torch.load torch.compile torch.device torch.seed torch.initial_seed "
    "torch.manual_seed torch.unbind torch.chunk torch.split torch.tensor_split torch.meshgrid torch.broadcast_tensors torch.vmap "
    "torch.func.grad torch.func.vmap torch.func.functional_call torch.get_default_dtype torch.Generator".split()
)
_BOOL = frozenset(
    "eq ne lt le gt ge greater less greater_equal less_equal not_equal isnan isinf isfinite isneginf isposinf isreal isclose "
    "logical_and logical_or logical_xor logical_not bool signbit isin".split()
)
_INT = frozenset(
    "long int short char byte argmax argmin argsort count_nonzero bincount randint randperm searchsorted bucketize".split()
)
_FLOAT = frozenset(
    "float half bfloat16 double softmax log_softmax sigmoid tanh exp log sqrt rsqrt mean std var randn rand normal linspace "
    "dropout layer_norm sin cos cross_entropy mse_loss norm".split()
)
_COMPLEX = frozenset("view_as_complex polar complex cfloat cdouble fft ifft fft2 ifft2 fftn rfft".split())
_DTYPES = {
    "bool": "bool",
    **dict.fromkeys("uint8 int8 int16 short int32 int int64 long uint16 uint32 uint64".split(), "int"),
    **dict.fromkeys("float16 half bfloat16 float32 float float64 double".split(), "float"),
    **dict.fromkeys("complex32 complex64 complex128 cfloat cdouble chalf".split(), "complex"),
}
# Calls that give a tensor with elements of the same kind as their receiver's or first argument's.
_SAME = frozenset(
    "view reshape permute transpose unsqueeze squeeze expand expand_as repeat flatten contiguous detach clone cpu cuda roll flip "
    "flatten unflatten gather index_select masked_select masked_fill masked_fill_ where_ t cat stack concat concatenate hstack vstack tril triu "
    "repeat_interleave narrow select diagonal zeros_like ones_like full_like empty_like rand_like unbind chunk split any_ "
    "requires_grad_ pin_memory abs neg clamp clip relu cumsum sort max_ min_ new_zeros new_ones new_empty new_full to neuron".split()
)
_FACTORIES = frozenset(
    "tensor as_tensor zeros ones full empty arange linspace logspace eye rand randn randint randperm from_numpy normal "
    "tril_indices triu_indices".split()
)
_OUTPUTS = frozenset("loss logits last_hidden_state pooler_output prediction_logits sample".split())
# Methods of tensors that give something else.
_LEAVES = frozenset(
    "item tolist numpy size dim ndimension numel nelement stride data_ptr element_size backward get_device equal allclose "
    "is_contiguous is_floating_point is_complex is_signed is_pinned is_shared is_set_to is_same_size storage storage_offset "
    "untyped_storage has_names register_hook keys items get names".split()
)
_HOST_METHODS = frozenset({"cpu", "numpy", "tolist"})


@dataclass(frozen=True, slots=True)
class TensorValue:
    """A tensor. ``dtype`` is ``bool``, ``int``, ``float``, ``complex`` or ``None`` where nothing says; ``text`` the evidence."""

    dtype: str | None
    text: str


class Tensors:
    """Answers ``of(expression)`` for one module; answers are remembered."""

    def __init__(self, module: Module, receivers: Receivers) -> None:
        self.module = module
        self.receivers = receivers
        self._known: dict[int, TensorValue | None] = {}
        self._open: set[int] = set()
        self._left = _MOST_STEPS

    def of(self, node: ast.expr) -> TensorValue | None:
        """The tensor that ``node`` surely is, as far as the file says; ``None`` where it may be anything else."""
        key = id(node)
        if key not in self._known:
            evidence = self.evidence(node)
            self._known[key] = None if evidence is None else TensorValue(self.dtype(node), evidence.text)
        return self._known[key]

    def _spent(self, depth: int) -> bool:
        """Whether a question has gone too deep or taken too many steps; one of depth 0 is a new question."""
        self._left = _MOST_STEPS if depth == 0 else self._left - 1
        return depth > _MAX_DEPTH or self._left < 0

    def is_mask(self, node: ast.expr) -> bool:
        """Whether ``node`` is a tensor of truth values."""
        found = self.of(node)
        return found is not None and found.dtype == "bool"

    # -- is it a tensor ---------------------------------------------------------------------------------------------

    def evidence(self, node: ast.expr, depth: int = 0) -> Evidence | None:
        """Why ``node`` is a tensor, or ``None``."""
        if self._spent(depth):
            return None
        if isinstance(node, ast.Compare):
            if not all(isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)) for op in node.ops):
                return None
            if any(
                isinstance(side, ast.Constant) and not isinstance(side.value, (int, float)) for side in node.comparators
            ):
                return None
            return self._any(node.left, *node.comparators, depth=depth)
        if isinstance(node, ast.UnaryOp):
            return None if isinstance(node.op, ast.Not) else self.evidence(node.operand, depth + 1)
        if isinstance(node, ast.BinOp):
            return self._any(node.left, node.right, depth=depth)
        if isinstance(node, ast.Subscript):
            return self._element(node, depth)
        if isinstance(node, (ast.NamedExpr, ast.Await)):
            return self.evidence(node.value, depth + 1)
        if isinstance(node, ast.IfExp):
            first, second = self.evidence(node.body, depth + 1), self.evidence(node.orelse, depth + 1)
            return first if first is not None and second is not None else None
        if isinstance(node, ast.Name):
            return self._name(node, depth)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, depth)
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        return None

    def _any(self, *sides: ast.expr, depth: int) -> Evidence | None:
        for side in sides:
            found = self.evidence(side, depth + 1)
            if found is not None:
                return found
        return None

    def _element(self, node: ast.Subscript, depth: int) -> Evidence | None:
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return self._received(node)  # an entry of a batch
        inner = self.evidence(node.value, depth + 1)
        if inner is not None:
            return inner
        received = self.receivers.kind(node.value)
        if received.kind in ("tensor", "batch") and received.grade >= Grade.FLOW:
            return received
        return None

    def _name(self, node: ast.Name, depth: int) -> Evidence | None:
        if not hasattr(node, "scope"):
            return None
        bindings = [binding for binding in self.module.bindings(node) if binding.kind is not BindingKind.DELETE]
        if not bindings or any(binding.kind in _NO_VALUES for binding in bindings):
            return None
        last = nearest(bindings, node) if len(bindings) > 1 else bindings[0]
        if last is not None and last.kind is BindingKind.ASSIGN and _is_read(last.value):
            return None
        found: Evidence | None = None
        for binding in bindings:
            if binding.kind is BindingKind.AUGMENT:
                continue
            if binding.kind is BindingKind.ASSIGN and isinstance(binding.value, ast.Constant):
                if binding.value.value is None:
                    continue
                return self._used(bindings) if isinstance(binding.value.value, (int, float)) else None
            if id(binding) in self._open:
                continue
            self._open.add(id(binding))
            try:
                evidence = self._binding(binding, node, depth)
            finally:
                self._open.discard(id(binding))
            if evidence is None:
                return self._used(bindings)
            found = found or evidence
        return found or self._used(bindings)

    def _binding(self, binding: Binding, node: ast.Name, depth: int) -> Evidence | None:
        if binding.kind in (BindingKind.ASSIGN, BindingKind.WITH) and binding.value is not None:
            return self.evidence(binding.value, depth + 1)
        if binding.kind is BindingKind.LOOP and _is_counter(binding):
            return None
        if binding.kind in (BindingKind.PARAMETER, BindingKind.LOOP, BindingKind.UNPACK):
            # What the other bindings of the name say is no evidence for this one.
            found = self.receivers.of_binding(binding)
            return found if found.kind == "tensor" and found.grade >= Grade.FLOW else None
        return None

    def _received(self, node: ast.expr) -> Evidence | None:
        """What ``receivers`` knows, where it is more than the methods that names of this spelling get."""
        found = self.receivers.kind(node)
        return found if found.kind == "tensor" and found.grade >= Grade.FLOW else None

    def _used(self, bindings: list[Binding]) -> Evidence | None:
        """Whether a name's own scope calls what only tensors have on it."""
        if not self.receivers.torch_file:
            return None
        scope, name = bindings[0].scope, bindings[0].name
        for node in scope.references.get(name, ()):
            parent = node.parent
            if isinstance(parent, ast.Attribute) and parent.value is node and parent.attr in _DECISIVE:
                if parent.attr == "backward" and getattr(parent.parent, "args", None):
                    continue  # accelerator.backward(loss), engine.backward(loss)
                return Evidence("tensor", Grade.USAGE, f".{parent.attr} is used on {name}")
        return None

    def _attribute(self, node: ast.Attribute, depth: int) -> Evidence | None:
        if node.attr in ("data", "grad", "T", "mT", "real", "imag", "H", "values", "indices"):
            inner = self.evidence(node.value, depth + 1)
            if inner is not None:
                return inner
        if node.attr in _OUTPUTS:
            owner = self.receivers.kind(node.value)
            if owner.kind == "tensor" and owner.text == "the output of a module":
                return Evidence("tensor", Grade.FLOW, f".{node.attr} of the output of a module")
        if node.attr in ("shape", "dtype", "device", "ndim", "layout", "itemsize", "nbytes"):
            return None
        for target, value in self.module.found.stores.get(node.attr, ()):
            if isinstance(value, ast.IfExp) and same_chain(target, node) and self.evidence(value, depth + 1) is None:
                return None  # a tensor while tracing, a number otherwise
        return self._received(node)

    def _call(self, node: ast.Call, depth: int) -> Evidence | None:
        qualname = self.module.qualname(node.func)
        if qualname is not None:
            if qualname in _NO_TENSOR or qualname.startswith(
                ("numpy.", "math.", "torch.is_", "torch.get_", "torch.set_")
            ):
                return None
            return self._received(node)
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in _LEAVES or node.func.attr.startswith(("get_", "is_", "has_")):
                return None
            inner = self.evidence(node.func.value, depth + 1)
            if inner is not None:
                return inner
            received = self.receivers.kind(node)
            # The methods of a module that is called give tensors; anything weaker is not enough here.
            return received if received.kind == "tensor" and received.grade >= Grade.FLOW else None
        return self._received(node)

    # -- of which kind ----------------------------------------------------------------------------------------------

    def dtype(self, node: ast.expr, depth: int = 0) -> str | None:
        """The kind of the elements: ``bool``, ``int``, ``float``, ``complex``, or ``None`` where nothing says."""
        if self._spent(depth):
            return None
        if isinstance(node, ast.Compare):
            return "bool"
        if isinstance(node, (ast.NamedExpr, ast.Await)):
            return self.dtype(node.value, depth + 1)
        if isinstance(node, ast.UnaryOp):
            return self.dtype(node.operand, depth + 1)
        if isinstance(node, ast.BinOp):
            return self._computed(node, depth)
        if isinstance(node, ast.Subscript):
            return self.dtype(node.value, depth + 1) if not isinstance(node.slice, ast.Constant) else None
        if isinstance(node, ast.IfExp):
            first = self.dtype(node.body, depth + 1)
            return first if first == self.dtype(node.orelse, depth + 1) else None
        if isinstance(node, ast.Name):
            return self._name_dtype(node, depth)
        if isinstance(node, ast.Attribute):
            return self.dtype(node.value, depth + 1) if node.attr in ("data", "T", "mT", "grad") else None
        if isinstance(node, ast.Call):
            return self._call_dtype(node, depth)
        return None

    def _computed(self, node: ast.BinOp, depth: int) -> str | None:
        kinds = {self._operand(node.left, depth), self._operand(node.right, depth)}
        if isinstance(node.op, ast.Div):
            return "complex" if "complex" in kinds else "float"
        if isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
            return next(iter(kinds)) if len(kinds) == 1 else None
        for kind in ("complex", "float"):
            if kind in kinds:
                return kind
        return "int" if kinds <= {"int", "bool"} else None

    def _operand(self, node: ast.expr, depth: int) -> str | None:
        if isinstance(node, ast.Constant):
            value = node.value
            return (
                "bool"
                if isinstance(value, bool)
                else "int"
                if isinstance(value, int)
                else "float"
                if isinstance(value, float)
                else None
            )
        return self.dtype(node, depth + 1)

    def _name_dtype(self, node: ast.Name, depth: int) -> str | None:
        if not hasattr(node, "scope"):
            return None
        kinds: set[str | None] = set()
        for binding in self.module.bindings(node):
            if binding.kind in (BindingKind.AUGMENT, BindingKind.DELETE) or id(binding) in self._open:
                continue
            if (
                binding.kind is BindingKind.ASSIGN
                and isinstance(binding.value, ast.Constant)
                and binding.value.value is None
            ):
                continue
            if binding.kind is BindingKind.ASSIGN and binding.value is not None:
                self._open.add(id(binding))
                try:
                    kinds.add(self.dtype(binding.value, depth + 1))
                finally:
                    self._open.discard(id(binding))
            elif binding.kind is BindingKind.PARAMETER:
                kinds.add(self._annotated(binding))
            else:
                kinds.add(None)
        return kinds.pop() if len(kinds) == 1 else None

    def _annotated(self, binding: Binding) -> str | None:
        name = self.module.qualname(binding.annotation) or ""
        word = name.removeprefix("torch.").removesuffix("Tensor").lower()
        return _DTYPES.get(word) if name.startswith("torch.") and name.endswith("Tensor") else None

    def _call_dtype(self, node: ast.Call, depth: int) -> str | None:
        for keyword in node.keywords:
            if keyword.arg == "dtype":
                return self._named_dtype(keyword.value)
        function = node.func
        qualname = self.module.qualname(function) or ""
        name = function.attr if isinstance(function, ast.Attribute) else qualname.rpartition(".")[2]
        if name in ("to", "type") and isinstance(function, ast.Attribute):
            for argument in node.args:
                given = self._named_dtype(argument)
                if given is not None:
                    return given
        for words, kind in ((_BOOL, "bool"), (_INT, "int"), (_FLOAT, "float"), (_COMPLEX, "complex")):
            if name in words and (qualname.startswith("torch.") or isinstance(function, ast.Attribute)):
                return kind
        if qualname.startswith("torch."):
            if name in ("zeros", "ones", "empty", "eye"):
                return "float"
            if name in ("tensor", "full", "arange", "as_tensor"):
                return self._literal(node, name)
            if name == "where" and len(node.args) == 3:
                return self.dtype(node.args[1], depth + 1) or self.dtype(node.args[2], depth + 1)
            return self._first(node, depth) if name in _SAME else None
        if isinstance(function, ast.Attribute):
            if name in ("any", "all") and (node.args or node.keywords):
                return "bool"
            return self.dtype(function.value, depth + 1) if name in _SAME else None
        return None

    def _first(self, node: ast.Call, depth: int) -> str | None:
        if not node.args:
            return None
        first = node.args[0]
        if isinstance(first, (ast.List, ast.Tuple)):
            kinds = {self.dtype(item, depth + 1) for item in first.elts}
            return kinds.pop() if len(kinds) == 1 else None
        return self.dtype(first, depth + 1)

    def _named_dtype(self, node: ast.expr) -> str | None:
        name = self.module.qualname(node) or ""
        if not name and isinstance(node, ast.Name) and node.id in ("bool", "int", "float"):
            return node.id
        return _DTYPES.get(name.removeprefix("torch.")) if name.startswith("torch.") else None

    def _literal(self, node: ast.Call, name: str) -> str | None:
        values: list[object] = []
        pending: list[ast.expr] = list(
            node.args[1:2] if name == "full" else node.args if name == "arange" else node.args[:1]
        )
        while pending:
            item = pending.pop()
            if isinstance(item, (ast.List, ast.Tuple)):
                pending += item.elts
            elif isinstance(item, ast.UnaryOp):
                pending.append(item.operand)
            elif isinstance(item, ast.Constant):
                values.append(item.value)
            elif name == "arange" and isinstance(item, (ast.Attribute, ast.Subscript, ast.Call)) and _is_size(item):
                values.append(0)
            else:
                return None
        if not values:
            return None
        if any(isinstance(value, float) for value in values):
            return "float"
        return "bool" if all(isinstance(value, bool) for value in values) else "int"

    # -- where it is ------------------------------------------------------------------------------------------------

    def on_host(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether ``node`` is evidently on the CPU: ``x.cpu()``, ``torch.from_numpy(a)``, a factory without a device."""
        if depth > _MAX_DEPTH:
            return False
        if isinstance(node, (ast.Compare, ast.BinOp)):
            sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else [node.left, node.right]
            on_host = [self.on_host(side, depth + 1) for side in sides]
            return any(on_host) and not any(
                self.of(side) is not None for side, known in zip(sides, on_host) if not known
            )
        if isinstance(node, ast.Attribute) and node.attr in ("T", "mT", "data", "real", "imag", "H"):
            return self.on_host(node.value, depth + 1)
        if isinstance(node, (ast.UnaryOp, ast.Subscript)):
            return self.on_host(node.operand if isinstance(node, ast.UnaryOp) else node.value, depth + 1)
        if isinstance(node, ast.Name) and hasattr(node, "scope"):
            found = [binding for binding in self.module.bindings(node) if binding.kind is not BindingKind.AUGMENT]
            if not found or any(_source(binding) is None for binding in found):
                return False
            last = nearest(found, node) if len(found) > 1 else None
            found = [last] if last is not None else found
            if any(id(binding) in self._open for binding in found):
                return False
            self._open.update(map(id, found))
            try:
                return all(self.on_host(_source(binding), depth + 1) for binding in found)
            finally:
                self._open.difference_update(map(id, found))
        if isinstance(node, ast.Call):
            return self._call_on_host(node, depth)
        return False

    def _call_on_host(self, node: ast.Call, depth: int) -> bool:
        function = node.func
        qualname = self.module.qualname(function) or ""
        if qualname.startswith("torch."):
            name = qualname.rpartition(".")[2]
            device = next((keyword.value for keyword in node.keywords if keyword.arg == "device"), None)
            if device is not None:
                return isinstance(device, ast.Constant) and device.value == "cpu"
            if name in _FACTORIES and qualname.count(".") == 1:
                return not any(text in self.module.text for text in ("set_default_device", "with torch.device("))
            return name in _SAME and bool(node.args) and self.on_host(node.args[0], depth + 1)
        if not isinstance(function, ast.Attribute):
            return False
        if function.attr in _HOST_METHODS:
            return True
        if function.attr == "to" and node.args and (self.module.qualname(node.args[0]) or "").startswith("torch."):
            return self.on_host(function.value, depth + 1)  # another type, in the same place
        if function.attr == "to":
            return bool(node.args) and isinstance(node.args[0], ast.Constant) and node.args[0].value == "cpu"
        if function.attr in ("cuda", "neuron"):
            return False
        return self.on_host(function.value, depth + 1)


def _source(binding: Binding) -> ast.expr | None:
    """The value that a name gets, or the container whose elements it gets in a loop."""
    if binding.kind is BindingKind.LOOP:
        return container_of(binding)
    return binding.value if binding.kind is BindingKind.ASSIGN else None


def _is_read(value: ast.expr | None) -> bool:
    """Whether a value has been read on the host: ``x.item()``, ``float(x)``, in a branch too."""
    if isinstance(value, ast.IfExp):
        return _is_read(value.body) or _is_read(value.orelse)
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Attribute):
        return value.func.attr in ("item", "tolist")
    return isinstance(value.func, ast.Name) and value.func.id in ("float", "int", "bool", "len", "str")


def _is_size(node: ast.expr) -> bool:
    """``x.shape[0]``, ``x.size(1)``, ``len(x)``: a whole number."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    if isinstance(node, ast.Call):
        return getattr(node.func, "attr", getattr(node.func, "id", "")) in ("size", "len", "numel")
    return False


def _is_counter(binding: Binding) -> bool:
    """The ``i`` of ``for i, x in enumerate(...)``."""
    made, target = binding.value, binding.node.parent
    if not isinstance(made, ast.Call) or getattr(made.func, "id", "") != "enumerate":
        return False
    return isinstance(target, ast.Tuple) and target.elts[0] is binding.node

"""Is this value a tensor or a module? Graded evidence for the receivers of ``.cuda()``, ``.is_cuda`` and the like."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import IntEnum

from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.layers import Layers
from neuron_port.semantics.loops import counts, iterated
from neuron_port.semantics.module import Module, enclosing_class
from neuron_port.semantics.scopes import Binding, BindingKind

_MAX_DEPTH = 8
# Steps for one question: a name with many assignments to itself has exponentially many ways through them.
_MOST_STEPS = 400

# Methods that only tensors or only modules have; a call of one on the same name is evidence.
_TENSOR_METHODS = frozenset(
    "size view detach backward numel item numpy requires_grad_ unsqueeze squeeze permute contiguous view_as expand expand_as "
    "repeat_interleave masked_fill masked_fill_ index_select scatter_ gather new_zeros new_ones new_tensor zero_ fill_ clamp_ "
    "normal_ uniform_ copy_ add_ mul_ div_ sub_ argmax softmax log_softmax topk reshape data_ptr element_size dim requires_grad "
    "retain_grad float half bfloat16 long transpose matmul mm bmm unbind chunk".split()
)
_MODULE_METHODS = frozenset(
    "parameters named_parameters state_dict load_state_dict eval train zero_grad modules named_modules children buffers "
    "register_buffer requires_grad_ apply named_children register_forward_hook get_submodule".split()
)
_TENSOR_ATTRIBUTES = frozenset("shape grad requires_grad dtype ndim is_leaf grad_fn".split())
# torch.* callables that do not return tensors.
_NOT_TENSORS = frozenset(
    "torch.load torch.device torch.Generator torch.compile torch.save torch.Size torch.dtype torch.no_grad torch.Stream torch.Event "
    "torch.manual_seed torch.get_rng_state torch.typename torch.is_tensor torch.enable_grad torch.inference_mode torch.autocast".split()
)
_TORCH_NAMESPACES = ("torch.nn.functional.", "torch.linalg.", "torch.fft.", "torch.special.", "torch.func.")
_MODULE_FACTORIES = ("torchvision.models.", "timm.", "segmentation_models_pytorch.", "torch.hub.load", "clip.load")
_TENSOR_TYPES = frozenset(
    "torch.Tensor torch.FloatTensor torch.LongTensor torch.BoolTensor torch.HalfTensor torch.IntTensor torch.DoubleTensor "
    "torch.nn.Parameter torch.nn.parameter.Parameter torch.autograd.Variable torch.nn.utils.rnn.PackedSequence".split()
)
_LOADERS = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})


class Grade(IntEnum):
    """How well the evidence holds, weakest first."""

    NOTHING = 0
    FILE = 1
    USAGE = 2
    FLOW = 3
    ANNOTATION = 4
    CONSTRUCTOR = 5


@dataclass(frozen=True, slots=True)
class Evidence:
    """``kind`` is ``tensor``, ``module``, ``other`` (surely neither) or ``unknown``."""

    kind: str
    grade: Grade
    text: str

    @property
    def certain(self) -> bool:
        """Whether a rewrite that relies on it is safe."""
        return self.kind in ("tensor", "module") and self.grade >= Grade.USAGE


_UNKNOWN = Evidence("unknown", Grade.NOTHING, "nothing says what the receiver is")


class Receivers:
    """Answers ``kind(expression)`` for one module; answers are remembered."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._known: dict[int, Evidence] = {}
        self._open: set[int] = set()
        self._left = _MOST_STEPS
        self._open_names: set[int] = set()
        self._usage: dict[str, set[str]] | None = None
        self._torch: bool | None = None
        self._layers = Layers(module)

    @property
    def torch_file(self) -> bool:
        """Whether the file imports torch in any way."""
        if self._torch is None:
            self._torch = any(
                (binding.qualname or "").partition(".")[0]
                in ("torch", "torchvision", "transformers", "pytorch_lightning", "timm")
                for binding in self.module.found.imports
            ) or any(module.partition(".")[0] == "torch" for _, module in self.module.found.stars)
        return self._torch

    def kind(self, node: ast.expr) -> Evidence:
        """The best evidence about ``node``; at worst, whether the file has to do with torch at all."""
        known = self._known.get(id(node))
        if known is None:
            self._left = _MOST_STEPS
            known = self._value(node, 0)
            if known.kind == "unknown" and self.torch_file and known.grade < Grade.FILE:
                known = Evidence(
                    "unknown", Grade.FILE, "the file imports torch, nothing else says what the receiver is"
                )
            self._known[id(node)] = known
        return known

    def of_binding(self, binding: Binding) -> Evidence:
        """What one binding of a name says about it."""
        self._left = _MOST_STEPS
        return self._binding(binding, 0)

    @staticmethod
    def is_tensor_attribute(name: str) -> bool:
        """Whether only tensors have an attribute or method of this name."""
        return name in _TENSOR_METHODS or name in _TENSOR_ATTRIBUTES

    # -- values -----------------------------------------------------------------------------------------------------

    def _value(self, node: ast.expr, depth: int) -> Evidence:
        self._left -= 1
        if depth > _MAX_DEPTH or self._left < 0:
            return _UNKNOWN
        if isinstance(node, ast.Name):
            return self._name(node, depth)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, depth)
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        if isinstance(node, ast.Subscript):
            inner = self._value(node.value, depth + 1)
            if inner.kind == "tensor":
                return Evidence("tensor", inner.grade, f"an element of {inner.text}")
            return inner if inner.kind == "batch" else _UNKNOWN
        if isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                inner = self._value(side, depth + 1)
                if inner.kind == "tensor":
                    return Evidence("tensor", min(inner.grade, Grade.FLOW), f"computed from {inner.text}")
            return _UNKNOWN
        if isinstance(node, ast.UnaryOp):
            return self._value(node.operand, depth + 1)
        if isinstance(node, ast.IfExp):
            first = self._value(node.body, depth + 1)
            return first if first.kind != "unknown" else self._value(node.orelse, depth + 1)
        if isinstance(node, (ast.NamedExpr, ast.Await)):
            return self._value(node.value, depth + 1)
        return _UNKNOWN

    def _name(self, node: ast.Name, depth: int) -> Evidence:
        if not hasattr(node, "scope"):
            return _UNKNOWN
        if node.id == "self":
            return self._self(node)
        bindings = self.module.bindings(node)
        found = _UNKNOWN
        # A name that is assigned from itself many times says no more on the second visit, and would be visited without end.
        key = id(bindings[0]) if bindings else 0
        if key not in self._open_names:
            self._open_names.add(key)
            try:
                found = self._bound(bindings, depth)
            finally:
                self._open_names.discard(key)
        return self._used(node.id) if found.kind == "unknown" else found

    def _bound(self, bindings: list[Binding], depth: int) -> Evidence:
        """The best evidence of several bindings; what one says that is neither a tensor nor a module holds for all."""
        found = _UNKNOWN
        for binding in bindings:
            evidence = self._binding(binding, depth)
            if evidence.kind == "other":
                return evidence
            if evidence.grade > found.grade and evidence.kind != "unknown":
                found = evidence
        return found

    def _self(self, node: ast.Name) -> Evidence:
        around = enclosing_class(node)
        if around is None:
            return _UNKNOWN
        if self.is_module_class(around):
            return Evidence("module", Grade.CONSTRUCTOR, f"{around.name} is an nn.Module")
        if not around.bases:
            return Evidence("other", Grade.CONSTRUCTOR, f"{around.name} is a class of this file without torch bases")
        return _UNKNOWN

    def is_module_class(self, node: ast.ClassDef, depth: int = 0) -> bool:
        """Whether a class of this file derives from ``nn.Module`` as far as can be seen."""
        for base in node.bases:
            if isinstance(base, ast.Subscript):
                base = base.value
            qualname = self.module.qualname(base) or ""
            last = qualname.rpartition(".")[2]
            if qualname.startswith("torch.nn.") or last in _MODULE_BASES:
                return True
            if isinstance(base, ast.Name) and depth < _MAX_DEPTH and hasattr(base, "scope"):
                for binding in self.module.bindings(base):
                    if isinstance(binding.node, ast.ClassDef) and binding.node is not node:
                        if self.is_module_class(binding.node, depth + 1):
                            return True
        return False

    def _binding(self, binding: Binding, depth: int) -> Evidence:
        if id(binding) in self._open or depth > _MAX_DEPTH:
            return _UNKNOWN
        self._open.add(id(binding))
        try:
            if binding.annotation is not None and binding.kind is not BindingKind.FUNCTION:
                declared = self._annotation(binding.annotation)
                if declared is not None:
                    return declared
            kind, value = binding.kind, binding.value
            if kind in (BindingKind.ASSIGN, BindingKind.WITH) and value is not None:
                return self._value(value, depth + 1)
            if kind is BindingKind.UNPACK and value is not None:
                inner = self._value(value, depth + 1)
                if inner.kind in ("batch", "tensor"):
                    return Evidence("tensor", min(inner.grade, Grade.FLOW), f"unpacked from {inner.text}")
                return _UNKNOWN
            if kind is BindingKind.LOOP and value is not None:
                if counts(binding):
                    return Evidence("other", Grade.CONSTRUCTOR, "counts in enumerate()")
                return self._looped(iterated(binding), depth)
            if kind is BindingKind.PARAMETER:
                return self._parameter(binding)
            if kind is BindingKind.CLASS:
                return _UNKNOWN
            return _UNKNOWN
        finally:
            self._open.discard(id(binding))

    def _looped(self, iterable: ast.expr, depth: int) -> Evidence:
        if isinstance(iterable, ast.Call):
            name = iterable.func.id if isinstance(iterable.func, ast.Name) else getattr(iterable.func, "attr", "")
            if (
                name in ("enumerate", "tqdm", "trange", "iter", "islice", "track", "zip", "log_every", "progress_bar")
                and iterable.args
            ):
                return self._looped(iterable.args[0], depth)
            if name in ("parameters", "buffers"):
                return Evidence("tensor", Grade.FLOW, f"runs over .{name}()")
            if name in ("modules", "children"):
                return Evidence("module", Grade.FLOW, f"runs over .{name}()")
        if isinstance(iterable, (ast.List, ast.Tuple)) and iterable.elts:
            return self._value(iterable.elts[0], depth + 1)
        if self._is_loader(iterable, depth):
            return Evidence("tensor", Grade.FLOW, "comes from a data loader")
        inner = self._value(iterable, depth + 1)
        if inner.kind in ("tensor", "batch"):
            return Evidence("tensor", min(inner.grade, Grade.FLOW), f"an element of {inner.text}")
        return _UNKNOWN

    def _is_loader(self, node: ast.expr, depth: int) -> bool:
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        if "loader" in name.lower():
            return self.torch_file
        if isinstance(node, ast.Name) and hasattr(node, "scope"):
            for binding in self.module.bindings(node):
                if isinstance(binding.value, ast.Call) and self.module.qualname(binding.value.func) in _LOADERS:
                    return True
        return False

    def _parameter(self, binding: Binding) -> Evidence:
        function = binding.scope.node
        if isinstance(function, ast.FunctionDef) and function.name == "forward":
            around = enclosing_class(function)
            if around is not None and self.is_module_class(around) and _may_be_tensor(binding):
                return Evidence("tensor", Grade.FLOW, f"an input of {around.name}.forward")
        return self._used(binding.name, binding)

    def _annotation(self, node: ast.expr) -> Evidence | None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value.rpartition(".")[2].strip()
            if text in ("Tensor", "FloatTensor", "LongTensor"):
                return Evidence("tensor", Grade.ANNOTATION, f"annotated as {node.value}")
            if text == "Module":
                return Evidence("module", Grade.ANNOTATION, f"annotated as {node.value}")
            return None
        if isinstance(node, ast.Subscript):
            return self._annotation(node.slice) if self._optional(node.value) else None
        if isinstance(node, ast.BinOp):
            if any(isinstance(part, ast.Name) and part.id in _NUMBERS for part in (node.left, node.right)):
                return None  # int | torch.Tensor
            return self._annotation(node.left) or self._annotation(node.right)
        qualname = self.module.qualname(node)
        if qualname is not None:
            if qualname in _TENSOR_TYPES:
                return Evidence("tensor", Grade.ANNOTATION, f"annotated as {qualname}")
            if qualname.startswith("torch.nn.") or qualname.rpartition(".")[2] in _MODULE_BASES:
                return Evidence("module", Grade.ANNOTATION, f"annotated as {qualname}")
        if isinstance(node, ast.Name) and hasattr(node, "scope"):
            for found in self.module.bindings(node):
                if isinstance(found.node, ast.ClassDef):
                    return self._instance(found.node, Grade.ANNOTATION, "annotated as")
        return None

    def _optional(self, node: ast.expr) -> bool:
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        return name in ("Optional", "Final", "Annotated", "ClassVar")

    def _instance(self, node: ast.ClassDef, grade: Grade, how: str) -> Evidence | None:
        if self.is_module_class(node):
            return Evidence("module", grade, f"{how} {node.name}, an nn.Module")
        if any(isinstance(item, ast.FunctionDef) and item.name == "cuda" for item in node.body):
            return Evidence("other", grade, f"{how} {node.name}, which has a cuda() of its own")
        if not node.bases:
            return Evidence("other", grade, f"{how} {node.name}, a class of this file without torch bases")
        return None

    def _attribute(self, node: ast.Attribute, depth: int) -> Evidence:
        if node.attr in ("data", "grad", "T", "mT", "real", "imag", "weight", "bias", "H"):
            inner = self._value(node.value, depth + 1)
            if inner.kind in ("tensor", "module"):
                return Evidence("tensor", Grade.FLOW, f".{node.attr} of {inner.text}")
        if node.attr == "module":
            inner = self._value(node.value, depth + 1)
            if inner.kind == "module":
                return inner
        for target, annotation in self.module.found.declared.get(node.attr, ()):
            if same_chain(target, node):
                declared = self._annotation(annotation)
                if declared is not None:
                    return declared
        stores = [
            value
            for target, value in self.module.found.stores.get(node.attr, ())
            if value is not None and same_chain(target, node)
        ]
        for value in stores:
            if id(value) in self._open:
                continue
            self._open.add(id(value))
            try:
                evidence = self._value(value, depth + 1)
            finally:
                self._open.discard(id(value))
            if evidence.kind != "unknown":
                return evidence
        return self._used(node.attr, attribute=True)

    def _call(self, node: ast.Call, depth: int) -> Evidence:
        function = node.func
        qualname = self.module.qualname(function)
        if qualname is not None:
            named = self._constructed(qualname)
            if named is not None:
                return named
        if isinstance(function, ast.Name) and hasattr(function, "scope"):
            for binding in self.module.bindings(function):
                if isinstance(binding.node, ast.ClassDef):
                    evidence = self._instance(binding.node, Grade.CONSTRUCTOR, "made by")
                    if evidence is not None:
                        return evidence
                if binding.annotation is not None and binding.kind is BindingKind.FUNCTION:
                    evidence = self._annotation(binding.annotation)
                    if evidence is not None:
                        return Evidence(
                            evidence.kind, Grade.ANNOTATION, f"returned by {function.id}(), {evidence.text}"
                        )
            called = self._value(function, depth + 1)
            if called.kind == "module":
                return Evidence("tensor", Grade.FLOW, "the output of a module")
            if function.id in ("next", "iter") and node.args:
                return self._next(node.args[0], depth)
            return self._of_layer(function)
        if isinstance(function, ast.Attribute):
            inner = self._value(function.value, depth + 1)
            if function.attr in (
                "cuda",
                "cpu",
                "to",
                "float",
                "half",
                "double",
                "bfloat16",
                "eval",
                "train",
                "type",
                "neuron",
                "xpu",
            ):
                return inner
            if inner.kind == "tensor" and function.attr not in _TENSOR_LEAVES:
                return Evidence("tensor", inner.grade, inner.text)
            if inner.kind == "module":
                if function.attr in ("requires_grad_", "apply", "share_memory"):
                    return inner
                if function.attr == "forward":
                    return Evidence("tensor", Grade.FLOW, "the result of a module's method")
                return self._of_layer(function)
            if function.attr in ("parameters",):
                return Evidence("batch", Grade.FLOW, "parameters")
            if function.attr in _FROM_PRETRAINED:
                owner = (self.module.qualname(function.value) or "").rpartition(".")
                if owner[0].partition(".")[0] in ("transformers", "diffusers", "peft", "sentence_transformers"):
                    if not owner[2].endswith(
                        ("Tokenizer", "Processor", "Config", "Extractor", "TokenizerFast", "Scheduler")
                    ):
                        return Evidence("module", Grade.CONSTRUCTOR, f"made by {owner[2]}.{function.attr}()")
            called = self._value(function, depth + 1) if isinstance(function.value, ast.Name) else _UNKNOWN
            if called.kind == "module" and called.grade >= Grade.FLOW:
                return Evidence("tensor", Grade.FLOW, "the output of a module")
        return self._of_layer(function)

    def _of_layer(self, function: ast.expr) -> Evidence:
        """What a call of ``self.fc``, of a layer out of ``self.layers`` gives: one tensor, for layers that surely do."""
        if self._layers.is_one_tensor(function):
            return Evidence("tensor", Grade.FLOW, "the output of a layer of torch.nn")
        return _UNKNOWN

    def _next(self, node: ast.expr, depth: int) -> Evidence:
        inner = self._value(node, depth + 1)
        if inner.kind == "batch":
            return Evidence("tensor", Grade.FLOW, f"one of the {inner.text}")
        if self._is_loader(node, depth) or (
            isinstance(node, ast.Call) and node.args and self._is_loader(node.args[0], depth)
        ):
            return Evidence("tensor", Grade.FLOW, "comes from a data loader")
        return _UNKNOWN

    def _constructed(self, qualname: str) -> Evidence | None:
        if qualname in _TENSOR_TYPES:
            return Evidence("tensor", Grade.CONSTRUCTOR, f"made by {qualname}()")
        if qualname.startswith(_TORCH_NAMESPACES):
            return Evidence("tensor", Grade.CONSTRUCTOR, f"made by {qualname}()")
        if qualname.startswith("torch.nn."):
            last = qualname.rpartition(".")[2]
            if last[:1].isupper():
                return Evidence("module", Grade.CONSTRUCTOR, f"made by {qualname}()")
            return None
        if qualname.startswith(_MODULE_FACTORIES):
            return Evidence("module", Grade.CONSTRUCTOR, f"made by {qualname}()")
        if qualname == "torch.compile":
            return Evidence("module", Grade.CONSTRUCTOR, "made by torch.compile()")
        head, _, last = qualname.rpartition(".")
        if (
            head == "torch"
            and qualname not in _NOT_TENSORS
            and last[:1].islower()
            and not last.startswith(("is_", "set_", "get_"))
        ):
            return Evidence("tensor", Grade.CONSTRUCTOR, f"made by {qualname}()")
        if head == "torch.cuda" and last.endswith("Tensor"):
            return Evidence("tensor", Grade.CONSTRUCTOR, f"made by {qualname}()")
        return None

    # -- usage ------------------------------------------------------------------------------------------------------

    def _used(self, name: str, binding: Binding | None = None, *, attribute: bool = False) -> Evidence:
        """What the methods called elsewhere on a value of this name give away (only in files that import torch)."""
        if not self.torch_file:
            return _UNKNOWN
        methods = self._usages().get(("." if attribute else "") + name, set())
        tensor = methods & (_TENSOR_METHODS | _TENSOR_ATTRIBUTES)
        module = methods & _MODULE_METHODS
        if module and len(module) >= len(tensor):
            return Evidence("module", Grade.USAGE, f".{min(module)}() is called on {name}")
        if tensor:
            return Evidence("tensor", Grade.USAGE, f".{min(tensor)} is used on {name}")
        return _UNKNOWN

    def _usages(self) -> dict[str, set[str]]:
        if self._usage is None:
            usage: dict[str, set[str]] = {}
            for scope in self.module.found.scopes:
                for name, nodes in scope.references.items():
                    for node in nodes:
                        parent = node.parent
                        if isinstance(parent, ast.Attribute):
                            usage.setdefault(name, set()).add(parent.attr)
                            outer = parent.parent
                            if isinstance(outer, ast.Attribute):
                                usage.setdefault("." + parent.attr, set()).add(outer.attr)
            self._usage = usage
        return self._usage


def _may_be_tensor(binding: Binding) -> bool:
    """Whether a parameter of ``forward`` is declared as a tensor, or not declared and given no other default."""
    arguments = binding.node.parent
    if binding.name == "self" or (
        isinstance(arguments, ast.arguments) and binding.node in (arguments.vararg, arguments.kwarg)
    ):
        return False
    if isinstance(binding.value, ast.Constant) and binding.value.value is not None:
        return False
    if binding.annotation is None:
        return True
    named = {part.id for part in ast.walk(binding.annotation) if isinstance(part, ast.Name)}
    return "Tensor" in ast.unparse(binding.annotation) and not named & {"int", "float", "bool", "str"}


_NUMBERS = frozenset({"int", "float", "bool", "list", "tuple", "dict", "str"})
_MODULE_BASES = frozenset("Module LightningModule PreTrainedModel ModelMixin Sequential ModuleList".split())
_FROM_PRETRAINED = frozenset({"from_pretrained", "from_config", "from_single_file"})
_TENSOR_LEAVES = frozenset(
    "item tolist numpy size dim numel shape stride data_ptr element_size get_device is_contiguous type_as".split()
) - {"type_as"}

"""Does calling this layer surely give one tensor? Answered from constructors of torch.nn alone.

self.fc = nn.Linear(8, 8)                         self.fc(x)      one tensor
self.net = nn.Sequential(..., nn.ReLU())          self.net(x)     one tensor: the last layer decides
self.layers = nn.ModuleList([nn.Linear(8, 8)])    layer(x), in a loop over self.layers
self.rnn = nn.LSTM(8, 8)                          no: a tuple
self.norm = norm_layer(8)                         no: any class can come in

``outputs`` asks the same about a whole model and follows the ``forward`` of classes too; it is less strict about attributes.
"""

from __future__ import annotations

import ast

from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.literals import is_false, is_none
from neuron_port.semantics.loops import container_of
from neuron_port.semantics.module import Module, enclosing_class
from neuron_port.semantics.nearest import nearest
from neuron_port.semantics.scopes import Binding, BindingKind

_MAX_DEPTH = 6


def _sizes(*names: str) -> set[str]:
    return {f"{name}{size}d" for name in names for size in (1, 2, 3)}


# Classes of torch.nn whose forward gives one tensor, whatever they are made with.
_ONE = frozenset(
    "Linear LazyLinear Bilinear Identity Embedding EmbeddingBag "
    "LayerNorm GroupNorm RMSNorm LocalResponseNorm CrossMapLRN2d SyncBatchNorm "
    "Dropout AlphaDropout FeatureAlphaDropout "
    "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish PReLU RReLU ReLU ReLU6 "
    "SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold "
    "Flatten Unflatten Fold Unfold PixelShuffle PixelUnshuffle ChannelShuffle Upsample UpsamplingBilinear2d UpsamplingNearest2d "
    "CosineSimilarity PairwiseDistance GRUCell RNNCell "
    "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss HingeEmbeddingLoss HuberLoss KLDivLoss "
    "L1Loss MSELoss MarginRankingLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PoissonNLLLoss "
    "SmoothL1Loss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss".split()
) | _sizes(
    *"Conv ConvTranspose LazyConv LazyConvTranspose BatchNorm LazyBatchNorm InstanceNorm LazyInstanceNorm Dropout AvgPool "
    "AdaptiveAvgPool LPPool MaxUnpool CircularPad ConstantPad ReflectionPad ReplicationPad ZeroPad".split()
)
# Pools that also give indices when asked to, and how many arguments may stand in front of that one.
_POOLS = {
    **dict.fromkeys(_sizes("MaxPool"), 4),
    **dict.fromkeys(_sizes("AdaptiveMaxPool"), 1),
    **dict.fromkeys(("FractionalMaxPool2d", "FractionalMaxPool3d"), 3),
}
_LISTS = frozenset({"torch.nn.ModuleList", "torch.nn.ModuleDict"})
# What these make of a layer gives the same when it is called.
_WRAPPERS = frozenset(
    "torch.compile torch.nn.utils.weight_norm torch.nn.utils.spectral_norm torch.nn.utils.parametrizations.weight_norm "
    "torch.nn.utils.parametrizations.spectral_norm torch.nn.utils.parametrizations.orthogonal".split()
)
# Methods of a module that give the module back.
_ITSELF = frozenset(
    "to cuda cpu neuron eval train float half double bfloat16 type requires_grad_ apply share_memory".split()
)
# Functions that only read a list.
_READERS = frozenset("len enumerate zip reversed list tuple print range isinstance any all".split())
_ADDS = frozenset({"append", "extend", "insert", "__setitem__", "add_module", "update"})


class Layers:
    """Answers for one module (file); what it says about an attribute is remembered."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._attributes: dict[tuple[int, str], list[ast.expr] | None] = {}
        self._layers: dict[int, bool] = {}
        self._open: set[int] = set()

    def is_one_tensor(self, function: ast.expr) -> bool:
        """Whether ``function`` is a layer that surely gives one tensor when it is called."""
        return self._is_layer(function, 0)

    # -- one layer --------------------------------------------------------------------------------------------------

    def _is_layer(self, node: ast.expr, depth: int) -> bool:
        """Whether an expression is a layer with one tensor for its output; an answer that met itself is no."""
        if depth > _MAX_DEPTH or id(node) in self._open:
            return False
        known = self._layers.get(id(node))
        if known is None:
            self._open.add(id(node))
            try:
                known = self._layers[id(node)] = self._judge(node, depth)
            finally:
                self._open.discard(id(node))
        return known

    def _judge(self, node: ast.expr, depth: int) -> bool:
        if isinstance(node, ast.Call):
            return self._constructed(node, depth)
        if isinstance(node, ast.Attribute):
            return self._all(self._stored(node), depth)
        if isinstance(node, ast.Name):
            return self._named(node, depth)
        if isinstance(node, ast.Subscript):
            return not isinstance(node.slice, ast.Slice) and self._all(self._elements(node.value, depth), depth)
        if isinstance(node, ast.IfExp):
            return self._all([item for item in (node.body, node.orelse) if not is_none(item)], depth)
        return False

    def _all(self, layers: list[ast.expr] | None, depth: int) -> bool:
        return bool(layers) and all(self._is_layer(layer, depth + 1) for layer in layers)

    def _constructed(self, call: ast.Call, depth: int) -> bool:
        qualname = self.module.qualname(call.func)
        if qualname is None:
            function = call.func
            return (
                isinstance(function, ast.Attribute)
                and function.attr in _ITSELF
                and self._is_layer(function.value, depth + 1)
            )
        if qualname in _WRAPPERS:
            return bool(call.args) and self._is_layer(call.args[0], depth + 1)
        if not qualname.startswith("torch.nn."):
            return False
        if qualname == "torch.nn.Sequential":
            return self._all(self._last(call, depth), depth)
        last = qualname.rpartition(".")[2]
        return last in _ONE or (last in _POOLS and _gives_no_indices(call, _POOLS[last]))

    def _last(self, call: ast.Call, depth: int) -> list[ast.expr] | None:
        """The layers of which one ends a ``Sequential``."""
        if not call.args or call.keywords:
            return None
        last = call.args[-1]
        if isinstance(last, ast.Starred):
            return self._elements(last.value, depth)
        if isinstance(last, ast.Call) and self.module.qualname(last.func) == "collections.OrderedDict":
            return _values_of_pairs(last)
        return [last]

    def _named(self, name: ast.Name, depth: int) -> bool:
        if not hasattr(name, "scope"):
            return False
        bindings = [binding for binding in self.module.bindings(name) if not _binds_nothing(binding)]
        last = nearest(bindings, name) if len(bindings) > 1 else None
        if last is not None:
            return self._bound(last, depth)
        return bool(bindings) and all(self._bound(binding, depth) for binding in bindings)

    def _bound(self, binding: Binding, depth: int) -> bool:
        if binding.kind is BindingKind.ASSIGN and binding.value is not None:
            return self._is_layer(binding.value, depth + 1)
        if binding.kind is BindingKind.LOOP:
            container = container_of(binding)
            return container is not None and self._all(self._elements(container, depth), depth)
        return False

    # -- what an attribute holds ------------------------------------------------------------------------------------

    def _stored(self, node: ast.Attribute) -> list[ast.expr] | None:
        """What the class around ``self.name`` stores there, or its bases in this file; ``None`` where something is unclear."""
        around = enclosing_class(node)
        if around is None or not isinstance(node.value, ast.Name) or node.value.id != "self":
            return None
        key = (id(around), node.attr)
        if key not in self._attributes:
            self._attributes[key] = None
            self._attributes[key] = self._stores_of(around, node)
        return self._attributes[key]

    def _stores_of(self, around: ast.ClassDef, node: ast.Attribute, depth: int = 0) -> list[ast.expr] | None:
        stores = [
            value
            for target, value in self.module.found.stores.get(node.attr, ())
            if isinstance(target.value, ast.Name) and target.value.id == "self" and enclosing_class(target) is around
        ]
        if stores:
            if any(value is None for value in stores):
                return None
            return [value for value in stores if not is_none(value)]
        for base in around.bases if depth < _MAX_DEPTH else ():
            for binding in self.module.bindings(base) if isinstance(base, ast.Name) else ():
                if isinstance(binding.node, ast.ClassDef) and binding.node is not around:
                    return self._stores_of(binding.node, node, depth + 1)
        return None

    # -- lists of layers --------------------------------------------------------------------------------------------

    def _elements(self, node: ast.expr, depth: int) -> list[ast.expr] | None:
        """The layers that a list, a ``ModuleList`` or a ``ModuleDict`` may hold; ``None`` where something is unclear."""
        if depth > _MAX_DEPTH:
            return None
        if isinstance(node, (ast.List, ast.Tuple)):
            return self._joined(node.elts, depth)
        if isinstance(node, ast.Dict):
            return None if any(key is None for key in node.keys) else node.values
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return [node.elt]
        if isinstance(node, ast.DictComp):
            return [node.value]
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult)):
            sides = (node.left, node.right) if isinstance(node.op, ast.Add) else (node.left,)
            return self._joined([ast.Starred(side) for side in sides], depth)
        if isinstance(node, ast.Subscript):
            return self._elements(node.value, depth + 1) if isinstance(node.slice, ast.Slice) else None
        if isinstance(node, ast.Call):
            return self._made(node, depth)
        if isinstance(node, ast.Attribute):
            return self._held(node, self._stored(node), self.module.attribute_reads(node.attr), depth)
        if isinstance(node, ast.Name) and hasattr(node, "scope"):
            bindings = self.module.bindings(node)
            if any(binding.kind not in (BindingKind.ASSIGN, BindingKind.AUGMENT) for binding in bindings):
                return None
            if not bindings or id(bindings[0]) in self._open:
                return [] if bindings else None  # layers = layers + [last]: the other bindings say it
            self._open.add(id(bindings[0]))
            try:
                reads = node.scope.references.get(node.id, [])
                if any(self._is_lent(read) for read in reads):
                    return None
                return self._held(node, [binding.value for binding in bindings], reads, depth)
            finally:
                self._open.discard(id(bindings[0]))
        return None

    def _is_lent(self, read: ast.Name) -> bool:
        """Whether a function gets the list, which may add to it."""
        call = read.parent
        if not isinstance(call, ast.Call) or read is call.func or getattr(call.func, "id", "") in _READERS:
            return False
        return not (self.module.qualname(call.func) or "").startswith("torch.")

    def _joined(self, items: list[ast.expr], depth: int) -> list[ast.expr] | None:
        """Elements of a display, those of what is spread into it too."""
        found: list[ast.expr] = []
        for item in items:
            part = self._elements(item.value, depth + 1) if isinstance(item, ast.Starred) else [item]
            if part is None:
                return None
            found += part
        return found

    def _made(self, call: ast.Call, depth: int) -> list[ast.expr] | None:
        """``nn.ModuleList([...])``, and what runs over the elements of its argument or its receiver."""
        name = getattr(call.func, "id", "")
        if self.module.qualname(call.func) in _LISTS or name in ("reversed", "list", "tuple"):
            if call.keywords:
                return None
            return self._elements(call.args[0], depth + 1) if call.args else []
        if isinstance(call.func, ast.Attribute) and call.func.attr == "values" and not call.args:
            return self._elements(call.func.value, depth + 1)
        return None

    def _held(
        self, node: ast.expr, values: list[ast.expr] | None, reads: list[ast.expr], depth: int
    ) -> list[ast.expr] | None:
        """The elements of a stored container, with those that are added to it later."""
        if not values:
            return None
        found = self._joined([ast.Starred(value) for value in values], depth)
        for read in reads if found is not None else ():
            added = self._added(read, depth) if same_chain(read, node) else []
            if added is None:
                return None
            found += added
        return found

    def _added(self, read: ast.expr, depth: int) -> list[ast.expr] | None:
        """What ``read.append(layer)`` and its like bring in; ``None`` where that is unclear."""
        parent = read.parent
        if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
            return None
        if not isinstance(parent, ast.Attribute) or parent.attr not in _ADDS or not isinstance(parent.parent, ast.Call):
            return []
        arguments = parent.parent.args
        if not arguments:
            return None
        if parent.attr == "extend":
            return self._elements(arguments[0], depth + 1)
        return None if parent.attr in ("update", "__setitem__") else [arguments[-1]]


def _binds_nothing(binding: Binding) -> bool:
    return binding.kind is BindingKind.ASSIGN and is_none(binding.value)


def _gives_no_indices(call: ast.Call, before: int) -> bool:
    """Whether a pool is not asked for indices: neither by name nor by its place."""
    if len(call.args) > before or any(isinstance(item, ast.Starred) for item in call.args):
        return False
    for keyword in call.keywords:
        if keyword.arg is None:
            return False
        if keyword.arg == "return_indices":
            return is_false(keyword.value)
    return True


def _values_of_pairs(call: ast.Call) -> list[ast.expr] | None:
    """The last value of ``OrderedDict([("name", layer), ...])``."""
    pairs = call.args[0] if call.args else None
    if not isinstance(pairs, (ast.List, ast.Tuple)) or not pairs.elts:
        return None
    last = pairs.elts[-1]
    return [last.elts[1]] if isinstance(last, (ast.Tuple, ast.List)) and len(last.elts) == 2 else None

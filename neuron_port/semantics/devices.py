"""What a device string such as ``"cuda"`` is used for.

The question is answered by climbing: from the literal through the expressions that hand it on (a ternary, an f-string,
an assignment whose name is read elsewhere, a parameter of a function in the same file) to the place that uses it.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from enum import IntEnum

from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.module import Module, ancestors
from neuron_port.semantics.scopes import Binding, BindingKind

_MAX_DEPTH = 8
_LIKE_DEVICE = re.compile(
    r"(\w*_)?(device|dev)(_?(type|name|str|string|id|arg|spec|map|backend))?s?\Z|\w*(device|_dev)\Z|accelerator_type\Z",
    re.IGNORECASE,
)
_LIKE_BACKEND = re.compile(r"(\w*_)?(backend|dist_?backend|ddp_?backend|communication_backend)\Z", re.IGNORECASE)
_LIKE_GETTER = re.compile(r"\w*(device|backend)\w*\Z", re.IGNORECASE)

# Positions at which these take a device (torch 2.13, inspect.signature).
_POSITIONS = {
    "torch.device": {0},
    "torch.autocast": {0},
    "torch.amp.autocast": {0},
    "torch.amp.autocast_mode.autocast": {0},
    "torch.amp.GradScaler": {0},
    "torch.GradScaler": {0},
    "torch.amp.grad_scaler.GradScaler": {0},
    "torch.Generator": {0},
    "torch.set_default_device": {0},
    "torch.get_device_module": {0},
    "torch.Stream": {0},
    "torch.Event": {0},
    "torch.load": {1},
    "torch.jit.load": {1},
    "torch.is_autocast_enabled": {0},
    "torch.get_autocast_dtype": {0},
    "torch.set_autocast_dtype": {0},
    "torch.set_autocast_enabled": {0},
    "torch.cuda.set_device": {0},
    "torch.cuda.device": {0},
    "torch.cuda.synchronize": {0},
    "torch.cuda.get_device_name": {0},
    "torch.cuda.get_device_properties": {0},
    "torch.distributed.init_device_mesh": {0},
    "torch.distributed.device_mesh.init_device_mesh": {0},
    "torch.distributed.DeviceMesh": {0},
    "torch.distributed.device_mesh.DeviceMesh": {0},
    "torch.distributed.tensor.DeviceMesh": {0},
    "torch.distributed._tensor.DeviceMesh": {0},
    "torch.utils.checkpoint.DefaultDeviceType.set_device_type": {0},
    "torch.random.fork_rng": {4},
}
# These want the type as text: a torch.device object, or an index, is refused.
_WANT_TEXT = frozenset(
    name
    for name in _POSITIONS
    if "autocast" in name
    or "mesh" in name.lower()
    or "GradScaler" in name
    or name.endswith(("set_device_type", "fork_rng"))
)
_METHODS = {"to": 0, "to_empty": 0, "cuda": 0, "pin_memory": 0, "set_device": 0, "to_device": 0, "move_to": 0}
_ASSERTIONS = frozenset("assertEqual assertNotEqual assertIn assertNotIn assertEquals".split())
_STRING_TESTS = frozenset(
    "startswith endswith find rfind index rindex count removeprefix split rsplit replace partition rpartition strip lstrip".split()
)
_TEXT_METHODS = frozenset(
    "info debug warning warn error exception critical log write writelines print print_info add_text echo secho fail skip "
    "encode join add_hparams title set_title legend label".split()
)
_TEXT_NAMES = frozenset(
    "print warnings.warn sys.exit pytest.skip pytest.fail pytest.mark.skipif pytest.mark.skip unittest.skip unittest.skipIf "
    "unittest.skipUnless logging.info logging.warning logging.error logging.debug logging.log logging.critical "
    "logging.exception pytest.raises pytest.mark.xfail re.compile re.match re.search re.sub logging.getLogger "
    "typing.Literal".split()
)
# Collective backends that torch knows besides those that are devices too.
_COLLECTIVE = frozenset({"gloo", "mpi", "nccl", "ucc", "xccl", "hccl"})
_BACKEND_GETTERS = (
    "torch.distributed.get_backend",
    "torch.distributed.distributed_c10d.get_backend",
    "torch.distributed.get_default_backend_for_device",
)
_BACKEND_POSITIONS = {
    "torch.distributed.init_process_group": 0,
    "torch.distributed.distributed_c10d.init_process_group": 0,
    "torch.distributed.new_group": 2,
    "torch.distributed.distributed_c10d.new_group": 2,
    "torch.distributed.Backend": 0,
}
_ENUMS = ("Enum", "IntEnum", "StrEnum", "Flag", "ExplicitEnum")


class Role(IntEnum):
    """What a device string is for, from the least to the most telling."""

    UNKNOWN = 0
    TEXT = 1
    KEY = 2
    ENUM = 3
    CHOICES = 4
    COMPARE = 5
    FRAMEWORK = 6
    MODULE = 7
    BACKEND = 8
    OPTION = 9
    DEVICE = 10
    MAP_LOCATION = 11


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a device string.

    ``place`` is the node that uses it, ``outer`` the largest expression that still means the same string.
    ``sure`` says that torch itself takes it there; ``wants_text`` that a ``torch.device`` object would not do.
    """

    role: Role
    place: ast.AST
    outer: ast.expr
    evidence: str
    sure: bool = False
    wants_text: bool = False


def like_device(name: str) -> bool:
    """Whether a variable, parameter, key or option of this name usually holds a device."""
    return name.lower() == "map_location" or _LIKE_DEVICE.match(name.strip("-").replace("-", "_")) is not None


def like_backend(name: str) -> bool:
    """Whether a name usually holds the name of a collective backend."""
    return _LIKE_BACKEND.match(name.strip("-").replace("-", "_")) is not None


class DeviceUses:
    """Answers ``use(node)`` for the string literals of one module; answers are remembered."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._known: dict[int, Use] = {}
        self._open: set[int] = set()

    def use(self, node: ast.expr) -> Use:
        """The most telling use of the string literal ``node``."""
        known = self._known.get(id(node))
        if known is None:
            known = self._climb(node, node, 0)
            if getattr(node, "value", None) == "xla" and self._beside_backends(node):
                known = replace(known, role=Role.BACKEND)
            self._known[id(node)] = known
        return known

    def relearn(self, node: ast.expr, use: Use) -> None:
        """Remember what a string is for when something else than its own use has shown it."""
        self._known[id(node)] = use

    def names_backend(self, node: ast.expr) -> bool:
        """Whether an expression looks like the name of a collective backend: by what it asks, or by what it is called."""
        if isinstance(node, ast.Call):
            function = node.func
            if self.module.qualname(function) in _BACKEND_GETTERS:
                return True
            method = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if method in ("lower", "upper", "strip") and isinstance(function, ast.Attribute):
                return self.names_backend(function.value)
            if method == "str" and node.args:
                return self.names_backend(node.args[0])
            return method in ("get_backend", "getBackendName")
        if isinstance(node, ast.Subscript):
            key = node.slice
            return isinstance(key, ast.Constant) and isinstance(key.value, str) and like_backend(key.value)
        return like_backend(getattr(node, "attr", getattr(node, "id", "")))

    def _beside_backends(self, node: ast.expr) -> bool:
        """Whether a word that also names a device is compared with backends here, or stands among them."""
        around = node.parent
        if isinstance(around, ast.Compare):
            sides = [side for side in (around.left, *around.comparators) if side is not node]
            return any(self.names_backend(side) for side in sides)
        if isinstance(around, ast.Dict):
            siblings = around.keys if node in around.keys else []
        elif isinstance(around, (ast.List, ast.Tuple, ast.Set)):
            siblings = around.elts
            if isinstance(around.parent, ast.Compare) and self.names_backend(around.parent.left):
                return True
        else:
            return False
        return any(isinstance(item, ast.Constant) and item.value in _COLLECTIVE for item in siblings)

    def names_device(self, node: ast.expr) -> bool:
        """Whether an expression looks like a device, a device type or the name of one."""
        if isinstance(node, ast.Attribute):
            if node.attr == "type":
                return self.names_device(node.value) or True
            return like_device(node.attr)
        if isinstance(node, ast.Name):
            return like_device(node.id)
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name) and function.id == "str" and node.args:
                return self.names_device(node.args[0])
            if isinstance(function, ast.Attribute) and function.attr in ("lower", "strip", "split", "upper"):
                return self.names_device(function.value)
            if self.module.qualname(function) in ("torch.device", "torch.get_device"):
                return True
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            return like_device(name.removeprefix("get_"))
        if isinstance(node, ast.Subscript):
            key = node.slice
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                return like_device(key.value)
            return self.names_device(node.value)
        return False

    # -- climbing ---------------------------------------------------------------------------------------------------

    def _climb(self, node: ast.expr, outer: ast.expr, depth: int) -> Use:
        parent = node.parent
        if depth > _MAX_DEPTH:
            return Use(Role.UNKNOWN, parent, outer, "used too far away to follow")
        kind = type(parent)
        if (kind is ast.IfExp and node is not parent.test) or kind in (ast.BoolOp, ast.NamedExpr, ast.Starred):
            if kind is ast.NamedExpr:
                return self._assigned(parent.target, parent, outer, depth)
            return self._climb(parent, parent, depth + 1)
        if kind in (ast.Attribute,):
            return self._attribute(node, parent, outer, depth)
        if kind is ast.BinOp:
            return self._climb(parent, parent, depth + 1)
        if kind is ast.Call:
            return self._argument(node, parent, outer, depth)
        if kind is ast.keyword:
            return self._keyword(node, parent, outer, depth)
        if kind in (ast.Assign, ast.AnnAssign):
            return self._assignment(node, parent, outer, depth)
        if kind is ast.arguments:
            return self._default(node, parent, outer, depth)
        if kind is ast.Return:
            return self._returned(parent, outer, depth)
        if kind in (ast.List, ast.Tuple, ast.Set):
            return self._element(node, parent, outer, depth)
        if kind is ast.Dict:
            return self._dictionary(node, parent, outer, depth)
        if kind is ast.Compare:
            others = [side for side in (parent.left, *parent.comparators) if side is not node]
            sure = any(self.names_device(other) or self._carries_device(other, depth) for other in others)
            return Use(Role.COMPARE, parent, outer, "compared with a device" if sure else "compared", sure=sure)
        if kind is ast.Subscript:
            if node is parent.slice:
                return Use(Role.KEY, parent, outer, "a key")
            return self._climb(parent, parent, depth + 1)
        if kind in (ast.Expr, ast.Raise, ast.Assert, ast.FormattedValue, ast.JoinedStr):
            return Use(Role.TEXT, parent, outer, "text")
        if kind.__name__ in ("MatchValue",):
            return Use(Role.COMPARE, parent, outer, "a case of a match statement", sure=False)
        return Use(Role.UNKNOWN, parent, outer, "its use could not be followed")

    def _carries_device(self, node: ast.expr, depth: int) -> bool:
        """A name whose own value is known to be used as a device."""
        if not isinstance(node, ast.Name) or not hasattr(node, "scope"):
            return False
        for binding in self.module.bindings(node):
            if id(binding) in self._open:
                continue
            if binding.kind is BindingKind.PARAMETER and binding.annotation is not None:
                if self.module.qualname(binding.annotation) == "torch.device":
                    return True
        return False

    def _attribute(self, node: ast.expr, parent: ast.Attribute, outer: ast.expr, depth: int) -> Use:
        call = getattr(parent, "parent", None)
        if isinstance(call, ast.Call) and call.func is parent and parent.attr in ("format", "strip", "lower", "upper"):
            return self._climb(call, call, depth + 1)
        return Use(
            Role.TEXT if parent.attr == "join" else Role.UNKNOWN, parent, outer, "a string method is called on it"
        )

    def _assignment(self, node: ast.expr, parent: ast.Assign | ast.AnnAssign, outer: ast.expr, depth: int) -> Use:
        if isinstance(parent, ast.AnnAssign) and node is parent.annotation:
            return Use(Role.TEXT, parent, outer, "an annotation")
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        return _best([self._assigned(target, parent, outer, depth) for target in targets])

    def _assigned(self, target: ast.expr, place: ast.AST, outer: ast.expr, depth: int) -> Use:
        if isinstance(target, ast.Name):
            class_body = next(ancestors(target), None)
            around = getattr(class_body, "parent", None)
            if isinstance(around, ast.ClassDef):
                return self._class_field(target, around, place, outer)
            uses = []
            for binding in target.scope.owner(target.id).bindings.get(target.id, ()):
                if binding.node is target:
                    uses = self._uses_of(binding, depth)
            if like_device(target.id) or like_backend(target.id):
                role = Role.BACKEND if like_backend(target.id) else Role.DEVICE
                best = _best(uses) if uses else None
                sure = best is not None and best.sure and best.role in (Role.DEVICE, Role.MAP_LOCATION, Role.BACKEND)
                if best is not None and best.role is Role.TEXT and all(use.role is Role.TEXT for use in uses):
                    return Use(Role.TEXT, place, outer, f"{target.id} is only printed")
                evidence = f"assigned to {target.id}" + (f", {best.evidence}" if sure and best else "")
                return Use(role, place, outer, evidence, sure=sure, wants_text=True)
            if uses:
                best = _best(uses)
                return Use(
                    best.role,
                    best.place,
                    outer,
                    f"assigned to {target.id}, {best.evidence}",
                    best.sure,
                    wants_text=True,
                )
            return Use(Role.UNKNOWN, place, outer, f"assigned to {target.id}, whose use could not be followed")
        if isinstance(target, ast.Attribute):
            reads = [self._climb(read, read, depth + 1) for read in self._reads(target)] if depth < _MAX_DEPTH else []
            best = _best(reads) if reads else None
            if best is not None and best.role in (Role.DEVICE, Role.MAP_LOCATION, Role.BACKEND):
                evidence = f"assigned to .{target.attr}, {best.evidence}"
                return Use(best.role, best.place, outer, evidence, best.sure, wants_text=True)
            if like_device(target.attr):
                return Use(Role.DEVICE, place, outer, f"assigned to .{target.attr}", sure=False, wants_text=True)
            if like_backend(target.attr):
                return Use(Role.BACKEND, place, outer, f"assigned to .{target.attr}", sure=False, wants_text=True)
            return Use(Role.UNKNOWN, place, outer, f"assigned to .{target.attr}, whose use could not be followed")
        if isinstance(target, ast.Subscript):
            key = target.slice
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                return self._named_value(key.value, f"value of key {key.value!r}", place, outer)
        return Use(Role.UNKNOWN, place, outer, "its use could not be followed")

    def _reads(self, target: ast.Attribute) -> list[ast.expr]:
        """Where an attribute is read again; each attribute is followed once."""
        if id(target) in self._open:
            return []
        self._open.add(id(target))
        try:
            return [read for read in self.module.attribute_reads(target.attr) if same_chain(read, target)]
        finally:
            self._open.discard(id(target))

    def _named_value(self, name: str, evidence: str, place: ast.AST, outer: ast.expr) -> Use:
        if name == "map_location":
            return Use(Role.MAP_LOCATION, place, outer, evidence)
        if like_device(name):
            return Use(Role.DEVICE, place, outer, evidence, wants_text=True)
        if like_backend(name):
            return Use(Role.BACKEND, place, outer, evidence, wants_text=True)
        return Use(Role.UNKNOWN, place, outer, f"{evidence}, whose use could not be followed")

    def _class_field(self, target: ast.Name, around: ast.ClassDef, place: ast.AST, outer: ast.expr) -> Use:
        bases = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in around.bases]
        if any(base in _ENUMS or base.endswith("Enum") for base in bases):
            return Use(Role.ENUM, place, outer, f"a member of the enumeration {around.name}")
        if like_device(target.id):
            return Use(Role.OPTION, place, outer, f"default of the field {around.name}.{target.id}", wants_text=True)
        if like_backend(target.id):
            return Use(Role.BACKEND, place, outer, f"default of the field {around.name}.{target.id}", wants_text=True)
        return Use(Role.UNKNOWN, place, outer, f"default of the field {around.name}.{target.id}")

    def _uses_of(self, binding: Binding, depth: int) -> list[Use]:
        if id(binding) in self._open or depth > _MAX_DEPTH:
            return []
        self._open.add(id(binding))
        try:
            return [self._climb(node, node, depth + 1) for node in self.module.references(binding)]
        finally:
            self._open.discard(id(binding))

    def _default(self, node: ast.expr, parent: ast.arguments, outer: ast.expr, depth: int) -> Use:
        function = parent.parent
        for bindings in function.inner.bindings.values():
            for binding in bindings:
                if binding.kind is BindingKind.PARAMETER and binding.value is node:
                    name = binding.name
                    evidence = f"default of the parameter {name}"
                    if like_backend(name):
                        return Use(Role.BACKEND, parent, outer, evidence, wants_text=True)
                    if like_device(name):
                        return Use(Role.OPTION, parent, outer, evidence, wants_text=True)
                    uses = self._uses_of(binding, depth)
                    best = _best(uses) if uses else None
                    if best is not None and best.role in (Role.DEVICE, Role.MAP_LOCATION):
                        return Use(Role.OPTION, parent, outer, f"{evidence}, {best.evidence}", wants_text=True)
                    if best is not None and best.role is Role.BACKEND:
                        return Use(Role.BACKEND, parent, outer, f"{evidence}, {best.evidence}", wants_text=True)
                    return Use(Role.UNKNOWN, parent, outer, evidence)
        return Use(Role.UNKNOWN, parent, outer, "a default")

    def _returned(self, parent: ast.Return, outer: ast.expr, depth: int) -> Use:
        function = next(
            (node for node in ancestors(parent) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))), None
        )
        if function is None:
            return Use(Role.UNKNOWN, parent, outer, "returned")
        evidence = f"returned by {function.name}"
        uses = [
            self._climb(call, call, depth + 1)
            for call in self.module.found.calls.get(function.name, ())
            if depth < _MAX_DEPTH and self._called(call) is function
        ]
        best = _best(uses) if uses else None
        if best is not None and best.role in (Role.DEVICE, Role.MAP_LOCATION, Role.BACKEND):
            return Use(best.role, parent, outer, f"{evidence}, {best.evidence}", best.sure, wants_text=True)
        if _LIKE_GETTER.match(function.name):
            role = Role.BACKEND if "backend" in function.name.lower() else Role.DEVICE
            return Use(role, parent, outer, evidence, wants_text=True)
        return Use(Role.UNKNOWN, parent, outer, evidence)

    def _called(self, call: ast.Call) -> ast.AST | None:
        """The function of this file that a plain-name call runs, when there is just one."""
        if not isinstance(call.func, ast.Name) or not hasattr(call.func, "scope"):
            return None
        bindings = self.module.bindings(call.func)
        if len(bindings) == 1 and bindings[0].kind in (BindingKind.FUNCTION, BindingKind.CLASS):
            return bindings[0].node
        return None

    def _keyword(self, node: ast.expr, keyword: ast.keyword, outer: ast.expr, depth: int) -> Use:
        call = keyword.parent
        name = keyword.arg
        if not isinstance(call, ast.Call):
            return Use(Role.UNKNOWN, keyword, outer, "a class keyword")
        if name is None:
            return Use(Role.UNKNOWN, keyword, outer, "unpacked")
        qualname = self.module.qualname(call.func) or ""
        callee = _callee_text(call)
        option = _option_name(call, qualname)
        if name in ("default", "const", "choices") and option is not None:
            if name == "choices":
                return Use(Role.CHOICES, keyword, outer, f"choices of the option {option}")
            if like_backend(option):
                return Use(Role.BACKEND, keyword, outer, f"default of the option {option}", wants_text=True)
            if like_device(option):
                return Use(Role.OPTION, keyword, outer, f"default of the option {option}", wants_text=True)
            return Use(Role.UNKNOWN, keyword, outer, f"default of the option {option}")
        if name == "default" and qualname in ("dataclasses.field", "pydantic.Field", "attr.ib", "attrs.field"):
            return self._climb(call, outer, depth + 1)
        if name in ("help", "metavar", "msg", "message", "reason", "title", "label", "description", "desc", "text"):
            return Use(Role.TEXT, keyword, outer, "text")
        if name == "map_location":
            return Use(
                Role.MAP_LOCATION, keyword, outer, f"map_location of {callee}()", sure=qualname.startswith("torch.")
            )
        if name == "type" and qualname == "torch.device":
            return Use(Role.DEVICE, keyword, outer, "keyword type= of device()", sure=True, wants_text=True)
        if name == "accelerator":
            return Use(
                Role.FRAMEWORK, keyword, outer, f"keyword accelerator= of {callee}(), which has names of its own"
            )
        torch_callee = qualname.startswith("torch.") and not qualname.startswith("torch.hub.")
        followed = self._parameter(call, None, name)
        if followed is not None and like_device(name):
            return Use(
                Role.DEVICE,
                keyword,
                outer,
                f"keyword {name}= of {callee}()",
                sure=self._sure_parameter(followed, depth),
            )
        if like_backend(name):
            return Use(Role.BACKEND, keyword, outer, f"keyword {name}= of {callee}()", sure=torch_callee)
        if like_device(name):
            method = isinstance(call.func, ast.Attribute) and call.func.attr in _DEVICE_KEYWORD_METHODS
            method = method or name == "device_map" or qualname in _HAND_ON
            text = name in ("device_type", "device_types") or qualname in _WANT_TEXT
            return Use(
                Role.DEVICE,
                keyword,
                outer,
                f"keyword {name}= of {callee}()",
                sure=torch_callee or method,
                wants_text=text,
            )
        if followed is not None:
            uses = self._uses_of(followed, depth)
            if uses:
                best = _best(uses)
                return Use(
                    best.role, best.place, outer, f"keyword {name}= of {callee}(), {best.evidence}", best.sure, True
                )
        return Use(Role.UNKNOWN, keyword, outer, f"keyword {name}= of {callee}()")

    def _sure_parameter(self, binding: Binding, depth: int) -> bool:
        uses = self._uses_of(binding, depth)
        return bool(uses) and _best(uses).sure

    def _parameter(self, call: ast.Call, index: int | None, name: str | None) -> Binding | None:
        """The parameter binding of a function or class of this file that an argument lands in."""
        target = self._called(call)
        skip = 0
        if isinstance(target, ast.ClassDef):
            target = next(
                (item for item in target.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"), None
            )
            skip = 1
        elif target is None and isinstance(call.func, ast.Attribute):
            candidates = self.module.found.functions.get(call.func.attr, ())
            if len(candidates) != 1 or not _is_self(call.func.value):
                return None
            target, skip = candidates[0], 1
        if not isinstance(target, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        parameters = [*target.args.posonlyargs, *target.args.args]
        if index is not None:
            if index + skip >= len(parameters):
                return None
            name = parameters[index + skip].arg
        for binding in target.inner.bindings.get(name or "", ()):
            if binding.kind is BindingKind.PARAMETER:
                return binding
        return None

    def _argument(self, node: ast.expr, call: ast.Call, outer: ast.expr, depth: int) -> Use:
        if node is call.func:
            return Use(Role.UNKNOWN, call, outer, "called")
        if node not in call.args:
            return Use(Role.UNKNOWN, call, outer, "its use could not be followed")
        index = call.args.index(node)
        qualname = self.module.qualname(call.func) or ""
        function = call.func
        callee = _callee_text(call)
        if qualname == "torch.device" and isinstance(call.parent, ast.keyword) and call.parent.arg == "map_location":
            loader = call.parent.parent
            torch_loader = isinstance(loader, ast.Call) and (self.module.qualname(loader.func) or "").startswith(
                "torch."
            )
            return Use(Role.MAP_LOCATION, call.parent, call, "a device as map_location", sure=torch_loader)
        if index in _POSITIONS.get(qualname, ()):
            role = Role.MAP_LOCATION if qualname in ("torch.load", "torch.jit.load") else Role.DEVICE
            return Use(role, call, outer, f"argument of {callee}()", sure=True, wants_text=qualname in _WANT_TEXT)
        if _BACKEND_POSITIONS.get(qualname) == index:
            return Use(Role.BACKEND, call, outer, f"argument of {callee}()", sure=True, wants_text=True)
        if isinstance(function, ast.Name):
            if function.id in ("print", "Literal") and not self.module.bindings(function):
                return Use(Role.TEXT, call, outer, "printed")
            if function.id in ("str", "repr") and not self.module.bindings(function):
                return self._climb(call, call, depth + 1)
            if function.id in ("getattr", "hasattr", "setattr", "delattr") and index == 1:
                if self.module.qualname(call.args[0]) == "torch":
                    return Use(Role.MODULE, call, outer, f"{function.id}() of torch", sure=True)
                return Use(Role.KEY, call, outer, "an attribute name")
            if function.id == "getattr" and index == 2 and isinstance(call.args[1], ast.Constant):
                if like_device(str(call.args[1].value)):
                    return Use(
                        Role.OPTION, call, call, f"default of the attribute {call.args[1].value}", wants_text=True
                    )
                return self._climb(call, outer, depth + 1)
        if qualname in _TEXT_NAMES or _raises(call):
            return Use(Role.TEXT, call, outer, "text")
        if qualname in ("os.environ.get", "os.getenv", "os.environ.setdefault") and index == 1:
            variable = call.args[0]
            if isinstance(variable, ast.Constant) and isinstance(variable.value, str) and like_device(variable.value):
                return Use(Role.OPTION, call, call, f"default of the variable {variable.value}", wants_text=True)
            return self._climb(call, outer, depth + 1)
        if isinstance(function, ast.Attribute):
            method = function.attr
            if _METHODS.get(method) == index and not self.module.qualname(function.value):
                return Use(
                    Role.DEVICE, call, outer, f"argument of .{method}()", sure=method in ("to", "to_empty", "cuda")
                )
            if method in _STRING_TESTS:
                sure = self.names_device(function.value)
                return Use(Role.COMPARE, call, outer, f"argument of .{method}()", sure=sure)
            if method in ("get", "pop", "setdefault"):
                if index == 0:
                    return Use(Role.KEY, call, outer, "a key")
                key = call.args[0]
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    if like_device(key.value):
                        return Use(Role.OPTION, call, call, f"default of the key {key.value!r}", wants_text=True)
                    return self._climb(call, outer, depth + 1)
            if method in _ASSERTIONS and len(call.args) >= 2:
                other = call.args[1 - index] if index < 2 else call.args[0]
                return Use(Role.COMPARE, call, outer, f"compared by {method}()", sure=self.names_device(other))
            if method in _TEXT_METHODS:
                return Use(Role.TEXT, call, outer, "text")
            if method == "append" and self.names_device(function.value):
                return Use(Role.CHOICES, call, outer, "added to a list of devices")
        followed = self._parameter(call, index, None)
        if followed is not None:
            if like_backend(followed.name):
                return Use(Role.BACKEND, call, outer, f"argument {followed.name} of {callee}()", wants_text=True)
            if like_device(followed.name):
                return Use(
                    Role.DEVICE,
                    call,
                    outer,
                    f"argument {followed.name} of {callee}()",
                    sure=self._sure_parameter(followed, depth),
                )
            uses = self._uses_of(followed, depth)
            if uses:
                best = _best(uses)
                return Use(best.role, best.place, outer, f"argument of {callee}(), {best.evidence}", best.sure, True)
        return Use(Role.UNKNOWN, call, outer, f"argument of {callee}()")

    def _element(self, node: ast.expr, parent: ast.expr, outer: ast.expr, depth: int) -> Use:
        around = parent.parent
        if isinstance(around, ast.Compare) and any(
            isinstance(operator, (ast.In, ast.NotIn)) for operator in around.ops
        ):
            sure = self.names_device(around.left)
            return Use(
                Role.CHOICES, parent, outer, "a closed list of device names" if sure else "a closed list", sure=sure
            )
        if isinstance(around, ast.Subscript) and around.value is parent:
            return self._climb(around, around, depth + 1)
        if isinstance(around, ast.Assign):
            for target in around.targets:
                if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == len(parent.elts):
                    return self._assigned(target.elts[parent.elts.index(node)], around, outer, depth)
                name = target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")
                if like_device(name):
                    return Use(Role.CHOICES, parent, outer, f"an element of {name}")
        if isinstance(around, ast.keyword):
            option = _option_name(around.parent, "") if isinstance(around.parent, ast.Call) else None
            if around.arg == "choices" or (around.arg and like_device(around.arg)):
                sure = option is not None and like_device(option)
                return Use(
                    Role.CHOICES,
                    parent,
                    outer,
                    f"choices of the option {option}" if option else "a list of devices",
                    sure=sure,
                )
        if isinstance(around, (ast.For, ast.comprehension)) and isinstance(around.target, ast.Name):
            if like_device(around.target.id):
                return Use(Role.CHOICES, parent, outer, f"a list that {around.target.id} runs over")
        if isinstance(around, ast.Call) and isinstance(around.func, ast.Attribute):
            if around.func.attr == "startswith":
                return Use(
                    Role.COMPARE, around, outer, "argument of .startswith()", sure=self.names_device(around.func.value)
                )
            if around.func.attr == "parametrize" and around.args and isinstance(around.args[0], ast.Constant):
                if like_device(str(around.args[0].value)):
                    return Use(Role.CHOICES, parent, outer, "values of a parametrized device")
        if isinstance(around, (ast.List, ast.Tuple, ast.Set)):
            return Use(Role.UNKNOWN, parent, outer, "an element of a row")
        siblings = [item.value for item in parent.elts if isinstance(item, ast.Constant)]
        if "cpu" in siblings:
            return Use(Role.CHOICES, parent, outer, "listed beside 'cpu'")
        return Use(Role.UNKNOWN, parent, outer, "an element of a list")

    def _dictionary(self, node: ast.expr, parent: ast.Dict, outer: ast.expr, depth: int) -> Use:
        if any(key is node for key in parent.keys):
            location = parent.parent
            if isinstance(location, ast.keyword) and location.arg == "map_location":
                return Use(Role.MAP_LOCATION, location, parent, "map_location table", sure=True)
            return Use(Role.KEY, parent, outer, "a dictionary key")
        key = next((key for key, value in zip(parent.keys, parent.values) if value is node), None)
        location = parent.parent
        if isinstance(location, ast.keyword) and location.arg == "map_location":
            return Use(Role.MAP_LOCATION, location, parent, "map_location table", sure=True)
        if isinstance(location, ast.Subscript) and location.value is parent:
            return self._climb(location, location, depth + 1)
        if isinstance(location, ast.keyword) and location.arg == "device_map":
            return Use(Role.DEVICE, location, outer, "value of a device_map", sure=True, wants_text=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return self._named_value(key.value, f"value of key {key.value!r}", parent, outer)
        return Use(Role.UNKNOWN, parent, outer, "a value of a dictionary")


# Functions of other packages that hand the name of a device to torch as it is.
_HAND_ON = frozenset(
    {
        "transformers.pipeline",
        "transformers.pipelines.pipeline",
        "sentence_transformers.CrossEncoder",
        "sentence_transformers.SentenceTransformer",
        "sentence_transformers.SparseEncoder",
    }
)
_DEVICE_KEYWORD_METHODS = frozenset(
    "to to_empty cuda new_tensor new_empty new_full new_ones new_zeros empty_like pin_memory manual_seed load_state_dict".split()
)


def _best(uses: list[Use]) -> Use:
    """The most telling of several uses; the first one wins a tie. What is loaded onto and used otherwise is a device."""
    if any(use.role not in (Role.MAP_LOCATION, Role.TEXT) for use in uses):
        uses = [replace(use, role=Role.DEVICE) if use.role is Role.MAP_LOCATION else use for use in uses]
    return max(uses, key=lambda use: (use.role, use.sure))


def _callee_text(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else "a call"


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def _raises(call: ast.Call) -> bool:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return isinstance(call.parent, ast.Raise) or name.endswith(("Error", "Exception", "Warning"))


def _option_name(call: ast.Call, qualname: str) -> str | None:
    """The longest option string of an ``add_argument``-like call (argparse, click, absl flags, fire-style helpers)."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in ("add_argument", "option", "Option", "Argument", "add_option", "argument"):
        options = [item.value for item in call.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        return max(options, key=len) if options else None
    if name.startswith("DEFINE_") and call.args and isinstance(call.args[0], ast.Constant):
        return str(call.args[0].value)
    return None


def option_name(call: ast.Call) -> str | None:
    """The option string of an ``add_argument``-like call, or ``None`` when the call is something else."""
    return _option_name(call, "")


def literal_text(node: ast.expr) -> str | None:
    """The leading text of a string literal: the whole of a plain one, what stands before the first field of an f-string."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
        return str(node.values[0].value)
    return None

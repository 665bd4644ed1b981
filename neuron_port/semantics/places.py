"""How often does code run, and in what: a compiled function, a module's forward, a training or generation loop.

@torch.compile / torch.compile(model)      compiled: the function, or forward and the methods it calls
class Net(nn.Module): def forward(...)     forward: it and the methods and functions of the file that it calls
for batch in loader: ... loss.backward()   training: the loop that holds the backward pass, and functions it calls
while ...: ids = torch.cat([ids, new])     generation: a loop that calls a model and lengthens what it calls it with
for batch in loader: model(batch)          evaluation: a loop over a data loader that calls a model
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from neuron_port.semantics.literals import is_true
from neuron_port.semantics.module import Module, ancestors, enclosing_class
from neuron_port.semantics.receivers import Receivers
from neuron_port.semantics.scopes import BindingKind

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MAX_DEPTH = 3
# Methods that a framework's training loop calls once for each step.
_STEPS = frozenset({"training_step", "compute_loss"})
_COMPILING = frozenset(
    "is_compiling is_dynamo_compiling is_torchdynamo_compiling is_scripting is_tracing is_exporting is_torch_fx_proxy".split()
)
_CHOOSING = frozenset({"argmax", "multinomial", "topk", "categorical"})
_RANK = {"compiled": 0, "training": 1, "generation": 2, "forward": 3, "evaluation": 4}


@dataclass(frozen=True, slots=True)
class Place:
    """What runs ``node`` over and over.

    ``kind`` is ``compiled``, ``training``, ``generation``, ``forward``, ``evaluation``, or ``""`` for code that nothing
    in the file repeats; ``text`` says it in words, as evidence. ``occasional``: the node stands under a condition that
    holds only now and then (``step % 100 == 0``), on the way out of the loop, or in an error's path; or one that the
    compiler takes for false (``not torch.compiler.is_compiling()``). ``fullgraph``: compiled so that a graph break is an error.
    """

    kind: str
    text: str
    owner: ast.AST | None = None
    occasional: bool = False
    fullgraph: bool = False

    @property
    def hot(self) -> bool:
        """Whether it is on the path of each step on the device."""
        return self.kind in ("compiled", "training", "generation", "forward") and not self.occasional


_NOWHERE = Place("", "nothing in this file repeats it")


class Places:
    """Answers ``of(node)`` for one module; answers about functions and loops are remembered."""

    def __init__(self, module: Module, receivers: Receivers) -> None:
        self.module = module
        self.receivers = receivers
        self._functions: dict[int, Place] = {}
        self._loops: dict[int, str] = {}
        self._compiled: dict[int, tuple[str, bool]] | None = None
        self._callers: dict[int, list[ast.Call]] | None = None

    def of(self, node: ast.AST) -> Place:
        """The place of ``node``: what is compiled comes first, then the innermost loop, then the function."""
        function = _function(node)
        around = self._of_function(function, 0) if function is not None else _NOWHERE
        loop = self._of_loops(node)
        best = loop if loop is not None and around.kind != "compiled" else around
        if not best.kind:
            return _NOWHERE
        return Place(best.kind, best.text, best.owner, _occasional(node, best.owner), best.fullgraph)

    # -- loops ------------------------------------------------------------------------------------------------------

    def _of_loops(self, node: ast.AST) -> Place | None:
        """The hot loop around ``node`` within its function, innermost first."""
        child: ast.AST = node
        for around in ancestors(node):
            if isinstance(around, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
                return None
            if isinstance(around, _LOOPS) and not _in_head(around, child):
                kind = self._kind_of_loop(around)
                if kind:
                    return Place(kind, f"it runs in the {kind} loop of line {around.lineno}", around)
            child = around
        return None

    def _kind_of_loop(self, loop: ast.AST) -> str:
        known = self._loops.get(id(loop))
        if known is None:
            self._loops[id(loop)] = ""  # a function that calls itself
            known = self._loops[id(loop)] = self._judge(loop)
        return known

    def _judge(self, loop: ast.AST) -> str:
        own = list(_own_nodes(loop))
        if self._trains(own, 0):
            return "training"
        if self._calls_model(own):
            if _goes_on(loop) and not _hands_on(own) and self._generates(own):
                return "generation"
            if isinstance(loop, (ast.For, ast.AsyncFor)) and self.receivers._looped(loop.iter, 0).kind == "tensor":
                return "evaluation"
        return ""

    def _trains(self, nodes: list[ast.AST], depth: int) -> bool:
        """Whether a backward pass is among ``nodes``, or in a function of this file that they call outside of a loop of its own."""
        for node in nodes:
            if not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Attribute) and node.func.attr in ("backward", "manual_backward"):
                return True
            if self.module.qualname(node.func) == "torch.autograd.backward" or _steps_optimizer(node):
                return True
            if depth < _MAX_DEPTH:
                for function in self._called(node):
                    if self._trains(list(_own_nodes(function)), depth + 1):
                        return True
        return False

    def _calls_model(self, nodes: list[ast.AST]) -> bool:
        return any(
            isinstance(node, ast.Call)
            and isinstance(node.func, (ast.Name, ast.Attribute))
            and (self.receivers.kind(node.func).kind == "module" or self._is_model(node.func))
            for node in nodes
        )

    def _is_model(self, function: ast.expr) -> bool:
        """A parameter or attribute called ``model`` of a file that imports torch."""
        name = function.attr if isinstance(function, ast.Attribute) else function.id
        return name in ("model", "net", "network", "unet", "transformer", "decoder") and self.receivers.torch_file

    def _generates(self, nodes: list[ast.AST]) -> bool:
        names = [
            node.func.attr for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        ]
        grows = any(
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and self.module.qualname(node.value.func) in ("torch.cat", "torch.concat", "torch.hstack")
            and any(isinstance(part, ast.Name) and part.id in _targets(node) for part in ast.walk(node.value))
            for node in nodes
        )
        return bool(_CHOOSING.intersection(names)) and (
            grows or "append" in names or "past_key_values" in _words(nodes)
        )

    # -- functions --------------------------------------------------------------------------------------------------

    def _of_function(self, function: ast.AST, depth: int) -> Place:
        known = self._functions.get(id(function))
        if known is None:
            self._functions[id(function)] = _NOWHERE  # a function that calls itself
            known = self._functions[id(function)] = self._place_of(function, depth)
        return known

    def _place_of(self, function: ast.AST, depth: int) -> Place:
        found: list[Place] = []
        compiled = self._compiled_functions().get(id(function))
        if compiled is not None:
            found.append(Place("compiled", compiled[0], function, fullgraph=compiled[1]))
        owner = function.parent if isinstance(function.parent, ast.ClassDef) else None
        if owner is not None and self.receivers.is_module_class(owner):
            if function.name == "forward":
                found.append(Place("forward", f"it runs in {owner.name}.forward", function))
            elif function.name in _STEPS:
                found.append(
                    Place("training", f"it runs in {owner.name}.{function.name}, once for each step", function)
                )
        elif owner is not None and function.name in _STEPS and owner.bases:
            found.append(Place("training", f"it runs in {owner.name}.{function.name}, once for each step", function))
        if depth < _MAX_DEPTH and function.name not in ("__init__", "__repr__", "__len__", "__getitem__"):
            for call in self._calls_of(function):
                place = self._of_call(call, depth)
                if place is not None:
                    found.append(place)
        outer = _function(function)
        if outer is not None and not found:
            found.append(self._of_function(outer, depth + 1))
        found = [place for place in found if place.kind]
        return min(found, key=lambda place: _RANK[place.kind], default=_NOWHERE)

    def _of_call(self, call: ast.Call, depth: int) -> Place | None:
        """The place that a call gives the function that it calls."""
        loop = self._of_loops(call)
        if loop is not None:
            return (
                None
                if _occasional(call, loop.owner)
                else Place(
                    loop.kind,
                    f"{_callee(call)}() is called in the {loop.kind} loop of line {loop.owner.lineno}",
                    loop.owner,
                )
            )
        caller = _function(call)
        if caller is None:
            return None
        place = self._of_function(caller, depth + 1)
        if not place.kind or _occasional(call, place.owner):
            return None
        name = getattr(caller, "name", "a function")
        text = f"{_callee(call)}() is called by {name}: {place.text}"
        return Place(place.kind, text, place.owner, fullgraph=place.fullgraph)

    def _calls_of(self, function: ast.AST) -> list[ast.Call]:
        """The calls in this file of a function: by its name, or through ``self`` in its class."""
        if self._callers is None:
            self._callers = {}
            for call in self.module.calls():
                for called in self._called(call):
                    self._callers.setdefault(id(called), []).append(call)
        return self._callers.get(id(function), [])

    def _called(self, call: ast.Call) -> Iterator[ast.AST]:
        """The functions of this file that a call runs."""
        return self._meant(call.func)

    def _meant(self, function: ast.expr) -> Iterator[ast.AST]:
        """The functions of this file that an expression means: by name, or ``self.name`` in their class."""
        if isinstance(function, ast.Name) and hasattr(function, "scope"):
            for binding in self.module.bindings(function):
                if binding.kind is BindingKind.FUNCTION and isinstance(binding.node, _FUNCTIONS):
                    yield binding.node
        elif (
            isinstance(function, ast.Attribute)
            and isinstance(function.value, ast.Name)
            and function.value.id in ("self", "cls")
        ):
            owner = enclosing_class(function)
            for item in self.module.found.functions.get(function.attr, ()):
                if owner is not None and item.parent is owner:
                    yield item

    # -- compiled ---------------------------------------------------------------------------------------------------

    def _compiled_functions(self) -> dict[int, tuple[str, bool]]:
        """The functions of this file that ``torch.compile`` gets, each with the evidence and whether as one graph."""
        if self._compiled is None:
            self._compiled = {}
            if "compile" in self.module.text:
                for functions in self.module.found.functions.values():
                    for function in functions:
                        for decorator in function.decorator_list:
                            target = decorator.func if isinstance(decorator, ast.Call) else decorator
                            if self.module.qualname(target) == "torch.compile":
                                self._compiled[id(function)] = (
                                    f"{function.name}() is compiled",
                                    _is_whole(decorator),
                                )
                for call in self.module.calls_to("torch.compile"):
                    if call.args:
                        self._compile(call.args[0], call)
                for call in self.module.calls_of("compile"):
                    if isinstance(call.func, ast.Attribute) and self.receivers.kind(call.func.value).kind == "module":
                        self._compile(call.func.value, call)
        return self._compiled

    def _compile(self, value: ast.expr, call: ast.Call) -> None:
        line, whole = call.lineno, _is_whole(call)
        for function in self._meant(value):
            self._compiled[id(function)] = f"torch.compile() in line {line} gets it", whole
        for owner in self._classes(value, 0):
            for item in owner.body:
                if isinstance(item, _FUNCTIONS) and item.name == "forward":
                    self._compiled[id(item)] = f"torch.compile() in line {line} gets {owner.name}", whole

    def _classes(self, value: ast.expr, depth: int) -> Iterator[ast.ClassDef]:
        """The classes of this file whose object a value is."""
        if depth > _MAX_DEPTH:
            return
        if isinstance(value, ast.Call):
            if isinstance(value.func, ast.Attribute) and value.func.attr in (
                "to",
                "cuda",
                "eval",
                "train",
                "half",
                "bfloat16",
                "neuron",
            ):
                yield from self._classes(value.func.value, depth + 1)
            elif isinstance(value.func, ast.Name) and hasattr(value.func, "scope"):
                for binding in self.module.bindings(value.func):
                    if isinstance(binding.node, ast.ClassDef):
                        yield binding.node
        elif isinstance(value, ast.Name) and hasattr(value, "scope"):
            for binding in self.module.bindings(value):
                if binding.kind is BindingKind.ASSIGN and binding.value is not None:
                    yield from self._classes(binding.value, depth + 1)


def _function(node: ast.AST) -> ast.AST | None:
    """The innermost function definition around ``node``; lambdas and classes inside functions do not count."""
    return next((around for around in ancestors(node) if isinstance(around, _FUNCTIONS)), None)


def _in_head(loop: ast.AST, child: ast.AST) -> bool:
    """Whether ``child`` is what a ``for`` loop iterates over: it runs once."""
    return isinstance(loop, (ast.For, ast.AsyncFor)) and child is loop.iter


def _goes_on(loop: ast.AST) -> bool:
    """A loop that counts or waits for an end, and does not run over data: ``while``, ``for _ in range(n)``."""
    if isinstance(loop, ast.While):
        return True
    names = {
        getattr(node.func, "attr", getattr(node.func, "id", ""))
        for node in ast.walk(loop.iter)
        if isinstance(node, ast.Call)
    }
    return bool(names & {"range", "trange", "count"})


def _hands_on(nodes: list[ast.AST]) -> bool:
    """Whether ``generate()`` of another object makes the tokens, a whole sequence in each round."""
    return any(
        isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("generate", "beam_search") for node in nodes
    )


def _own_nodes(owner: ast.AST) -> Iterator[ast.AST]:
    """The nodes in the body of a loop or function that run once in each round: not those of loops or functions inside."""
    pending: list[ast.AST] = list(owner.body)
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, _LOOPS):
            pending.append(node.iter if not isinstance(node, ast.While) else node.test)
            # A loop inside that runs over parts of the same step does not hide the step; the batch loop does.
            continue
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
            continue
        pending += ast.iter_child_nodes(node)


def _steps_optimizer(call: ast.Call) -> bool:
    """``optimizer.step()``, where the backward pass stands in a loop of its own (gradient accumulation)."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr != "step":
        return False
    name = getattr(function.value, "attr", getattr(function.value, "id", ""))
    return "optim" in name.lower()


def _targets(node: ast.Assign) -> set[str]:
    return {target.id for target in node.targets if isinstance(target, ast.Name)}


def _words(nodes: list[ast.AST]) -> set[str]:
    return {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg}


def _callee(call: ast.Call) -> str:
    return getattr(call.func, "attr", None) or getattr(call.func, "id", "it")


def _is_whole(call: ast.expr) -> bool:
    """``fullgraph=True``."""
    return isinstance(call, ast.Call) and any(
        keyword.arg == "fullgraph" and is_true(keyword.value) for keyword in call.keywords
    )


def _occasional(node: ast.AST, owner: ast.AST | None) -> bool:
    """Whether a condition between ``node`` and ``owner`` holds only now and then, or leads out of it."""
    child = node
    for around in ancestors(node):
        if around is owner:
            return False
        if isinstance(around, ast.If) and child is not around.test:
            branch = around.body if child in around.body else around.orelse
            if (child in around.body and (_is_rare(around.test) or _is_first(around))) or _eager_only(around, child):
                return True
            if branch and isinstance(branch[-1], (ast.Return, ast.Break, ast.Raise)) and isinstance(owner, _LOOPS):
                return True
        if isinstance(around, ast.BoolOp) and isinstance(around.op, ast.And):
            before = around.values[: around.values.index(child)]
            if any(_asks_compiling(part, negated=True) or _is_rare(part) for part in before):
                return True
        if isinstance(around, ast.IfExp) and child is around.body and _is_rare(around.test):
            return True
        if isinstance(around, (ast.ExceptHandler, ast.Raise, ast.Assert)) or _is_message(around):
            return True
        child = around
    return False


def _is_message(node: ast.AST) -> bool:
    """``check(ok, lambda: f"...")``: a text that is only made when a check fails."""
    return isinstance(node, ast.Lambda) and isinstance(node.body, (ast.JoinedStr, ast.Constant))


def _is_first(around: ast.If) -> bool:
    """``if not self.checked: self.checked = True; ...``: the first time only."""
    test = around.test
    if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
        return False
    flag = ast.unparse(test.operand)
    return any(
        isinstance(item, ast.Assign)
        and is_true(item.value)
        and any(ast.unparse(target) == flag for target in item.targets)
        for item in around.body
    )


def _eager_only(around: ast.If, child: ast.AST) -> bool:
    """Whether a branch is left out under the compiler, TorchScript and tracing: ``if not torch.compiler.is_compiling():``."""
    test, wanted = around.test, child in around.body
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and wanted else [test]
    return any(_asks_compiling(part, negated=wanted) for part in parts)


def _asks_compiling(part: ast.expr, *, negated: bool) -> bool:
    """``torch.compiler.is_compiling()`` and its like, or ``not`` of it."""
    if negated:
        if not (isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not)):
            return False
        part = part.operand
    if not isinstance(part, ast.Call):
        return False
    return (getattr(part.func, "attr", None) or getattr(part.func, "id", "")) in _COMPILING


def _is_rare(test: ast.expr) -> bool:
    """``step % 100 == 0``, ``i == 0``, ``step in milestones``, ``self.debug``."""
    for part in ast.walk(test):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod):
            return True
        if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Eq):
            sides = (part.left, *part.comparators)
            if any(isinstance(side, ast.Constant) and side.value == 0 for side in sides) and any(
                "step" in name or "epoch" in name or "iter" in name or name in ("i", "idx", "batch_idx")
                for name in (getattr(side, "id", getattr(side, "attr", "")) for side in sides)
            ):
                return True
        if isinstance(part, (ast.Name, ast.Attribute)):
            name = getattr(part, "id", getattr(part, "attr", "")).lower()
            if any(
                word in name
                for word in (
                    "debug",
                    "verbose",
                    "log_every",
                    "interval",
                    "freq",
                    "should_log",
                    "logging_steps",
                    "save_steps",
                    "last_save",
                    "isnan",
                    "isinf",
                    "isfinite",
                )
            ):
                return True
    return False

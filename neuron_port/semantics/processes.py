"""Is this file part of a program of one process, or of one that runs in several, and where does it have a process group?

The answers are about the program after its port: ``xmp.spawn(fn)`` becomes a call of ``fn`` inside a process group, except
where it starts one process, or runs only when torchrun did not start the program.

    if os.environ.get("WORLD_SIZE"):
        dist.init_process_group("xla")        a group for what follows in this branch
        work(0)
    else:
        xmp.spawn(work)                       one process, no group
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from neuron_port.semantics.guards import block_of, exits, test_of
from neuron_port.semantics.module import Module, ancestors, enclosing_class
from neuron_port.semantics.scopes import BindingKind

_XMP = "torch_xla.distributed.xla_multiprocessing"
# What starts one process for each core: the function comes first, ``torch_xla.launch`` passes it the local rank.
SPAWN = (f"{_XMP}.spawn",)
LAUNCH = ("torch_xla.launch", "torch_xla.torch_xla.launch")
# Makes the process group, and raises where there is one ...
_INIT = ("torch.distributed.init_process_group", "torch.distributed.distributed_c10d.init_process_group")
# ... which there is after each of these.
_MAKERS = (
    *_INIT,
    "torch.distributed.init_device_mesh",
    "torch.distributed.device_mesh.init_device_mesh",
    "neuronx_distributed.parallel_layers.parallel_state.initialize_model_parallel",
    "neuronx_distributed.parallel_layers.initialize_model_parallel",
    "neuronx_distributed.neuronx_distributed_config",
)
# Only a program of several processes uses these.
_SEVERAL = (
    *_MAKERS,
    *LAUNCH,
    # Their launchers start the processes.
    "accelerate.Accelerator",
    "optimum.neuron",
    "transformers.Seq2SeqTrainer",
    "transformers.Trainer",
    "torch.distributed",
    "torch.nn.parallel.DistributedDataParallel",
    "torch.utils.data.distributed.DistributedSampler",
    "torch.utils.data.DistributedSampler",
    _XMP,
    "torch_xla.distributed.xla_backend",
    "torch_xla.distributed.fsdp",
    "torch_xla.distributed.zero_redundancy_optimizer",
    "torch_xla.core.xla_model.all_reduce",
    "torch_xla.core.xla_model.all_gather",
    "torch_xla.core.xla_model.reduce_scatter",
    "torch_xla.core.xla_model.reduce_gradients",
    "torch_xla.core.xla_model.mesh_reduce",
    "torch_xla.core.xla_model.xrt_world_size",
    "torch_xla.core.xla_model.get_ordinal",
    "torch_xla.core.xla_model.rendezvous",
    "torch_xla.core.xla_model.is_master_ordinal",
    "torch_xla.runtime.world_size",
    "torch_xla.runtime.global_ordinal",
    "torch_neuronx.distributed",
    "neuronx_distributed",
    "accelerate",
    "transformers.Trainer",
    "transformers.Seq2SeqTrainer",
    "optimum.neuron",
    "trl",
    "lightning",
    "pytorch_lightning",
    "ray.train",
)
_VARIABLES = frozenset({"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TORCHRUN = (
    "torch.distributed.is_torchelastic_launched",
    "torch.distributed.distributed_c10d.is_torchelastic_launched",
    "torch.distributed.elastic.utils.is_torchelastic_launched",
)
_MAX_DEPTH = 5


class Parallel(Enum):
    """How many processes run the file."""

    SINGLE = "single"
    MULTI = "multi"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, eq=False)
class Launch:
    """A call that starts processes; ``function`` is what they run, ``single`` says that it is just one."""

    call: ast.Call
    function: ast.expr | None
    passes_local_rank: bool
    single: bool


class Processes:
    """Answers for one module, worked out when first asked."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._known: dict[tuple[str, int], bool] = {}

    @cached_property
    def has_group(self) -> bool:
        """Whether this file makes a process group, or starts the processes that the port makes one for."""
        if any(name.startswith(_MAKERS) for name in self._names):
            return True
        launches = {launch.call.func: launch for launch in self.launches}
        return any(not launch.single and not self.alone(launch.call) for launch in launches.values()) or (
            not launches and any(name.startswith((*SPAWN, *LAUNCH)) for name in self._names)
        )

    @cached_property
    def parallel(self) -> Parallel:
        """One process, several, or a module whose program is elsewhere."""
        names = self._names
        if self.launches and all(launch.single for launch in self.launches):
            names = frozenset(name for name in names if not name.startswith("torch_xla."))
        if any(_within(name, _SEVERAL) for name in names) or self._reads_rank:
            return Parallel.MULTI
        return Parallel.SINGLE if self.is_program else Parallel.UNKNOWN

    @cached_property
    def spmd(self) -> bool:
        """Whether the file is an SPMD program of PyTorch/XLA: one process for all cores of a host."""
        return "XLA_USE_SPMD" in self.module.text or any(
            name.startswith("torch_xla.runtime.use_spmd") for name in self._names
        )

    # -- launches -----------------------------------------------------------------------------------------------------

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """The calls that start processes."""
        return tuple(
            Launch(
                call,
                _argument(call, "fn", 0),
                local,
                _literal(_argument(call, *single)) in ((True,) if local else (1,)),
            )
            for names, local, single in (
                (SPAWN, False, ("nprocs", 2)),
                (LAUNCH, True, ("debug_single_process", 3)),
            )
            for call in self.module.calls_to(*names)
        )

    def launch(self, call: ast.Call) -> Launch | None:
        """What is known of a call that starts processes."""
        return next((launch for launch in self.launches if launch.call is call), None)

    def alone(self, node: ast.AST) -> bool:
        """Whether ``node`` runs only where torchrun did not start the program: another branch makes the group."""
        child = node
        for around in ancestors(node):
            test = test_of(around)
            if isinstance(around, ast.If) and child is not test:
                other = around.orelse if child in around.body else around.body
                if any(self._makes(statement, 0) for statement in other) or (
                    self._asks_torchrun(test) and child in around.orelse
                ):
                    return True
            if isinstance(child, ast.stmt):
                for earlier in block_of(child):
                    if earlier is child:
                        break
                    if isinstance(earlier, ast.If) and exits(earlier.body) and not earlier.orelse:
                        if any(self._makes(statement, 0) for statement in earlier.body):
                            return True
                        if self._asks_torchrun(earlier.test):
                            return True
            if isinstance(around, _FUNCTIONS):
                return False
            child = around
        return False

    def _asks_torchrun(self, test: ast.expr) -> bool:
        """``"WORLD_SIZE" in os.environ``, ``os.environ.get("RANK")``, ``dist.is_torchelastic_launched()``."""
        if isinstance(test, ast.UnaryOp):
            return False
        for node in ast.walk(test):
            if isinstance(node, ast.Constant) and node.value in _VARIABLES:
                return True
            if isinstance(node, ast.Call) and self.module.qualname(node.func) in _TORCHRUN:
                return True
        return False

    def makes_own_group(self, launch: Launch) -> bool:
        """Whether the launched function makes a process group itself, in any case."""
        function = self.function(launch.function)
        return function is not None and self._body_makes(function, 0)

    def inits_inside(self, launch: Launch) -> list[ast.Call]:
        """The calls of ``init_process_group`` that the launched function may come to."""
        found: list[ast.Call] = []
        seen: set[int] = set()
        pending = [self.function(launch.function)]
        while pending:
            function = pending.pop()
            if function is None or id(function) in seen:
                continue
            seen.add(id(function))
            for node in ast.walk(function):
                if isinstance(node, ast.Call):
                    if self.module.qualname(node.func) in _INIT:
                        found.append(node)
                    else:
                        pending.append(self.function(node.func))
        return sorted(found, key=lambda call: (call.lineno, call.col_offset))

    def needs_torchrun(self, launch: Launch) -> bool:
        """Whether a launch makes no sense after the port: without torchrun there is no group to make."""
        if launch.single or not self.alone(launch.call):
            return False
        return bool(self.inits_inside(launch)) or self.makes_own_group(launch)

    def other_inits(self, launch: Launch) -> list[ast.Call]:
        """The calls of ``init_process_group`` that may come while the group around a launch is there."""
        return [call for call in self.module.calls_to(*_INIT) if not self.asks_first(call) and not self.alone(call)]

    def asks_first(self, init: ast.Call) -> bool:
        """Whether a call of ``init_process_group`` stands under a test that there is no group yet."""
        child: ast.AST = init
        for around in ancestors(init):
            if isinstance(around, ast.If) and child in around.body and self._asks_for_group(around.test):
                return True
            child = around
        return False

    def joins(self, launch: Launch) -> bool:
        """Whether the launched function finds a process group: one that the port makes around its call, or one from before."""
        if launch.single or self.alone(launch.call):
            return False
        return self.grouped_before(launch) or not self.makes_own_group(launch)

    def grouped_before(self, launch: Launch) -> bool:
        """Whether there is a process group before the processes are started."""
        return self._grouped(launch.call, 0, launched=True)

    # -- the process group --------------------------------------------------------------------------------------------

    def grouped(self, node: ast.AST) -> bool:
        """Whether there surely is a process group when ``node`` runs."""
        return self._grouped(node, 0)

    def _grouped(self, node: ast.AST, depth: int, *, launched: bool = False) -> bool:
        """The answer of ``grouped``; ``launched`` leaves the groups out that the port makes for launches."""
        for around in (node, *ancestors(node)):
            if isinstance(around, ast.stmt):
                for earlier in block_of(around):
                    if earlier is around:
                        break
                    if self._makes(earlier, 0):
                        return True
                behind = [later for later in block_of(around) if later.lineno > around.lineno]
                if not isinstance(around, (*_FUNCTIONS, ast.ClassDef)) and any(map(self._inits, behind)):
                    return False  # it is made only now
            if isinstance(around, _FUNCTIONS) and around is not node:
                return self._called_grouped(around, depth, launched=launched)
            if isinstance(around, ast.Lambda) and not launched:
                for launch in self.launches:
                    if launch.function is around:
                        return self.joins(launch)
        return False

    def _called_grouped(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, depth: int, *, launched: bool = False
    ) -> bool:
        """Whether a function of this file runs with a group, wherever it is called from."""
        key = ("called" if not launched else "called for a launch", id(function))
        known = self._known.get(key)
        if known is not None:
            return known
        self._known[key] = True  # a function that calls itself adds nothing
        calls = self._calls(function) if depth < _MAX_DEPTH else []
        answers = [self._grouped(call, depth + 1, launched=launched) for call in calls]
        if not launched:
            answers += [
                self.joins(launch)
                for launch in self.launches
                if self.function(launch.function) is function and not self.needs_torchrun(launch)
            ]
        starts = any(function in ancestors(launch.call) for launch in self.launches)
        self._known[key] = all(answers) if answers else self._made_surely if launched or starts else self._certain
        return self._known[key]

    @cached_property
    def _certain(self) -> bool:
        """Whether the program has a group in any case, as far as this file tells."""
        return self._made_surely or any(self.joins(launch) for launch in self.launches)

    @cached_property
    def _made_surely(self) -> bool:
        """Whether the program makes a group itself in any case."""
        return any(self._unconditional(call, 0) for call in self.module.calls_to(*_MAKERS))

    def _unconditional(self, node: ast.AST, depth: int) -> bool:
        child = node
        for around in ancestors(node):
            if isinstance(around, ast.If) and self._makes(around, 0):
                pass  # each of its branches makes one
            elif isinstance(around, (ast.If, ast.IfExp, ast.While, ast.For)) and not self._always(around, child):
                return False
            if isinstance(around, _FUNCTIONS):
                calls = self._calls(around) if depth < _MAX_DEPTH else []
                return not calls or any(self._unconditional(call, depth + 1) for call in calls)
            child = around
        return True

    def _always(self, around: ast.AST, child: ast.AST) -> bool:
        """Whether a branch is one for the main module, or for a process that has no group yet."""
        if not isinstance(around, ast.If) or child not in around.body:
            return False
        return "__name__" in ast.unparse(around.test) or self._asks_for_group(around.test)

    def _asks_for_group(self, test: ast.expr) -> bool:
        """``not dist.is_initialized()``."""
        return (
            isinstance(test, ast.UnaryOp)
            and isinstance(test.operand, ast.Call)
            and (self.module.qualname(test.operand.func) or "").endswith("distributed.is_initialized")
        )

    def _makes(self, statement: ast.stmt, depth: int) -> bool:
        """Whether a process group exists once ``statement`` has run."""
        if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            return False
        if isinstance(statement, ast.If):
            body = any(self._makes(inner, depth) for inner in statement.body)
            if body and self._asks_for_group(statement.test):
                return True
            return body and any(self._makes(inner, depth) for inner in statement.orelse)
        if isinstance(statement, (ast.With, ast.AsyncWith, ast.Try)):
            return any(self._makes(inner, depth) for inner in statement.body)
        if isinstance(statement, (ast.For, ast.AsyncFor, ast.While, ast.Match)):
            return False
        return any(self._call_makes(node, depth) for node in ast.walk(statement) if isinstance(node, ast.Call))

    def _inits(self, statement: ast.stmt) -> bool:
        """Whether a statement itself calls ``init_process_group``, which would raise where there is a group already."""
        if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            return False
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
        return any(self.module.qualname(call.func) in _INIT and not self.asks_first(call) for call in calls)

    def _call_makes(self, call: ast.Call, depth: int) -> bool:
        if self.module.qualname(call.func) in _MAKERS:
            return True
        function = self.function(call.func)
        return function is not None and self._body_makes(function, depth + 1)

    def _body_makes(self, function: ast.FunctionDef | ast.AsyncFunctionDef, depth: int) -> bool:
        """Whether a process group exists once a function of this file has run."""
        if depth > _MAX_DEPTH:
            return False
        key = ("makes", id(function))
        known = self._known.get(key)
        if known is None:
            self._known[key] = False
            known = self._known[key] = any(self._makes(statement, depth) for statement in function.body)
        return known

    def function(self, node: ast.expr | None) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function of this file that an expression means: a plain name, a class by its ``__init__``, a method."""
        found = self.module.found
        if isinstance(node, ast.Name) and hasattr(node, "scope"):
            bindings = self.module.bindings(node)
            if len(bindings) != 1:
                return None
            definition = bindings[0].node
            if bindings[0].kind is BindingKind.CLASS:
                return _method(definition, "__init__")
            return definition if bindings[0].kind is BindingKind.FUNCTION else None
        if isinstance(node, ast.Attribute) and not self.module.qualname(node):
            if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
                around = enclosing_class(node)
                own = _method(around, node.attr) if around is not None else None
                if own is not None:
                    return own
            candidates = [item for item in found.functions.get(node.attr, ()) if enclosing_class(item) is not None]
            return candidates[0] if len(candidates) == 1 else None
        return None

    def _calls(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.Call]:
        """The calls of a function of this file, as far as they can be told; its own do not count."""
        around = enclosing_class(function)
        name = around.name if around is not None and function.name == "__init__" else function.name
        return [
            call
            for call in self.module.calls_of(name)
            if self.function(call.func) is function and function not in ancestors(call)
        ]

    # -- what the file uses -------------------------------------------------------------------------------------------

    @cached_property
    def _names(self) -> frozenset[str]:
        """The qualified names that the file uses, and the modules that it imports only for what they do."""
        names: set[str] = set()
        for binding in self.module.found.imports:
            imported = binding.node.name if isinstance(binding.statement, ast.Import) else binding.qualname or ""
            references = self.module.references(binding)
            if not references:
                names.add(imported)
            for node in references:
                names.update(self._chain(node))
        return frozenset(names)

    def _chain(self, node: ast.Name) -> Iterator[str]:
        link: ast.expr = node
        while isinstance(link.parent, ast.Attribute) and link.parent.value is link:
            link = link.parent
        qualname = self.module.qualname(link)
        if qualname is not None:
            yield qualname

    @cached_property
    def _reads_rank(self) -> bool:
        """``os.environ["RANK"]``, ``os.environ.get("WORLD_SIZE")``, ``os.getenv("LOCAL_RANK")``."""
        if not any(word in self.module.text for word in _VARIABLES):
            return False
        for node in ast.walk(self.module.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in _VARIABLES:
                parent = node.parent
                around = parent.value if isinstance(parent, ast.Subscript) else getattr(parent, "func", None)
                if around is not None and (self.module.qualname(around) or "").startswith(("os.environ", "os.getenv")):
                    return True
        return False

    @cached_property
    def is_program(self) -> bool:
        """Whether the file does something when it is run: a main guard, or loops and calls of its own at module level."""
        for statement in self.module.tree.body:
            if isinstance(statement, (ast.For, ast.While, ast.With)):
                return True
            if isinstance(statement, ast.If) and "__main__" in ast.unparse(statement.test):
                return True
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                if self._is_own(statement.value.func) or self.launch(statement.value) is not None:
                    return True
        return False

    def _is_own(self, function: ast.expr) -> bool:
        """Whether a call does the file's work, as against ``logging.basicConfig()``, ``sys.path.append()``, ``logger.info()``."""
        while isinstance(function, (ast.Attribute, ast.Call, ast.Subscript)):
            function = function.func if isinstance(function, ast.Call) else function.value
        if not isinstance(function, ast.Name) or "log" in function.id.lower():
            return False
        return all(
            binding.kind is not BindingKind.IMPORT or (binding.qualname or "").startswith("torch_xla")
            for binding in self.module.bindings(function)
        )


def _within(name: str, roots: tuple[str, ...]) -> bool:
    return any(name == root or name.startswith(f"{root}.") for root in roots)


def _argument(call: ast.Call, keyword: str, position: int) -> ast.expr | None:
    for item in call.keywords:
        if item.arg == keyword:
            return item.value
    before = call.args[: position + 1]
    if len(before) <= position or any(isinstance(item, ast.Starred) for item in before):
        return None
    return before[position]


def _literal(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _method(around: ast.ClassDef, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    return next((item for item in around.body if isinstance(item, _FUNCTIONS) and item.name == name), None)

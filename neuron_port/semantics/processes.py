"""Is this file part of a program of one process, or of one that runs in several?"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum
from functools import cached_property

from neuron_port.semantics.module import Module

# Starts processes, or joins them: after a port to TorchNeuron each of these files has a process group.
_GROUP = (
    "torch.distributed.init_process_group",
    "torch.distributed.distributed_c10d.init_process_group",
    "torch.distributed.init_device_mesh",
    "torch.distributed.device_mesh.init_device_mesh",
    "torch_xla.distributed.xla_multiprocessing.spawn",
    "torch_xla.launch",
    "torch_xla.torch_xla.launch",
    "neuronx_distributed.parallel_layers.parallel_state.initialize_model_parallel",
    "neuronx_distributed.parallel_layers.initialize_model_parallel",
    "neuronx_distributed.neuronx_distributed_config",
)
# Only a program of several processes uses these.
_SEVERAL = (
    *_GROUP,
    "torch.distributed",
    "torch.nn.parallel.DistributedDataParallel",
    "torch.utils.data.distributed.DistributedSampler",
    "torch.utils.data.DistributedSampler",
    "torch_xla.distributed.xla_multiprocessing",
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
    "torch_xla.runtime.world_size",
    "torch_xla.runtime.global_ordinal",
    "torch_neuronx.distributed",
    "neuronx_distributed",
    "accelerate",
)
_VARIABLES = frozenset({"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"})


class Parallel(Enum):
    """How many processes run the file."""

    SINGLE = "single"
    MULTI = "multi"
    UNKNOWN = "unknown"


class Processes:
    """Answers for one module, worked out when first asked."""

    def __init__(self, module: Module) -> None:
        self.module = module

    @cached_property
    def has_group(self) -> bool:
        """Whether this file makes a process group, or starts the processes that the port makes one for."""
        return any(name.startswith(_GROUP) for name in self._names)

    @cached_property
    def parallel(self) -> Parallel:
        """One process, several, or a module whose program is elsewhere."""
        if any(_within(name, _SEVERAL) for name in self._names) or self._reads_rank:
            return Parallel.MULTI
        return Parallel.SINGLE if self._is_program else Parallel.UNKNOWN

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
    def _is_program(self) -> bool:
        """Whether the file does something when it is run: a main guard, or calls and loops at module level."""
        for statement in self.module.tree.body:
            if isinstance(statement, (ast.For, ast.While, ast.With)):
                return True
            if isinstance(statement, ast.If) and "__main__" in ast.unparse(statement.test):
                return True
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                return True
        return False


def _within(name: str, roots: tuple[str, ...]) -> bool:
    return any(name == root or name.startswith(f"{root}.") for root in roots)

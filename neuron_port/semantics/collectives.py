"""Does code take part in something that all processes have to reach together?"""

from __future__ import annotations

import ast

from neuron_port.semantics.module import Module
from neuron_port.semantics.processes import Processes

_COLLECTIVES = frozenset(
    "all_reduce all_gather all_gather_into_tensor all_gather_object all_gather_bucketized all_to_all all_to_all_single "
    "allreduce allgather barrier broadcast broadcast_object_list broadcast_master_param collective_broadcast "
    "collective_permute do_on_ordinals gather gather_object gather_for_metrics mesh_reduce monitored_barrier reduce "
    "reduce_scatter reduce_scatter_tensor reduce_gradients average_gradients optimizer_step rendezvous scatter "
    "sync_global_devices wait_for_everyone xla_rendezvous".split()
)
# Names that mean something else far more often, unless torch.distributed or the old platform has them.
_COMMON = frozenset({"gather", "reduce", "scatter", "broadcast"})
_PLACES = ("torch.distributed.", "torch_xla.", "neuronx_distributed.")
_MAX_DEPTH = 4


class Collectives:
    """Answers for one module."""

    def __init__(self, module: Module, processes: Processes) -> None:
        self.module = module
        self.processes = processes

    def inside(self, node: ast.AST, depth: int = 0) -> bool:
        """Whether a collective is called by ``node`` or by the functions of this file that it calls."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                if self._is_collective(inner):
                    return True
                function = self.processes.function(inner.func) if depth < _MAX_DEPTH else None
                if function is not None and any(self.inside(statement, depth + 1) for statement in function.body):
                    return True
        return False

    def _is_collective(self, call: ast.Call) -> bool:
        qualname = self.module.qualname(call.func) or ""
        function = call.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if not {name, qualname.rpartition(".")[2]} & _COLLECTIVES:
            return False
        return name not in _COMMON or qualname.startswith(_PLACES)

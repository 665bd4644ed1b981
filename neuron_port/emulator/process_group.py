"""``torch.distributed`` backend ``neuron``: a process group in Python over gloo, for a few ranks on one machine.

gloo works on the CPU memory of the neuron tensors. After ``init_process_group`` a process owns one device, ``neuron:<local
rank>``; a device that was touched before is refused. What the collectives of the device refuse is in the table of limits:
reductions, data types, group sizes, barrier on subgroups. Source of these: pre-release source (April 2026).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import ReduceOp

from . import explicit_index, limits, state
from .memory import to_host
from .observation import log

_REDUCTIONS = (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.MIN, ReduceOp.MAX)
_NOT_COLLECTIVE = (
    *(torch.float64, torch.complex32, torch.complex64, torch.complex128),
    *(torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz),
)


def finished(result: Any) -> Any:
    """A Work that is done."""
    future: torch.futures.Future[Any] = torch.futures.Future()
    future.set_result(result)
    return torch._C._distributed_c10d._create_work_from_future(future)


def _flat(values: Any) -> list[Tensor]:
    if isinstance(values, Tensor):
        return [values]
    return [tensor for value in values for tensor in _flat(value)]


def _on_cpu(values: Any) -> bool:
    return all(tensor.device.type == "cpu" for tensor in _flat(values))


class NeuronProcessGroup(dist.ProcessGroup):
    """The collectives, each finished when it returns."""

    def __init__(self, options: Any, cpu_backend: bool) -> None:
        super().__init__(options.group_rank, options.group_size)
        self._rank, self._size = options.group_rank, options.group_size
        self._ranks = list(options.global_ranks_in_group) or list(range(self._size))
        self._name, self._desc = options.group_id, "undefined"
        self._cpu = cpu_backend
        timeout = options.timeout if isinstance(options.timeout, timedelta) else timedelta(minutes=30)
        self._gloo = dist.ProcessGroupGloo(dist.PrefixStore("neuron", options.store), self._rank, self._size, timeout)
        self._default = state.group_started is False

    # -- identity

    def getBackendName(self) -> str:
        return "neuron"

    def _get_backend_name(self) -> str:
        return "neuron"

    def name(self) -> str:
        return "neuron"

    def rank(self) -> int:
        return self._rank

    def size(self) -> int:
        return self._size

    def getRank(self) -> int:
        return self._rank

    def getSize(self) -> int:
        return self._size

    @property
    def group_name(self) -> str:
        return self._name

    @property
    def group_desc(self) -> str:
        return self._desc

    def getGroupName(self) -> str:
        return self._name

    def _set_group_name(self, name: str) -> None:
        self._name = name

    def setGroupName(self, name: str) -> None:
        self._name = name

    def _set_group_desc(self, desc: str) -> None:
        self._desc = desc

    @property
    def _device_types(self) -> list[torch.device]:
        return [torch.device("neuron"), *([torch.device("cpu")] if self._cpu else [])]

    @property
    def bound_device_id(self) -> torch.device | None:
        return None

    def _get_backend(self, device: torch.device) -> Any:
        if device.type == "cpu":
            self._check_cpu()
            return self._gloo
        return self

    supports_splitting = False
    supports_coalescing = False

    def _set_default_backend(self, *args: Any) -> None: ...

    def _set_sequence_number_for_group(self) -> None: ...

    def _get_sequence_number_for_group(self) -> int:
        return 0

    def _start_coalescing(self, device: Any = None) -> None: ...

    def _end_coalescing(self, device: Any = None) -> Any:
        return finished(None)

    def shutdown(self) -> None: ...

    def abort(self) -> None: ...

    def set_timeout(self, timeout: timedelta) -> None: ...

    # -- checks

    def _check_cpu(self) -> None:
        if not self._cpu:
            raise RuntimeError("No backend type associated with device type cpu")

    def _hosts(self, operation: str, values: Any) -> Any:
        """CPU tensors over the memory of the arguments."""
        if isinstance(values, (list, tuple)):
            return [self._hosts(operation, value) for value in values]
        if values.device.type == "cpu":
            self._check_cpu()
            return values
        if values.dtype in _NOT_COLLECTIVE and limits.active("collective-dtype"):
            limits.refuse("collective-dtype", operation, dtype=str(values.dtype).removeprefix("torch."))
        if not values.is_contiguous():
            raise ValueError("Tensors must be contiguous")
        host = to_host(values)
        return host.view(torch.uint8) if host.dtype is torch.bool else host

    def _record(self, operation: str, values: Any) -> None:
        tensors = _flat(values)
        kinds = sorted({str(tensor.dtype).removeprefix("torch.") for tensor in tensors})
        size = sum(tensor.nbytes for tensor in tensors)
        log.record("collective", operation, detail=f"{'+'.join(kinds)} of {size} bytes, {self._size} ranks", size=size)

    # -- reductions

    def _reduce(self, operation: str, hosts: list[Tensor], reduce_op: Any, root: int | None = None) -> None:
        """Reduce in place over the ranks."""
        kind = getattr(reduce_op, "op", reduce_op)
        known = any(kind == allowed for allowed in _REDUCTIONS)
        if not known and limits.active("reduce-op"):
            limits.refuse("reduce-op", operation, name=str(kind).rpartition(".")[2])
        opts = dist.AllreduceOptions()
        average = kind == ReduceOp.AVG
        opts.reduceOp = ReduceOp.SUM if average else reduce_op
        for host in hosts:
            through = host
            if not host.dtype.is_floating_point and not host.dtype.is_complex and host.dtype is not torch.uint8:
                if limits.active("integer-reduction"):
                    through = host.float()
            elif host.dtype in (torch.bfloat16, torch.float16):
                through = host.float()
            self._gloo.allreduce([through], opts).wait()
            if average:
                through = through / self._size if through.is_floating_point() else through // self._size
            if through is not host and (root is None or root == self._rank):
                host.copy_(through)

    def allreduce(self, tensors: list[Tensor], opts: Any = None) -> Any:
        self._record("all_reduce", tensors)
        hosts = self._hosts("all_reduce", tensors)
        self._reduce("all_reduce", hosts, ReduceOp.SUM if opts is None else opts.reduceOp)
        return finished(tensors)

    def allreduce_coalesced(self, tensors: list[Tensor], opts: Any = None) -> Any:
        return self.allreduce(tensors, opts)

    def reduce(self, tensors: list[Tensor], opts: Any) -> Any:
        self._record("reduce", tensors)
        hosts = self._hosts("reduce", tensors)
        mine = self._rank == opts.rootRank
        work = hosts if mine else [host.clone() for host in hosts]
        self._reduce("reduce", work, opts.reduceOp)
        return finished(tensors)

    def _reduce_scatter_into(self, output: Tensor, input: Tensor, reduce_op: Any) -> None:
        whole = self._hosts("reduce_scatter", input).clone()
        self._reduce("reduce_scatter", [whole], reduce_op)
        target = self._hosts("reduce_scatter", output)
        target.copy_(whole.reshape(self._size, -1)[self._rank].view(target.shape))

    def _reduce_scatter_base(self, output: Tensor, input: Tensor, opts: Any = None) -> Any:
        self._record("reduce_scatter", input)
        self._reduce_scatter_into(output, input, ReduceOp.SUM if opts is None else opts.reduceOp)
        return finished([output])

    reduce_scatter_single = _reduce_scatter_base

    def reduce_scatter(self, outputs: list[Tensor], inputs: list[list[Tensor]], opts: Any = None) -> Any:
        self._record("reduce_scatter", inputs)
        reduce_op = ReduceOp.SUM if opts is None else opts.reduceOp
        for output, parts in zip(outputs, inputs):
            hosts = [host.clone() for host in self._hosts("reduce_scatter", parts)]
            self._reduce("reduce_scatter", hosts, reduce_op)
            self._hosts("reduce_scatter", output).copy_(hosts[self._rank])
        return finished(outputs)

    def reduce_scatter_tensor_coalesced(self, outputs: list[Tensor], inputs: list[Tensor], opts: Any = None) -> Any:
        self._record("reduce_scatter", inputs)
        reduce_op = ReduceOp.SUM if opts is None else opts.reduceOp
        for output, input in zip(outputs, inputs):
            self._reduce_scatter_into(output, input, reduce_op)
        return finished(outputs)

    reduce_scatter_single_coalesced = reduce_scatter_tensor_coalesced

    # -- movements

    def broadcast(self, tensors: list[Tensor], opts: Any) -> Any:
        self._record("broadcast", tensors)
        self._gloo.broadcast(self._hosts("broadcast", tensors), opts).wait()
        return finished(tensors)

    def _gather_into(self, output: Tensor, input: Tensor) -> None:
        mine = self._hosts("all_gather", input)
        parts = [torch.empty_like(mine) for _ in range(self._size)]
        self._gloo.allgather([parts], [mine]).wait()
        whole = self._hosts("all_gather", output)
        whole.copy_(torch.stack(parts).view(whole.shape))

    def _allgather_base(self, output: Tensor, input: Tensor, opts: Any = None) -> Any:
        self._record("all_gather", output)
        self._gather_into(output, input)
        return finished([output])

    all_gather_single = _allgather_base

    def allgather(self, outputs: list[list[Tensor]], inputs: list[Tensor], opts: Any = None) -> Any:
        self._record("all_gather", outputs)
        for parts, input in zip(outputs, inputs):
            if len({part.shape for part in parts}) > 1 and not _on_cpu(parts) and limits.active("uneven-gather"):
                limits.refuse("uneven-gather", "all_gather")
            self._gloo.allgather([self._hosts("all_gather", parts)], [self._hosts("all_gather", input)]).wait()
        return finished(outputs)

    def allgather_coalesced(self, outputs: list[list[Tensor]], inputs: list[Tensor], opts: Any = None) -> Any:
        # One list for each rank here, one list for each input in allgather.
        return self.allgather([list(parts) for parts in zip(*outputs)], inputs)

    def allgather_into_tensor_coalesced(self, outputs: list[Tensor], inputs: list[Tensor], opts: Any = None) -> Any:
        self._record("all_gather", outputs)
        for output, input in zip(outputs, inputs):
            self._gather_into(output, input)
        return finished(outputs)

    all_gather_single_coalesced = allgather_into_tensor_coalesced

    def gather(self, outputs: list[list[Tensor]], inputs: list[Tensor], opts: Any) -> Any:
        self._record("gather", inputs)
        self._gloo.gather(self._hosts("gather", outputs), self._hosts("gather", inputs), opts).wait()
        return finished(outputs)

    def scatter(self, outputs: list[Tensor], inputs: list[list[Tensor]], opts: Any) -> Any:
        self._record("scatter", outputs)
        self._gloo.scatter(self._hosts("scatter", outputs), self._hosts("scatter", inputs), opts).wait()
        return finished(outputs)

    def _check_all_to_all(self, values: Any) -> None:
        size = self._size
        if size not in (4, 8, 16) and size % 32 and not _on_cpu(values) and limits.active("all-to-all-size"):
            limits.refuse("all-to-all-size", "all_to_all", size=size)

    def alltoall_base(
        self, output: Tensor, input: Tensor, output_splits: list[int], input_splits: list[int], opts: Any = None
    ) -> Any:
        self._record("all_to_all", input)
        self._check_all_to_all(input)
        uneven = len({*output_splits}) > 1 or len({*input_splits}) > 1
        if uneven and not _on_cpu(input) and limits.active("all-to-all-split"):
            limits.refuse("all-to-all-split", "all_to_all")
        hosts = self._hosts("all_to_all", [output, input])
        self._gloo.alltoall_base(*hosts, output_splits, input_splits).wait()
        return finished([output])

    all_to_all_single = alltoall_base

    def alltoall(self, outputs: list[Tensor], inputs: list[Tensor], opts: Any = None) -> Any:
        self._record("all_to_all", inputs)
        self._check_all_to_all(inputs)
        outs, ins = self._hosts("all_to_all", outputs), self._hosts("all_to_all", inputs)
        for root in range(self._size):
            scatter = dist.ScatterOptions()
            scatter.rootRank = root
            self._gloo.scatter([outs[root]], [ins] if root == self._rank else [], scatter).wait()
        return finished(outputs)

    def send(self, tensors: list[Tensor], destination: int, tag: int = 0) -> Any:
        self._record("send", tensors)
        # Sent to its end later: a pair of ranks that both send first must not wait for each other.
        return _Pending(self._gloo.send(self._hosts("send", tensors), destination, tag), tensors)

    def recv(self, tensors: list[Tensor], source: int, tag: int = 0) -> Any:
        self._record("recv", tensors)
        return _Pending(self._gloo.recv(self._hosts("recv", tensors), source, tag), tensors)

    def recv_anysource(self, tensors: list[Tensor], tag: int = 0) -> Any:
        raise RuntimeError("ProcessGroupNeuron does not support recvAnysource")

    def barrier(self, opts: Any = None) -> Any:
        if not self._default and limits.active("barrier-group"):
            limits.refuse("barrier-group", "barrier", group=self._name)
        self._gloo.barrier(dist.BarrierOptions()).wait()
        return finished([])

    def monitored_barrier(self, *args: Any, **opts: Any) -> Any:
        raise RuntimeError("ProcessGroupNeuron does not support monitoredBarrier")


class _Pending(dist._Work):  # type: ignore[name-defined]
    """A message on its way."""

    def __init__(self, work: Any, tensors: list[Tensor]) -> None:
        super().__init__()
        self._work, self._tensors = work, tensors

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        self._work.wait()
        return True

    def is_completed(self) -> bool:
        return self._work.is_completed()

    def get_future(self) -> Any:
        self.wait()
        future: torch.futures.Future[Any] = torch.futures.Future()
        future.set_result(self._tensors)
        return future


def _asked_for_cpu() -> bool:
    """Whether the backend that is being made, ``cpu:gloo,neuron:neuron``, also serves CPU tensors."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "_new_process_group_helper":
            return "cpu" in frame.f_locals["backend_config"].get_device_backend_map()
        frame = frame.f_back  # type: ignore[assignment]
    return False


def create(options: Any, backend_options: Any = None) -> NeuronProcessGroup:
    """Make a group; the first one is the default group and decides which device the process owns."""
    if not state.group_started and state.touched and limits.active("device-before-group"):
        limits.refuse("device-before-group", "init_process_group")
    group = NeuronProcessGroup(options, _asked_for_cpu())
    if not state.group_started:
        local_rank = int(os.environ.get("LOCAL_RANK", options.group_rank))
        os.environ.setdefault("NEURON_RT_VISIBLE_CORES", str(local_rank))
        state.choose_index(local_rank)
        if options.group_size > 1:
            explicit_index.install()
    return group


def _releasing(destroy: Callable[..., Any]) -> Callable[..., Any]:
    def destroy_process_group(group: Any = None) -> None:
        destroy(group)
        if not dist.is_initialized():
            state.release_index()

    destroy_process_group.__doc__ = destroy.__doc__
    return destroy_process_group


def install() -> None:
    """Register the backend."""
    if not dist.is_available():
        return
    from . import unused_parameters
    from .patching import replace

    unused_parameters.install()
    dist.Backend.register_backend("neuron", create, extended_api=True, devices=["neuron"])
    released = _releasing(dist.destroy_process_group)
    replace(dist, "destroy_process_group", released)
    replace(dist.distributed_c10d, "destroy_process_group", released)

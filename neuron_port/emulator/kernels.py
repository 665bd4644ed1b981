"""The kernel of an operator on neuron tensors: arguments down to the CPU, run, results up again.

One kernel is made for each operator from its schema. In-place operators work on the memory itself and hand back the very
object they were given. An ``out=`` argument gets a fresh CPU tensor, so that kernels may resize it, and is filled or
resized afterwards. Whatever the schema says aliases its input is made in ``views.py``, not here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from . import dtypes, fallbacks, limits, state
from .memory import to_device, to_host
from .observation import log
from .resizing import resize

Kernel = Callable[..., Any]
_CPU = torch.device("cpu")
_PLAIN = frozenset([int, float, bool, str, type(None), torch.dtype])
_STRIDED = torch.strided
_empty = torch.ops.aten.empty.memory_format
_copy = torch.ops.aten.copy_.default

# CPU tensors that belong to an operator's arguments by its definition.
HOST_ARGUMENTS = frozenset(
    [
        *("_pack_padded_sequence", "_pad_packed_sequence", "set_data"),
        # PyTorch moves indices on the CPU to the tensor they index.
        *("index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put"),
    ]
)


class Lowering:
    """Turns the arguments of one call into CPU arguments."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.mixed = base in HOST_ARGUMENTS

    def __call__(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            if value.is_cpu:
                if value.layout is torch.strided and value.dim() and not self.mixed and limits.active("mixed-devices"):
                    limits.refuse("mixed-devices", self.base)
                return value
            return to_host(value)
        if isinstance(value, (list, tuple)):
            if value and (isinstance(value[0], Tensor) or value[0] is None or isinstance(value[-1], Tensor)):
                return [self(item) for item in value]
            return value
        if isinstance(value, torch.device):
            return _CPU
        return value


def same_device(*values: Any) -> None:
    """Tensors of two cores do not meet in one operator."""
    tensors = [value for value in tree_leaves(values) if isinstance(value, Tensor) and not value.is_cpu and value.dim()]
    indices = sorted({tensor.get_device() for tensor in tensors})
    if len(indices) > 1:
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"neuron:{indices[0]} and neuron:{indices[1]}!"
        )


def raised(result: Any) -> Any:
    """The results of a CPU operator as neuron tensors."""
    if isinstance(result, Tensor):
        return to_device(result) if result.layout is torch.strided else result
    if isinstance(result, (list, tuple)):
        return type(result)(map(raised, result)) if type(result) in (list, tuple) else tuple(map(raised, result))
    return result


def _another_way(error: RuntimeError) -> bool:
    """Whether the call did not reach a kernel."""
    return isinstance(error, NotImplementedError) or "Expected a value of type 'Tensor" in str(error)


def run_on_host(operation: torch._ops.OpOverload, args: Any, kwargs: Any) -> Any:
    """Call the CPU kernel; where there is none, say what the device says."""
    name = operation._schema.name
    try:
        return operation(*args, **kwargs)
    except RuntimeError as error:
        if not _another_way(error):
            raise
        reason = str(error).partition("\n")[0]
        unimplemented = isinstance(error, NotImplementedError)
        if unimplemented and name not in reason:
            raise
    if unimplemented:
        limits.refuse("no-kernel", name, error=reason)
    return _with_numbers(operation, args, kwargs)


def _with_numbers(operation: torch._ops.OpOverload, args: Any, kwargs: Any) -> Any:
    """PyTorch hands a tensor that was made of a number to Python as that number: find the overload that takes it."""
    try:
        return operation.overloadpacket(*args, **kwargs)
    except RuntimeError as error:
        if "Overload resolution failed" not in str(error):
            raise
    arguments = operation._schema.arguments
    tensors = [
        torch.ops.aten.scalar_tensor.default(value, dtype=_dtype_of(value), device=_CPU)
        if isinstance(value, (bool, int, float, complex)) and "Tensor" in str(argument.type)
        else value
        for value, argument in zip(args, arguments)
    ]
    return operation(*tensors, **kwargs)


def _dtype_of(number: Any) -> torch.dtype:
    if isinstance(number, bool):
        return torch.bool
    if isinstance(number, int):
        return torch.int64
    return torch.get_default_dtype() if isinstance(number, float) else torch.complex64


def make(operation: torch._ops.OpOverload) -> Kernel:
    """The kernel of an operator."""
    schema = operation._schema
    base = schema.name.partition("::")[2]
    arguments = schema.arguments
    outs = [argument.name for argument in arguments if argument.is_out]
    if outs:
        return _with_out(operation, base, outs)
    written = {
        position: argument.name
        for position, argument in enumerate(arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    }
    if written:
        return _in_place(operation, base, written)
    return _functional(operation, base)


def observer(base: str) -> Callable[[], None] | None:
    """Records a fallback, for operators that have no native lowering."""
    if not fallbacks.falls_back(base):
        return None
    name = "aten::" + base

    def observe() -> None:
        log.record("fallback", name)

    return observe


def _functional(operation: torch._ops.OpOverload, base: str) -> Kernel:
    lower = Lowering(base)
    observe = observer(base)
    narrow = dtypes.policy(base, fallback=observe is not None)
    executed = log.executed
    call = operation._op
    native, rare = narrow.native, dtypes.RARE

    # Written out, since this is where the time of a run goes.
    def kernel(*args: Any, **kwargs: Any) -> Any:
        executed[base] += 1
        if state.several:
            same_device(args, kwargs)
        if observe is not None:
            observe()
        hosts = []
        for value in args:
            if isinstance(value, Tensor):
                value = lower(value) if value.is_cpu else to_host(value)
                if native and value.dtype in rare:
                    narrow.check_one(value)
            elif value.__class__ not in _PLAIN:
                value = lower(value)
            hosts.append(value)
        if kwargs:
            kwargs = {name: value if value.__class__ in _PLAIN else lower(value) for name, value in kwargs.items()}
        try:
            result = call(*hosts, **kwargs)
        except RuntimeError as error:  # NotImplementedError is one
            if not _another_way(error):
                raise
            result = run_on_host(operation, hosts, kwargs)
        if isinstance(result, Tensor):
            if result.itemsize == 8:
                result = narrow.result(result)
            return to_device(result) if result.layout is _STRIDED else result
        return raised(narrow.results(result))

    return kernel


def _in_place(operation: torch._ops.OpOverload, base: str, written: dict[int, str]) -> Kernel:
    lower = Lowering(base)
    observe = observer(base)
    narrow = dtypes.policy(base, fallback=observe is not None)
    executed = log.executed
    # Which returned values are the written arguments, by position; a return without alias is a fresh tensor.
    names = [argument.name for argument in operation._schema.arguments]
    returned: list[int | None] = []
    pending = list(written)
    for value in operation._schema.returns:
        aliased = value.alias_info is not None and value.alias_info.is_write
        returned.append(pending.pop(0) if aliased and pending else None)
    single = len(returned) == 1

    def kernel(*args: Any, **kwargs: Any) -> Any:
        executed[base] += 1
        if state.several:
            same_device(args, kwargs)
        if observe is not None:
            observe()
        hosts = [lower(value) for value in args]
        low = {name: lower(value) for name, value in kwargs.items()} if kwargs else kwargs
        narrow.check(hosts)
        result = run_on_host(operation, hosts, low)
        for position, name in written.items():
            narrow.written(hosts[position] if position < len(hosts) else low.get(name))
        if not returned:
            return None
        if single and returned[0] is not None:
            return args[returned[0]] if returned[0] < len(args) else kwargs[names[returned[0]]]
        results = (result,) if single else result
        final = tuple(
            raised(value) if position is None else args[position] if position < len(args) else kwargs[names[position]]
            for value, position in zip(results, returned)
        )
        return final[0] if single else final

    return kernel


def _with_out(operation: torch._ops.OpOverload, base: str, outs: list[str]) -> Kernel:
    lower = Lowering(base)
    observe = observer(base)
    narrow = dtypes.policy(base, fallback=observe is not None)
    executed = log.executed
    names = [argument.name for argument in operation._schema.arguments]
    single = len(operation._schema.returns) == 1

    def fill(out: Tensor, fresh: Tensor) -> None:
        fresh = narrow.result(fresh) if fresh.itemsize == 8 else fresh
        if out.is_cpu:
            if out.shape != fresh.shape:
                out.resize_(fresh.shape)
            _copy(out, fresh)
            return
        if out.shape != fresh.shape:
            resize(out, fresh.shape, fresh.stride())
        _copy(to_host(out), fresh)

    def fresh_out(value: Any) -> Any:
        if isinstance(value, Tensor):
            return _empty([0], dtype=value.dtype, device=_CPU)
        return [fresh_out(item) for item in value]

    def kernel(*args: Any, **kwargs: Any) -> Any:
        executed[base] += 1
        if state.several:
            same_device(args, kwargs)
        if observe is not None:
            observe()
        given: dict[str, Any] = {}
        hosts = []
        for name, value in zip(names, args):
            if name in outs:
                given[name] = value
                value = fresh_out(value)
            else:
                value = lower(value)
            hosts.append(value)
        low = {}
        for name, value in kwargs.items():
            if name in outs:
                given[name] = value
                low[name] = fresh_out(value)
            else:
                low[name] = lower(value)
        narrow.check(hosts)
        run_on_host(operation, hosts, low)
        for name, out in given.items():
            fresh = low[name] if name in low else hosts[names.index(name)]
            if isinstance(out, Tensor):
                fill(out, fresh)
            else:
                for one, new in zip(out, fresh):
                    fill(one, new)
        results = tuple(given[name] for name in outs if name in given)
        return results[0] if single and results else (results or None)

    return kernel

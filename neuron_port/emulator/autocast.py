"""Autocast on neuron: which operators run in the lower precision, in float32, or in the widest type of their arguments.

PyTorch gives a foreign backend no autocast kernels. The lists are those PyTorch has for CUDA (ATen/autocast_mode.h), which
TorchNeuron follows; the data is in ``autocast.toml``. Everything else passes through.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from . import limits

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_EXCLUDED = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)
_libraries: list[torch.library.Library] = []


def _eligible(value: Any) -> bool:
    return (
        isinstance(value, Tensor)
        and value.is_floating_point()
        and value.dtype is not torch.float64
        and not value.is_cpu
    )


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, Tensor):
        return value.to(dtype) if _eligible(value) and value.dtype is not dtype else value
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], Tensor):
        return [_cast(item, dtype) for item in value]
    return value


def _run(operation: Any, args: Any, kwargs: Any, dtype: torch.dtype) -> Any:
    with torch._C._ExcludeDispatchKeyGuard(_EXCLUDED):
        args = [_cast(value, dtype) for value in args]
        kwargs = {name: _cast(value, dtype) for name, value in kwargs.items()}
        return operation(*args, **kwargs)


def _lower_precision(operation: Any) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        return _run(operation, args, kwargs, torch.get_autocast_dtype("neuron"))

    return kernel


def _float32(operation: Any) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        return _run(operation, args, kwargs, torch.float32)

    return kernel


def _tensors(values: Any) -> list[Tensor]:
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += _tensors(value)
    return found


def _widest(operation: Any) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        types = [tensor.dtype for tensor in _tensors((*args, *kwargs.values())) if _eligible(tensor)]
        lower = torch.get_autocast_dtype("neuron")
        return _run(operation, args, kwargs, torch.float32 if torch.float32 in types else lower)

    return kernel


def _float32_unless_given(operation: Any) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        first = args[0] if args else None
        if kwargs.get("dtype") is None and _eligible(first):
            names = [argument.name for argument in operation._schema.arguments]
            if names.index("dtype") >= len(args):
                kwargs = {**kwargs, "dtype": torch.float32}
        with torch._C._ExcludeDispatchKeyGuard(_EXCLUDED):
            return operation(*args, **kwargs)

    return kernel


def _banned(operation: Any) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        if limits.active("bce-autocast"):
            limits.refuse("bce-autocast", "binary_cross_entropy")
        with torch._C._ExcludeDispatchKeyGuard(_EXCLUDED):
            return operation(*args, **kwargs)

    return kernel


_KINDS = {
    "lower": _lower_precision,
    "float32": _float32,
    "float32_unless_given": _float32_unless_given,
    "widest": _widest,
    "banned": _banned,
}


def install() -> None:
    """Register the kernels."""
    with open(Path(__file__).parent / "autocast.toml", "rb") as file:
        lists = tomllib.load(file)
    rest = torch.library.Library("_", "IMPL")
    rest.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    aten = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, make in _KINDS.items():
            for name in lists[kind]:
                packet = getattr(torch.ops.aten, name, None)
                for overload in packet.overloads() if packet is not None else ():
                    operation = getattr(packet, overload)
                    if any(argument.is_out or argument.alias_info for argument in operation._schema.arguments):
                        continue
                    if kind == "float32_unless_given" and "dtype" not in [a.name for a in operation._schema.arguments]:
                        continue
                    short = name if overload == "default" else f"{name}.{overload}"
                    aten.impl(short, make(operation), "AutocastPrivateUse1")
    _libraries.extend([rest, aten])

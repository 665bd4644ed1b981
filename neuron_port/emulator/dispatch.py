"""Registers the kernels: which operator of ``aten`` gets which, and what catches the rest.

An operator gets a kernel of its own when the CPU has one for it, or when PyTorch would put it together from an allocation
and the ``out=`` form; what is composed of other operators stays composed. Anything else (operators of other libraries)
reaches the fallback, which makes the kernel on first use. Kernels are registered with ``torch.library``.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch

from . import attention, convolution, copies, factories, kernels, limits, recurrent, resizing, sync_batch_norm, views

_SPECIAL = (copies, factories, resizing, convolution, attention, recurrent, sync_batch_norm)
_has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key  # type: ignore[attr-defined]

# Composed of other operators by PyTorch, but cheaper in one piece.
_IN_ONE_PIECE = ("_foreach_",)
# These CPU kernels belong to the host.
_LEFT_ALONE = ("is_pinned", "_pin_memory", "record_stream", "to_sparse", "_to_dense", "_assert_async", "_lazy_clone")

_libraries: list[torch.library.Library] = []


def find(name: str) -> torch._ops.OpOverload:
    """The overload of an operator by its full name, ``aten::add.Tensor``."""
    namespace, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), overload or "default")


def _is_view(operation: torch._ops.OpOverload) -> bool:
    """Whether an operator only makes or changes sizes and strides: PyTorch composes those rightly by itself."""
    return torch.Tag.inplace_view in operation.tags or any(
        argument.alias_info is not None and not argument.alias_info.is_write for argument in operation._schema.arguments
    )


def _wanted(name: str) -> bool:
    base = name.partition("::")[2].partition(".")[0]
    if base in _LEFT_ALONE or base.startswith("_nested") or "sparse" in base:
        return False
    if base.startswith(_IN_ONE_PIECE):
        return True
    if _has_kernel(name, "CPU"):
        return True
    return _has_kernel(name, "CompositeExplicitAutogradNonFunctional") and not base.endswith("_copy")


_made: dict[torch._ops.OpOverload, kernels.Kernel] = {}


def _fallback(operation: torch._ops.OpOverload, *args: Any, **kwargs: Any) -> Any:
    kernel = _made.get(operation)
    if kernel is None:
        kernel = _made[operation] = kernels.make(operation)
    return kernel(*args, **kwargs)


def _sparse(operation: torch._ops.OpOverload, *args: Any, **kwargs: Any) -> Any:
    if limits.active("sparse"):
        limits.refuse("sparse", operation._schema.name)
    return _fallback(operation, *args, **kwargs)


def _nested(operation: torch._ops.OpOverload, *args: Any, **kwargs: Any) -> Any:
    limits.refuse("nested", operation._schema.name)


def install() -> None:
    """Register everything, once a process."""
    special: dict[str, kernels.Kernel] = dict(views.kernels())
    for room in _SPECIAL:
        special.update(room.KERNELS)
    aten = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in torch._C._dispatch_get_all_op_names():  # type: ignore[attr-defined]
            if not name.startswith("aten::"):
                continue
            short = name[len("aten::") :]
            if short in special:
                aten.impl(short, special[short], "PrivateUse1")
            elif _wanted(name) and not _is_view(find(name)):
                aten.impl(short, kernels.make(find(name)), "PrivateUse1")
        for short in attention.WITH_GRADIENTS:
            aten.impl(short, special[short], "AutogradPrivateUse1")
        for short in (
            "to_sparse",
            "_to_sparse",
            "_to_sparse.sparse_dim",
            "_to_sparse_csr",
            "_to_sparse_csc",
            "_to_sparse_bsr",
            "_to_sparse_bsc",
        ):
            if torch._C._dispatch_has_kernel(f"aten::{short}"):  # type: ignore[attr-defined]
                operation = find(f"aten::{short}")
                aten.impl(short, _bound(_sparse, operation), "PrivateUse1")
        rest = torch.library.Library("_", "IMPL")
        rest.fallback(_fallback, "PrivateUse1")
        for key in ("SparsePrivateUse1", "SparseCsrPrivateUse1"):
            rest.fallback(_sparse, key)
        rest.fallback(_nested, "NestedTensorPrivateUse1")
    _libraries.extend([aten, rest])


def _bound(handler: Any, operation: torch._ops.OpOverload) -> kernels.Kernel:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        return handler(operation, *args, **kwargs)

    return kernel

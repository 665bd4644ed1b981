"""Data types that Trainium lacks: 64-bit numbers are computed in 32 bit, others are refused.

An operator that is native on the device takes float64 as float32 and int64 as int32 and casts the result back, without an
error, so overflow and lost digits show here as they do there. int64 is cut only in the results of arithmetic: seeds, sizes
and large constants pass through copies unharmed. Operators that fall back to the CPU keep all 64 bits.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import limits
from .observation import log

_to = torch.ops.aten._to_copy.default
_copy = torch.ops.aten.copy_.default

# Results of these can leave the range of int32 although their arguments do not.
_INTEGER_ARITHMETIC = frozenset(
    "add sub rsub mul div floor_divide pow sum cumsum prod cumprod neg abs square addcmul addcdiv bitwise_left_shift "
    "__lshift__ __ilshift__ dot mm bmm matmul addmm addmv mv scatter_add index_add clamp max min amax amin "
    "_foreach_add _foreach_sub _foreach_mul _foreach_div remainder fmod bitwise_not bitwise_and bitwise_or bitwise_xor "
    "where fill arange lerp".split()
)
# Results that are positions or counts fit, and no arithmetic is done on them.
_MATRIX_PRODUCTS = frozenset("mm bmm addmm baddbmm addbmm mv addmv dot vdot _int_mm".split())
_UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)
# Kernels that only move bytes: any type may pass.
_MOVES = frozenset(
    "cat stack index index_put _index_put_impl_ gather scatter index_select masked_select masked_fill where repeat roll flip "
    "empty empty_strided fill zero eye tril triu nonzero equal constant_pad_nd unfold_backward split_with_sizes_copy "
    "complex polar real imag is_set_to ones zeros full scalar_tensor".split()
)


class Policy:
    """What happens to arguments and results of one operator."""

    def __init__(self, base: str, *, fallback: bool) -> None:
        plain = base.rstrip("_") if not base.startswith("__") else base
        self.name = "aten::" + base
        self.native = not fallback and plain not in _MOVES
        self.floats = self.native
        self.integers = self.native and plain in _INTEGER_ARITHMETIC
        self.product = plain in _MATRIX_PRODUCTS

    def check(self, hosts: list[Any]) -> None:
        """Refuse what the compiler refuses; record 64-bit and complex use."""
        if not self.native:
            return
        for host in hosts:
            if isinstance(host, Tensor) and host.dtype in RARE:
                self.check_one(host)

    def check_one(self, host: Tensor) -> None:
        dtype = host.dtype
        if dtype is torch.float64:
            if host.dim():
                log.record("wide", self.name, detail="float64")
        elif dtype is torch.int64 or dtype is torch.int32 or dtype is torch.int8:
            if self.product and limits.active("integer-matmul"):
                limits.refuse("integer-matmul", self.name)
            if self.integers and dtype is torch.int64 and host.dim():
                log.record("wide", self.name, detail="int64")
        elif dtype.is_complex:
            log.record("complex", self.name)
            if limits.active("complex"):
                limits.refuse("complex", self.name)
        elif dtype in _UNSIGNED:
            if limits.active("unsigned"):
                limits.refuse("unsigned", self.name, dtype=str(dtype).removeprefix("torch."))
        elif limits.active("float8-e4m3"):
            limits.refuse("float8-e4m3", self.name)

    def result(self, result: Tensor) -> Tensor:
        """A fresh result, in the precision of the device."""
        dtype = result.dtype
        if dtype is torch.float64:
            if self.floats and limits.active("float64"):
                return _to(_to(result, dtype=torch.float32), dtype=torch.float64)
        elif dtype is torch.int64 and self.integers and limits.active("int64"):
            return _to(_to(result, dtype=torch.int32), dtype=torch.int64)
        return result

    def results(self, results: Any) -> Any:
        if isinstance(results, (list, tuple)):
            return (
                type(results)(
                    self.result(value) if isinstance(value, Tensor) and value.itemsize == 8 else value
                    for value in results
                )
                if type(results) in (list, tuple)
                else results
            )
        return results

    def written(self, host: Any) -> None:
        """An argument that was written in place."""
        if isinstance(host, (list, tuple)):
            for item in host:
                self.written(item)
        elif isinstance(host, Tensor) and host.itemsize == 8:
            narrow = self.result(host)
            if narrow is not host:
                _copy(host, narrow)


RARE = frozenset(
    [
        torch.float64,
        torch.int64,
        torch.int32,
        torch.int8,
        torch.complex32,
        torch.complex64,
        torch.complex128,
        *_UNSIGNED,
        torch.float8_e4m3fn,
    ]
)


def policy(base: str, *, fallback: bool) -> Policy:
    """The policy of an operator by its base name."""
    return Policy(base, fallback=fallback)

"""Convolutions: PyTorch sends those of a foreign backend to two ``overrideable`` operators."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from . import dtypes
from .kernels import Lowering
from .memory import to_device, to_host
from .observation import log

_forward = torch.ops.aten.convolution.default
_backward = torch.ops.aten.convolution_backward.default
_lower = Lowering("convolution")
_policy = dtypes.policy("convolution", fallback=False)


def convolution_kernel(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """``aten::convolution_overrideable``."""
    log.executed["convolution"] += 1
    tensors = [_lower(input), _lower(weight), _lower(bias)]
    _policy.check(tensors)
    result = _forward(*tensors, stride, padding, dilation, transposed, output_padding, groups)
    return to_device(_policy.result(result))


def convolution_backward_kernel(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, ...]:
    """``aten::convolution_backward_overrideable``."""
    log.executed["convolution_backward"] += 1
    channels = weight.shape[1] * groups if transposed else weight.shape[0]
    gradients = _backward(
        to_host(grad_output),
        to_host(input),
        to_host(weight),
        [channels],
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups,
        output_mask,
    )
    return tuple(None if grad is None else to_device(_policy.result(grad)) for grad in gradients)


KERNELS = {
    "convolution_overrideable": convolution_kernel,
    "convolution_backward_overrideable": convolution_backward_kernel,
}

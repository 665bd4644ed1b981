"""The operators that ``nn.SyncBatchNorm`` is made of; the device has kernels for them, the CPU has none.

Formulas: Ioffe and Szegedy, "Batch Normalization" (2015); over several ranks each mean and variance is weighted by its count.
``invstd`` is ``1 / sqrt(variance + eps)`` with the variance that divides by the count.
"""

from __future__ import annotations

from torch import Tensor

from .memory import to_device, to_host


def _others(x: Tensor) -> list[int]:
    """All dimensions but that of the channels."""
    return [axis for axis in range(x.dim()) if axis != 1]


def _along(values: Tensor, x: Tensor) -> Tensor:
    """A value for each channel, in a shape that goes with ``x``."""
    return values.reshape([-1 if axis == 1 else 1 for axis in range(x.dim())])


def stats_kernel(input: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """``aten::batch_norm_stats``: mean and invstd of this rank."""
    x = to_host(input).float()
    mean = x.mean(_others(x))
    variance = (x - _along(mean, x)).square().mean(_others(x))
    return to_device(mean), to_device((variance + eps).rsqrt())


def gather_kernel(
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    eps: float,
    counts: Tensor,
) -> tuple[Tensor, Tensor]:
    """``aten::batch_norm_gather_stats_with_counts``: over all ranks, a row each; the running statistics change in place."""
    means, weights = to_host(mean).float(), to_host(counts).float().reshape(-1, 1)
    variances = to_host(invstd).float().square().reciprocal() - eps
    total = weights.sum()
    whole = (means * weights).sum(0) / total
    variance = ((variances + (means - whole).square()) * weights).sum(0) / total
    if running_mean is not None:
        to_host(running_mean).mul_(1 - momentum).add_(whole, alpha=momentum)
    if running_var is not None:
        to_host(running_var).mul_(1 - momentum).add_(variance * total / (total - 1), alpha=momentum)
    return to_device(whole), to_device((variance + eps).rsqrt())


def apply_kernel(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, invstd: Tensor, eps: float
) -> Tensor:
    """``aten::batch_norm_elemt``."""
    x = to_host(input)
    y = (x.float() - _along(to_host(mean), x)) * _along(to_host(invstd), x)
    if weight is not None:
        y = y * _along(to_host(weight).float(), x)
    if bias is not None:
        y = y + _along(to_host(bias).float(), x)
    return to_device(y.to(x.dtype))


def reduce_kernel(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    weight: Tensor | None,
    input_g: bool,
    weight_g: bool,
    bias_g: bool,
) -> tuple[Tensor | None, ...]:
    """``aten::batch_norm_backward_reduce``: two sums of this rank, and the gradients of weight and bias."""
    x, dy = to_host(input).float(), to_host(grad_out).float()
    total = dy.sum(_others(x))
    moment = (dy * (x - _along(to_host(mean), x))).sum(_others(x))
    kind = grad_out.dtype if weight is None else weight.dtype
    return (
        to_device(total) if input_g else None,
        to_device(moment) if input_g else None,
        to_device((moment * to_host(invstd)).to(kind)) if weight_g else None,
        to_device(total.to(kind, copy=True)) if bias_g else None,
    )


def backward_kernel(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    weight: Tensor | None,
    sum_dy: Tensor,
    sum_dy_xmu: Tensor,
    count: Tensor,
) -> Tensor:
    """``aten::batch_norm_backward_elemt``: the gradient of the input, from the sums over all ranks."""
    x, dy = to_host(input).float(), to_host(grad_out).float()
    total = to_host(count).sum()
    scale = to_host(invstd)
    centred = (x - _along(to_host(mean), x)) * _along(scale.square() * to_host(sum_dy_xmu) / total, x)
    grad = (dy - _along(to_host(sum_dy) / total, x) - centred) * _along(scale, x)
    if weight is not None:
        grad = grad * _along(to_host(weight).float(), x)
    return to_device(grad.to(input.dtype))


KERNELS = {
    "batch_norm_stats": stats_kernel,
    "batch_norm_gather_stats_with_counts": gather_kernel,
    "batch_norm_elemt": apply_kernel,
    "batch_norm_backward_reduce": reduce_kernel,
    "batch_norm_backward_elemt": backward_kernel,
}

"""Scaled dot product attention: the fused operator of a foreign backend, computed by the CPU's own fused kernel.

Which form is used, fused or plain mathematics, is decided as the CPU decides, so that both give the same digits. PyTorch's
own choice knows no backend in Python, so the composite operator is replaced on both keys, above and below automatic
differentiation.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import limits
from .kernels import Lowering, raised
from .memory import to_device, to_host
from .observation import log

_FLASH = 1
_choice = torch.ops.aten._fused_sdp_choice.default
_forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default
_fused = torch.ops.aten._scaled_dot_product_fused_attention_overrideable.default
_math = torch.ops.aten._scaled_dot_product_attention_math.default
_native = torch.ops.aten._native_multi_head_attention.default
_empty = torch.ops.aten.empty.memory_format
_lower = Lowering("scaled_dot_product_attention")


def attention_kernel(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """``aten::scaled_dot_product_attention``, above automatic differentiation: chooses between the two forms."""
    if enable_gqa and query.dim() > 2 and limits.active("gqa-heads"):
        if key.shape[-3] == 0 or query.shape[-3] % key.shape[-3]:
            limits.refuse("gqa-heads", "scaled_dot_product_attention")
    if query.dtype is torch.float64 and limits.active("float64-attention"):
        limits.refuse("float64-attention", "scaled_dot_product_attention")
    if attn_mask is not None:
        log.record("attention", "scaled_dot_product_attention", detail="attn_mask: computed as plain mathematics")
    elif dropout_p:
        log.record("attention", "scaled_dot_product_attention", detail="dropout: computed as plain mathematics")
    if _cpu_would_fuse(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa):
        return _fused(query, key, value, attn_mask, dropout_p, is_causal, False, scale=scale)[0]
    if attn_mask is not None and attn_mask.dtype is torch.bool:
        attn_mask = _additive(attn_mask, query.dtype)
    return _math(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)[0]


def _cpu_would_fuse(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> bool:
    if attn_mask is not None and attn_mask.requires_grad:
        return False
    if any(type(tensor) not in (Tensor, torch.nn.Parameter) for tensor in (query, key, value)):
        return False
    hosts = [None if tensor is None else _lower(tensor.detach()) for tensor in (query, key, value, attn_mask)]
    return _choice(*hosts, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa) == _FLASH


def _additive(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """A mask of booleans as numbers to be added."""
    return torch.ops.aten.masked_fill.Scalar(
        torch.ops.aten.zeros_like.default(mask, dtype=dtype), torch.ops.aten.logical_not.default(mask), float("-inf")
    )


def _host_bias(bias: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    if bias is None:
        return None
    host = _lower(bias)
    return _additive(host, dtype) if host.dtype is torch.bool else host


def forward_kernel(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Any, ...]:
    """``aten::_scaled_dot_product_fused_attention_overrideable``."""
    log.executed["scaled_dot_product_attention"] += 1
    output, logsumexp = _forward(
        _lower(query),
        _lower(key),
        _lower(value),
        dropout_p,
        is_causal,
        attn_mask=_host_bias(attn_bias, query.dtype),
        scale=scale,
    )
    nothing = [to_device(_empty([0], dtype=torch.int64, device=torch.device("cpu"))) for _ in range(5)]
    lengths = (query.shape[-2], key.shape[-2])
    return (to_device(output), to_device(logsumexp), nothing[0], nothing[1], *lengths, *nothing[2:])


def backward_kernel(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None,
    grad_input_mask: list[bool],
    out: Tensor,
    logsumexp: Tensor,
    cum_seq_q: Tensor,
    cum_seq_k: Tensor,
    max_q: int,
    max_k: int,
    dropout_p: float,
    is_causal: bool,
    philox_seed: Tensor,
    philox_offset: Tensor,
    *,
    scale: float | None = None,
) -> tuple[Tensor | None, ...]:
    """``aten::_scaled_dot_product_fused_attention_overrideable_backward``."""
    tensors = [to_host(tensor) for tensor in (grad_out, query, key, value, out, logsumexp)]
    mask = _host_bias(attn_bias, query.dtype)
    gradients = _backward(*tensors, dropout_p, is_causal, attn_mask=mask, scale=scale)
    wanted = (to_device(grad) if keep else None for grad, keep in zip(gradients, grad_input_mask))
    return (*wanted, None)


def multi_head_kernel(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Tensor, Tensor | None]:
    """``aten::_native_multi_head_attention``: the inference fast path of ``nn.MultiheadAttention``."""
    operation = "aten::_native_multi_head_attention"
    log.executed["_native_multi_head_attention"] += 1
    if mask is not None and limits.active("mha-mask"):
        limits.refuse("mha-mask", operation)
    if need_weights and not average_attn_weights and limits.active("mha-per-head-weights"):
        limits.refuse("mha-per-head-weights", operation)
    if need_weights and limits.active("mha-weights"):
        limits.refuse("mha-weights", operation)
    tensors = [_lower(tensor) for tensor in (query, key, value)]
    weights = [_lower(tensor) for tensor in (qkv_weight, qkv_bias, proj_weight, proj_bias, mask)]
    return raised(_native(*tensors, embed_dim, num_head, *weights, need_weights, average_attn_weights, mask_type))


KERNELS = {
    "scaled_dot_product_attention": attention_kernel,
    "_scaled_dot_product_fused_attention_overrideable": forward_kernel,
    "_scaled_dot_product_fused_attention_overrideable_backward": backward_kernel,
    "_native_multi_head_attention": multi_head_kernel,
}

# Composite operators whose kernel must also hold where gradients are recorded.
WITH_GRADIENTS = ("scaled_dot_product_attention",)

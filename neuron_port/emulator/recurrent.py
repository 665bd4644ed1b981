"""LSTM and GRU cells: refused in eager mode as on the device; with ``--allow recurrent`` computed here.

A foreign backend is sent to the fused cells of CUDA, for which there is no CPU kernel. The formulas are those of
``torch.nn.LSTMCell`` and ``torch.nn.GRUCell``.
"""

from __future__ import annotations

import torch
from torch import Tensor

from . import limits
from .memory import to_device, to_host


def _host(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else to_host(tensor)


def _add(left: Tensor, right: Tensor | None) -> Tensor:
    return left if right is None else left + right


def _refuse(name: str) -> None:
    if limits.active("recurrent"):
        limits.refuse("recurrent", f"aten::{name}")


def lstm_kernel(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """``aten::_thnn_fused_lstm_cell``; the workspace holds the four gates after their activation."""
    _refuse("_thnn_fused_lstm_cell")
    gates = _add(_add(to_host(input_gates) + to_host(hidden_gates), _host(input_bias)), _host(hidden_bias))
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * to_host(cx) + i * g
    hy = o * cy.tanh()
    return to_device(hy), to_device(cy), to_device(torch.ops.aten.cat.default([i, f, g, o], 1))


def lstm_backward_kernel(
    grad_hy: Tensor | None, grad_cy: Tensor | None, cx: Tensor, cy: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[Tensor | None, ...]:
    """``aten::_thnn_fused_lstm_cell_backward_impl``: gradients of the gates, of cx and of each bias."""
    if grad_hy is None and grad_cy is None:
        return None, None, None
    i, f, g, o = to_host(workspace).chunk(4, 1)
    c = to_host(cy).tanh()
    dh = 0 if grad_hy is None else to_host(grad_hy)
    dc = (0 if grad_cy is None else to_host(grad_cy)) + dh * o * (1 - c * c)
    parts = [dc * g * i * (1 - i), dc * to_host(cx) * f * (1 - f), dc * i * (1 - g * g), dh * c * o * (1 - o)]
    parts = [part.expand_as(i) for part in parts]
    grad = torch.ops.aten.cat.default(parts, 1)
    return to_device(grad), to_device(dc * f), to_device(grad.sum(0)) if has_bias else None


def gru_kernel(
    input_gates: Tensor,
    hidden_gates: Tensor,
    hx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """``aten::_thnn_fused_gru_cell``; the workspace holds r, z, n, hx and the hidden part of n."""
    _refuse("_thnn_fused_gru_cell")
    ir, iz, in_ = _add(to_host(input_gates), _host(input_bias)).chunk(3, 1)
    hr, hz, hn = _add(to_host(hidden_gates), _host(hidden_bias)).chunk(3, 1)
    h = to_host(hx)
    r, z = (ir + hr).sigmoid(), (iz + hz).sigmoid()
    n = (in_ + r * hn).tanh()
    hy = (h - n) * z + n
    return to_device(hy), to_device(torch.ops.aten.cat.default([r, z, n, h, hn], 1))


def gru_backward_kernel(grad_hy: Tensor, workspace: Tensor, has_bias: bool) -> tuple[Tensor | None, ...]:
    """``aten::_thnn_fused_gru_cell_backward``: gradients of both gates, of hx and of both biases."""
    r, z, n, h, hn = to_host(workspace).chunk(5, 1)
    dy = to_host(grad_hy)
    dz = dy * (h - n) * z * (1 - z)
    dn = dy * (1 - z) * (1 - n * n)
    dr = dn * hn * r * (1 - r)
    grad_input = torch.ops.aten.cat.default([dr, dz, dn], 1)
    grad_hidden = torch.ops.aten.cat.default([dr, dz, dn * r], 1)
    biases = (to_device(grad_input.sum(0)), to_device(grad_hidden.sum(0))) if has_bias else (None, None)
    return to_device(grad_input), to_device(grad_hidden), to_device(dy * z), *biases


KERNELS = {
    "_thnn_fused_lstm_cell": lstm_kernel,
    "_thnn_fused_lstm_cell_backward_impl": lstm_backward_kernel,
    "_thnn_fused_gru_cell": gru_kernel,
    "_thnn_fused_gru_cell_backward": gru_backward_kernel,
}

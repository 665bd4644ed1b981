"""Attention in its forms gives the CPU's numbers."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


def tensors(*shape, count=3):
    torch.manual_seed(0)
    host = [torch.randn(*shape, requires_grad=True) for _ in range(count)]
    return host, [x.detach().to("neuron").requires_grad_() for x in host]


@pytest.mark.parametrize("shape", [(2, 4, 8, 16), (4, 8, 16)])
@pytest.mark.parametrize(
    "options",
    [
        lambda d: {},
        lambda d: {"is_causal": True},
        lambda d: {"attn_mask": torch.ones(8, 8, dtype=torch.bool, device=d).tril()},
        lambda d: {"attn_mask": torch.linspace(-1, 0, 64, device=d).view(8, 8), "scale": 0.3},
    ],
)
def test_scaled_dot_product_attention(shape, options):
    host, device = tensors(*shape)
    expected = F.scaled_dot_product_attention(*host, **options("cpu"))
    seen = F.scaled_dot_product_attention(*device, **options("neuron"))
    assert torch.equal(seen.cpu(), expected)
    expected.square().sum().backward()
    seen.square().sum().backward()
    for one, other in zip(host, device):
        torch.testing.assert_close(other.grad.cpu(), one.grad)


def test_grouped_heads():
    (q, *_), (dq, *_) = tensors(1, 4, 8, 16)
    (k, v), (dk, dv) = tensors(1, 2, 8, 16, count=2)
    expected = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    torch.testing.assert_close(F.scaled_dot_product_attention(dq, dk, dv, enable_gqa=True).cpu(), expected)


def test_flex_attention():
    def causal(batch, head, query, key):
        return query >= key

    host, device = tensors(1, 2, 128, 16)
    with torch.no_grad():
        expected = flex_attention(
            *(x.detach() for x in host), block_mask=create_block_mask(causal, None, None, 128, 128, device="cpu")
        )
    mask = create_block_mask(causal, None, None, 128, 128, device="neuron")
    seen = flex_attention(*device, block_mask=mask)
    torch.testing.assert_close(seen.cpu(), expected)
    seen.sum().backward()
    assert device[0].grad.shape == (1, 2, 128, 16)

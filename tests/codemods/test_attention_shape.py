"""What literals say about the kernel that attention takes, and resampling."""

from __future__ import annotations

import pytest

from tests.codemods.steps import FORWARD, found


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        ("q = x.view(2, -1, 8, 256).transpose(1, 2)\nF.scaled_dot_product_attention(q, q, q)", 1),
        ("q = torch.randn((2, 8, 512, 192), device=x.device)\nF.scaled_dot_product_attention(q, q, q)", 1),
        ("q = torch.randn(2, 8, 100, 64, device=x.device)\nF.scaled_dot_product_attention(q, q, q)", 1),
        ("q = torch.randn(2, 8, 1024, 128, device=x.device)\nF.scaled_dot_product_attention(q, q, q)", 0),
        ("q = x.view(2, -1, 8, n).transpose(1, 2)\nF.scaled_dot_product_attention(q, q, q)", 0),
        ("F.scaled_dot_product_attention(x, x, x)", 0),
        ("self.a = nn.MultiheadAttention(embed_dim=2048, num_heads=8)", 1),
        ("self.a = nn.MultiheadAttention(1024, 8)", 0),
        ("self.a = nn.MultiheadAttention(n, 8)", 0),
    ],
)
def test_shapes(lines, count):
    assert [each[1] for each in found(FORWARD, lines, "NP643")] == ["info"] * count


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("F.scaled_dot_product_attention(x, x, x, dropout_p=0.1)", [(59, "warning")]),
        ("F.scaled_dot_product_attention(x, x, x, None, 0.1)", [(55, "warning")]),
        ("F.scaled_dot_product_attention(x, x, x, dropout_p=0.2 if self.training else 0.0)", [(59, "warning")]),
        ("F.scaled_dot_product_attention(x, x, x, dropout_p=0.0)", []),
        ("F.scaled_dot_product_attention(x, x, x, dropout_p=k)", []),
        ("F.scaled_dot_product_attention(*x, dropout_p=0)", []),
    ],
)
def test_dropout(line, expected):
    assert found(FORWARD, line, "NP644") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("return F.grid_sample(x, y)", [(16, "warning")]),
        ("return F.interpolate(x, scale_factor=2)", [(16, "info")]),
        ("return F.interpolate(x, size=4, mode='trilinear')", [(16, "warning")]),
        ("return F.interpolate(x.cpu(), size=4)", []),
        ("return k.interpolate(x)", []),
    ],
)
def test_resampling(line, expected):
    assert found(FORWARD, line, "NP646") == expected

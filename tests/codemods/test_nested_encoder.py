"""Which encoders of nn.TransformerEncoder make nested tensors: tried with torch 2.13."""

from __future__ import annotations

import pytest

from tests.porting import check, ported

HEAD = "import torch\nfrom torch import nn\n"


def found(code: str) -> list[tuple[int, str, bool]]:
    return [
        (each.location.row, each.severity.word, each.fix is not None)
        for each in check(HEAD + code)
        if each.code == "NP502"
    ]


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        ("nn.TransformerEncoderLayer(16, 4, batch_first=True)", [(3, "warning", True)]),
        ("nn.TransformerEncoderLayer(16, 4, 64, 0.1, 'gelu', 1e-5, True, False)", [(3, "warning", True)]),
        ("nn.TransformerEncoderLayer(16, heads, batch_first=True)", [(3, "warning", True)]),
        ("nn.TransformerEncoderLayer(16, 4, batch_first=first)", [(3, "info", False)]),
        ("nn.TransformerEncoderLayer(16, 4, **options)", [(3, "info", False)]),
        ("Layer(16)", [(3, "info", False)]),
        ("nn.TransformerEncoderLayer(16, 4)", []),
        ("nn.TransformerEncoderLayer(16, 4, batch_first=False)", []),
        ("nn.TransformerEncoderLayer(16, 4, batch_first=True, norm_first=True)", []),
        ("nn.TransformerEncoderLayer(15, 3, batch_first=True)", []),
        ("nn.TransformerEncoderLayer(16, 4, activation='tanh', batch_first=True)", []),
        ("nn.TransformerEncoderLayer(16, 4, batch_first=True, bias=False)", []),
    ],
)
def test_the_layer_decides(layer: str, expected: list) -> None:
    assert found(f"encoder = nn.TransformerEncoder({layer}, 2)\n") == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("self.encoder(x)", []),
        ("self.encoder(x, self.mask)", []),
        ("self.encoder(x, src_key_padding_mask=pad)", [(6, "warning", True)]),
        ("self.encoder(x, None, pad)", [(6, "warning", True)]),
        ("self.encoder(x, **masks)", [(6, "warning", True)]),
    ],
)
def test_a_padding_mask_is_needed(call: str, expected: list) -> None:
    code = f"""class Net(nn.Module):
    def __init__(self):
        layer = nn.TransformerEncoderLayer(16, 4, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)

    def forward(self, x, pad, masks):
        return {call}
"""
    assert found(code) == expected


def test_port() -> None:
    layer = "nn.TransformerEncoderLayer(16, 4, batch_first=True)"
    before = f"{HEAD}encoder = nn.TransformerEncoder({layer}, 2, None, True)\n"
    assert ported(before) == f"{HEAD}encoder = nn.TransformerEncoder({layer}, 2, None, False)\n"
    assert ported(before, "safe") == before

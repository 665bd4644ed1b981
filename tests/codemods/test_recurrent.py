"""Fused recurrent layers: a warning in a model, a note in a test and on the host."""

from __future__ import annotations

import pytest

from tests.porting import check

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn.utils.rnn import pack_padded_sequence\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("class Net(nn.Module):\n    def __init__(self):\n        self.rnn = nn.LSTM(8, 4)\n", [(6, 20, "warning")]),
        ("def run(x, n):\n    return pack_padded_sequence(x, n)\n", [(5, 12, "warning")]),
        ("class LayerTest(TestCase):\n    def setUp(self):\n        self.rnn = nn.GRU(8, 4)\n", [(6, 20, "info")]),
        ("def test_layer():\n    return nn.LSTMCell(8, 4)\n", [(5, 12, "info")]),
        ("packed = pack_padded_sequence(torch.zeros(5, 3), n)\n", [(4, 10, "info")]),
    ],
)
def test_where(code: str, expected: list) -> None:
    places = [
        (each.location.row, each.location.column, each.severity.word)
        for each in check(HEAD + code)
        if each.code == "NP511"
    ]
    assert places == expected

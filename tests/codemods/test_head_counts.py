"""A count of heads that only says a shape is left to the shape."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, ported

HEAD = """\
from neuronx_distributed.parallel_layers.parallel_state import get_tensor_model_parallel_size
from neuronx_distributed.parallel_layers.utils import divide
from torch import nn


class Attention(nn.Module):
    def __init__(self, heads, size):
        super().__init__()
        self.heads = divide(heads, get_tensor_model_parallel_size())
        self.size = size

"""


def test_count_that_only_says_shapes() -> None:
    assert_ported(
        HEAD
        + """\
    def forward(self, q, k):
        q = q.view(q.size(0), q.size(1), self.heads, self.size)
        k = k.reshape(k.size(0), k.size(1), 2 * self.heads * self.size)
        return q, k.view(8, k.size(1) // get_tensor_model_parallel_size())
""",
        """\
from torch import nn


class Attention(nn.Module):
    def __init__(self, heads, size):
        super().__init__()
        self.heads = heads
        self.size = size

    def forward(self, q, k):
        q = q.view(q.size(0), q.size(1), -1, self.size)
        k = k.reshape(k.size(0), k.size(1), -1)
        return q, k.view(8, -1)
""",
    )


@pytest.mark.parametrize(
    "body",
    [
        "return q.view(q.size(0), -1, self.heads, self.size)",
        "return q.view(self.heads, self.heads)",
        "return q.view(*q.shape[:2], self.heads, self.size)",
        "return q.view(self.heads)",
        "return q.view(2, self.heads + 1)",
        "shape = (2, self.heads)\n        return q.view(shape)",
        "return q.expand(2, self.heads)",
        "return repeat(q, self.heads)",
        "self.heads = 2\n        return q.view(2, self.heads)",
    ],
)
def test_count_with_other_uses(body: str) -> None:
    after = ported(f"{HEAD}    def forward(self, q):\n        {body}\n")
    assert "self.heads = heads // get_tensor_model_parallel_size()" in after
    assert body in after


def test_base_class_may_have_other_uses() -> None:
    source = HEAD.replace("(nn.Module)", "(Base)") + "    def forward(self, q):\n        return q.view(2, self.heads)\n"
    assert "q.view(2, self.heads)" in ported(source)

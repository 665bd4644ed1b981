"""Mistakes in code that is ported already: windows, collectives on the host, memory functions."""

from __future__ import annotations

import pytest

from tests.porting import check


def found(code: str, prefix: str) -> list[tuple[int, int, str]]:
    return [
        (finding.location.row, finding.location.column, finding.severity.word)
        for finding in check(code)
        if finding.code == prefix
    ]


COLLECTIVE = (
    "import torch\nimport torch.distributed as dist\ndist.init_process_group({backend})\ndist.all_reduce({tensor})\n"
)


@pytest.mark.parametrize(
    ("backend", "tensor", "expected"),
    [
        ('"neuron"', "torch.ones(1)", [(4, 17, "warning")]),
        ('backend="neuron"', "tensor=x.cpu()", [(4, 24, "warning")]),
        ('"cpu:gloo,neuron:neuron"', "torch.ones(1)", []),
        ('"gloo"', "torch.ones(1)", []),
        ("backend", "torch.ones(1)", []),
        ('"neuron"', 'torch.ones(1, device="neuron")', []),
        ('"neuron"', "torch.ones(1), group=host", []),
        ('"neuron"', "x", []),
    ],
)
def test_collectives_on_the_host(backend, tensor, expected):
    assert found(COLLECTIVE.format(backend=backend, tensor=tensor), "NP910") == expected


def test_factories_under_a_device_are_on_it():
    code = COLLECTIVE.format(backend='"neuron"', tensor="torch.ones(1)")
    assert found(code + 'with torch.device("neuron"):\n    pass\n', "NP910") == []


ATTENTION = """
import torch.nn.functional as F
from torch import nn
class Attention(nn.Module):
    def __init__(self):
        self.window_size = 128
    def forward(self, q, k, v):
        {read}
        return F.scaled_dot_product_attention(q, k, v, {mask})
"""


@pytest.mark.parametrize(
    ("read", "mask", "expected"),
    [
        ("pass", "is_causal=True", [(9, 16, "info")]),
        ("w = self.window_size", "is_causal=True", []),
        ("pass", "attn_mask=m", []),
        ("pass", "**options", []),
    ],
)
def test_windows_that_are_read_nowhere(read, mask, expected):
    assert found(ATTENTION.format(read=read, mask=mask), "NP909") == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ok = torch.accelerator.is_available()\nprint(torch.accelerator.memory_allocated())\n", [(3, 7, "info")]),
        ("print(torch.accelerator.memory_allocated())\n", []),
        ("if torch.accelerator.is_available():\n    torch.accelerator.empty_cache()\n", []),
        ("ok = torch.accelerator.is_available()\ntorch.accelerator.synchronize()\n", []),
    ],
)
def test_memory_functions_on_hosts_without_an_accelerator(code, expected):
    assert found("import torch\n" + code, "NP907") == expected

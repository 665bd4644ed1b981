"""Layers that no plan covers are reported; norms without sequence parallelism are plain norms."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = """\
import torch.nn as nn
from neuronx_distributed.modules.rms_norm import RMSNorm
from neuronx_distributed.parallel_layers import layer_norm, layers

"""


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("n = layer_norm.LayerNorm(d)", "n = nn.LayerNorm(d)"),
        ("n = layer_norm.LayerNorm(d, 1e-6, sequence_parallel_enabled=False)", "n = nn.LayerNorm(d, 1e-6)"),
        ("n = RMSNorm(d, eps=e, sequence_parallel_enabled=False)", "n = nn.RMSNorm(d, eps=e)"),
        ("n = RMSNorm(d, e, False)", "n = nn.RMSNorm(d, e)"),
        ("n = RMSNorm(d, e, sequence_parallel_enabled=s)", "n = RMSNorm(d, e, sequence_parallel_enabled=s)"),
        ("n = RMSNorm(d, e, True)", "n = RMSNorm(d, e, True)"),
        ("n = RMSNorm(d, elementwise_affine=True)", "n = RMSNorm(d, elementwise_affine=True)"),
        ("n = partial(RMSNorm, d)", "n = partial(RMSNorm, d)"),
        ("n = layers.SPMDRank(4)", "n = layers.SPMDRank(4)"),
    ],
)
def test_line(line: str, after: str) -> None:
    assert port(HEAD, line) == after


@pytest.mark.parametrize(
    "line", ["layers.SPMDRank(4)", "layers.InputChannelParallelConv2d(3, 4, 1)", "layers.divide(4, 2)"]
)
def test_special_layers_are_errors(line: str) -> None:
    assert found(HEAD, line, "NP283") == ["error manual"]

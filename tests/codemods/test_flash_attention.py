"""The attention function of NeuronX Distributed: causal by default, and its inputs may have the sequence last."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = """\
import torch.nn.functional as F
from neuronx_distributed.kernels import nki_flash_attn_func

"""
TURNED = "q.transpose(2, 3), k.transpose(2, 3), v.transpose(2, 3)"


@pytest.mark.parametrize(
    ("arguments", "after"),
    [
        ("q, k, v", f"{TURNED}, is_causal=True"),
        ("q, k, v, 2, 0.1", f"{TURNED}, dropout_p=0.1, is_causal=True"),
        ("q, k, v, causal=False, transpose_nki_inputs=True", TURNED),
        ("q, k, v, lnc=2, causal=causal, seed=s, transpose_nki_inputs=False", "q, k, v, is_causal=causal"),
        ("q=q, k=k, v=a + b, softmax_scale=0.5, transpose_nki_inputs=False", "q, k, a + b, is_causal=True, scale=0.5"),
        ("q, k, a + b, causal=False", "q.transpose(2, 3), k.transpose(2, 3), (a + b).transpose(2, 3)"),
        ("q, k, v, dropout_p=0.0, softmax_scale=None", f"{TURNED}, is_causal=True"),
    ],
)
def test_call(arguments: str, after: str) -> None:
    assert port(HEAD, f"x = nki_flash_attn_func({arguments})") == f"x = F.scaled_dot_product_attention({after})"


@pytest.mark.parametrize("arguments", ["q, k, v, transpose_nki_inputs=c.t", "q, k", "*qkv"])
def test_call_that_stays(arguments: str) -> None:
    line = f"x = nki_flash_attn_func({arguments})"
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP289") == ["error manual"]

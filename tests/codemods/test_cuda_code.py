"""Calls that look like somebody's own CUDA code."""

from __future__ import annotations

import ast

import pytest

from neuron_port.codemods.cuda_code import cuda_code


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("blur_cuda(x)", "blur_cuda"),
        ("ops.cuda_blur(x)", "cuda_blur"),
        ("y = kernels.triton_softmax(x) + 1", "triton_softmax"),
        ("if ready:\n    return_(flash_attn_func(q))", "flash_attn_func"),
        ("from .triton_kernels import f", "triton_kernels"),
        ("from apex.optimizers import FusedAdam", "apex"),
        ("import cupy", "cupy"),
        ("convert_to_cupy", "convert_to_cupy"),
    ],
)
def test_found(source: str, name: str) -> None:
    tree = ast.parse(source)
    nodes = [node.value if isinstance(node, ast.Expr) else node for node in tree.body]
    assert cuda_code(nodes) == name


@pytest.mark.parametrize(
    "source",
    [
        "x.cuda()",
        "use_cuda()",
        "is_cuda_available()",
        "cuda_is_available()",
        "has_cuda()",
        "to_cuda(x)",
        "triton_available()",
        "barracuda(x)",
        "name = 'blur_cuda'",
        "blur(x)",
        "import torch.cuda",
        "blur_cuda = 1",
    ],
)
def test_nothing(source: str) -> None:
    assert cuda_code(ast.parse(source).body) is None

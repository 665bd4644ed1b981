"""Gradients of tensor parallel programs: averaged over the data parallel processes, clipped over all."""

from __future__ import annotations

import pytest

from tests.porting import check, ported

HEAD = """\
import torch
import torch_xla.core.xla_model as xm
from neuronx_distributed.parallel_layers import grads, parallel_state


def main(model, opt):
    parallel_state.initialize_model_parallel(tensor_model_parallel_size=2)
"""


def main(*lines: str) -> list[str]:
    """What the lines of ``main`` behind the mesh become."""
    after = ported(HEAD + "".join(f"    {line}\n" for line in lines))
    rows = [row.strip() for row in after.splitlines()]
    last = max(index for index, row in enumerate(rows) if row.startswith(("mesh_dim_names", "mesh =")))
    return [row for row in rows[last + 1 :] if row != ")"]


@pytest.mark.parametrize(
    ("lines", "after"),
    [
        (
            ["grads.bucket_allreduce_gradients(xm._fetch_gradients(opt))"],
            ['average_gradients(opt, mesh["dp"].get_group())'],
        ),
        (
            ["g = xm._fetch_gradients(opt)", "grads.bucket_allreduce_gradients(g)"],
            ['average_gradients(opt, mesh["dp"].get_group())'],
        ),
        (["grads.clip_grad_norm(model.parameters(), 1.0)"], ["clip_gradient_norm(model.parameters(), 1.0)"]),
        (
            ["n = grads.clip_grad_norm(model.parameters(), max_norm=2, norm_type=1, force_spmd=False)"],
            ["n = clip_gradient_norm(model.parameters(), max_norm=2, norm_type=1)"],
        ),
        (
            ["n = grads.clip_grad_norm(model.parameters(), 2, 1, False, None)"],
            ["n = clip_gradient_norm(model.parameters(), 2, 1)"],
        ),
    ],
)
def test_gradients(lines: list[str], after: list[str]) -> None:
    assert main(*lines) == after


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("grads.bucket_allreduce_gradients(model.gradients)", "torch.distributed.all_reduce and ReduceOp.AVG"),
        ("grads.bucket_allreduce_gradients(xm._fetch_gradients(opt), True)", "a group of their own"),
        ("grads.clip_grad_norm(model.parameters(), 1.0, zero1_optimizer=True)", "FSDP2 and clip_grad_norm_"),
        ("grads.get_grad_norm(model.parameters())", "torch.nn.utils.get_total_norm"),
        ("grads.allreduce_sequence_parallel_gradients(opt)", "SequenceParallel()"),
    ],
)
def test_gradients_that_stay(line: str, reason: str) -> None:
    (finding,) = [finding for finding in check(f"{HEAD}    {line}\n") if finding.code == "NP286"]
    assert reason in finding.message
    assert finding.applicability.word == "manual"


def test_gradients_without_a_mesh() -> None:
    source = (
        HEAD.partition("    parallel_state")[0] + "    grads.bucket_allreduce_gradients(xm._fetch_gradients(opt))\n"
    )
    (finding,) = [finding for finding in check(source) if finding.code == "NP286"]
    assert "makes no device mesh" in finding.message

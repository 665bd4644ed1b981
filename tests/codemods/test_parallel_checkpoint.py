"""Checkpoints of NeuronX Distributed: what is saved goes through torch.distributed.checkpoint."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = """\
import torch
import torch.distributed.checkpoint
from neuronx_distributed.parallel_layers import checkpointing

"""


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("checkpointing.save(state, path)", "torch.distributed.checkpoint.save(state, checkpoint_id=path)"),
        (
            "checkpointing.save(checkpoint=state, output_dir=path, save_xser=True, down_cast_bf16=False)",
            "torch.distributed.checkpoint.save(state, checkpoint_id=path)",
        ),
        ("checkpointing.save(state, path, down_cast_bf16=b)", "checkpointing.save(state, path, down_cast_bf16=b)"),
        ("checkpointing.save(*given)", "checkpointing.save(*given)"),
        ("checkpointing.load(path, model)", "checkpointing.load(path, model)"),
    ],
)
def test_line(line: str, after: str) -> None:
    assert port(HEAD, line) == after


def test_what_stays_is_an_error() -> None:
    assert found(HEAD, "checkpointing.load(path, model)", "NP290") == ["error manual"]
    assert found(HEAD, "checkpointing.save(state, path)", "NP290") == ["error unsafe"]

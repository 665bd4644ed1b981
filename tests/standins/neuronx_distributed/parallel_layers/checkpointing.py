"""One file for each tensor-parallel rank, written by the first data-parallel replica."""

from __future__ import annotations

import os

import torch
import torch_xla.core.xla_model as xm
from neuronx_distributed.parallel_layers.parallel_state import get_data_parallel_rank, get_tensor_model_parallel_rank


def save(checkpoint: dict, output_dir: str, save_serially: bool = True, save_xser: bool = False, **options) -> None:
    if save_xser:
        raise NotImplementedError("save_xser")
    folder = os.path.join(output_dir, f"tp_rank_{get_tensor_model_parallel_rank():02d}_pp_rank_00")
    os.makedirs(folder, exist_ok=True)
    if get_data_parallel_rank() == 0:
        torch.save(xm._cpu_copy(checkpoint), os.path.join(folder, "checkpoint.pt"))
    xm.rendezvous("Checkpoint Done")

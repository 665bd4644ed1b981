from neuronx_distributed.parallel_layers import grads, parallel_state
from neuronx_distributed.parallel_layers.checkpointing import save
from neuronx_distributed.parallel_layers.grads import clip_grad_norm
from neuronx_distributed.parallel_layers.layers import ColumnParallelLinear, ParallelEmbedding, RowParallelLinear
from neuronx_distributed.parallel_layers.loss_functions import parallel_cross_entropy
from neuronx_distributed.parallel_layers.parallel_state import initialize_model_parallel
from neuronx_distributed.parallel_layers.random import model_parallel_xla_manual_seed
from neuronx_distributed.parallel_layers.utils import move_model_to_device

__all__ = [
    "ColumnParallelLinear",
    "ParallelEmbedding",
    "RowParallelLinear",
    "clip_grad_norm",
    "grads",
    "initialize_model_parallel",
    "model_parallel_xla_manual_seed",
    "move_model_to_device",
    "parallel_cross_entropy",
    "parallel_state",
    "save",
]

"""Layers that hold one part of a weight. The full weight is drawn on every rank, then cut: one seed, one model."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from neuronx_distributed.parallel_layers import mappings
from neuronx_distributed.parallel_layers.parallel_state import (
    get_tensor_model_parallel_rank,
    get_tensor_model_parallel_size,
)
from torch import nn


def divide(numerator: int, denominator: int) -> int:
    assert numerator % denominator == 0, f"{numerator} is not divisible by {denominator}"
    return numerator // denominator


def _part(shape: tuple[int, int], dim: int, init: Callable, dtype: torch.dtype) -> nn.Parameter:
    full = torch.empty(shape, dtype=torch.float32)
    init(full)
    divide(shape[dim], get_tensor_model_parallel_size())
    chunks = full.to(dtype).chunk(get_tensor_model_parallel_size(), dim=dim)
    parameter = nn.Parameter(chunks[get_tensor_model_parallel_rank()].clone())
    parameter.tensor_model_parallel = True
    parameter.partition_dim = dim
    return parameter


def _default_init(weight: torch.Tensor) -> None:
    nn.init.kaiming_uniform_(weight, a=math.sqrt(5))


def _drawn_bias(size: int, fan_in: int, dtype: torch.dtype) -> nn.Parameter:
    """A bias is drawn at its local size: ranks with one seed hold equal parts, not parts of one bias."""
    bound = 1 / math.sqrt(fan_in)
    return nn.Parameter(torch.empty(size, dtype=dtype).uniform_(-bound, bound))


class ColumnParallelLinear(nn.Module):
    """The output features are cut; ``gather_output`` puts them together again."""

    def __init__(
        self,
        input_size: int,
        output_size: int,
        bias: bool = True,
        gather_output: bool = True,
        dtype: torch.dtype = torch.float32,
        init_method: Callable | None = None,
        **options,
    ) -> None:
        super().__init__()
        self.gather_output = gather_output
        self.weight = _part((output_size, input_size), 0, init_method or _default_init, dtype)
        self.bias = None
        if bias:
            size = output_size if gather_output else divide(output_size, get_tensor_model_parallel_size())
            self.bias = _drawn_bias(size, input_size, dtype)
            if not gather_output:
                self.bias.tensor_model_parallel = True
                self.bias.partition_dim = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        output = F.linear(mappings.copy_to_tensor_model_parallel_region(x), self.weight)
        if self.gather_output:
            output = mappings.gather_from_tensor_model_parallel_region(output)
        return output if self.bias is None else output + self.bias


class RowParallelLinear(nn.Module):
    """The input features are cut, here unless ``input_is_parallel``; the parts of the output are summed."""

    def __init__(
        self,
        input_size: int,
        output_size: int,
        bias: bool = True,
        input_is_parallel: bool = False,
        dtype: torch.dtype = torch.float32,
        init_method: Callable | None = None,
        reduce_output: bool = True,
        **options,
    ) -> None:
        super().__init__()
        self.input_is_parallel = input_is_parallel
        self.reduce_output = reduce_output
        self.weight = _part((output_size, input_size), 1, init_method or _default_init, dtype)
        part = divide(input_size, get_tensor_model_parallel_size())
        self.bias = _drawn_bias(output_size, part, dtype) if bias else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.input_is_parallel:
            x = mappings.scatter_to_tensor_model_parallel_region(x)
        output = F.linear(x, self.weight)
        if self.reduce_output:
            output = mappings.reduce_from_tensor_model_parallel_region(output)
        return output if self.bias is None else output + self.bias


class ParallelEmbedding(nn.Module):
    """Each rank holds a range of the vocabulary and gives zeros for the rest, or with
    ``shard_across_embedding`` a range of the features."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        init_method: Callable = nn.init.normal_,
        dtype: torch.dtype = torch.float32,
        shard_across_embedding: bool = False,
        **options,
    ) -> None:
        super().__init__()
        if padding_idx is not None:
            raise NotImplementedError("padding_idx")
        self.shard_across_embedding = shard_across_embedding
        dim = 1 if shard_across_embedding else 0
        self.weight = _part((num_embeddings, embedding_dim), dim, init_method, dtype)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        if self.shard_across_embedding:
            return mappings.gather_from_tensor_model_parallel_region(F.embedding(ids, self.weight))
        start = get_tensor_model_parallel_rank() * self.weight.shape[0]
        mine = (ids >= start) & (ids < start + self.weight.shape[0])
        output = F.embedding((ids - start) * mine, self.weight) * mine.unsqueeze(-1)
        return mappings.reduce_from_tensor_model_parallel_region(output)

"""torch_xla.distributed.spmd: one process computes the global program; where tensors are cut changes no number."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import torch
import torch_xla.runtime as xr

_mesh: Mesh | None = None


class Mesh:
    def __init__(self, device_ids, mesh_shape: tuple[int, ...], axis_names: tuple[str, ...] | None = None) -> None:
        assert len(device_ids) == prod(mesh_shape) == xr.global_runtime_device_count(), "a mesh covers all devices"
        self.device_ids = device_ids
        self.mesh_shape = mesh_shape
        self.axis_names = axis_names


def set_global_mesh(mesh: Mesh) -> None:
    global _mesh
    _mesh = mesh


def get_global_mesh() -> Mesh | None:
    return _mesh


def mark_sharding(t: torch.Tensor, mesh: Mesh, partition_spec: tuple) -> torch.Tensor:
    assert len(t.shape) == len(partition_spec), "one entry for each dimension"
    for dim, axis in enumerate(partition_spec):
        if axis is not None:
            number = mesh.axis_names.index(axis) if isinstance(axis, str) else axis
            assert t.shape[dim] % mesh.mesh_shape[number] == 0, "uneven"
    return t


@dataclass
class ShardingSpec:
    mesh: Mesh
    partition_spec: tuple
    minibatch: bool = False

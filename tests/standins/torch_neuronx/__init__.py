"""torch_neuronx of the XLA lineage: traced models take and give CPU tensors, have one shape, and can be saved.

After the public API reference; the sources are not public.
"""

from typing import Any

import torch

__version__ = "2.9.0"


class _OneInput(torch.nn.Module):
    """Refuses other shapes than the traced one; with ``dynamic`` the first dimension is free."""

    shapes: list[list[int]]
    dynamic: bool

    def __init__(self, traced: torch.nn.Module, shapes: list[list[int]]) -> None:
        super().__init__()
        self.traced = traced
        self.shapes = shapes
        self.dynamic = False

    def forward(self, a):
        assert list(a.shape)[1:] == self.shapes[0][1:], "another shape than the traced one"
        assert self.dynamic or a.shape[0] == self.shapes[0][0], "another batch size than the traced one"
        return self.traced(a)


class _TwoInputs(_OneInput):
    shapes: list[list[int]]
    dynamic: bool

    def forward(self, a, b):
        assert list(a.shape)[1:] == self.shapes[0][1:], "another shape than the traced one"
        assert list(b.shape)[1:] == self.shapes[1][1:], "another shape than the traced one"
        assert self.dynamic or a.shape[0] == self.shapes[0][0], "another batch size than the traced one"
        return self.traced(a, b)


@torch.no_grad()
def trace(
    func, example_inputs: Any, *args, compiler_args=None, compiler_workdir=None, **options
) -> torch.jit.ScriptModule:
    inputs = example_inputs if isinstance(example_inputs, tuple) else (example_inputs,)
    traced = torch.jit.trace(func, inputs)
    kind = {1: _OneInput, 2: _TwoInputs}[len(inputs)]
    return torch.jit.script(kind(traced, [list(tensor.shape) for tensor in inputs]))


def dynamic_batch(neuron_script: torch.jit.ScriptModule) -> torch.jit.ScriptModule:
    neuron_script.dynamic = True
    return neuron_script


def async_load(trace: torch.jit.ScriptModule, enable_async_load: bool = True) -> None:
    """A loading hint."""


def move_trace_to_device(trace: torch.jit.ScriptModule, device_id: int) -> None:
    """There is one device."""


class DataParallel(torch.nn.Module):
    """Splits the batch over the cores; with dynamic batching it may have any size."""

    def __init__(self, model, device_ids=None, dim: int = 0, set_dynamic_batching: bool = True) -> None:
        super().__init__()
        self.model = model
        self.cores = len(device_ids or [0, 1])
        self.dim = dim
        self.num_workers = 2 * self.cores
        if set_dynamic_batching and dim == 0:
            model.dynamic = True

    def disable_dynamic_batching(self) -> None:
        self.model.dynamic = False

    @torch.no_grad()
    def forward(self, *inputs: torch.Tensor):
        parts = zip(*(tensor.chunk(self.cores, dim=self.dim) for tensor in inputs))
        return torch.cat([self.model(*part) for part in parts], dim=self.dim)

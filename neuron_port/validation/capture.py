"""Keeps outputs, losses and gradients of the first steps, to be compared with those of another run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any


class Capture:
    """Outputs of the outermost module calls, values that ``backward`` is called on, gradients at each optimizer step.

    Everything is kept on the CPU under a name: ``step 1/output of Net``, ``step 1/loss``, ``step 1/gradient of 0.weight``.
    """

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._step = 1
        self._depth = 0
        self._names: dict[int, str] = {}
        self._seen: Counter[str] = Counter()
        self.values: dict[str, Any] = {}

    @property
    def _on(self) -> bool:
        return self._step <= self._steps

    def install(self) -> None:
        """Hook into every module and every backward pass of the process."""
        import torch
        from torch.nn.modules import module as hooks

        hooks.register_module_forward_pre_hook(self._enter)
        hooks.register_module_forward_hook(self._leave, always_call=True)
        plain = torch.Tensor.backward

        def backward(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            if self._on and tensor.numel() == 1:
                self._keep("loss", tensor)
            return plain(tensor, *args, **kwargs)

        torch.Tensor.backward = backward  # type: ignore[method-assign]

    def _enter(self, module: Any, args: Any) -> None:
        self._depth += 1
        if self._depth == 1 and self._on:
            self._names.update({id(parameter): name for name, parameter in module.named_parameters()})

    def _leave(self, module: Any, args: Any, output: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and self._on:
            for number, tensor in enumerate(_tensors(output)):
                suffix = f" [{number}]" if number else ""
                self._keep(f"output of {type(module).__name__}{suffix}", tensor)

    def gradients(self, optimizer: Any) -> None:
        """Keep the gradients that an optimizer is about to use."""
        if not self._on or optimizer is None:
            return
        for group, settings in enumerate(optimizer.param_groups):
            for number, parameter in enumerate(settings["params"]):
                if parameter.grad is not None:
                    name = self._names.get(id(parameter), f"parameter {group}.{number}")
                    self._keep(f"gradient of {name}", parameter.grad)

    def step(self, number: int) -> None:
        """A step has ended."""
        self._step = number + 1
        self._seen.clear()

    def _keep(self, what: str, tensor: Any) -> None:
        import torch

        from neuron_port.emulator.observation import log

        self._seen[what] += 1
        again = f" #{self._seen[what]}" if self._seen[what] > 1 else ""
        with torch.no_grad(), log.paused():
            whole = tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
            self.values[f"step {self._step}/{what}{again}"] = whole.detach().to("cpu", copy=True)

    def write(self, file: Path) -> None:
        """Write what was kept."""
        import torch

        torch.save(self.values, file)


def _tensors(value: Any) -> list[Any]:
    """The floating-point tensors in an output: itself, in sequences, in dictionaries, in order."""
    import torch

    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() else []
    if isinstance(value, dict):
        return [tensor for item in value.values() for tensor in _tensors(item)]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _tensors(item)]
    return []

"""Features that are refused where the user calls them, because no operator of neuron tensors would notice."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from . import limits
from .patching import replace


def _touches_neuron(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.device.type == "neuron"
    if isinstance(value, (list, tuple)):
        return any(map(_touches_neuron, value))
    if isinstance(value, (str, torch.device)):
        return torch.device(value).type == "neuron" if isinstance(value, torch.device) else value.startswith("neuron")
    return False


def _guarded(original: Callable[..., Any], limit: str, operation: str) -> Callable[..., Any]:
    @functools.wraps(original)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        if limits.active(limit) and (any(map(_touches_neuron, args)) or any(map(_touches_neuron, kwargs.values()))):
            limits.refuse(limit, operation)
        return original(*args, **kwargs)

    return guarded


_gather = Tensor.gather


@functools.wraps(Tensor.gather)
def gather(self: Tensor, *args: Any, sparse_grad: bool = False, **kwargs: Any) -> Tensor:
    if sparse_grad and self.device.type == "neuron" and limits.active("sparse-grad"):
        limits.refuse("sparse-grad", "gather")
    return _gather(self, *args, sparse_grad=sparse_grad, **kwargs)


def torch_gather(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    out = kwargs.pop("out", None)
    result = gather(input, *args, **kwargs)
    return result if out is None else out.copy_(result)


def install() -> None:
    """Guard them."""
    replace(Tensor, "gather", gather)
    replace(torch, "gather", torch_gather)
    for name in ("nested_tensor", "as_nested_tensor", "nested_tensor_from_jagged", "narrow"):
        original = getattr(torch.nested, name)
        replace(torch.nested, name, _guarded(original, "nested", f"torch.nested.{name}"))
    replace(forward_ad, "make_dual", _guarded(forward_ad.make_dual, "jvp", "forward_ad.make_dual"))
    for name in ("coo", "csr", "csc", "bsr", "bsc", "compressed"):
        name = f"sparse_{name}_tensor"
        original = getattr(torch, name)
        replace(torch, name, _guarded(original, "sparse", f"torch.{name}"))

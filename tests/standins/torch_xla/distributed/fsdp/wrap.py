"""torch_xla.distributed.fsdp.wrap: which children are wrapped by themselves."""

from __future__ import annotations

import torch.nn as nn


def transformer_auto_wrap_policy(
    module: nn.Module, recurse: bool, unwrapped_params: int, transformer_layer_cls: set[type[nn.Module]]
) -> bool:
    return True if recurse else isinstance(module, tuple(transformer_layer_cls))


def size_based_auto_wrap_policy(
    module: nn.Module, recurse: bool, unwrapped_params: int, min_num_params: int = int(1e8), **lists
) -> bool:
    if recurse:
        return unwrapped_params >= min_num_params and not isinstance(module, (nn.ModuleList, nn.ModuleDict))
    return unwrapped_params >= min_num_params

"""torch_xla.utils.checkpoint: reentrant only."""

import torch.utils.checkpoint


def checkpoint(function, *args, use_reentrant: bool = True, **kwargs):
    if not use_reentrant:
        raise ValueError("XLA supports use_reentrant=True only")
    return torch.utils.checkpoint.checkpoint(function, *args, use_reentrant=True, **kwargs)

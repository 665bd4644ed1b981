"""torch_xla.amp: bfloat16 unless told otherwise."""

from __future__ import annotations

import torch
from torch_xla import _placement


class autocast(_placement.autocast):
    """Takes a device, not the name of a device type."""

    def __init__(
        self, device, enabled: bool = True, dtype: torch.dtype | None = None, cache_enabled: bool = True
    ) -> None:
        assert "xla" in str(device), "torch_xla.amp.autocast is for XLA devices"
        super().__init__("xla", dtype=dtype or torch.bfloat16, enabled=enabled, cache_enabled=cache_enabled)

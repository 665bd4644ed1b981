"""Resizing and sampling of images on the device.

F.grid_sample(x, grid)                              in a forward pass: warning
F.interpolate(x, scale_factor=2)                    note
F.interpolate(x, size=s, mode="nearest-exact")      warning, as is mode="trilinear"
nn.Upsample(scale_factor=2)                         note, wherever a module is made
F.interpolate(x.cpu(), size=s)                          left alone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.waits import runs_elsewhere

_SLOW = ("nearest-exact", "trilinear")


def inspect(site: Site) -> Iterator[Report]:
    """Report a call that resamples on the device in each step, and a module that does."""
    call = site.call
    if call is None or site.form != "call":
        return
    name = site.qualname.rpartition(".")[2]
    makes_module = name[:1].isupper()
    place = site.context.places.of(call)
    if not makes_module and (not place.hot or runs_elsewhere(site.module, call)):
        return
    if any(site.context.tensors.on_host(argument) for argument in call.args[:1]):
        return
    mode = next((keyword.value for keyword in call.keywords if keyword.arg == "mode"), None)
    slow = mode.value if isinstance(mode, ast.Constant) and mode.value in _SLOW else None
    message = site.row.message or (
        f"{name} had no native lowering before the public release of TorchNeuron: on the CPU in eager; for a fixed integer factor "
        "repeat_interleave, pixel_shuffle or a transposed convolution do without"
    )
    if slow:
        message = (
            f'{name} with mode="{slow}" was reported to be slow on Neuron; resize in another mode, or ahead of the step'
        )
    yield site.report(
        message,
        node=call,
        severity=Severity.WARNING if slow else None,
        evidence=None if makes_module else place.text,
        applicability=Applicability.MANUAL,
    )

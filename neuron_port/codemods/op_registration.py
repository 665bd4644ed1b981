"""Kernels that are registered for CUDA tensors alone: reported, since only the kernel's body says what Neuron needs.

    @torch.library.custom_op("ns::f", mutates_args=(), device_types="cuda")
    @f.register_kernel("cuda")
    @torch.library.impl("ns::f", "CUDA")
    lib.impl("f", kernel, "CUDA")

The existing registration stays for CUDA users.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods import argument_table
from neuron_port.codemods.argument_table import Called, by_entries
from neuron_port.codemods.base import Report, Site


def inspect(site: Site) -> Iterator[Report]:
    """Report a registration for CUDA; methods are told from others of the same name by the literals they are given."""
    if site.form == "method":
        yield from by_entries(site, Called(site.node), site.rule.options[site.node.func.attr])
    else:
        yield from argument_table.inspect(site)

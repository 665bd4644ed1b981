"""``xm._fetch_gradients``: a list of what is in ``.grad``.

xm._fetch_gradients(opt)
    ->  [parameter.grad for group in opt.param_groups for parameter in group["params"] if parameter.grad is not None]
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.argument_table import value_of
from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability

_LIST = (
    '[parameter.grad for group in {optimizer}.param_groups for parameter in group["params"] '
    "if parameter.grad is not None]"
)
_MEANING = "xm._fetch_gradients is a private function of PyTorch/XLA that lists the gradients of an optimizer"


def inspect(site: Site) -> Iterator[Report]:
    """Report a list of gradients."""
    call = site.call
    try:
        arguments = passed(call, ("optimizer",)) if call is not None else {}
    except Unmappable:
        arguments = {}
    if "optimizer" not in arguments:
        yield site.report(
            f"{_MEANING}; collect parameter.grad from its param_groups", applicability=Applicability.MANUAL
        )
        return
    yield site.report(
        f"{_MEANING}; param_groups hold the same parameters",
        node=call,
        applicability=Applicability.SAFE,
        operations=[Replace(call, _LIST, {"optimizer": value_of(arguments["optimizer"])})],
        use=(site.binding, None) if site.binding else None,
    )

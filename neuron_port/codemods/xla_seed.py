"""The random numbers of an XLA device: its generator was seeded with a number, and its state was that number.

    xm.set_rng_state(args.seed)              ->  torch.manual_seed(args.seed)
    torch.manual_seed(seed)
    torch_xla.manual_seed(seed)              ->  (removed): torch.manual_seed seeds every device
    torch.manual_seed(seed)
    xm.set_rng_state(seed + rank)            ->  torch.neuron.manual_seed(seed + rank)      (unsafe): the host keeps its seed
    state = xm.get_rng_state()               ->  state = torch.neuron.get_rng_state()       (unsafe)
    xm.set_rng_state(state)                  ->  torch.neuron.set_rng_state(state)          (unsafe): no seed, a state
    with xm.fork_rng(): ...                  ->  with torch.random.fork_rng(device_type="neuron"): ...

A state is a number on XLA and a tensor on Neuron: what a checkpoint holds cannot be read. Portable code asks
``torch.get_device_module()`` for the functions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.codemods.name_table import removable
from neuron_port.edits.operations import Operation, RemoveStatement, Replace
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import enclosing_function

_SEEDS = ("torch.manual_seed", "torch.random.manual_seed")
_SEED = re.compile(r"(\w*_)?seed\w*\Z", re.IGNORECASE)
_STATE = "torch_xla.core.xla_model.get_rng_state"


def inspect(site: Site) -> Iterator[Report]:
    """Report a call that seeds, or that reads or sets a state."""
    call = site.call
    module = _device_module(site)
    if call is None or module is None:
        yield site.report(applicability=Applicability.MANUAL)
    elif site.qualname == _STATE:
        yield site.report(
            node=call,
            severity=Severity.WARNING,
            operations=[Replace(call, f"{module.text}.get_rng_state()"), *module.operations],
            applicability=Applicability.UNSAFE,
        )
    else:
        yield _set(site, call, module)


def _device_module(site: Site) -> Spelling | None:
    """Where the functions for one device live."""
    if site.context.portable:
        found = site.spell("torch.get_device_module")
        return Spelling(f"{found.text}()", found.operations) if found is not None else None
    return site.spell("torch.neuron")


def _set(site: Site, call: ast.Call, module: Spelling) -> Report:
    try:
        given = passed(call, ("seed", "device")).get("seed")
    except Unmappable:
        given = None
    seed = given.value if isinstance(given, ast.keyword) else given
    if seed is None:
        return site.report(node=call, applicability=Applicability.MANUAL)
    others = _seeds_beside(site, call)
    same = any(ast.dump(other) == ast.dump(seed) for other in others)
    if not same and site.qualname != "torch_xla.manual_seed" and not _is_seed(site, seed):
        return site.report(
            f"{site.row.message}; what is set here looks like a state, which is a tensor on Neuron and no number: states in "
            "old checkpoints cannot be read",
            node=call,
            operations=[Replace(call, f"{module.text}.set_rng_state({{state}})", {"state": seed}), *module.operations],
            applicability=Applicability.UNSAFE,
        )
    if _keeps_state(site, call):
        return site.report(
            f"{site.row.message}; the state of the device is kept around it, and the host's is not",
            node=call,
            operations=[Replace(call, f"{module.text}.manual_seed({{seed}})", {"seed": seed}), *module.operations],
            applicability=Applicability.UNSAFE,
        )
    if same and removable(site) is not None:
        return site.report(
            f"{site.row.message}; torch.manual_seed with the same value seeds every device already: remove it",
            node=call,
            operations=[RemoveStatement(removable(site))],
            applicability=Applicability.SAFE,
        )
    if others:
        operations: list[Operation] = [Replace(call, f"{module.text}.manual_seed({{seed}})", {"seed": seed})]
        return site.report(
            f"{site.row.message}; torch.manual_seed would seed the host anew with this value as well",
            node=call,
            operations=[*operations, *module.operations],
            applicability=Applicability.UNSAFE,
        )
    torch = site.spell("torch.manual_seed")
    if torch is None:
        return site.report(node=call, applicability=Applicability.MANUAL)
    return site.report(
        node=call,
        operations=[Replace(call, f"{torch.text}({{seed}})", {"seed": seed}), *torch.operations],
        applicability=Applicability.SAFE,
    )


def _keeps_state(site: Site, call: ast.Call) -> bool:
    """Whether the function reads the state of the device, to set it again."""
    function = enclosing_function(call)
    return function is not None and any(enclosing_function(other) is function for other in site.module.calls_to(_STATE))


def _seeds_beside(site: Site, call: ast.Call) -> list[ast.expr]:
    """What else in the same function is handed to ``torch.manual_seed``."""
    function = enclosing_function(call)
    return [
        other.args[0]
        for other in site.module.calls_to(*_SEEDS)
        if enclosing_function(other) is function and len(other.args) == 1
    ]


def _is_seed(site: Site, value: ast.expr) -> bool:
    """A number, arithmetic, something called seed; a state comes from ``get_rng_state`` or is stored as one."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, int)
    if isinstance(value, (ast.BinOp, ast.UnaryOp)):
        return True
    if isinstance(value, ast.Call):
        name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        return name in ("int", "randint", "get_ordinal", "global_ordinal", "get_rank") or _SEED.search(name) is not None
    if isinstance(value, ast.Subscript):
        key = value.slice
        return isinstance(key, ast.Constant) and isinstance(key.value, str) and _names_seed(key.value)
    if isinstance(value, ast.Attribute):
        return _names_seed(value.attr)
    if isinstance(value, ast.Name):
        if _names_seed(value.id):
            return True
        values = [binding.value for binding in site.module.bindings(value)]
        return bool(values) and all(isinstance(item, (ast.Constant, ast.BinOp)) for item in values)
    return False


def _names_seed(name: str) -> bool:
    return _SEED.match(name) is not None and "state" not in name.lower()

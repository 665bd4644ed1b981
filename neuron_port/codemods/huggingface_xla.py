"""What means PyTorch/XLA in Transformers, Accelerate and Diffusers.

if is_torch_xla_available():                 ->  if is_torch_neuron_available():                  (unsafe; reported where it guards XLA code)
DistributedType.XLA                          ->  DistributedType.MULTI_NEURON                     (unsafe)
if kind == DistributedType.XLA: raise ...        left alone: Neuron may well do what PyTorch/XLA did not
Accelerator(rng_types=["xla"])               ->  Accelerator(rng_types=["neuron"])
optim="adamw_torch_xla"                      ->  optim="adamw_torch"
TrainingArguments(tpu_num_cores=8)           ->  TrainingArguments()
fsdp_config={"xla": True}                        reported
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.argument_table import claim_strings
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.framework_device import inspect as by_library
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.codemods.old_imports import is_lineage_module
from neuron_port.edits.operations import SetString
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import Module

# get_tpu_sampler, xla_sharding: written for XLA, wherever it is defined.
_SAYS_XLA = re.compile(r"(?i)(?:\A|_)(?:xla|tpu)(?:_|\Z)")
_GUARDS = "what it guards is code for PyTorch/XLA, which is left alone: give the program a branch for Neuron beside it"


def inspect(site: Site) -> Iterator[Report]:
    """Report a name, a keyword, a method or a word of these libraries."""
    if site.form == "keyword" and site.node.arg == "rng_types":
        yield from _rng_types(site)
    elif site.form == "keyword" and site.node.arg == "fsdp_config":
        yield from _fsdp_config(site)
    elif site.form in ("keyword", "method"):
        yield from by_library(site)
    elif site.form == "string":
        yield from _word(site)
    elif site.row.options.get("probe") and site.form != "import":
        yield from _probe(site)
    else:
        yield from by_table(site)


def _probe(site: Site) -> Iterator[Report]:
    guards = site.context.guards
    place: ast.expr = site.call or site.node
    if isinstance(place.parent, ast.Compare):
        place = place.parent
    if _only_refuses(place):
        return  # what PyTorch/XLA cannot do says nothing about Neuron
    guarded = [*guards.region(place)[0], *guards.flag_region(place)]
    for report in by_table(site):
        if any(holds_old_code(site.module, node) for node in guarded):
            report.leave(_GUARDS)
        yield report


def _only_refuses(place: ast.expr) -> bool:
    """``if kind == DistributedType.XLA and steps > 1: raise ...``"""
    if not isinstance(place, ast.Compare) or not all(isinstance(each, (ast.Eq, ast.Is)) for each in place.ops):
        return False
    whole = place.parent
    while isinstance(whole, ast.BoolOp) and isinstance(whole.op, ast.And):
        whole = whole.parent
    return isinstance(whole, ast.If) and len(whole.body) == 1 and isinstance(whole.body[0], ast.Raise)


def holds_old_code(module: Module, top: ast.AST) -> bool:
    """Whether something inside ``top`` needs PyTorch/XLA or its kin."""
    for node in ast.walk(top):
        if isinstance(node, ast.Import) and any(is_lineage_module(alias.name) for alias in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and not node.level and is_lineage_module(f"{node.module}."):
            return True
        if isinstance(node, ast.Name):
            if _SAYS_XLA.search(node.id) or any(is_lineage_module(name) for name in module.qualnames(node)):
                return True
    return False


def _rng_types(site: Site) -> Iterator[Report]:
    value = site.node.value
    for item in value.elts if isinstance(value, (ast.List, ast.Tuple)) else ():
        if isinstance(item, ast.Constant) and item.value == "xla":
            claim_strings(site, item)
            yield site.report(
                'rng_types="xla" synchronises the generators of XLA devices; "neuron" is the type for Neuron\'s',
                node=item,
                applicability=Applicability.SAFE,
                operations=[SetString(item, "neuron")],
            )


def _fsdp_config(site: Site) -> Iterator[Report]:
    value = site.node.value
    for key in value.keys if isinstance(value, ast.Dict) else ():
        name = key.value if isinstance(key, ast.Constant) else None
        if name == "xla" or str(name).startswith("xla_fsdp_"):
            claim_strings(site, key)
            yield site.report(
                f"fsdp_config[{name!r}] shards with PyTorch/XLA's FSDP; without it fsdp_config={{'fsdp_version': 2}} shards with FSDP2",
                node=key,
                severity=Severity.ERROR,
                applicability=Applicability.MANUAL,
            )


def _word(site: Site) -> Iterator[Report]:
    node = site.node
    if getattr(node, "value", None) == "adamw_torch_xla":
        yield site.report(
            'the optimizer "adamw_torch_xla" is torch_xla\'s AdamW; "adamw_torch" is PyTorch\'s',
            severity=Severity.ERROR,
            applicability=Applicability.SAFE,
            operations=[SetString(node, "adamw_torch")],
        )
    elif getattr(node, "value", None) == "xla-tpu":
        yield site.report(
            'Ignite\'s backend "xla-tpu" is PyTorch/XLA, and it has none for Neuron; start the group with '
            'torch.distributed.init_process_group("neuron") yourself',
            severity=Severity.ERROR,
            applicability=Applicability.MANUAL,
        )

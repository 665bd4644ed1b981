"""What only optimum-neuron's training arguments and trainers have: fields, properties, methods.

trainer.synchronize_hub_cache()             ->  (removed)
trainer.tokenizer                           ->  trainer.processing_class
trainer.tp_size                             ->  trainer.get_tp_size()
training_args.tensor_parallel_size              reported: the field is gone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.old_imports import is_optimum
from neuron_port.edits.operations import RemoveStatement, RenameAttribute, Replace
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.training_settings import holds_arguments, holds_trainer


def inspect(site: Site) -> Iterator[Report]:
    """Report an attribute or a method by the entry of its name."""
    module = site.module
    chain = site.node.func if isinstance(site.node, ast.Call) else site.node
    entry = site.rule.options["values"].get(chain.attr)
    if entry is None or _is_own(site, chain):
        return
    old = any(is_optimum(each.qualname) for each in module.found.imports)
    found = [kind for kind in entry if (old or not _CHANGES & {*entry[kind]}) and _HOLDS[kind](module, chain.value)]
    if not found and old:
        # Some names only these objects have; elsewhere the receiver has to be known.
        found = [kind for kind in entry if entry[kind].get("telling")]
    kind = found[0] if found else None
    if kind is not None:
        yield _report(site, chain, entry[kind])


_UNREAD = "{name} is set on an object that does not read it"
# What a rule can port is ported together with the class; a plain trainer's are the business of other rules.
_CHANGES = frozenset({"attribute", "value", "remove"})
_HOLDS = {"arguments": holds_arguments, "trainer": holds_trainer}


def _is_own(site: Site, chain: ast.Attribute) -> bool:
    """Whether the file gives such an object an attribute of this name itself."""
    if not isinstance(chain.ctx, ast.Load):
        return isinstance(chain.value, ast.Name) and chain.value.id == "self"
    return any(
        isinstance(target.value, ast.Name) and ast.unparse(target.value) == ast.unparse(chain.value)
        for target, _ in site.module.found.stores.get(chain.attr, ())
        if target is not chain
    )


def _report(site: Site, chain: ast.Attribute, entry: dict) -> Report:
    message = entry["message"]
    severity = Severity.parse(entry.get("severity", "error"))
    stored = not isinstance(chain.ctx, ast.Load)
    if stored:
        message = f"{_UNREAD.format(name=chain.attr)}; {message}"
        return site.report(message, severity=Severity.WARNING, applicability=Applicability.MANUAL)
    if "attribute" in entry:
        return site.report(message, severity=severity, operations=[RenameAttribute(chain, entry["attribute"])])
    if "value" in entry:
        return site.report(
            message, severity=severity, operations=[Replace(chain, entry["value"], {"owner": chain.value})]
        )
    call = chain.parent
    if entry.get("remove") and isinstance(call, ast.Call) and isinstance(call.parent, ast.Expr):
        return site.report(message, severity=severity, operations=[RemoveStatement(call.parent)])
    return site.report(message, severity=severity, applicability=Applicability.MANUAL)

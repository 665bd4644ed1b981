"""Arguments of the functions that load a model: entries as in ``argument_table``, for models alone where the row says so.

AutoModel.from_pretrained(name, use_auth_token=key)       ->  AutoModel.from_pretrained(name, token=key)
self.model_class.from_pretrained(name, load_in_8bit=True)     reported: what it loads is not known
AutoTokenizer.from_pretrained(name, device_map="auto")        (a row with `models` is not about tokenizers)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, by_entries, called, entries
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.method_table import with_row
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.findings import Applicability
from neuron_port.semantics.module import Module
from neuron_port.semantics.pretrained_names import is_processor
from neuron_port.semantics.scopes import BindingKind

# Bases that bring no from_pretrained.
_PLAIN = re.compile(r"(object|torch\.nn\.Module|abc\.ABC|typing\.(Protocol|Generic))\Z")
# The receiver of a from_pretrained that loads something else, by its name.
_NO_MODEL = re.compile(r"(?i)(token|processor|config|extractor|scheduler|pipeline|pipe\Z)")


def inspect(site: Site) -> Iterator[Report]:
    """Report the arguments that the row's entries are about; a row without entries is about the name itself."""
    if site.form != "method" and "arguments" not in site.row.options:
        yield from by_table(site)
        return
    for each, target in loaded(site):
        for report in by_entries(each, target, entries(each)):
            if site.form == "method":
                report.applicability = min(report.applicability, Applicability.UNSAFE)
            yield report


def loaded(site: Site) -> Iterator[tuple[Site, Called]]:
    """The site with its row, and its call, where that loads what the row is about."""
    known = with_row(site) if site.form == "method" else site
    target = called(known) if known is not None and known.form not in ("import", "star") else None
    if target is None or (site.form == "method" and _is_foreign(site.module, site.node.func.value)):
        return
    if not known.row.options.get("models") or _is_of_model(known):
        yield known, target


def _is_of_model(site: Site) -> bool:
    if site.form == "method":
        return names_model(site.node.func.value)
    owner = site.qualname.rpartition(".")[0].rpartition(".")[2] or site.qualname
    return not is_processor(owner) and not owner.endswith(("Config", "Scheduler"))


def _is_foreign(module: Module, receiver: ast.expr) -> bool:
    """Whether a class is one of the file that has nothing from elsewhere: its from_pretrained is its own."""
    bindings = module.bindings(receiver) if isinstance(receiver, ast.Name) else []
    classes = [binding.node for binding in bindings if binding.kind is BindingKind.CLASS]
    if not classes or len(classes) < len(bindings):
        return False
    return all(
        _PLAIN.match(module.qualname(base) or getattr(base, "id", "-")) for each in classes for base in each.bases
    )


def names_model(receiver: ast.expr) -> bool:
    """Whether an unknown receiver of from_pretrained may be a model, by its name."""
    name = receiver.attr if isinstance(receiver, ast.Attribute) else getattr(receiver, "id", "")
    return _NO_MODEL.search(name) is None

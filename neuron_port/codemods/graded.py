"""Operations and types that Neuron lacks or computes otherwise: how much it matters depends on where they run.

x = torch.linalg.qr(a)[0]                   in forward or in a training step: what the row says
freqs = torch.arange(n, dtype=torch.float64)
dtype_for(torch.float64, x.device)          the function decides: a note
STORAGE = torch.float8_e4m3fn               outside of such code, a type that is only kept is a note too
if x.dtype == torch.float64: ...            a question about a type is no use of it: nothing
torch.fft.rfft(torch.from_numpy(wave))      evidently on the host: nothing

``hot`` is the severity in code that runs in each step on the device (see ``semantics.places``), ``cold`` the one elsewhere;
without it nothing is said there. Rows ``method:NAME`` are about methods of tensors, and need evidence for one unless ``unique`` says
that nothing else has a method of that name. ``dtype`` asks for the kind of the first argument's elements. An operator with ``once`` is
reported at its first place in a file, whether as a function or as a method.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Severity

_QUESTIONS = frozenset({"isinstance", "issubclass", "getattr", "hasattr", "finfo", "iinfo", "is_tensor"})
_TABLES = (ast.List, ast.Tuple, ast.Set, ast.Dict)


def inspect(site: Site) -> Iterator[Report]:
    """Report by the row for a name, or for a method of a tensor."""
    if site.form == "method":
        site = _with_row(site)
    if site is None or site.row is None or (site.row.forms and site.form not in site.row.forms):
        return
    row, context = site.row, site.context
    call = site.call
    if site.form == "import" or (call is None and _asks(site.node)):
        return
    once = _operator(site) if row.options.get("once") else None
    if once in context.memo:
        return
    place = context.places.of(site.node)
    word = row.options.get("hot", row.severity.word) if place.hot else row.options.get("cold")
    # What is cheap to tell comes first: few methods of these names are in code that matters.
    if word is None or (site.form == "method" and not _is_of_tensor(site)):
        return
    if _is_elsewhere(site, call if call is not None else _given_to(site.node)):
        return
    if once is not None:
        context.memo.add(once)
    severity = min(Severity.parse(word), row.severity)
    if call is None and (_is_handed_on(site) or (not place.hot and _is_kept(site.node))):
        severity = Severity.INFO
    yield site.report(severity=severity, evidence=place.text if place.hot else None)


def _with_row(site: Site) -> Site | None:
    name = site.node.func.attr
    row = next((row for row in site.rule.rows if row.source == f"method:{name}"), None)
    return replace(site, row=row, qualname=name) if row is not None else None


def _is_of_tensor(site: Site) -> bool:
    """Whether the method is one of a tensor, as surely as its row asks for."""
    receiver, context = site.node.func.value, site.context
    if site.row.options.get("unique"):
        return context.receivers.torch_file and context.receivers.kind(receiver).kind != "other"
    return context.tensors.of(receiver) is not None


def _operator(site: Site) -> str:
    """What a row with ``once`` is said for: ``torch.arccos``, ``x.acos()`` and ``x.acos_()`` run one operator."""
    name = site.row.source.rpartition(":")[2].rpartition(".")[2].rstrip("_")
    return f"{site.rule.code} {f'a{name[3:]}' if name.startswith('arc') else name}"


def _given_to(node: ast.AST) -> ast.Call | None:
    """The call that a type is an argument of: ``x.to(torch.float64)``, ``torch.zeros(3, dtype=torch.float64)``."""
    around = node.parent.parent if isinstance(node.parent, ast.keyword) else node.parent
    return around if isinstance(around, ast.Call) else None


def _is_handed_on(site: Site) -> bool:
    """Whether a type goes to a function that may change it for the device: ``dtype_for(torch.float64, x.device)``."""
    node = _whole(site.node)
    call = node.parent
    if not isinstance(call, ast.Call) or node not in call.args or isinstance(call.func, ast.Attribute):
        return False
    return not (site.module.qualname(call.func) or "").startswith("torch.")


def _whole(node: ast.AST) -> ast.AST:
    """The conditional expression around a type, or the type itself."""
    while isinstance(node.parent, ast.IfExp):
        node = node.parent
    return node


def _is_kept(node: ast.AST) -> bool:
    """Whether a type is kept for later, or is a default: ``storage = torch.float8_e4m3fn``."""
    return isinstance(_whole(node).parent, (ast.Assign, ast.AnnAssign, ast.arguments))


def _is_elsewhere(site: Site, call: ast.Call | None) -> bool:
    """Whether the call works on values of the host, or on elements that the row is not about."""
    if call is None:
        return False
    tensors = site.context.tensors
    values = [call.func.value] if site.form == "method" else call.args[:1]
    if tensors.on_host(call) or any(tensors.on_host(value) for value in values):
        return True
    wanted = site.row.options.get("dtype")
    return wanted is not None and not any(tensors.dtype(value) == wanted for value in values)


def _asks(node: ast.AST) -> bool:
    """Whether a type is compared, looked up or listed, and not given to anything."""
    parent = node.parent
    while isinstance(parent, (*_TABLES, ast.Starred)):
        node, parent = parent, parent.parent
        if isinstance(node, _TABLES) and isinstance(parent, (ast.Assign, ast.AnnAssign, ast.Attribute, ast.Subscript)):
            return True
    if isinstance(parent, ast.Compare):
        return True
    if not isinstance(parent, ast.Call) or node not in parent.args:
        return False
    return getattr(parent.func, "attr", getattr(parent.func, "id", "")) in _QUESTIONS

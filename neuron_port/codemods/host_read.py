"""The value of a tensor is read on the host, over and over: each read waits until the device has computed it.

for batch in loader: ...; total += loss.item()       warning: add the detached loss up on the device
def forward(self, x): n = int(x.max())               warning: torch.compile breaks the graph here
while ...: if token.item() == end: break             warning: each token waits
if step % 100 == 0: print(loss.item())                   left alone
lengths.cpu().tolist()                                   one finding: what has been read is on the host
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import statement
from neuron_port.semantics.waits import runs_elsewhere, spelled, waited_for

ADVICE = {
    "training": "makes each training step wait for the device; keep what is logged on the device, detached, and read it "
    "every so many steps",
    "generation": "makes each new token wait for the device; keep the test for the end on the device and read it every few tokens",
    "forward": "waits for the device in each forward pass, and torch.compile breaks the graph here; keep the value a tensor",
    "compiled": "breaks the compiled graph in two and waits for the device in between; keep the value a tensor, or read it "
    "outside of the compiled function",
}


def inspect(site: Site) -> Iterator[Report]:
    """Report a read of a tensor's value in code that runs in each step."""
    call = site.call
    values = _values(site, call) if call is not None else []
    if not values:
        return
    place = site.context.places.of(call)
    if not place.hot:
        return
    for value in values:
        evidence = waited_for(site.context.tensors, value, read_as_tensor=site.form != "builtin")
        if evidence is not None and not runs_elsewhere(site.module, call):
            yield from once(site, call, f"{spelled(call)} {ADVICE[place.kind]}", f"{evidence}; {place.text}")
            return


def once(site: Site, node: ast.AST, message: str, evidence: str, severity: Severity | None = None) -> Iterator[Report]:
    """The report about a statement, however many values it reads."""
    key = f"{site.rule.code}:{id(statement(node))}"
    if key not in site.context.memo:
        site.context.memo.add(key)
        yield site.report(message, node=node, severity=severity, evidence=evidence, applicability=Applicability.MANUAL)


def _values(site: Site, call: ast.Call) -> list[ast.expr]:
    """What a call reads: the receiver of a method, the argument of ``float()``, the arguments of ``torch.equal()``."""
    if site.form == "method":
        if call.func.attr == "to":
            to_cpu = bool(call.args) and isinstance(call.args[0], ast.Constant) and call.args[0].value == "cpu"
            return [call.func.value] if to_cpu and len(call.args) == 1 and not call.keywords else []
        return [call.func.value] if not call.args and not call.keywords else []
    if site.form == "builtin":
        single = len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], (ast.Constant, ast.Starred))
        return call.args if single else []
    return call.args[:2] if site.form == "call" else []

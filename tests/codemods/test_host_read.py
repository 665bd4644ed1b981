"""Reads of a tensor's value in code that runs in each step."""

from __future__ import annotations

import pytest

from tests.porting import check

LOOP = """
import torch
import torch.nn.functional as F
def train(model, loader, log):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        {line}
"""
FORWARD = """
import torch
from torch import nn
class Net(nn.Module):
    def forward(self, x, y: torch.Tensor, n, k: int):
        {line}
        return x
"""


def found(template: str, line: str) -> list[tuple[int, str]]:
    findings = check(template.format(line=line.replace("\n", "\n        ")))
    return [(finding.location.column, finding.message) for finding in findings if finding.code == "NP630"]


def test_the_place_and_the_advice():
    ((column, message),) = found(LOOP, "total = loss.item()")
    assert column == 17
    assert message == (
        "loss.item() makes each training step wait for the device; keep what is logged on the device, detached, and read it "
        "every so many steps"
    )
    (finding,) = check(LOOP.format(line="total = loss.item()"))
    assert finding.evidence == "made by torch.nn.functional.cross_entropy(); it runs in the training loop of line 5"


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("log(loss.detach().cpu().numpy())", 13),
        ('log(loss.to("cpu"))', 13),
        ("log(float(loss))", 13),
        ("log({'a': loss.item(), 'b': loss.item()})", 19),
        ("log([part.item() for part in torch.unbind(loss)])", 14),
        ("log(torch.equal(loss, loss))", 13),
    ],
)
def test_one_finding_for_a_statement(line, column):
    assert [each[0] for each in found(LOOP, line)] == [column]


@pytest.mark.parametrize(
    "line",
    [
        "x.item()",
        "y.tolist()",
        "log.cpu()",
        "float(step)",
        "loss.detach()",
        'loss.to("cuda")',
        "loss.item() if step % 100 == 0 else 0",
        "assert loss.item() > 0",
        "torch.rand(1).item()",
        "torch.tensor([1]).tolist()",
        "lambda: loss.item",
    ],
)
def test_reads_that_wait_for_nothing(line):
    assert found(LOOP, line) == []


@pytest.mark.parametrize(
    "line", ["int(x.max())", "y.tolist()", "x.cpu()", "bool((x > 0).all())", "n = torch.is_nonzero(x)"]
)
def test_forward(line):
    assert len(found(FORWARD, line)) == 1


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        ("rows = k\nfor row in x:\n    row.tolist()", 1),
        ("for row, n in zip(x, y):\n    n.item()", 1),
        ("check(n == 3, lambda: f'got {int(y)}')", 0),
        ("check(n == 3, lambda: int(y))", 1),
    ],
)
def test_elements_and_messages(lines, count):
    assert len(found(FORWARD, lines)) == count


@pytest.mark.parametrize(
    "lines",
    [
        "for row in rows:\n    row.tolist()",
        "for i, row in enumerate(rows):\n    row.tolist()",
        "for n, row in zip(y, rows):\n    int(row)",
        "rows.sum(1).to(torch.long).tolist()",
    ],
)
def test_elements_of_what_is_on_the_host(lines):
    (move,) = found(FORWARD, "rows = x.detach().cpu()\n" + lines)
    assert move[0] == 16


@pytest.mark.parametrize(
    "line", ["float(n)", "int(k)", "int(x.shape[0])", "bool(self.training)", "x.cpu() if x.is_cuda else x"]
)
def test_numbers_and_other_devices(line):
    assert found(FORWARD, line) == []


def test_shadowed_builtins():
    assert found("int = str\n" + FORWARD, "int(y)") == []


def test_the_nearest_assignment_decides_where_a_value_is():
    code = """
    import torch
    for batch in loader:
        if flag:
            t = torch.randint(0, 10, (1,), device="cpu")
            n = t.item()
        else:
            t = torch.randint(0, 10, (1,), device=device)
        loss = model(batch)
        loss.backward()
    """
    assert [finding.code for finding in check(code) if finding.code == "NP630"] == []

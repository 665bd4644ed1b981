"""Evidence that something is a tensor or a module."""

from __future__ import annotations

import pytest

from neuron_port.semantics.receivers import Grade, Receivers
from tests.semantics.build import module

HEAD = "import torch\nfrom torch import nn\n"


def evidence(source: str):
    """About the receiver of the last ``.cuda()`` call."""
    model = module(source)
    return Receivers(model).kind(model.found.methods[-1].func.value)


@pytest.mark.parametrize(
    ("source", "kind", "grade", "text"),
    [
        ("x = torch.randn(3)\nx.cuda()", "tensor", Grade.CONSTRUCTOR, "made by torch.randn()"),
        ("torch.randn(3).float().cuda()", "tensor", Grade.CONSTRUCTOR, "made by torch.randn()"),
        ("nn.Linear(3, 4).cuda()", "module", Grade.CONSTRUCTOR, "made by torch.nn.Linear()"),
        (
            "class Net(nn.Module): pass\nnet = Net()\nnet.cuda()",
            "module",
            Grade.CONSTRUCTOR,
            "made by Net, an nn.Module",
        ),
        (
            "class A(nn.Module): pass\nclass B(A): pass\nB().cuda()",
            "module",
            Grade.CONSTRUCTOR,
            "made by B, an nn.Module",
        ),
        (
            "class N(nn.Module):\n    def f(self):\n        self.cuda()",
            "module",
            Grade.CONSTRUCTOR,
            "N is an nn.Module",
        ),
        ("def f(x: torch.Tensor):\n    x.cuda()", "tensor", Grade.ANNOTATION, "annotated as torch.Tensor"),
        ("def f(m: 'nn.Module'):\n    m.cuda()", "module", Grade.ANNOTATION, "annotated as nn.Module"),
        ("for x, y in loader:\n    y.cuda()", "tensor", Grade.FLOW, "comes from a data loader"),
        ("for i, (x, y) in enumerate(train_loader):\n    x.cuda()", "tensor", Grade.FLOW, "comes from a data loader"),
        (
            "class N(nn.Module):\n    def forward(self, x):\n        x.cuda()",
            "tensor",
            Grade.FLOW,
            "an input of N.forward",
        ),
        ("net = nn.Linear(1, 1)\nout = net(x)\nout.cuda()", "tensor", Grade.FLOW, "the output of a module"),
        ("x = torch.ones(2) * y\nx.cuda()", "tensor", Grade.FLOW, "computed from made by torch.ones()"),
        ("def f(model):\n    model.eval()\n    model.cuda()", "module", Grade.USAGE, ".eval() is called on model"),
        ("def f(x):\n    x.cuda()\n    x.view(-1)", "tensor", Grade.USAGE, ".view is used on x"),
        (
            "def f(x):\n    x.cuda()",
            "unknown",
            Grade.FILE,
            "the file imports torch, nothing else says what the receiver is",
        ),
        (
            "class Batch:\n    def cuda(self): pass\nBatch().cuda()",
            "other",
            Grade.CONSTRUCTOR,
            "made by Batch, which has a cuda() of its own",
        ),
        (
            "class A:\n    def f(self):\n        self.cuda()",
            "other",
            Grade.CONSTRUCTOR,
            "A is a class of this file without torch bases",
        ),
    ],
)
def test_evidence(source: str, kind: str, grade: Grade, text: str) -> None:
    found = evidence(HEAD + source)
    assert (found.kind, found.grade, found.text) == (kind, grade, text)


def test_nothing_is_known_without_torch() -> None:
    found = evidence("x.cuda()")
    assert (found.kind, found.grade, found.certain) == ("unknown", Grade.NOTHING, False)


def test_what_makes_a_rewrite_safe() -> None:
    assert evidence(HEAD + "torch.ones(1).cuda()").certain
    assert not evidence(HEAD + "def f(x):\n    x.cuda()").certain


def test_a_name_defined_by_itself_ends() -> None:
    assert evidence(HEAD + "x = x\nx.cuda()").grade is Grade.FILE

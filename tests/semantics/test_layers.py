"""Which calls of layers give one tensor: ``semantics.layers``, and what ``semantics.tensors`` makes of it."""

from __future__ import annotations

import ast
import textwrap
import time

import pytest

from neuron_port.semantics.module import Module, Watch
from neuron_port.semantics.receivers import Receivers
from neuron_port.semantics.tensors import Tensors

HEAD = """
import torch
from collections import OrderedDict
from torch import nn
from torch.nn.utils import weight_norm
"""


def is_tensor(forward: str, init: str, bases: str = "nn.Module") -> bool:
    """Whether the argument of ``here()`` in ``forward`` is a tensor, in a class with this ``__init__``."""
    body = f"""
class Net({bases}):
    def __init__(self, norm_layer, depth, flag, p):
        super().__init__()
{textwrap.indent(textwrap.dedent(init).strip(), " " * 8)}

    def forward(self, x):
{textwrap.indent(textwrap.dedent(forward).strip(), " " * 8)}
"""
    module = Module(HEAD + body, ast.parse(HEAD + body), Watch(roots=frozenset({"torch"})))
    (call,) = module.calls_of("here")
    return Tensors(module, Receivers(module)).of(call.args[0]) is not None


@pytest.mark.parametrize(
    "made",
    [
        "nn.Linear(8, 8)",
        "torch.nn.modules.linear.Linear(8, 8)",
        "nn.Conv2d(3, 8, 3)",
        "nn.LayerNorm(8)",
        "nn.GELU()",
        "nn.Embedding(9, 8)",
        "nn.Identity()",
        "nn.Dropout(p) if p else nn.Identity()",
        "nn.Dropout(p) if p else None",
        "nn.MaxPool2d(2)",
        "nn.MaxPool2d(2, 2, 0, 1)",
        "nn.MaxPool2d(2, return_indices=False)",
        "nn.AdaptiveMaxPool1d(1)",
        "nn.Sequential(nn.Linear(8, 8), nn.ReLU())",
        "nn.Sequential(nn.LSTM(8, 8), Last(), nn.Linear(8, 8))",
        "nn.Sequential(*[nn.Linear(8, 8) for _ in range(depth)])",
        'nn.Sequential(OrderedDict([("fc", nn.Linear(8, 8)), ("act", nn.ReLU())]))',
        "weight_norm(nn.Conv1d(8, 8, 3))",
        "torch.compile(nn.Linear(8, 8))",
        'nn.Linear(8, 8).to("neuron")',
        "nn.CrossEntropyLoss()",
    ],
)
def test_a_layer_that_gives_one_tensor(made):
    assert is_tensor("here(self.layer(x))", f"self.layer = {made}")
    assert is_tensor("h = self.layer(x)\nhere(h < 0)", f"self.layer = {made}")


@pytest.mark.parametrize(
    "made",
    [
        "nn.LSTM(8, 8)",
        "nn.GRU(8, 8)",
        "nn.LSTMCell(8, 8)",
        "nn.MultiheadAttention(8, 2)",
        "nn.AdaptiveLogSoftmaxWithLoss(8, 9, [2])",
        "nn.MaxPool2d(2, return_indices=True)",
        "nn.MaxPool2d(2, return_indices=flag)",
        "nn.MaxPool2d(2, 2, 0, 1, True)",
        "nn.MaxPool2d(2, **p)",
        "nn.AdaptiveMaxPool1d(1, True)",
        "nn.Sequential(nn.Linear(8, 8), nn.LSTM(8, 8))",
        "nn.Sequential(*depth)",
        "nn.Sequential()",
        "nn.Linear(8, 8) if flag else nn.LSTM(8, 8)",
        "nn.DataParallel(norm_layer)",
        "nn.Parameter(x)",
        "norm_layer(8)",
        "flag or nn.ReLU()",
        "Own(8)",
        "None",
    ],
)
def test_a_layer_that_may_give_something_else(made):
    assert not is_tensor("here(self.layer(x))", f"self.layer = {made}")


def test_every_assignment_of_the_class_counts():
    forward = "here(self.layer(x))"
    assert is_tensor(forward, "self.layer = None\nif flag:\n    self.layer = nn.Linear(8, 8)")
    assert not is_tensor(forward, "self.layer = nn.Linear(8, 8)\nif flag:\n    self.layer = nn.LSTM(8, 8)")
    assert not is_tensor(forward, "self.layer, self.other = build()")
    assert not is_tensor("here(self.other.layer(x))", "self.layer = nn.Linear(8, 8)")


def test_other_classes_do_not_count_and_bases_do():
    text = HEAD + textwrap.dedent(
        """
        class Base(nn.Module):
            def __init__(self):
                self.fc = nn.Linear(8, 8)
                self.rnn = nn.Linear(8, 8)
        class Other(nn.Module):
            def __init__(self):
                self.norm = nn.LayerNorm(8)
        class Net(Base):
            def __init__(self):
                self.rnn = nn.LSTM(8, 8)
            def forward(self, x):
                here(self.fc(x), self.rnn(x), self.norm(x))
        """
    )
    module = Module(text, ast.parse(text), Watch(roots=frozenset({"torch"})))
    (call,) = module.calls_of("here")
    tensors = Tensors(module, Receivers(module))
    assert [tensors.of(argument) is not None for argument in call.args] == [True, False, False]


LISTS = [
    ("self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(depth)])", True),
    ("self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(depth))", True),
    ("self.layers = nn.ModuleList([nn.Linear(8, 8)] * depth + [nn.ReLU()])", True),
    ("self.layers = nn.ModuleList()\nfor _ in range(depth):\n    self.layers.append(nn.Linear(8, 8))", True),
    ("self.layers = nn.ModuleList([])\nself.layers.extend([nn.Linear(8, 8)])", True),
    ("items = []\nfor _ in range(depth):\n    items += [nn.Linear(8, 8)]\nself.layers = nn.ModuleList(items)", True),
    ("items = [nn.ReLU()]\nitems = items + [nn.ReLU()]\nself.layers = nn.ModuleList(items)", True),
    ("self.layers = nn.ModuleList([nn.Linear(8, 8), nn.LSTM(8, 8)])", False),
    ("self.layers = nn.ModuleList([nn.Linear(8, 8)])\nself.layers.append(nn.LSTM(8, 8))", False),
    ("self.layers = nn.ModuleList([nn.Linear(8, 8)])\nself.layers[0] = norm_layer(8)", False),
    ("items = [nn.Linear(8, 8)]\nadd_blocks(items)\nself.layers = nn.ModuleList(items)", False),
    ("self.layers = nn.ModuleList()", False),
    ("self.layers = nn.ModuleList(depth)", False),
    ("self.layers = depth", False),
]


@pytest.mark.parametrize(("init", "answer"), LISTS)
@pytest.mark.parametrize(
    "forward",
    [
        "for layer in self.layers:\n    x = layer(x)\nhere(x < 0)",
        "for layer in self.layers:\n    here(layer(x))",
        "for i, layer in enumerate(self.layers):\n    here(layer(x))",
        "for y, layer in zip(x, self.layers[1:]):\n    here(layer(y))",
        "for i, (layer, y) in enumerate(zip(self.layers, x)):\n    here(layer(y))",
        "for layer in reversed(self.layers):\n    here(layer(x))",
        "here(self.layers[0](x))",
        "y = torch.cat([here(layer(x)) for layer in self.layers])",
    ],
)
def test_layers_of_a_list(forward, init, answer):
    assert is_tensor(forward, init) is answer


def test_layers_of_a_dictionary():
    init = 'self.heads = nn.ModuleDict({"a": nn.Linear(8, 8), "b": nn.Linear(8, 9)})'
    assert is_tensor('here(self.heads["a"](x))', init)
    assert is_tensor("for head in self.heads.values():\n    here(head(x))", init)
    assert is_tensor("for name, head in self.heads.items():\n    here(head(x))", init)
    assert not is_tensor('here(self.heads["a"](x))', init + '\nself.heads.update({"c": nn.LSTM(8, 8)})')


@pytest.mark.parametrize(
    "forward",
    [
        "for layer, norm in self.layers:\n    here(layer(x))",
        "for i, (layer, norm) in enumerate(self.layers):\n    here(layer(x))",
        "for layer in self.layers:\n    here(layer)",
        "for i, layer in enumerate(self.layers):\n    here(i(x))",
        "here(self.layers[1:](x))",
        "here(self.layers(x))",
    ],
)
def test_what_is_no_layer_of_a_list(forward):
    assert not is_tensor(forward, "self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(depth)])")


def test_the_loop_around_a_call_says_which_list_it_is():
    init = "self.layers = nn.ModuleList([nn.Linear(8, 8)])\nself.rnns = nn.ModuleList([nn.LSTM(8, 8)])"
    forward = "for layer in self.{}:\n    layer(x)\nfor layer in self.{}:\n    here(layer(x))"
    assert is_tensor(forward.format("rnns", "layers"), init)
    assert not is_tensor(forward.format("layers", "rnns"), init)


def test_lists_that_are_made_of_each_other_take_no_time():
    lines = "\n".join(
        f"a = a + b + [nn.ReLU()]\nb = b + a + [nn.ReLU()]\nlayer = layer if flag else wrap(layer, {i})"
        for i in range(40)
    )
    begin = time.perf_counter()
    is_tensor("here(self.layer(x))", f"a, b, layer = [], [], nn.ReLU()\n{lines}\nself.layer = nn.Sequential(layer, *a)")
    assert time.perf_counter() - begin < 1

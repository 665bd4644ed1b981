"""What a name means: imports, aliases, scopes."""

from __future__ import annotations

import pytest

from tests.semantics.build import module, names


@pytest.mark.parametrize(
    ("source", "name", "meaning"),
    [
        ("import torch\ntorch.cuda.synchronize()", "torch", "torch.cuda.synchronize"),
        ("import torch as th\nth.cuda.synchronize()", "th", "torch.cuda.synchronize"),
        ("import torch.cuda\ntorch.cuda.synchronize()", "torch", "torch.cuda.synchronize"),
        ("import torch.cuda as tc\ntc.synchronize()", "tc", "torch.cuda.synchronize"),
        ("from torch import cuda\ncuda.synchronize()", "cuda", "torch.cuda.synchronize"),
        ("from torch.cuda import synchronize as sync\nsync()", "sync", "torch.cuda.synchronize"),
        ("import torch\nc = torch.cuda\nc.synchronize()", "c", "torch.cuda.synchronize"),
        ("import torch\nc = getattr(torch, 'cuda')\nc.synchronize()", "c", "torch.cuda.synchronize"),
        ("import importlib\nt = importlib.import_module('torch.cuda')\nt.synchronize()", "t", "torch.cuda.synchronize"),
        ("import torch\n(c := torch.cuda)\nc.synchronize()", "c", "torch.cuda.synchronize"),
        ("import torch\na, b = torch.cuda, torch\na.synchronize()", "a", "torch.cuda.synchronize"),
        ("try:\n    import apex\nexcept ImportError:\n    apex = None\napex.amp", "apex", "apex.amp"),
        ("from .cuda import synchronize\nsynchronize()", "synchronize", ".cuda.synchronize"),
        ("from numba import cuda\ncuda.jit", "cuda", "numba.cuda.jit"),
    ],
)
def test_resolves(source: str, name: str, meaning: str) -> None:
    assert names(module(source), name)[-1] == meaning


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import torch\ndef f(torch):\n    return torch.cuda", "torch"),
        ("import torch\ntorch = load()\ntorch.cuda", "torch"),
        ("import torch\nfor torch in items:\n    torch.cuda", "torch"),
        ("import torch\n[torch.cuda for torch in items]", "torch"),
        ("import torch\nlambda torch: torch.cuda", "torch"),
        ("import torch\nwith f() as torch:\n    torch.cuda", "torch"),
        ("import torch\nmatch x:\n    case torch:\n        torch.cuda", "torch"),
        ("import torch\ncuda = torch.cuda.is_available()\ncuda.x", "cuda"),
        ("def f():\n    import torch\ntorch.cuda", "torch"),
        ("class A:\n    import torch\n    def f(self):\n        return torch.cuda", "torch"),
    ],
)
def test_shadowed_names_mean_nothing(source: str, name: str) -> None:
    assert names(module(source), name)[-1] is None


def test_several_meanings_are_all_kept() -> None:
    model = module("""
        try:
            from torch.amp import autocast
        except ImportError:
            from torch.cuda.amp import autocast
        autocast()
    """)
    call = model.tree.body[-1].value
    assert model.qualname(call.func) is None
    assert model.qualnames(call.func) == ("torch.amp.autocast", "torch.cuda.amp.autocast")


def test_import_in_a_function_is_local() -> None:
    model = module("""
        def f():
            import torch
            return torch.cuda

        def g():
            return torch.cuda
    """)
    assert names(model, "torch") == ["torch.cuda", None]


def test_global_and_nonlocal() -> None:
    model = module("""
        import torch
        c = None

        def f():
            global c
            c = torch.cuda

        def g():
            return c.synchronize
    """)
    assert names(model, "c") == ["torch.cuda.synchronize"]


def test_class_body_names_are_not_seen_in_methods() -> None:
    model = module("""
        import torch

        class A:
            torch = None

            def f(self):
                return torch.cuda
    """)
    assert names(model, "torch") == ["torch.cuda"]


def test_comprehension_reads_its_first_iterable_outside() -> None:
    model = module("""
        import torch
        [torch for torch in torch.cuda.devices]
    """)
    assert names(model, "torch") == [None, "torch.cuda.devices"]


def test_references_of_a_binding() -> None:
    model = module("""
        device = "cuda"

        def f(device):
            return device

        def g():
            return device
    """)
    (binding,) = model.scope.bindings["device"]
    assert [node.lineno for node in model.references(binding)] == [8]


def test_deep_nesting_does_not_recurse() -> None:
    model = module("x = " + "-" * 900 + "1")
    assert list(model.scope.bindings) == ["x"]

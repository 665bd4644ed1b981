"""The record: what, how often, and at which line of the user."""

from __future__ import annotations

import inspect
import os

import torch
from torch import nn

from neuron_port import emulator


def line():
    return inspect.currentframe().f_back.f_lineno


def test_fallbacks_are_recorded_with_the_users_line():
    x = torch.ones(3, 4, device="neuron")
    for _ in range(3):
        x.std()
        here = line() - 1
    [event] = [e for e in emulator.log.events("fallback") if e.place.line == here]
    assert (event.operation, event.count, os.path.basename(event.place.file)) == ("aten::std", 3, "test_observation.py")
    assert "aten::std" in emulator.log.operations("fallback")


def test_syncs():
    x = torch.ones(2, device="neuron")
    emulator.log.clear()
    x.sum().item()
    float(x[0])
    if x[0] > 0:
        x.cpu()
    x.tolist()
    assert sum(e.count for e in emulator.log.events("sync")) == 5
    assert {e.operation for e in emulator.log.events("sync")} == {"item", "device to host"}


def test_copies_have_bytes():
    x = torch.ones(10).to("neuron")
    x.cpu()
    moved = {e.operation: e.size for e in emulator.log.events("copy")}
    assert moved == {"host to device": 40, "device to host": 40}


def test_library_code_is_attributed_to_the_caller():
    model = nn.BatchNorm1d(3).to("neuron")
    emulator.log.clear()
    model(torch.ones(2, 3, device="neuron"))
    here = line() - 1
    [event] = emulator.log.events("fallback")
    assert event.place.line == here


def test_backward_is_attributed_to_backward():
    x = torch.ones(2, 3, device="neuron", requires_grad=True)
    y = nn.functional.mse_loss(x, torch.zeros_like(x))
    emulator.log.clear()
    y.backward()
    here = line() - 1
    [event] = emulator.log.events("fallback")
    assert (event.operation, event.place.line) == ("aten::mse_loss_backward", here)


def test_complex_use_and_attention_masks(allow):
    allow("complex")
    x = torch.ones(2, dtype=torch.complex64, device="neuron")
    _ = x * x
    assert [e.operation for e in emulator.log.events("complex")] == ["aten::mul"]
    q = torch.ones(1, 1, 4, 8, device="neuron")
    mask = torch.ones(4, 4, dtype=torch.bool, device="neuron")
    nn.functional.scaled_dot_product_attention(q, q, q, attn_mask=mask)
    [event] = emulator.log.events("attention")
    assert event.detail.startswith("attn_mask")


def test_printing_is_one_sync():
    x = torch.ones(2, device="neuron")
    emulator.log.clear()
    repr(x)
    assert [(e.kind, e.operation, e.count) for e in emulator.log.events()] == [("sync", "print", 1)]


def test_executed_operators_and_dict():
    torch.ones(2, 2, device="neuron") @ torch.ones(2, 2, device="neuron")
    assert emulator.log.executed["mm"] == 1
    event = emulator.Event("sync", "item", emulator.Place("a.py", 3), "", 2, 0)
    assert event.as_dict() == {
        "kind": "sync", "operation": "item", "file": "a.py", "line": 3, "detail": "", "count": 2, "bytes": 0,
    }  # fmt: skip

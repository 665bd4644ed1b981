"""Each limit of the table: a program that meets it, and one beside it that does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from neuron_port import emulator
from neuron_port.emulator import limits


def neuron(*shape, dtype=torch.float32):
    return torch.ones(*shape, dtype=dtype, device="neuron")


def heads(query, key):
    q, k = neuron(1, query, 4, 8), neuron(1, key, 4, 8)
    return F.scaled_dot_product_attention(q, k, k, enable_gqa=True)


def attention(**call):
    model = nn.MultiheadAttention(8, 2, batch_first=True).to("neuron").eval()
    x = neuron(1, 3, 8)
    with torch.no_grad():
        return model(x, x, x, **call)[0]


MASK = torch.zeros(3, 3, dtype=torch.bool)

# name -> (refused, allowed by the device, start of the message)
CASES = {
    "sparse": (
        lambda: neuron(2, 2).to_sparse(),
        lambda: torch.eye(2).to_sparse(),
        "Could not run 'aten::_?to_sparse' with arguments from the 'SparsePrivateUse1' backend",
    ),
    "sparse-grad": (
        lambda: torch.gather(neuron(2, 2).requires_grad_(), 0, neuron(1, 2, dtype=torch.int64), sparse_grad=True),
        lambda: torch.gather(neuron(2, 2), 0, neuron(1, 2, dtype=torch.int64)),
        "sparse_grad=True is not supported on Neuron",
    ),
    "nested": (
        lambda: torch.nested.nested_tensor([neuron(2), neuron(3)], layout=torch.jagged),
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
        "Could not run 'torch.nested.nested_tensor' with arguments from the 'NestedTensorPrivateUse1' backend",
    ),
    "jvp": (
        lambda: torch.func.jvp(torch.sin, (neuron(2),), (neuron(2),)),
        lambda: torch.func.vjp(torch.sin, neuron(2)),
        "Forward-mode automatic differentiation",
    ),
    "recurrent": (
        lambda: nn.LSTM(4, 4).to("neuron")(neuron(2, 1, 4)),
        lambda: nn.RNN(4, 4).to("neuron")(neuron(2, 1, 4)),
        "Could not run 'aten::_thnn_fused_lstm_cell' with arguments from the 'CPU' backend",
    ),
    "channels-last": (
        lambda: neuron(1, 2, 3, 3).to(memory_format=torch.channels_last),
        lambda: neuron(1, 2, 3, 3).to(memory_format=torch.preserve_format),
        ".*: Neuron tensors only support contiguous or preserve memory format",
    ),
    "copy-layout": (
        lambda: neuron(2, 3).copy_(neuron(3, 2).t()),
        lambda: neuron(2, 3).copy_(neuron(2, 3)),
        "Neuron->Neuron copy with layout change is not supported yet. Please make tensors contiguous first.",
    ),
    "copy-size": (
        lambda: neuron(2, 3).copy_(neuron(3)),
        lambda: neuron(2, 3).copy_(neuron(2, 3)),
        "Neuron->Neuron copy with size mismatch is not supported",
    ),
    "mha-mask": (
        lambda: attention(need_weights=False, attn_mask=MASK.to("neuron")),
        lambda: attention(need_weights=False),
        "Arbitrary mask tensors not yet supported in Neuron implementation",
    ),
    "mha-weights": (
        lambda: attention(),
        lambda: attention(need_weights=False),
        r"Returning attention weights \(need_weights=True\) is not yet supported in Neuron implementation",
    ),
    "mha-per-head-weights": (
        lambda: attention(average_attn_weights=False),
        lambda: attention(need_weights=False),
        "Returning per-head attention weights not yet supported",
    ),
    "gqa-heads": (
        lambda: heads(4, 3),
        lambda: heads(4, 2),
        "Number of heads in key and value must divide the number of heads in query",
    ),
    "float64-attention": (
        lambda: F.scaled_dot_product_attention(*[neuron(1, 1, 4, 8, dtype=torch.float64)] * 3),
        lambda: F.scaled_dot_product_attention(*[neuron(1, 1, 4, 8)] * 3),
        "scaled_dot_product_attention: float64",
    ),
    "mixed-devices": (
        lambda: neuron(2) + torch.ones(2),
        lambda: neuron(2) + torch.tensor(1.0),
        "Non-scalar tensor arg of .* is on cpu device, expected neuron",
    ),
    "no-kernel": (
        lambda: torch.ops.aten._cudnn_ctc_loss(neuron(1), neuron(1), [1], [1], 0, False, False),
        lambda: neuron(1).exp(),
        "Operation aten::_cudnn_ctc_loss is not implemented for Neuron and CPU fallback failed with error",
    ),
    "complex": (
        lambda: neuron(2, dtype=torch.complex64) * 2,
        lambda: neuron(2) * 2,
        r"\[NCC_EVRF004\]",
    ),
    "unsigned": (
        lambda: neuron(2, dtype=torch.uint16).float().to(torch.uint16) // 1,
        lambda: neuron(2, dtype=torch.uint8) // 1,
        r"\[NCC_ESPP004\] .*: data type uint16 is not supported",
    ),
    "float8-e4m3": (
        lambda: neuron(2).to(torch.float8_e4m3fn) * neuron(2).to(torch.float8_e4m3fn),
        lambda: neuron(2).to(torch.float8_e5m2),
        r"\[NCC_EVRF051\]",
    ),
    "integer-matmul": (
        lambda: neuron(2, 2, dtype=torch.int32) @ neuron(2, 2, dtype=torch.int32),
        lambda: neuron(2, 2) @ neuron(2, 2),
        r"\[NCC_EVRF035\]",
    ),
    "generator": (
        lambda: torch.Generator("neuron"),
        lambda: torch.Generator("cpu"),
        "torch.Generator is not available",
    ),
    "device-index": (
        lambda: torch.ones(1, device="neuron:7"),
        lambda: torch.ones(1, device="neuron:0"),
        "Device index 7 is out of range. Valid range is 0 to 3 for this process",
    ),
    "quantised": (
        lambda: torch.quantize_per_tensor(neuron(3), 0.1, 0, torch.qint8),
        lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8),
        ".*quantized data types are not supported on Neuron",
    ),
    "pin-memory": (lambda: neuron(1).pin_memory(), lambda: torch.ones(1).pin_memory(), "cannot pin"),
    "cuda": (
        lambda: torch.ones(1).cuda(),
        lambda: torch.cuda.is_available(),
        "old platform: torch.cuda .*test_limits.py:",
    ),
    "xla": (
        lambda: __import__("torch_xla"),
        lambda: __import__("importlib.util").util.find_spec("torch_xla"),
        "old platform: torch_xla belongs to PyTorch/XLA.*test_limits.py:",
    ),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_refused_and_not_refused(name):
    refused, fine, message = CASES[name]
    emulator.start(refuse=(name,))
    limit = limits.table()[name]
    with pytest.raises(getattr(__import__("builtins"), limit.error), match=message):
        refused()
    events = emulator.log.events("refused")
    assert [(event.detail, os.path.basename(event.place.file)) for event in events] == [(name, "test_limits.py")]
    fine()
    assert len(emulator.log.events("refused")) == 1


@pytest.mark.parametrize(
    "name",
    sorted(
        set(CASES)
        - {
            "sparse-grad",
            "cuda",
            "xla",
            "no-kernel",
            "gqa-heads",
            "unsigned",
            "float8-e4m3",
            "pin-memory",
            "quantised",
            "device-index",
        }
    ),
)
def test_allowed_when_switched_off(name, allow):
    allow(name, *(["mha-weights"] if name == "mha-per-head-weights" else []), "float64")
    if name != "nested":
        CASES[name][0]()
    assert emulator.log.events("refused") == []


def test_float64_is_computed_in_float32(allow):
    x = torch.tensor([1.0], dtype=torch.float64, device="neuron")
    assert (x + 1e-12).item() == 1.0
    assert x.add_(1e-12).dtype is torch.float64
    assert torch.tensor([1 + 1e-12], dtype=torch.float64, device="neuron").item() == 1 + 1e-12
    [event] = [e for e in emulator.log.events("wide") if e.operation == "aten::add"]
    assert (event.detail, event.count) == ("float64", 1)
    allow("float64")
    assert (x + 1e-12).item() == 1 + 1e-12


def test_int64_arithmetic_overflows_at_31_bits(allow):
    x = torch.tensor([2**31 - 1], device="neuron")
    assert (x + 1).item() == -(2**31)
    assert x.item() == 2**31 - 1
    big = torch.tensor([2**40], device="neuron")
    assert big.clone().item() == 2**40
    assert x.add_(1).item() == -(2**31)
    allow("int64")
    assert (torch.tensor([2**31 - 1], device="neuron") + 1).item() == 2**31


def test_fork(allow):
    neuron(1)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            neuron(1)
            os.write(writer, b"ran")
        except RuntimeError as error:
            os.write(writer, str(error).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 1000).startswith(b"Cannot re-initialize Neuron runtime in forked subprocess")


def test_recurrent_layers_compute_the_cpus_values_when_allowed(allow):
    allow("recurrent")
    for kind in (nn.LSTM, nn.GRU):
        torch.manual_seed(0)
        model, x = kind(4, 5, num_layers=2, bidirectional=True), torch.randn(3, 2, 4)
        model(x)[0].square().sum().backward()
        expected, grads = model(x)[0].detach(), [p.grad.clone() for p in model.parameters()]
        model.zero_grad()
        model.to("neuron")
        out = model(x.to("neuron"))[0]
        out.square().sum().backward()
        torch.testing.assert_close(out.cpu(), expected)
        for p, grad in zip(model.parameters(), grads):
            torch.testing.assert_close(p.grad.cpu(), grad)


# Tests of limits that cannot be met in one line: both sides are in the test that is named.
ELSEWHERE = {
    "float64": "test_limits.py::test_float64_is_computed_in_float32",
    "int64": "test_limits.py::test_int64_arithmetic_overflows_at_31_bits",
    "fork": "test_limits.py::test_fork",
    "bce-autocast": "test_emulated_autocast.py::unsafe to autocast",
    "dynamic-shapes": "test_emulated_compile.py::test_dynamic_shapes_are_refused",
    "higher-order": "test_emulated_compile.py::test_higher_order_operations",
    "boolean-index-put": "test_emulated_compile.py::test_assignment_through_a_mask",
    "no-output": "test_emulated_compile.py::test_a_graph_without_output",
    "device-before-group": "test_distributed.py::test_the_device_before_the_process_group",
    "barrier-group": "programs/collectives.py::Barrier is implemented only for default group",
    "reduce-op": "programs/collectives.py::PRODUCT is not supported",
    "all-to-all-size": "programs/collectives.py::supported sizes: 4, 8, 16, or multiples of 32",
    "all-to-all-split": "programs/collectives.py::Only even split sizes are supported",
    "collective-dtype": "programs/collectives.py::data type float64 is not supported",
    "uneven-gather": "programs/collectives.py::same size on all ranks",
    "integer-reduction": "programs/collectives.py::integers are reduced in float32",
}


def test_every_limit_of_the_table_is_met_by_a_test():
    assert set(limits.table()) == set(CASES) | set(ELSEWHERE)
    for place in ELSEWHERE.values():
        file, _, words = place.partition("::")
        assert words in (Path(__file__).parent / file).read_text(encoding="utf-8"), place


def test_the_table_names_source_and_confidence():
    for limit in limits.table().values():
        assert limit.source and limit.summary and limit.since
        assert limit.confidence in ("documented", "prerelease", "reported")
        assert bool(limit.error) == bool(limit.text)


def test_a_fixed_limit_is_off(monkeypatch):
    fixed = limits.Limit("x", "s", "src", "documented", "2.10", fixed_in="2.13.3")
    later = limits.Limit("y", "s", "src", "documented", "2.10", fixed_in="2.14.3")
    monkeypatch.setattr(limits, "table", lambda: {"x": fixed, "y": later})
    assert limits.defaults() == {"y"}


def test_unknown_limit():
    with pytest.raises(ValueError, match="unknown limit 'sparce'"):
        emulator.start(allow=("sparce",))


def test_bicubic_interpolation_and_batch_norm_are_not_refused():
    x = neuron(1, 2, 4, 4)
    assert F.interpolate(x, scale_factor=2, mode="bicubic").shape == (1, 2, 8, 8)
    assert nn.BatchNorm2d(2).to("neuron")(x).shape == x.shape


def test_the_documentation_lists_every_limit():
    text = (Path(__file__).parents[2] / "docs" / "emulator.md").read_text(encoding="utf-8")
    on = limits.defaults()
    for limit in limits.table().values():
        assert f"| `{limit.name}` | {'on' if limit.name in on else 'off'} | {limit.summary} |" in text

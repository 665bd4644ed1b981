"""torch.compile on the device: numbers, counts, refusals."""

from __future__ import annotations

import inspect
import os

import pytest
import torch
from torch._dynamo.exc import BackendCompilerFailed, InternalTorchDynamoError  # noqa: F401

from neuron_port import emulator


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.neuron.reset_dynamo_metrics()
    yield
    torch._dynamo.reset()


def ones(*shape):
    return torch.ones(*shape, device="neuron")


def test_results_gradients_and_one_graph():
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU(), torch.nn.Linear(4, 2)).to("neuron")
    compiled = torch.compile(model, backend="neuron", fullgraph=True)
    x = torch.randn(5, 3, device="neuron")
    expected = torch.autograd.grad(model(x).sum(), list(model.parameters()))
    for _ in range(3):
        model.zero_grad()
        compiled(x).sum().backward()
    for p, grad in zip(model.parameters(), expected):
        torch.testing.assert_close(p.grad, grad)
    assert torch.neuron.get_dynamo_metrics() == {"compiled_graphs": 1, "graph_breaks": 0, "recompiles": 0}
    assert torch._dynamo.utils.counters["neuron"]["compiled_graphs"] == 1
    [event] = emulator.log.events("compile")
    assert event.operation == "graph 0/0" and "float32[5, 3]" in event.detail


def test_neuron_is_the_default_backend_and_a_cpu_graph_stays_there():
    assert torch.compile(lambda x: x * 2)(ones(2)).tolist() == [2, 2]
    assert len(emulator.log.events("compile")) == 1
    assert torch.compile(lambda x: x * 3)(torch.ones(2)).device.type == "cpu"
    assert len(emulator.log.events("compile")) == 1


def test_cpu_inputs_are_copied_to_the_device():
    assert torch.compile(lambda x: x * 3, backend="neuron")(torch.ones(2)).device.type == "neuron"


def test_inductor_does_not_know_the_device():
    with pytest.raises(Exception, match="KeyError: 'neuron'"):
        torch.compile(lambda x: x * 3, backend="inductor")(ones(2))


def test_modes_change_nothing(caplog):
    torch.compile(lambda x: x * 3, backend="neuron", mode="max-autotune")(ones(2))
    assert "Neuron backend does not support mode='max-autotune', falling back to default mode." in caplog.text


def test_dynamic_shapes_are_refused(allow):
    def f(x):
        return x * x.shape[0]

    with pytest.raises(BackendCompilerFailed, match=r"torch-neuronx requires static shapes. Found 1 dynamic dimension"):
        torch.compile(f, backend="neuron", dynamic=True)(ones(3))
    torch._dynamo.reset()
    automatic = torch.compile(f, backend="neuron")
    automatic(ones(3))
    with pytest.raises(BackendCompilerFailed, match="Dynamic shapes detected in the model"):
        automatic(ones(4))
    torch._dynamo.reset()
    static = torch.compile(f, backend="neuron", dynamic=False)
    assert [static(ones(n)).sum().item() for n in (3, 4, 5)] == [9, 16, 25]
    assert torch.neuron.get_dynamo_metrics()["recompiles"] == 2
    torch._dynamo.reset()
    allow("dynamic-shapes")
    assert torch.compile(f, backend="neuron", dynamic=True)(ones(3)).sum().item() == 9


def test_graph_breaks_have_the_users_line():
    def f(x):
        y = x + 1
        if y.sum().item() > 0:
            return y * 2
        return y

    torch.compile(f, backend="neuron")(ones(3))
    [event] = emulator.log.events("break")
    assert "item" in event.operation
    assert os.path.basename(event.place.file) == "test_emulated_compile.py"
    assert event.place.line == inspect.getsourcelines(f)[1] + 2
    assert torch.neuron.get_dynamo_metrics()["graph_breaks"] == 1


def cond(x):
    return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))


def loop(x):
    return torch._higher_order_ops.while_loop(
        lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (torch.zeros_like(x[0]), x)
    )


def dropout_in_checkpoint(x):
    return torch.utils.checkpoint.checkpoint(lambda x: torch.nn.functional.dropout(x.sin()), x, use_reentrant=False)


@pytest.mark.parametrize(
    "f, name", [(cond, "cond"), (loop, "while_loop_stack_output"), (dropout_in_checkpoint, "run_and_save_rng_state")]
)
def test_higher_order_operations(f, name, allow):
    with pytest.raises(
        BackendCompilerFailed, match=f"Higher-order operation '{name}' not implemented in the FxImporter"
    ):
        torch.compile(f, backend="neuron")(ones(3))
    torch._dynamo.reset()
    allow("higher-order")
    torch.compile(f, backend="neuron")(ones(3))


def test_checkpoint_without_randomness_is_fine():
    def f(x):
        return torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False)

    x = ones(3).requires_grad_()
    torch.compile(f, backend="neuron")(x).sum().backward()
    torch.testing.assert_close(x.grad, x.detach().cos())


def test_assignment_through_a_mask(allow):
    def f(x):
        x = x.clone()
        x[x > 0] = 0.0
        return x

    def g(x):
        return torch.where(x > 0, 0.0, x)

    with pytest.raises(BackendCompilerFailed, match=r"Boolean index_put is not supported in torch.compile on Neuron"):
        torch.compile(f, backend="neuron")(ones(3))
    assert torch.compile(g, backend="neuron")(ones(3)).tolist() == [0, 0, 0]
    assert f(ones(3)).tolist() == [0, 0, 0]
    torch._dynamo.reset()
    allow("boolean-index-put")
    assert torch.compile(f, backend="neuron")(ones(3)).tolist() == [0, 0, 0]


def test_a_graph_without_output(allow):
    def silent(x):
        x.add_(1)

    def returning(x):
        return x.add_(1)

    x = torch.zeros(2, device="neuron")
    assert torch.compile(returning, backend="neuron")(x).tolist() == [1.0, 1.0]
    with pytest.raises(BackendCompilerFailed, match="No outputs found in the module, expected at least one output"):
        torch.compile(silent, backend="neuron")(x)
    allow("no-output")
    torch._dynamo.reset()
    torch.compile(silent, backend="neuron")(x)
    assert x.tolist() == [2.0, 2.0]


def test_complex_arithmetic_is_decomposed_in_graphs():
    def f(x):
        return (torch.view_as_complex(x) * 2).abs()

    with pytest.raises(RuntimeError, match="NCC_EVRF004"):
        f(ones(3, 2))
    torch.testing.assert_close(torch.compile(f, backend="neuron")(ones(3, 2)).cpu(), torch.full((3,), 8**0.5))


def test_constructors_inside_a_graph():
    def f(x):
        return x + torch.tensor([1.0, 2.0], device=x.device) + torch.arange(2, device=x.device)

    assert torch.compile(f, backend="neuron", fullgraph=True)(ones(2)).tolist() == [2, 4]

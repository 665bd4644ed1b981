"""torch.neuron, torch.accelerator, streams, events, random numbers."""

from __future__ import annotations

import time

import pytest
import torch


def test_torch_neuron_has_the_names_of_the_device_and_no_others():
    for name in (
        "is_available",
        "device_count",
        "current_device",
        "set_device",
        "synchronize",
        "manual_seed",
        "Stream",
    ):
        assert hasattr(torch.neuron, name)
    for name in (
        "mem_get_info",
        "get_device_capability",
        "CUDAGraph",
        "graph",
        "memory_snapshot",
        "ipc_collect",
        "nvtx",
        "amp",
    ):
        assert not hasattr(torch.neuron, name)
    assert torch.neuron.is_available() and torch.neuron.device_count() == 4
    assert torch.neuron.is_bf16_supported()
    assert torch.neuron.get_device_name() == "neuron:0"
    properties = torch.neuron.get_device_properties()
    assert (properties.name, properties.total_memory) == ("trn2.3xlarge", 24 * 2**30)
    with pytest.raises(AttributeError, match="'NeuronDeviceProperties' object has no attribute 'major'"):
        _ = properties.major


def test_accelerator_functions():
    assert torch.accelerator.is_available()
    assert torch.accelerator.current_accelerator() == torch.device("neuron")
    assert torch.accelerator.current_device_index() == 0
    torch.accelerator.synchronize()
    x = torch.ones(1000, device="neuron")
    assert torch.accelerator.memory_allocated() >= x.nbytes
    free, total = torch.accelerator.get_memory_info()
    assert total == 24 * 2**30 and free <= total - x.nbytes
    assert torch.accelerator.memory_stats()["allocated_bytes.all.peak"] >= x.nbytes


def test_streams_and_events():
    stream = torch.neuron.Stream()
    assert stream == torch.accelerator.current_stream() == torch.Stream()
    with torch.neuron.stream(stream):
        start, end = torch.Event(enable_timing=True), torch.neuron.Event(enable_timing=True)
        start.record()
        time.sleep(0.01)
        end.record(stream)
    stream.synchronize()
    assert 9 < start.elapsed_time(end) < 1000
    stream.wait_stream(torch.neuron.current_stream())
    with pytest.raises(ValueError, match="enable_timing"):
        torch.Event().elapsed_time(end)


def test_random_state():
    torch.manual_seed(11)
    assert torch.neuron.initial_seed() == 11
    assert torch.neuron.get_rng_state().numel() == 16
    torch.neuron.manual_seed(7)
    state = torch.neuron.get_rng_state()
    torch.neuron.manual_seed(8)
    torch.neuron.set_rng_state(state)
    assert torch.neuron.initial_seed() == 7


def test_fork_rng_over_the_device():
    with torch.random.fork_rng(device_type="neuron"):
        first = torch.randn(2, device="neuron")
    assert torch.equal(first, torch.randn(2, device="neuron"))


def test_profiler_with_the_device_activity():
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as prof:
        torch.ones(2, 2, device="neuron") @ torch.ones(2, 2, device="neuron")
    assert "aten::mm" in {event.key for event in prof.key_averages()}

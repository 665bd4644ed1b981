"""Kernels registered for CUDA alone."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import codes

HEAD = "import torch\nfrom torch.library import custom_op, impl\nlib = torch.library.Library('mine', 'FRAGMENT')\n"


@pytest.mark.parametrize(
    "line",
    [
        'op = custom_op("mine::f", f, mutates_args=(), device_types="cuda")',
        'op = custom_op("mine::f", f, mutates_args=(), device_types=["cpu", "cuda"])',
        'torch.library.register_kernel("mine::f", "cuda", f)',
        'torch.library.register_kernel("mine::f", device_types=("cuda",))',
        'op.register_kernel("cuda")(f)',
        'impl("mine::f", "CUDA")(f)',
        'impl(lib, "f", "CUDA")(f)',
        'lib.impl("f", f, "CUDA")',
        'lib.impl("f", f, dispatch_key="AutogradCUDA")',
        'other = torch.library.Library("mine", "IMPL", "CUDA")',
        'torch.library.register_autocast("mine::f", "cuda", torch.half)',
    ],
)
def test_reported_and_left_alone(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP191") == ["error manual"]
    assert [code for _, code in codes(f"{HEAD}{line}\n")] == ["NP191"]


@pytest.mark.parametrize(
    "line",
    [
        'op = custom_op("mine::f", f, mutates_args=())',
        'op = custom_op("mine::f", f, mutates_args=(), device_types=("cuda", "neuron"))',
        'op.register_kernel("cpu")(f)',
        'lib.impl("f", f, "CompositeExplicitAutograd")',
        'lib.impl("f", f)',
        'registry.impl("f", "CUDA")',
    ],
)
def test_other_registrations(line: str) -> None:
    assert found(HEAD, line, "NP191") == []

"""PyTorch's own operator samples on the emulated device against the CPU: ``python tests/emulator/opinfo.py [NAME...]``.

``torch.testing._internal`` (it needs the package expecttest) describes some 600 operators with sample inputs. Each is run on
CPU and on neuron with all limits off: results, dtypes, shapes and, where floats allow, gradients must agree.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter

import torch
from torch.utils._pytree import tree_flatten, tree_map

from neuron_port import emulator

# Uninitialised memory; sparse layouts; samples that name the CPU or reach past the end of a view.
LEFT_OUT = (
    *("empty", "new_empty", "empty_strided", "empty_permuted", "new_empty_strided", "empty_like"),
    *("sparse.sampled_addmm", "sparse.mm", "to_sparse"),
    *("to", "tensor_split"),
)


def to_neuron(value):
    """The sample's tensors on the device; views are copied."""

    def move(x):
        if isinstance(x, torch.Tensor):
            return x.detach().to("neuron").requires_grad_(x.requires_grad)
        if isinstance(x, torch.device):
            return torch.device("neuron")
        return x

    moved = tree_map(move, value)
    return {**moved, "device": "neuron"} if isinstance(moved, dict) and "device" in moved else moved


def leaves(value):
    return [x for x in tree_flatten(value)[0] if isinstance(x, torch.Tensor)]


def compare_sample(op, sample, gradients):
    """Raise when device and CPU disagree on one sample."""
    args, kwargs = (sample.input, *sample.args), dict(sample.kwargs)
    device_args, device_kwargs = to_neuron(args), to_neuron(kwargs)
    torch.manual_seed(0)
    try:
        expected = op(*args, **kwargs)
    except Exception as error:  # a sample that the CPU refuses: so must the device
        try:
            op(*device_args, **device_kwargs)
        except Exception:
            return
        raise AssertionError(f"the CPU raised {error!r}, the device did not") from error
    torch.manual_seed(0)
    result = op(*device_args, **device_kwargs)
    for one, other in zip(leaves(expected), leaves(result), strict=True):
        if one.layout is not torch.strided:
            continue
        where = "neuron" if other.device.type == "neuron" else other.device.type
        assert where == "neuron", f"result on {other.device}"
        assert one.dtype == other.dtype and one.shape == other.shape
        torch.testing.assert_close(other.detach().cpu(), one.detach(), equal_nan=True, rtol=1e-4, atol=1e-5)
    if not gradients:
        return
    roots = [x for x in leaves(expected) if x.requires_grad and x.dtype.is_floating_point]
    inputs = [x for x in leaves((args, kwargs)) if x.requires_grad]
    if not roots or not inputs:
        return
    device_roots = [x for x in leaves(result) if x.requires_grad and x.dtype.is_floating_point]
    device_inputs = [x for x in leaves((device_args, device_kwargs)) if x.requires_grad]
    grads = torch.autograd.grad([x.sum() for x in roots], inputs, allow_unused=True)
    device_grads = torch.autograd.grad([x.sum() for x in device_roots], device_inputs, allow_unused=True)
    for one, other in zip(grads, device_grads, strict=True):
        assert (one is None) == (other is None)
        if one is not None and one.layout is torch.strided:
            torch.testing.assert_close(other.cpu(), one, equal_nan=True, rtol=1e-3, atol=1e-4)


def compare(op, most=4):
    """The failure of an operator, or None; raises LookupError when there is nothing to compare."""
    dtype = torch.float32 if torch.float32 in op.dtypes else torch.int64
    if dtype not in op.dtypes:
        raise LookupError
    gradients = dtype is torch.float32 and op.supports_autograd
    samples = list(op.sample_inputs("cpu", dtype, requires_grad=gradients))[:most]
    if not samples:
        raise LookupError
    for sample in samples:
        compare_sample(op, sample, gradients)


def operators(names=()):
    from torch.testing._internal.common_methods_invocations import op_db

    return [
        op
        for op in op_db
        if op.name not in LEFT_OUT and op.variant_test_name != "partial_views" and (not names or op.name in names)
    ]


def main(names):
    warnings.simplefilter("ignore")
    emulator.start(allow=("all",))
    counts, failures = Counter(), {}
    for op in operators(names):
        title = f"{op.name}.{op.variant_test_name}".rstrip(".")
        try:
            compare(op)
            counts["passed"] += 1
        except LookupError:
            counts["nothing to compare"] += 1
        except Exception as error:
            counts["failed"] += 1
            failures[title] = (
                f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
            )
    for title, text in failures.items():
        print(f"{title:<50} {text[:160]}")
    print(dict(counts))
    return failures


if __name__ == "__main__":
    main(sys.argv[1:])

"""Accelerate: arguments, the type of a distributed program, placement helpers."""

from __future__ import annotations

import textwrap

import pytest

from tests.porting import check, codes, ported


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('mixed_precision="fp16" if half else "no"', 'mixed_precision="bf16" if half else "no"'),
        ('rng_types=("cuda", "torch")', 'rng_types=("neuron", "torch")'),
        ("fp16=True", 'mixed_precision="bf16"'),
        ("fp16=False, cpu=True", "cpu=True"),
        ('dynamo_backend="no"', 'dynamo_backend="no"'),
    ],
)
def test_arguments(before: str, after: str) -> None:
    code = "from accelerate import Accelerator\nAccelerator({})\n"
    assert ported(code.format(before)) == code.format(after)


def test_what_moved_into_one_argument_is_written_once() -> None:
    code = "from accelerate import Accelerator\nAccelerator(dispatch_batches=True, even_batches=False)\n"
    after = ported(code)
    assert after.endswith(
        "Accelerator(dataloader_config=DataLoaderConfiguration(dispatch_batches=True), even_batches=False)\n"
    )
    assert [finding.code for finding in check(after)] == ["NP459"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("t == D.MULTI_GPU", "t in (D.MULTI_GPU, D.MULTI_NEURON)"),
        ("D.MULTI_GPU is not t", "t not in (D.MULTI_GPU, D.MULTI_NEURON)"),
        ("t in [D.MULTI_CPU, D.MULTI_GPU]", "t in [D.MULTI_CPU, D.MULTI_GPU, D.MULTI_NEURON]"),
        ("t == D.MULTI_GPU or t == D.MULTI_NEURON", "t == D.MULTI_GPU or t == D.MULTI_NEURON"),
        ("{D.MULTI_GPU: 1}[t]", "{D.MULTI_GPU: 1}[t]"),
    ],
)
def test_several_devices(before: str, after: str) -> None:
    code = "from accelerate import DistributedType as D\nx = {}\n"
    assert ported(code.format(before)) == code.format(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('dispatch_model(m, device_map={"": 0})', 'm.to("neuron")'),
        ('dispatch_model(m, {"": "cuda"})', 'm.to("neuron")'),
        ('dispatch_model(m, {"": rank})', None),
        ('dispatch_model(m, {"a": 0, "b": 1})', None),
    ],
)
def test_dispatch(before: str, after: str | None) -> None:
    code = "from accelerate import dispatch_model\nm = {}\n"
    written = code.format(before) if after is None else f"m = {after}\n"
    assert ported(code.format(before)) == written
    assert ("NP461" in [code for _, code in codes(code.format(before))]) is True


def test_methods_of_an_accelerator() -> None:
    source = """
        from accelerate import Accelerator
        class Loop:
            def __init__(self):
                self.accelerator = Accelerator()
            def step(self, ids):
                return self.accelerator.pad_across_processes(ids, dim=1)
        """
    assert codes(source) == [(7, "NP462")]


def test_the_default_of_an_option_that_becomes_the_precision() -> None:
    source = """
        import argparse
        from accelerate import Accelerator
        parser = argparse.ArgumentParser()
        parser.add_argument("--mixed_precision", default="fp16", choices=["no", "fp16"])
        parser.add_argument("--other", default="fp16")
        args = parser.parse_args()
        accelerator = Accelerator(mixed_precision=args.mixed_precision)
        multiple = 8 if accelerator.use_fp16 else None
        """
    after = ported(source)
    assert 'default="bf16", choices=["no", "fp16", "bf16"])' in after
    assert '"--other", default="fp16")' in after
    assert 'multiple = 8 if accelerator.mixed_precision == "fp16" else None' in after


def test_a_precision_from_a_branch() -> None:
    source = """
        from accelerate import Accelerator
        if half:
            kind = "fp16"
        else:
            kind = "no"
        accelerator = Accelerator(mixed_precision=kind)
        """
    assert ported(source) == textwrap.dedent(source).replace("fp16", "bf16")
    assert ported(source, "safe") == textwrap.dedent(source)

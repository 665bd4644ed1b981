"""Rows of the XLA rules that write something: metrics, profilers, optimizers, patches."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check

HEAD = """import torch
import torch_neuronx
import torch_xla.debug.metrics as met
import torch_xla.debug.profiler as xp
from transformers import modeling_utils
print(torch, torch_neuronx, met.other, xp.other, modeling_utils)
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("print(met.executed_fallback_ops())", "print(torch_neuronx.get_fallback_ops())"),
        ("met.clear_all()", "torch_neuronx.clear_op_tracking()"),
        ("met.clear_metrics()", "torch_neuronx.reset_dynamo_metrics()"),
        ('with xp.Trace("a"): pass', 'with torch.profiler.record_function("a"): pass'),
        ('with xp.Trace(name="a"): pass', 'with torch.profiler.record_function(name="a"): pass'),
        ('with xp.StepTrace("a", step_num=i): pass', 'with torch.profiler.record_function("a"): pass'),
        ('f = xp.trace_me("a")(f)', 'f = torch.profiler.record_function("a")(f)'),
        ("torch.finfo = lambda dtype: half; x = 1", "x = 1"),
        ("modeling_utils.get_parameter_dtype = lambda x: torch.bfloat16; x = 1", "x = 1"),
        ("torch.cuda.is_bf16_supported = lambda: True; x = 1", "x = 1"),
    ],
)
def test_rewritten(before: str, after: str) -> None:
    assert port(HEAD, before) == after


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("log(met.metrics_report())", "NP260", "torch_neuronx.get_dynamo_metrics()"),
        ('met.counter_value("aten::nonzero")', "NP260", "get_fallback_ops()"),
        ("keep(xp.start_server(9012))", "NP261", "ProfilerActivity.PrivateUse1"),
        ('xp.trace_detached("localhost:9012", d)', "NP261", "torch.profiler.profile"),
        ("torch.ops.xla.flash_attention(q, k, v)", "NP272", "scale=1.0"),
        ("torch.ops.neuron.forward(x)", "NP280", "torch_neuronx.nki_op"),
        ("torch.neuron.trace(model, x)", "NP296", 'torch.compile(model, backend="neuron", dynamic=False)'),
    ],
)
def test_reported(line: str, code: str, words: str) -> None:
    assert port(HEAD, line) == line
    findings = [finding for finding in check(f"{HEAD}{line}\n") if finding.code == code]
    assert [words in finding.message for finding in findings] == [True]


@pytest.mark.parametrize(
    "line", ["torch.neuron.synchronize()", "torch_neuronx.nki_op(f)", "print(torch.finfo(torch.bfloat16))", "met.x = 1"]
)
def test_no_row_of_these_rules(line: str) -> None:
    assert [*found(HEAD, line, "NP296"), *found(HEAD, line, "NP280"), *found(HEAD, line, "NP206")] == []


def test_flash_attention_names_its_scale() -> None:
    source = "from torch_xla.experimental.custom_kernel import flash_attention\n\nflash_attention(q, k, v, True)\n"
    finding = check(source)[-1]
    assert (finding.code, finding.location.row, finding.end_location.column) == ("NP272", 3, 16)
    assert "is_causal=causal, scale=1.0" in finding.message


def test_names_of_torch_neuronx_are_imported_by_name() -> None:
    assert_ported(
        """
        from torch_xla.debug.metrics import executed_fallback_ops

        print(executed_fallback_ops())
        """,
        """
        from torch_neuronx import get_fallback_ops

        print(get_fallback_ops())
        """,
        "safe",
    )


def test_the_older_adamw_becomes_pytorchs() -> None:
    assert_ported(
        """
        from torch_neuronx.optim.adamw import AdamW

        optimizer = AdamW(model.parameters(), lr=1e-3)
        """,
        """
        from torch.optim import AdamW

        optimizer = AdamW(model.parameters(), lr=1e-3)
        """,
    )

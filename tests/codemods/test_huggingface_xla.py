"""What means PyTorch/XLA in Transformers, Accelerate and Diffusers."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, codes, ported

HEAD = "from accelerate import Accelerator, utils\nfrom transformers import TrainingArguments\nimport transformers\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('TrainingArguments("x", optim="adamw_torch_xla")', 'TrainingArguments("x", optim="adamw_torch")'),
        ("args.optim = 'adamw_torch_xla'", "args.optim = 'adamw_torch'"),
        ('TrainingArguments("x", tpu_num_cores=8, seed=1)', 'TrainingArguments("x", seed=1)'),
        ('Accelerator(rng_types=["torch", "xla"])', 'Accelerator(rng_types=["torch", "neuron"])'),
        ("utils.RNGType.XLA", "utils.RNGType.NEURON"),
    ],
)
def test_safe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert port(HEAD, before, "safe", "portable") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = utils.is_torch_xla_available(check_is_tpu=True)", "x = utils.is_neuron_available()"),
        ("x = utils.is_tpu_available()", "x = utils.is_neuron_available()"),
        ("x = utils.DistributedType.TPU", "x = utils.DistributedType.MULTI_NEURON"),
        ("x = transformers.utils.is_torch_xla_available()", "x = transformers.utils.is_torch_neuron_available()"),
        ("x = transformers.is_torch_neuroncore_available()", "x = transformers.utils.is_torch_neuron_available()"),
        ("model.enable_xla_flash_attention(partition_spec=p); x = 1", "x = 1"),
        ("transformers.Trainer._wrap_model = lambda self, model: model; x = 1", "x = 1"),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = transformers.utils.is_torch_tpu_available()", ["warning manual"]),
        ('TrainingArguments("x", fsdp_config={"xla": True, "min_num_params": 1})', ["error manual"]),
        ('TrainingArguments("x", fsdp_config={"xla_fsdp_grad_ckpt": True})', ["error manual"]),
        ('idist.Parallel(backend="xla-tpu")', ["error manual"]),
    ],
)
def test_reported(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP297") == expected


@pytest.mark.parametrize(
    "line",
    [
        'TrainingArguments("x", optim="adamw_torch", tpu_num_cores=None)',
        'TrainingArguments("x", fsdp_config={"fsdp_version": 2})',
        'Accelerator(rng_types=["torch"])',
        "x = my.is_torch_xla_available()",
        "trainer._wrap_model = f",
        "x = utils.DistributedType.FSDP",
    ],
)
def test_nothing_to_say(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP297") == []


def test_a_question_that_guards_xla_code_stays() -> None:
    source = """
        from transformers.utils import is_torch_xla_available

        if is_torch_xla_available():
            import torch_xla.core.xla_model as xm

            XLA_AVAILABLE = True

        def step():
            if XLA_AVAILABLE:
                xm.mark_step()
    """
    assert "if is_torch_xla_available():" in ported(source)
    finding = next(finding for finding in check(source) if finding.code == "NP297" and finding.location.row == 4)
    assert "code for PyTorch/XLA, which is left alone" in finding.message


def test_functions_for_xla_count_as_xla_code() -> None:
    source = """
        from transformers.trainer import get_tpu_sampler
        from transformers.utils import is_torch_xla_available

        def sampler(data):
            return get_tpu_sampler(data) if is_torch_xla_available() else None
    """
    assert ported(source).count("is_torch_xla_available") == 2


def test_the_import_moves_when_all_uses_do() -> None:
    assert_ported(
        """
        from accelerate.utils import is_torch_xla_available

        name = "xla" if is_torch_xla_available() else "cpu"
        print(is_torch_xla_available())
        """,
        """
        from accelerate.utils import is_neuron_available

        name = "xla" if is_neuron_available() else "cpu"
        print(is_neuron_available())
        """,
    )


def test_one_finding_for_each_word() -> None:
    source = """
        from accelerate import Accelerator
        from transformers import TrainingArguments

        a = Accelerator(rng_types=["xla"])
        b = TrainingArguments("x", fsdp_config={"xla": True})
    """
    assert codes(source) == [(5, "NP297"), (6, "NP297")]


def test_what_xla_cannot_do_is_not_refused() -> None:
    source = """
        from accelerate import Accelerator, DistributedType
        kind = Accelerator().distributed_type
        if kind == DistributedType.XLA and steps > 1:
            raise NotImplementedError
        """
    assert codes(source) == []
    assert codes(source.replace("==", "!=")) == [(4, "NP297")]
    assert codes(source.replace("raise NotImplementedError", "pad()")) == [(4, "NP297")]

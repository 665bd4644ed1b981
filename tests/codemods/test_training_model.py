"""Models that optimum-neuron forked for training, and where their parallel sizes go."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, check, ported

HEAD = "from optimum.neuron.models.training import {names}\n\n"
NAMES = "NeuronModelForCausalLM, TrainingNeuronConfig"
AFTER = "from transformers import AutoModelForCausalLM\n"
SIZES = "from transformers.distributed import DistributedConfig\n"
FROM_ENVIRONMENT = (
    'distributed_config=DistributedConfig(tp_size=int(os.environ.get("TP_SIZE", 1)), '
    'fsdp_size=int(os.environ.get("FSDP_SIZE", 1)))'
)


def body(code: str) -> str:
    """What follows the imports of the port of ``code``."""
    return ported(HEAD.format(names=NAMES) + code).split("\n\n", 1)[1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('M.from_pretrained("x", None)\n', 'AutoModelForCausalLM.from_pretrained("x")\n'),
        (
            'M.from_pretrained("x", args.trn_config)\n',
            f'AutoModelForCausalLM.from_pretrained("x", {FROM_ENVIRONMENT})\n',
        ),
        (
            'M.from_pretrained("x", trn_config=given)\n',
            f'AutoModelForCausalLM.from_pretrained("x", {FROM_ENVIRONMENT})\n',
        ),
        (
            'M.from_pretrained("x", None, torch_dtype="auto", use_flash_attention_2=True)\n',
            'AutoModelForCausalLM.from_pretrained("x", dtype="auto", attn_implementation="sdpa")\n',
        ),
        (
            'M.from_pretrained("x", None, use_flash_attention_2=None, attn_implementation="eager")\n',
            'AutoModelForCausalLM.from_pretrained("x", attn_implementation="eager")\n',
        ),
        ("M.from_config(config, given)\n", "AutoModelForCausalLM.from_config(config)\n"),
    ],
)
def test_sizes_go(before: str, after: str) -> None:
    assert body(before.replace("M.", "NeuronModelForCausalLM.")).endswith(after)


def test_sizes_of_a_configuration_are_written_where_the_model_is_loaded() -> None:
    assert_ported(
        HEAD.format(names=NAMES)
        + """\
def load(name):
    config = TrainingNeuronConfig(tensor_parallel_size=4, async_save=True)
    return NeuronModelForCausalLM.from_pretrained(name, config)
""",
        """\
import os
"""
        + AFTER
        + SIZES
        + """
def load(name):
    return AutoModelForCausalLM.from_pretrained(name, distributed_config=DistributedConfig(tp_size=4, fsdp_size=int(os.environ["WORLD_SIZE"]) // 4))
""",
    )


@pytest.mark.parametrize(
    ("size", "written"),
    [
        ("1", ""),
        (
            "tp",
            ', distributed_config=DistributedConfig(tp_size=tp, fsdp_size=int(os.environ["WORLD_SIZE"]) // tp) if tp > 1 else None',
        ),
        (
            "2 * n",
            ', distributed_config=DistributedConfig(tp_size=2 * n, fsdp_size=int(os.environ["WORLD_SIZE"]) // (2 * n)) if (2 * n) > 1 else None',
        ),
    ],
)
def test_size_is_written_as_it_stands(size: str, written: str) -> None:
    code = f'def load(tp, n):\n    NeuronModelForCausalLM.from_pretrained("x", TrainingNeuronConfig({size}))\n'
    after = f'def load(tp, n):\n    AutoModelForCausalLM.from_pretrained("x"{written})\n'
    assert body(code) == after


def test_size_of_the_training_arguments_is_found() -> None:
    before = """\
from optimum.neuron import NeuronTrainingArguments
from optimum.neuron.models.training import NeuronModelForCausalLM


def main(tp):
    args = NeuronTrainingArguments("out", tensor_parallel_size=tp, per_device_train_batch_size=2)
    trn_config = args.trn_config
    model = NeuronModelForCausalLM.from_pretrained("x", trn_config)
"""
    assert ported(before).splitlines()[-1] == (
        '    model = AutoModelForCausalLM.from_pretrained("x", distributed_config=DistributedConfig(tp_size=tp, '
        'fsdp_size=int(os.environ["WORLD_SIZE"]) // tp) if tp > 1 else None)'
    )
    assert "trn_config" not in ported(before)


def test_variable_that_is_read_elsewhere_stays() -> None:
    before = HEAD.format(names="NeuronModelForCausalLM") + (
        "trn_config = args.trn_config\n"
        'model = NeuronModelForCausalLM.from_pretrained("x", trn_config)\n'
        "print(trn_config)\n"
    )
    assert ported(before).endswith(
        f'trn_config = args.trn_config\nmodel = AutoModelForCausalLM.from_pretrained("x", {FROM_ENVIRONMENT})\nprint(trn_config)\n'
    )
    assert "init_process_group" not in ported(before)


def test_size_that_means_something_else_where_the_model_is_loaded_comes_from_the_environment() -> None:
    source = """\
    from optimum.neuron import NeuronTrainingArguments
    from optimum.neuron.models.training import NeuronModelForCausalLM

    def arguments(size):
        return NeuronTrainingArguments("out", tensor_parallel_size=size)

    def load(args):
        return NeuronModelForCausalLM.from_pretrained("x", args.trn_config)
    """
    assert f'AutoModelForCausalLM.from_pretrained("x", {FROM_ENVIRONMENT})' in ported(source)
    (finding,) = [each for each in check(source) if each.code == "NP336" and each.location.column == 56]
    assert "start with TP_SIZE=8 FSDP_SIZE=4 torchrun" in finding.message


def test_forked_class_is_made_without_sizes() -> None:
    assert_ported(
        "from optimum.neuron.models.training import LlamaForCausalLM as Llama\n\nmodel = Llama(config, trn_config)\n",
        "from transformers import LlamaForCausalLM as Llama\n\nmodel = Llama(config)\n",
    )


def test_stars_hide_the_sizes() -> None:
    source = HEAD.format(names="NeuronModelForCausalLM") + "NeuronModelForCausalLM.from_pretrained(*given)\n"
    assert any("a starred argument hides them" in finding.message for finding in check(source))
    assert "from_pretrained(*given)" in ported(source)


def test_inference_class_of_the_same_name_is_another_one() -> None:
    source = (
        'from optimum.neuron import NeuronModelForCausalLM\nNeuronModelForCausalLM.from_pretrained("x", export=True)\n'
    )
    assert [finding for finding in check(source) if finding.code == "NP336"] == []


def test_optimizer_is_not_saved_with_the_model() -> None:
    source = HEAD.format(names="NeuronModelForCausalLM") + 'model.save_pretrained("out", optimizer=optimizer)\n'
    assert ported(source).splitlines()[-1] == 'model.save_pretrained("out")'
    assert [each.severity.word for each in check(source) if "optimizer=" in each.message] == ["warning"]
    assert check('import transformers\n\nmodel.save_pretrained("out", optimizer=optimizer)\n') == ()


# -- which settings, and stages ------------------------------------------------------------------------------------------------


def test_settings_that_were_made_last_count() -> None:
    source = (
        "from optimum.neuron import NeuronTrainingArguments\n"
        "from optimum.neuron.models.training import LlamaForCausalLM, TrainingNeuronConfig\n\n"
        'args = NeuronTrainingArguments("a", per_device_train_batch_size=1)\n'
        'LlamaForCausalLM.from_pretrained("first", args.trn_config)\n'
        'args = NeuronTrainingArguments("a", per_device_train_batch_size=1, tensor_parallel_size=2)\n'
        'LlamaForCausalLM.from_pretrained("second", args.trn_config)\n'
        "config = TrainingNeuronConfig(tensor_parallel_size=4)\n"
        'LlamaForCausalLM.from_pretrained("third", config)\n'
        "config = TrainingNeuronConfig(tensor_parallel_size=8)\n"
        'LlamaForCausalLM.from_pretrained("fourth", config)\n'
    )
    after = ported(source)
    assert 'from_pretrained("first")' in after
    for name, size in (("second", 2), ("third", 4), ("fourth", 8)):
        assert f'"{name}", distributed_config=DistributedConfig(tp_size={size},' in after


def test_stages_keep_the_old_sizes() -> None:
    source = HEAD.format(names=NAMES) + (
        "config = TrainingNeuronConfig(tensor_parallel_size=2, pipeline_parallel_size=4)\n"
        'model = NeuronModelForCausalLM.from_pretrained("x", config)\n'
    )
    after = ported(source)
    assert after.endswith(
        "config = TrainingNeuronConfig(tensor_parallel_size=2, pipeline_parallel_size=4)\n"
        'model = AutoModelForCausalLM.from_pretrained("x", config)\n'
    )
    assert [each.code for each in check(after) if "pipeline parallel training" in each.message] == ["NP345"]

"""Parallel sizes among optimum-neuron's training arguments, lazy loading, and objects that hold sizes."""

from __future__ import annotations

import pytest

from neuron_port.findings import Severity
from tests.porting import assert_ported, check, ported

ARGUMENTS = "from optimum.neuron import NeuronTrainingArguments\n\n"
LAZY = "from optimum.neuron.distributed import lazy_load_for_parallelism\nfrom transformers import AutoModelForCausalLM\n\n"
SHARDED = 'distributed_config=DistributedConfig(tp_size={0}, fsdp_size=int(os.environ["WORLD_SIZE"]) // {0}){1}'


def sharded(size: str) -> str:
    return SHARDED.format(size, "" if size.isdigit() else f" if {size} > 1 else None")


def last(source: str) -> str:
    return ported(source).splitlines()[-1]


# -- training arguments ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["1", "None"])
def test_size_is_no_argument(size: str) -> None:
    source = f'{ARGUMENTS}NeuronTrainingArguments("out", max_steps=3, tensor_parallel_size={size}, **x)\n'
    assert last(source) == 'TrainingArguments("out", max_steps=3, **x)'


@pytest.mark.parametrize("size", ["8", "n"])
def test_size_that_no_load_gets_stays_reported(size: str) -> None:
    source = f'{ARGUMENTS}NeuronTrainingArguments("out", max_steps=3, tensor_parallel_size={size}, **x)\n'
    after = ported(source)
    assert after == ported(after)
    assert after.endswith(f'TrainingArguments("out", max_steps=3, tensor_parallel_size={size}, **x)\n')
    for text in (source, after):
        (finding,) = [each for each in check(text) if each.code == "NP335"]
        assert f"pass distributed_config=DistributedConfig(tp_size={size}," in finding.message


@pytest.mark.parametrize("load", ['AutoModel.from_pretrained("x")', "AutoModel.from_pretrained(name, **more)"])
def test_size_of_another_function_is_not_lost(load: str) -> None:
    source = (
        "from optimum.neuron import NeuronTrainingArguments\nfrom transformers import AutoModel\n\n\n"
        f"def model(name, **more):\n    return {load}\n\n\n"
        'def main(tp):\n    return NeuronTrainingArguments("out", tensor_parallel_size=tp)\n'
    )
    assert "tensor_parallel_size=tp" in ported(source)
    assert "NP335" in [finding.code for finding in check(ported(source))]


def test_size_is_said_though_the_load_asks_the_environment() -> None:
    source = (
        "from optimum.neuron import NeuronTrainingArguments\n"
        "from optimum.neuron.models.training import NeuronModelForCausalLM\n\n\n"
        "def load(training_args):\n    return NeuronModelForCausalLM.from_pretrained(name, training_args.trn_config)\n\n\n"
        'def main(tp):\n    args = NeuronTrainingArguments("out", tensor_parallel_size=tp)\n    return load(args)\n'
    )
    after = ported(source)
    assert 'tp_size=int(os.environ.get("TP_SIZE", 1))' in after
    assert ", tensor_parallel_size=tp" in after
    assert "NP335" in [finding.code for finding in check(after)]


def test_type_of_model_without_a_plan_stays_reported() -> None:
    source = (
        f"{ARGUMENTS}from transformers import BertModel\n\n"
        'args = NeuronTrainingArguments("out", tensor_parallel_size=2)\nmodel = BertModel.from_pretrained("bert-base-uncased")\n'
    )
    assert "NP335" in [finding.code for finding in check(ported(source))]


@pytest.mark.parametrize("sizes", ["tensor_parallel_size=8", "pipeline_parallel_size=4"])
def test_configuration_of_an_accelerator_alone_stays_reported(sizes: str) -> None:
    source = (
        "from optimum.neuron import NeuronAccelerator\n"
        "from optimum.neuron.models.training.config import TrainingNeuronConfig\n\n"
        f"config = TrainingNeuronConfig({sizes})\naccelerator = NeuronAccelerator(trn_config=config)\n"
    )
    assert f"config = TrainingNeuronConfig({sizes})" in ported(source)


def test_size_of_another_model_is_no_home() -> None:
    source = (
        "from optimum.neuron import NeuronAccelerator, NeuronTrainingArguments\n"
        "from optimum.neuron.models.training import NeuronModelForCausalLM\n"
        "from optimum.neuron.models.training.config import TrainingNeuronConfig\n\n"
        'args = NeuronTrainingArguments("out", tensor_parallel_size=2)\n'
        'model = NeuronModelForCausalLM.from_pretrained("x", args.trn_config)\n'
        "config = TrainingNeuronConfig(tensor_parallel_size=8)\naccelerator = NeuronAccelerator(trn_config=config)\n"
    )
    after = ported(source)
    assert 'TrainingArguments("out", per_device_train_batch_size=1, average' in after.replace("\n", "")
    assert "config = TrainingNeuronConfig(tensor_parallel_size=8)\n" in after


def test_stages_are_for_a_person_and_stay_reported() -> None:
    source = f'{ARGUMENTS}NeuronTrainingArguments("out", per_device_train_batch_size=1, pipeline_parallel_size=2)\n'
    for text in (source, ported(source)):
        (finding,) = [each for each in check(text) if each.code == "NP335"]
        assert finding.severity is Severity.ERROR
        assert "pipeline parallel training has no counterpart" in finding.message
    assert last(source).startswith('TrainingArguments("out", per_device_train_batch_size=1, pipeline_parallel_size=2')


def test_stages_that_are_not_in_sight_must_be_one() -> None:
    source = f'{ARGUMENTS}NeuronTrainingArguments("out", pipeline_parallel_size=n, **x)\n'
    assert any("must be 1" in finding.message for finding in check(source))
    assert last(source) == 'TrainingArguments("out", **x)'


def test_plain_model_gets_the_size_of_the_arguments() -> None:
    source = """\
from optimum.neuron import NeuronTrainer, NeuronTrainingArguments
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer


def main(tp):
    tokenizer = AutoTokenizer.from_pretrained("x")
    args = NeuronTrainingArguments("out", tensor_parallel_size=tp, per_device_train_batch_size=1)
    model = AutoModelForSeq2SeqLM.from_pretrained("x")
"""
    after = ported(source)
    assert after.splitlines()[-1] == f'    model = AutoModelForSeq2SeqLM.from_pretrained("x", {sharded("tp")})'
    assert 'AutoTokenizer.from_pretrained("x")\n' in after


def test_model_by_its_name_gets_the_size_through_the_configuration() -> None:
    source = (
        "from optimum.neuron import NeuronSFTConfig, NeuronSFTTrainer\n\n"
        'config = NeuronSFTConfig("out", tensor_parallel_size=2, model_init_kwargs={"dtype": "bfloat16"})\n'
        'NeuronSFTTrainer("name", args=config)\n'
    )
    assert f'{{"dtype": "bfloat16", "device_map": None, "distributed_config": {sharded("2")[19:]}}}' in ported(source)


def test_adapters_over_shards_are_mentioned() -> None:
    source = """\
    from optimum.neuron import NeuronTrainingArguments
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM
    args = NeuronTrainingArguments("out", tensor_parallel_size=2)
    model = AutoModelForCausalLM.from_pretrained("x")
    """
    assert any("LoRA over fsdp_size > 1" in finding.message for finding in check(source))


def test_options_of_other_libraries_stay() -> None:
    source = "from vllm import LLM\nfrom transformers import TrainingArguments\n\nLLM(x, tensor_parallel_size=8)\n"
    assert [finding for finding in check(source) if finding.code.startswith("NP3")] == []


# -- lazy loading --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "after"),
    [
        ("lazy_load_for_parallelism()", 'model = AutoModelForCausalLM.from_pretrained("x")'),
        ("lazy_load_for_parallelism(tensor_parallel_size=1)", 'model = AutoModelForCausalLM.from_pretrained("x")'),
        ("lazy_load_for_parallelism(2)", f'model = AutoModelForCausalLM.from_pretrained("x", {sharded("2")})'),
        (
            "lazy_load_for_parallelism(tensor_parallel_size=n, pipeline_parallel_size=1)",
            f'model = AutoModelForCausalLM.from_pretrained("x", {sharded("n")})',
        ),
        (
            "lazy_load_for_parallelism(**sizes)",
            'model = AutoModelForCausalLM.from_pretrained("x", distributed_config=DistributedConfig(tp_size=int(os.environ.get('
            '"TP_SIZE", 1)), fsdp_size=int(os.environ.get("FSDP_SIZE", 1))))',
        ),
    ],
)
def test_context_goes(call: str, after: str) -> None:
    source = f'{LAZY}n = 2\nwith {call}:\n    model = AutoModelForCausalLM.from_pretrained("x")\n'
    assert last(source) == after


def test_other_items_of_the_statement_stay() -> None:
    source = f'{LAZY}with lazy_load_for_parallelism(2), seed(3):\n    m = AutoModelForCausalLM.from_pretrained("x")\n'
    assert ported(source).endswith(
        'with seed(3):\n    torch.distributed.init_process_group("neuron")\n'
        f'    m = AutoModelForCausalLM.from_pretrained("x", {sharded("2")})\n'
    )


def test_context_with_stages_stays() -> None:
    source = f"{LAZY}with lazy_load_for_parallelism(1, pipeline_parallel_size=4):\n    model = load()\n"
    assert "with lazy_load_for_parallelism(1, pipeline_parallel_size=4):" in ported(source)
    assert any("pipeline parallel training" in finding.message for finding in check(source))


@pytest.mark.parametrize("size", ["training_args.tensor_parallel_size", "2"])
def test_model_that_is_loaded_elsewhere_is_not_sharded(size: str) -> None:
    source = (
        "from optimum.neuron import NeuronTrainingArguments\n"
        f"from optimum.neuron.distributed import lazy_load_for_parallelism\n\n\n"
        f"def main(training_args):\n    with lazy_load_for_parallelism({size}):\n        model = load()\n"
    )
    assert any("the model is loaded where this file cannot see it" in finding.message for finding in check(source))
    assert ported(source).endswith("def main(training_args):\n    model = load()\n")


def test_field_of_the_arguments_comes_from_the_environment() -> None:
    source = (
        "from optimum.neuron import NeuronTrainingArguments\n"
        "from optimum.neuron.distributed import lazy_load_for_parallelism\nfrom transformers import AutoModelForCausalLM\n\n\n"
        "def main(training_args):\n    with lazy_load_for_parallelism(training_args.tensor_parallel_size):\n"
        '        model = AutoModelForCausalLM.from_pretrained("x")\n'
    )
    assert 'tp_size=int(os.environ.get("TP_SIZE", 1))' in last(source)
    assert any("start with TP_SIZE=8 FSDP_SIZE=4 torchrun" in finding.message for finding in check(source))


def test_context_that_is_chosen_becomes_an_empty_one() -> None:
    assert_ported(
        "from optimum.neuron.distributed import lazy_load_for_parallelism\n\n"
        "context = lazy_load_for_parallelism() if lazy else other\n",
        "import contextlib\n\ncontext = contextlib.nullcontext() if lazy else other\n",
    )


def test_constructor_of_an_optimizer_is_the_class() -> None:
    assert_ported(
        "from optimum.neuron.distributed import make_optimizer_constructor_lazy as lazily\nfrom torch.optim import AdamW\n\n"
        "optimizer = lazily(AdamW)(model.parameters())\n",
        "from torch.optim import AdamW\n\noptimizer = AdamW(model.parameters())\n",
    )


# -- objects that hold sizes ---------------------------------------------------------------------------------------------------


def test_plugin_goes_with_the_argument() -> None:
    assert_ported(
        "from optimum.neuron import ModelParallelismPlugin, NeuronAccelerator\n\n"
        "plugin = ModelParallelismPlugin(tensor_parallel_size=1)\naccelerator = NeuronAccelerator(mp_plugin=plugin)\n",
        "from accelerate import Accelerator\n\naccelerator = Accelerator()\n",
    )


def test_plugin_that_is_handed_on_is_reported() -> None:
    source = (
        "from optimum.neuron import ModelParallelismPlugin\n\nbuild(ModelParallelismPlugin(tensor_parallel_size=2))\n"
    )
    assert [finding.location.row for finding in check(source) if finding.code == "NP345"] == [1, 3]
    assert ported(source) == source


# -- models without a plan -----------------------------------------------------------------------------------------------------

BERT = 'AutoModelForSequenceClassification.from_pretrained("google-bert/bert-base-uncased")'


@pytest.mark.parametrize("load", [BERT, 'BertForSequenceClassification.from_pretrained("x")'])
def test_model_without_a_plan_is_for_a_person(load: str) -> None:
    source = (
        "from optimum.neuron.distributed import lazy_load_for_parallelism\n"
        f"from transformers import {load.partition('.')[0]}\n\n"
        f"with lazy_load_for_parallelism(tensor_parallel_size=8):\n    model = {load}\n"
    )
    assert last(source) == f"model = {load}"
    assert any("no tensor parallel plan" in each.message for each in check(source) if each.severity is Severity.ERROR)


def test_model_without_a_plan_is_not_sharded_by_the_arguments() -> None:
    source = (
        "from optimum.neuron import NeuronTrainingArguments\nfrom transformers import AutoModelForSequenceClassification\n\n"
        f'args = NeuronTrainingArguments("out", tensor_parallel_size=2)\nmodel = {BERT}\n'
    )
    assert last(source) == f"model = {BERT}"
    assert [
        (each.location.row, each.severity.word) for each in check(source) if "no tensor parallel" in each.message
    ] == [(5, "error")]

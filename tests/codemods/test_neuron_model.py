"""Models of optimum-neuron: the class, its options, its calls, and what is done with the compiled model."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, check, codes, ported

CAUSAL = "from optimum.neuron import NeuronModelForCausalLM\n"
TASK = "from optimum.neuron import NeuronModelForSequenceClassification\n"
AUTO = "from transformers import AutoModelForCausalLM\n"


def load(arguments: str) -> str:
    return f"{CAUSAL}\n\ndef load(name, many):\n    return NeuronModelForCausalLM.from_pretrained({arguments})\n"


def loaded(arguments: str, imports: str = AUTO) -> str:
    return f"{imports}\n\ndef load(name, many):\n    return AutoModelForCausalLM.from_pretrained({arguments})\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("name, export=True", 'name, device_map="neuron"'),
        ("model_id=name, export=True", 'name, device_map="neuron"'),
        ("name, from_transformers=True, batch_size=1", 'name, device_map="neuron"'),
        ("name, export=True, num_cores=1, revision='x'", "name, revision='x', device_map=\"neuron\""),
        ('"gpt2"', '"gpt2", device_map="neuron"'),
        ('"org/model", trust_remote_code=True', '"org/model", trust_remote_code=True, device_map="neuron"'),
        ("name, export=True, use_auth_token=many", 'name, token=many, device_map="neuron"'),
    ],
)
def test_load(before: str, after: str) -> None:
    assert_ported(load(before), loaded(after), level="unsafe")


@pytest.mark.parametrize(
    ("option", "dtype"),
    [
        ('auto_cast_type="bf16"', "torch.bfloat16"),
        ('auto_cast_type="fp32"', "torch.float32"),
        ('torch_dtype="float16"', "torch.bfloat16"),
        (
            "auto_cast_type=many",
            '{"fp32": torch.float32, "f32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16, '
            '"f16": torch.float16}[many]',
        ),
    ],
)
def test_data_type_of_a_decoder(option: str, dtype: str) -> None:
    assert_ported(
        load(f"name, export=True, {option}"),
        loaded(f'name, dtype={dtype}, device_map="neuron"', f"import torch\n{AUTO}"),
        level="unsafe",
    )


@pytest.mark.parametrize(
    ("options", "dtype"),
    [
        ("", "float32"),
        (', auto_cast_type="bf16"', "float32"),
        (', auto_cast="none", auto_cast_type="bf16"', "float32"),
        (", auto_cast=None", "float32"),
        (', auto_cast="matmul"', "bfloat16"),
        (', auto_cast="all", auto_cast_type="fp16"', "bfloat16"),
        (", torch_dtype=torch.bfloat16", "bfloat16"),
    ],
)
def test_data_type_of_a_traced_model_counts_only_with_auto_cast(options: str, dtype: str) -> None:
    before = f"{TASK}import torch\n\nmodel = NeuronModelForSequenceClassification.from_pretrained('bert', export=True{options})\n"
    after = ported(before, level="unsafe")
    assert f"AutoModelForSequenceClassification.from_pretrained('bert', dtype=torch.{dtype}, " in after


@pytest.mark.parametrize(
    "arguments",
    [
        '"./compiled"',
        '"aws-neuron/Llama-2-7b-hf-neuron-latency"',
        "name",
        "name, export=False",
        'name, export=True, auto_cast_type="int4"',
        "name, export=True, **many",
        "name, True",
        "name, export=True, ep_degree=2",
        '"facebook/opt-1.3b", export=True, num_cores=2',
        '"gpt2", export=True, tensor_parallel_size=8',
    ],
)
def test_what_a_person_has_to_decide(arguments: str) -> None:
    before = load(arguments)
    assert {code for _, code in codes(before)} & {"NP305", "NP313"}
    assert ported(before, level="unsafe") == before


def test_model_without_a_plan_is_an_error() -> None:
    found = [(finding.code, finding.location.row) for finding in check(load('"gpt2", export=True, num_cores=2'))]
    assert ("NP307", 5) in found


def test_process_group_is_made_once() -> None:
    before = f"""{CAUSAL}

def load(name):
    a = NeuronModelForCausalLM.from_pretrained(name, export=True, num_cores=2)
    b = NeuronModelForCausalLM.from_pretrained(name, export=True, num_cores=2)
    return a, b
"""
    assert ported(before, level="unsafe").count("init_process_group") == 1
    grouped = before.replace(
        "def load", 'import torch.distributed as dist\n\ndist.init_process_group("xla")\n\n\ndef load'
    )
    assert ported(grouped, level="unsafe").count("init_process_group") == 1


def test_process_group_is_made_outside_of_loops() -> None:
    before = f"""{CAUSAL}

def load(names):
    for name in names:
        while True:
            model = NeuronModelForCausalLM.from_pretrained(name, export=True, num_cores=2)
"""
    lines = ported(before, level="unsafe").splitlines()
    made = lines.index('    torch.distributed.init_process_group("neuron")')
    assert lines[made + 1] == "    for name in names:"


@pytest.mark.parametrize("order", ["name, config, neuron_config", "name, neuron_config, config"])
def test_order_of_export_changed_between_versions(order: str) -> None:
    before = f"""from transformers import AutoConfig
{CAUSAL}

def load(name):
    config = AutoConfig.from_pretrained(name)
    neuron_config = NeuronModelForCausalLM.get_neuron_config(name, config, batch_size=1, tensor_parallel_size=1)
    return NeuronModelForCausalLM.export({order}, load_weights=True)
"""
    after = ported(before, level="unsafe")
    assert 'return AutoModelForCausalLM.from_pretrained(name, config=config, device_map="neuron")' in after
    assert "neuron_config" not in after


def test_dictionaries_of_options_go() -> None:
    assert_ported(
        f"""{TASK}
compiler_args = {{"auto_cast": "matmul", "auto_cast_type": "bf16"}}
shapes = dict(batch_size=1, sequence_length=128)
model = NeuronModelForSequenceClassification.from_pretrained("bert", export=True, **compiler_args, **shapes)
""",
        """import torch
from transformers import AutoModelForSequenceClassification
import os

os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"

model = AutoModelForSequenceClassification.from_pretrained("bert", dtype=torch.bfloat16, device_map="neuron")
""",
        level="unsafe",
    )


def test_dictionary_that_is_used_elsewhere_stays_with_the_model() -> None:
    before = f"""{TASK}
shapes = {{"batch_size": 1}}
print(shapes)
model = NeuronModelForSequenceClassification.from_pretrained("bert", export=True, **shapes)
"""
    assert ported(before, level="unsafe") == before


def test_dictionary_of_two_models_stays_for_the_other_one() -> None:
    before = f"""{TASK}
shapes = {{"batch_size": 1, "sequence_length": 64}}


def load(name, other):
    first = NeuronModelForSequenceClassification.from_pretrained(name, export=True, **shapes)
    second = NeuronModelForSequenceClassification.from_pretrained(other, **shapes)
    return first, second
"""
    after = ported(before, level="unsafe")
    assert 'shapes = {"batch_size": 1, "sequence_length": 64}' in after
    assert 'AutoModelForSequenceClassification.from_pretrained(name, dtype=torch.float32, device_map="neuron")' in after
    assert "NeuronModelForSequenceClassification.from_pretrained(other, **shapes)" in after


def test_model_that_is_only_compiled_goes() -> None:
    before = f"""{CAUSAL}

def compile(name, folder):
    model = NeuronModelForCausalLM.from_pretrained(name, export=True, num_cores=8)
    model.save_pretrained(folder)
    print(folder)
"""
    assert ported(before, level="unsafe") == "def compile(name, folder):\n    print(folder)\n"


def test_deleted_model_goes_with_its_deletion() -> None:
    before = f"""{CAUSAL}
model = NeuronModelForCausalLM.from_pretrained("gpt2", export=True)
model.save_pretrained("folder")
del model
print("compiled")
"""
    assert ported(before, level="unsafe") == 'print("compiled")\n'
    again = before + 'model = NeuronModelForCausalLM.from_pretrained("folder")\n'
    after = ported(again, level="unsafe")
    assert after.endswith(
        'print("compiled")\nmodel = AutoModelForCausalLM.from_pretrained("gpt2", device_map="neuron")\n'
    )
    assert "del model" not in after


def test_folder_that_other_code_looks_into_keeps_weights() -> None:
    before = f"""from benchmark import run
{CAUSAL}

def measure(name, folder):
    model = NeuronModelForCausalLM.from_pretrained(name, export=True)
    model.save_pretrained(folder)
    run(folder)
"""
    after = ported(before, level="unsafe")
    assert (
        '    model = AutoModelForCausalLM.from_pretrained(name, device_map="neuron")\n    model.save_pretrained(folder)\n'
        in after
    )


def test_folder_of_one_of_two_models_holds_ordinary_weights() -> None:
    before = f"""{CAUSAL}

def load(one, two, small):
    if small:
        model = NeuronModelForCausalLM.from_pretrained(one, export=True)
        model.save_pretrained("folder")
    else:
        model = NeuronModelForCausalLM.from_pretrained(two, export=True)
        model.save_pretrained("folder")
    return NeuronModelForCausalLM.from_pretrained("folder")
"""
    after = ported(before, level="unsafe")
    assert after.count('model.save_pretrained("folder")') == 2
    assert 'return AutoModelForCausalLM.from_pretrained("folder", device_map="neuron")' in after


def test_inputs_of_the_old_backend_go() -> None:
    before = f"""{CAUSAL}
model = NeuronModelForCausalLM.from_pretrained("gpt2", export=True)


def step(ids, places):
    return model(input_ids=ids, seq_ids=places, sampling_params=None).logits.shape
"""
    assert "return model(input_ids=ids.to(model.device)).logits.shape" in ported(before, level="unsafe")


SAVED = f"""{CAUSAL}
NAME = "org/model"
model = NeuronModelForCausalLM.from_pretrained(NAME, export=True)
model.save_pretrained("folder")
{{load}}
"""


def test_model_that_is_read_back_is_still_there() -> None:
    after = ported(SAVED.format(load='model = NeuronModelForCausalLM.from_pretrained("folder")'), level="unsafe")
    assert after == (
        f'{AUTO}import os\n\nos.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"\n\nNAME = "org/model"\n'
        'model = AutoModelForCausalLM.from_pretrained(NAME, device_map="neuron")\n'
    )


def test_model_that_is_read_back_under_another_name() -> None:
    after = ported(SAVED.format(load='again = NeuronModelForCausalLM.from_pretrained("folder")'), level="unsafe")
    assert 'again = AutoModelForCausalLM.from_pretrained(NAME, device_map="neuron")' in after
    assert "save_pretrained" not in after


@pytest.mark.parametrize(
    ("call", "written"),
    [
        (
            "model(**batch).logits.shape",
            "model(**{name: tensor.to(model.device) for name, tensor in batch.items()}).logits.shape",
        ),
        ("model(ids).logits.argmax().item()", "model(ids.to(model.device)).logits.argmax().item()"),
        ("model(ids, return_dict=flag)[0].numpy()", "model(ids.to(model.device), return_dict=flag)[0].cpu().numpy()"),
        ("model(input_ids=ids.to('cpu')).logits.cpu()", "model(input_ids=ids.to('cpu').to(model.device)).logits.cpu()"),
        ("model(ids).logits.softmax(-1)", "model(ids.to(model.device)).logits.cpu().softmax(-1)"),
    ],
)
def test_calls(call: str, written: str) -> None:
    before = f"""{TASK}import torch

model = NeuronModelForSequenceClassification.from_pretrained("bert", export=True)


@torch.inference_mode()
def run(batch, ids, flag):
    return {call}
"""
    assert f"    return {written}\n" in ported(before, level="unsafe")


def test_call_gets_inference_mode_once_for_neighbours() -> None:
    before = f"""{TASK}
model = NeuronModelForSequenceClassification.from_pretrained("bert", export=True)


def run(a, b):
    first = model(a).logits.argmax().item()
    second = model(b).logits.argmax().item()
    return first + second
"""
    after = ported(before, level="unsafe")
    assert after.count("with torch.inference_mode():") == 1
    assert "        second = model(b.to(model.device)).logits.argmax().item()\n" in after


@pytest.mark.parametrize(
    ("statement", "written"),
    [
        ("f = lambda ids: model(ids).logits", "f = lambda ids: model(ids.to(model.device)).logits.detach().cpu()"),
        (
            "while model(x).logits.sum() > 0:\n    pass",
            "while model(x.to(model.device)).logits.detach().cpu().sum() > 0:",
        ),
        ("g = (model(x).logits for x in y)", "g = (model(x.to(model.device)).logits.detach().cpu() for x in y)"),
        ("many = [model(x) for x in y]", 'many = [to_device(model(x.to(model.device)), "cpu") for x in y]'),
        ('kept["x"] = model(x)', 'kept["x"] = to_device(model(x.to(model.device)), "cpu")'),
    ],
)
def test_calls_that_run_elsewhere_or_are_kept(statement: str, written: str) -> None:
    before = f"""{TASK}
x, y, kept = 1, [], {{}}
model = NeuronModelForSequenceClassification.from_pretrained("bert", export=True)
{statement}
"""
    after = ported(before, level="unsafe")
    assert written in after
    assert ("inference_mode" in after) is ("to_device" in written)


@pytest.mark.parametrize(
    ("shown", "written"),
    [
        ("out.numpy()", "out.cpu().numpy()"),
        ("out[0].numpy()", "out.cpu()[0].numpy()"),
        ("np.array(out)", "np.array(out.cpu())"),
        ("out.cpu().numpy()", "out.cpu().numpy()"),
        ("out.tolist()", "out.tolist()"),
    ],
)
def test_tokens_that_become_arrays(shown: str, written: str) -> None:
    before = f"""import numpy as np
{CAUSAL}

def run(ids):
    model = NeuronModelForCausalLM.from_pretrained("gpt2", export=True)
    out = model.generate(ids)
    return {shown}
"""
    assert f"    return {written}\n" in ported(before, level="unsafe")


def test_encoding_that_is_read_again_is_copied() -> None:
    before = f"""{TASK}from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert")
model = NeuronModelForSequenceClassification.from_pretrained("bert", export=True)


def run(text):
    inputs = tokenizer(text, return_tensors="pt")
    logits = model(**inputs).logits
    return logits * inputs["attention_mask"]
"""
    assert "logits = model(**inputs.copy().to(model.device)).logits.cpu()" in ported(before, level="unsafe")


@pytest.mark.parametrize(
    ("shown", "written"),
    [
        ("model(ids).logits.numpy().shape", "model(ids.to(model.device)).logits.cpu().numpy().shape"),
        ("model(ids).logits.shape[0]", "model(ids.to(model.device)).logits.shape[0]"),
        ("model(ids).hidden_states[-1]", "model(ids.to(model.device)).hidden_states[-1].cpu()"),
        ("model(ids)", 'to_device(model(ids.to(model.device)), "cpu")'),
    ],
)
def test_results_come_back_where_they_are_used(shown: str, written: str) -> None:
    before = f"""{TASK}import torch

model = NeuronModelForSequenceClassification.from_pretrained("bert", export=True)


@torch.no_grad()
def run(ids):
    return {shown}
"""
    assert f"    return {written}\n" in ported(before, level="unsafe")


def test_result_that_a_function_of_the_file_hands_on_is_followed() -> None:
    before = f"""{TASK}import torch

model = NeuronModelForSequenceClassification.from_pretrained("bert", export=True)


@torch.no_grad()
def run(ids):
    return model(ids)


print(run(1).logits.numpy())
"""
    after = ported(before, level="unsafe")
    assert "print(run(1).logits.cpu().numpy())" in after
    assert "to_device" not in after


def test_dictionary_of_two_ported_models_goes() -> None:
    before = f"""{TASK}
shapes = {{"batch_size": 1}}


def load(name, other):
    first = NeuronModelForSequenceClassification.from_pretrained(name, export=True, **shapes)
    return first, NeuronModelForSequenceClassification.from_pretrained(other, export=True, **shapes)
"""
    assert "shapes" not in ported(before, level="unsafe")


def test_tokenizer_beside_the_compiled_model_comes_from_the_checkpoint() -> None:
    before = f"""{TASK}from transformers import AutoTokenizer


def load(name):
    model = NeuronModelForSequenceClassification.from_pretrained(name, export=True)
    model.save_pretrained("folder")
    return model, AutoTokenizer.from_pretrained("folder")
"""
    assert "return model, AutoTokenizer.from_pretrained(name)" in ported(before, level="unsafe")
    kept = before.replace("    return", '    AutoTokenizer.from_pretrained(name).save_pretrained("folder")\n    return')
    assert 'return model, AutoTokenizer.from_pretrained("folder")' in ported(kept, level="unsafe")


def test_what_a_load_was_told_takes_the_place_of_its_configuration() -> None:
    before = f"""{CAUSAL}
model = NeuronModelForCausalLM.from_pretrained("gpt2", export=True, batch_size=4)
print(model.neuron_config.batch_size, model.neuron_config.sequence_length)
"""
    after = ported(before, level="unsafe")
    assert "print(4, model.neuron_config.sequence_length)" in after
    assert (7, "NP314") in codes(after)


def test_portable() -> None:
    assert_ported(
        load("name, export=True"),
        loaded("name, device_map=torch.accelerator.current_accelerator()", f"import torch\n{AUTO}"),
        target="portable",
    )
    assert "init_process_group()\n" in ported(load("name, export=True, num_cores=2"), target="portable")


def test_types_are_asked_for_by_the_base_class() -> None:
    assert_ported(
        f"{CAUSAL}\n\ndef ask(model: NeuronModelForCausalLM):\n    return isinstance(model, NeuronModelForCausalLM)\n",
        "from transformers import PreTrainedModel\n\n\ndef ask(model: PreTrainedModel):\n    return isinstance(model, PreTrainedModel)\n",
        level="unsafe",
    )


@pytest.mark.parametrize(
    "use",
    [
        "CLASSES = [NeuronModelForCausalLM]",
        "load = NeuronModelForCausalLM.from_pretrained",
        "class Mine(NeuronModelForCausalLM): ...",
    ],
)
def test_class_that_is_handed_on(use: str) -> None:
    before = f"{CAUSAL}\n{use}\n"
    assert [code for _, code in codes(before)].count("NP305") >= 2
    assert ported(before, level="unsafe") == before


@pytest.mark.parametrize(
    "path",
    [
        "optimum.neuron.NeuronBertModel",
        "optimum.neuron.models.bert.NeuronBertModel",
        "optimum.neuron.models.inference.bert.NeuronBertModel",
        "optimum.neuron.models.inference.bert.modeling_bert.NeuronBertModel",
    ],
)
def test_homes_of_a_class_in_each_version(path: str) -> None:
    module, _, name = path.rpartition(".")
    before = f"from {module} import {name}\n\nmodel = {name}.from_pretrained('bert-base-uncased', export=True)\n"
    assert "BertModel.from_pretrained('bert-base-uncased', dtype=torch.float32, " in ported(before, level="unsafe")
    assert "optimum" not in ported(before, level="unsafe")

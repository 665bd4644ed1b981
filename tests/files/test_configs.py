"""Configurations in YAML and JSON: a key decides, and what stands beside it."""

from __future__ import annotations

import json

import pytest
import yaml

from neuron_port.findings import Applicability
from tests.porting import ENGINES

ENGINE = ENGINES["neuron"]


def found(text: str, name: str = "train.yaml") -> list[tuple[int, int, str, str]]:
    return [
        (finding.location.row, finding.location.column, finding.code, finding.severity.word)
        for finding in ENGINE.check_text(text, name)
    ]


def fixed(text: str, name: str = "train.yaml", level: Applicability = Applicability.UNSAFE) -> str:
    return ENGINE.fix_text(text, name, level=level).after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("device: cuda\n", "device: neuron\n"),
        ("device: 'cuda:0' # first\n", "device: 'neuron' # first\n"),
        ("trainer.device: cuda\n", "trainer.device: neuron\n"),
        ("Backend: NCCL\n", "Backend: neuron\n"),
        ("dist-backend: nccl\n", "dist-backend: neuron\n"),
        ("precision: 16-mixed\n", "precision: bf16-mixed\n"),
        ("fp16: yes\n", "bf16: true\n"),
        ("fp16: true\nbf16: false\n", "fp16: true\nbf16: false\n"),
        ("optim: paged_adamw_32bit\n", "optim: adamw_torch\n"),
        ("a: &d {device: cuda}\nb: *d\n", "a: &d {device: neuron}\nb: *d\n"),
        ("device: cuda\n---\ndevice: cuda\n", "device: neuron\n---\ndevice: neuron\n"),
        ("device:\n  - cuda\n", "device:\n  - neuron\n"),
    ],
)
def test_yaml(before, after):
    assert fixed(before) == after
    assert fixed(after) == after
    assert list(yaml.safe_load_all(after))
    assert fixed(before, level=Applicability.SAFE) == before


def test_json_keeps_its_layout():
    text = '{\n\t"model": {"device": "cuda:0", "dtype": "float16"},\n\t"precision": 16, "name":  "device: cuda"\n}\n'
    after = '{\n\t"model": {"device": "neuron", "dtype": "bfloat16"},\n\t"precision": "bf16-mixed", "name":  "device: cuda"\n}\n'
    assert fixed(text, "train.json") == after
    assert json.loads(after)["name"] == "device: cuda"
    assert found(text, "train.json") == [
        (2, 22, "NP860", "warning"),
        (2, 41, "NP862", "warning"),
        (3, 15, "NP862", "warning"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "name: cuda\nnotes: [cuda, nccl, fp16]\n",
        "description: 'device: cuda'\n",
        "device: cpu\nbackend: gloo\nprecision: 32\nfp16: false\nload_in_8bit: 'true'\n",
        "cache:\n  backend: redis\n",
        "",
    ],
)
def test_values_alone_decide_nothing(text):
    assert found(text) == []


def test_a_checkpoint_keeps_its_type():
    text = '{"architectures": ["LlamaForCausalLM"], "torch_dtype": "float16"}\n'
    assert found(text, "config.json") == []


def test_deepspeed_is_one_finding():
    text = '{"train_batch_size": 8, "fp16": {"enabled": true}, "zero_optimization": {"stage": 2}}\n'
    assert found(text, "ds_config.json") == [(1, 52, "NP863", "error")]
    assert found('{"zero_optimization": 1}\n', "other.json") == []


def test_accelerate_is_told_by_the_keys_beside():
    text = "compute_environment: LOCAL_MACHINE\ndistributed_type: {}\nnum_processes: 2\n"
    assert fixed(text.format("MULTI_GPU")) == text.format("MULTI_NEURON")
    assert found(text.format("DEEPSPEED")) == [(2, 19, "NP864", "error")]
    assert found("distributed_type: MULTI_GPU\n") == []


def test_portable_code_keeps_the_values():
    text = "device: cuda\n"
    assert ENGINES["portable"].fix_text(text, "train.yaml", level=Applicability.UNSAFE).after == text
    assert [finding.code for finding in ENGINES["portable"].check_text(text, "train.yaml")] == ["NP860"]


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.yaml", "device: cuda\n  backend: [\n", (2, 10)),
        ("a.json", '{"device": "cuda",\n "backend": }\n', (2, 13)),
    ],
)
def test_malformed_files(name, text, place):
    (finding,) = ENGINE.check_text(text, name)
    assert finding.code == "NP001"
    assert (finding.location.row, finding.location.column) == place


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("settings.json", '{\n  // an editor\'s\n  "device": "cuda"\n}\n'),
        ("chart.yaml", "{% if gpu %}\ndevice: cuda\n{% endif %}\n"),
        ("list.json", '["cuda", "device"]\n'),
    ],
)
def test_what_is_not_read(name, text):
    assert found(text, name) == []


def test_the_case_of_a_truth_value_stays():
    assert fixed("use_flash_attention: True\n") == "use_flash_attention: False\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("wandb/run-1/files/config.yaml", "device: cuda\n"),
        ("results/a.json", '{"device": "cuda"}\n'),
        ("a.json", '{"config": {"device": "cuda"}, "results": {"acc": 1}}\n'),
    ],
)
def test_what_a_program_wrote_about_its_run_is_no_configuration(name, text):
    assert found(text, name) == []


def test_a_configuration_beside_results_is_one():
    assert found("device: cuda\n", "results/a.yaml") == [(1, 9, "NP860", "warning")]


def test_torchtune_has_no_such_device():
    text = "model:\n  _component_: torchtune.models.llama2.llama2_7b\ndevice: cuda\n"
    (finding,) = ENGINE.check_text(text, "a.yaml")
    assert (finding.code, finding.severity.word, finding.fix) == ("NP860", "error", None)
    assert "torchtune" in finding.message


def test_an_accelerator_is_lightnings_only_beside_its_other_arguments():
    assert found("accelerator: gpu\ndevices: 4\n")[0][:3] == (1, 14, "NP860")
    assert found("image: base\naccelerator: gpu\n") == []


def test_the_flash_attention_of_neuron_stays():
    assert found("flash_attention: true\nneuron_rt_exec_timeout: 100\n") == []


def test_deepspeed_is_known_without_zero():
    text = '{"train_batch_size": 32, "train_micro_batch_size_per_gpu": 1, "fp16": {"enabled": true}}\n'
    assert found(text, "a.json") == [(1, 26, "NP863", "error")]


def test_types_of_sharded_training():
    assert fixed("mixed_precision:\n  param_dtype: fp16\n  reduce_dtype: float16\n") == (
        "mixed_precision:\n  param_dtype: bf16\n  reduce_dtype: bfloat16\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "a: &d cuda\nmodel:\n  device: *d\ndata:\n  device: *d\n",
            "a: &d neuron\nmodel:\n  device: *d\ndata:\n  device: *d\n",
        ),
        ('device: &d "cuda"\n', 'device: &d "neuron"\n'),
        ("device: !!str cuda\n", "device: !!str neuron\n"),
        ("a: &m\n  device: cuda\nb:\n  <<: *m\n", "a: &m\n  device: neuron\nb:\n  <<: *m\n"),
        ("device: ${oc.env:DEVICE,cuda}\n", "device: ${oc.env:DEVICE,neuron}\n"),
        ("device: '${oc.env:DEVICE, \"cuda\"}'\n", "device: '${oc.env:DEVICE, \"neuron\"}'\n"),
    ],
)
def test_anchors_tags_and_defaults_stay(before: str, after: str) -> None:
    assert fixed(before) == after
    assert fixed(after) == after


def test_a_finding_behind_several_aliases_is_one_finding() -> None:
    assert found("a: &d cuda\nb:\n  device: *d\nc:\n  device: *d\n") == [(1, 7, "NP860", "warning")]


def test_aliases_of_aliases_take_no_time() -> None:
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))]
    assert fixed("\n".join([*lines, "device: cuda"]) + "\n").endswith("device: neuron\n")

"""Compose files and Kubernetes manifests: exact texts, and the data that stays the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml

from neuron_port.files import compose, kubernetes
from neuron_port.sources.python import UnreadableFile

sys.path.insert(0, str(Path(__file__).parent))
from texts import fixed, found

SERVICE = "services:\n  a:\n    image: x  # kept\n"
POD = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    image: x\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    runtime: nvidia\n    tty: true\n", "    devices:\n      - /dev/neuron0\n    tty: true\n"),
        ("    gpus: all\n", "    devices:\n      - /dev/neuron0\n"),
        ("    devices: [/dev/x]\n    gpus: all\n", "    devices: [/dev/x]\n"),
        ("    environment:\n      NCCL_DEBUG: INFO\n      A: 1\n", "    environment:\n      A: 1\n"),
        ("    environment:\n      NCCL_DEBUG: INFO\n    tty: true\n", "    tty: true\n"),
        ("    environment:\n      - NCCL_DEBUG=INFO\n      - A=1\n", "    environment:\n      - A=1\n"),
        (
            '    environment:\n      - "CUDA_VISIBLE_DEVICES=0"\n',
            '    environment:\n      - "NEURON_RT_VISIBLE_CORES=0"\n',
        ),
        ("    command: torchrun --nproc_per_node=gpu t.py\n", "    command: torchrun --nproc_per_node=auto t.py\n"),
        (
            '    command: ["python", "t.py", "--device", "cuda"]\n',
            '    command: ["python", "t.py", "--device", "neuron"]\n',
        ),
        (
            "    command:\n      - python\n      - t.py\n      - --device\n      - cuda\n",
            "    command:\n      - python\n      - t.py\n      - --device\n      - neuron\n",
        ),
        (
            "    deploy:\n      replicas: 2\n      resources:\n        reservations:\n          devices:\n"
            "            - driver: nvidia\n              capabilities: [gpu]\n",
            "    devices:\n      - /dev/neuron0\n    deploy:\n      replicas: 2\n",
        ),
    ],
)
def test_compose(before: str, after: str) -> None:
    text = fixed(compose.inspect, SERVICE + before, "compose.yaml")
    assert text == SERVICE + after
    yaml.safe_load(text)


def test_a_service_that_is_written_in_one_line_is_only_reported() -> None:
    text = "services:\n  a: {image: x, runtime: nvidia}\n"
    assert found(compose.inspect, text, "compose.yaml") == [("NP851", "runtime: nvidia")]
    assert fixed(compose.inspect, text, "compose.yaml") == text


def test_other_yaml_is_no_compose_file() -> None:
    assert found(compose.inspect, "services:\n  gpus: all\n  runtime: nvidia\n", "config.yaml") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "    resources:\n      limits:\n        nvidia.com/gpu: 8  # all\n",
            "    resources:\n      limits:\n        aws.amazon.com/neuron: 8  # all\n",
        ),
        ('    resources: {limits: {"nvidia.com/gpu": 1}}\n', '    resources: {limits: {"aws.amazon.com/neuron": 1}}\n'),
        (
            "    env:\n    - name: NCCL_DEBUG\n      value: INFO\n    - name: A\n      value: b\n",
            "    env:\n    - name: A\n      value: b\n",
        ),
        (
            "    command: [bash, -c]\n    args:\n    - |\n      export NCCL_DEBUG=INFO\n      torchrun --nproc_per_node=gpu t.py\n",
            "    command: [bash, -c]\n    args:\n    - |\n      torchrun --nproc_per_node=auto t.py\n",
        ),
        ('    args: ["--device", "cuda"]\n', '    args: ["--device", "neuron"]\n'),
    ],
)
def test_kubernetes(before: str, after: str) -> None:
    text = fixed(kubernetes.inspect, POD + before, "pod.yaml")
    assert text == POD + after
    yaml.safe_load(text)


def test_a_template_is_searched_line_by_line() -> None:
    text = "{{- if .Values.gpu }}\nlimits:\n  nvidia.com/gpu: {{ .Values.count }}\n{{- end }}\n"
    kubernetes.check(text)
    assert found(kubernetes.inspect, text, "templates/pod.yaml") == [("NP852", "nvidia.com/gpu")]
    assert "aws.amazon.com/neuron: {{ .Values.count }}" in fixed(kubernetes.inspect, text, "templates/pod.yaml")


def test_broken_yaml_is_refused() -> None:
    with pytest.raises(UnreadableFile) as error:
        compose.check("a: [1\nb: 2\n")
    assert error.value.row == 2


RESERVED = "deploy:\n      resources:\n        reservations:\n          devices:\n"


def test_an_override_need_not_say_what_a_service_is_made_of() -> None:
    text = "services:\n  a:\n    runtime: nvidia\n"
    assert found(compose.inspect, text, "docker-compose.gpu.yml") == [("NP851", "runtime: nvidia")]
    assert found(compose.inspect, text, "services.yml") == []


def test_a_gpu_beside_other_devices_is_reported() -> None:
    text = (
        f"services:\n  a:\n    image: x\n    {RESERVED}            - driver: nvidia\n"
        "              capabilities: [gpu]\n            - driver: other\n              capabilities: [x]\n"
    )
    assert [code for code, _ in found(compose.inspect, text, "compose.yml")] == ["NP851"]
    assert fixed(compose.inspect, text, "compose.yml") == text


def test_what_an_alias_stands_for_is_changed_once() -> None:
    before = POD + "    resources:\n      limits: &all\n        nvidia.com/gpu: 1\n      requests: *all\n"
    assert fixed(kubernetes.inspect, before, "pod.yaml") == before.replace("nvidia.com/gpu", "aws.amazon.com/neuron")

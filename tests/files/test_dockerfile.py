"""Dockerfiles: images, variables, and the shell code of instructions."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from neuron_port.files import dockerfile
from neuron_port.sources.python import UnreadableFile

sys.path.insert(0, str(Path(__file__).parent))
from texts import fixed, found, reports


def fix(text: str) -> str:
    return fixed(dockerfile.inspect, text, "Dockerfile")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ENV NCCL_DEBUG=INFO\nRUN a\n", "RUN a\n"),
        ("ENV NCCL_DEBUG INFO\nRUN a\n", "RUN a\n"),
        ("ENV A=1 NCCL_DEBUG=INFO B=2\n", "ENV A=1 B=2\n"),
        ("ENV A=1 \\\n    # note\n    NCCL_DEBUG=INFO\n", "ENV A=1\n"),
        ("ENV NCCL_DEBUG=INFO \\\n    NCCL_IB_DISABLE=1\nRUN a\n", "RUN a\n"),
        ("ENV CUDA_LAUNCH_BLOCKING=1\n", "ENV NEURON_LAUNCH_BLOCKING=1\n"),
        # Docker joins the next instruction to an empty line behind a backslash.
        (
            "RUN pip install numpy \\\n    # fast\n    flash-attn\nRUN a\n",
            "RUN pip install numpy\nRUN a\n",
        ),
        (
            "RUN pip install numpy \\\n    # fast\n    flash-attn \\\n    # slow\n    scipy\n",
            "RUN pip install numpy \\\n    # slow\n    scipy\n",
        ),
        ("# escape=`\nRUN pip install numpy `\n    flash-attn\nRUN a\n", "# escape=`\nRUN pip install numpy\nRUN a\n"),
        ("RUN pip install flash-attn || echo no\n", "RUN : || echo no\n"),
        (
            "RUN a && \\\n    # nvidia-smi\n    nvidia-smi && \\\n    b\n",
            "RUN a && \\\n    # nvidia-smi\n    neuron-ls && \\\n    b\n",
        ),
        ("RUN --mount=type=cache,target=/x NCCL_DEBUG=INFO make\n", "RUN --mount=type=cache,target=/x make\n"),
        ("RUN <<EOF\nexport NCCL_DEBUG=INFO\nmake\nEOF\nRUN b\n", "RUN <<EOF\nmake\nEOF\nRUN b\n"),
        ('CMD ["torchrun", "--nproc_per_node=gpu", "t.py"]\n', 'CMD ["torchrun", "--nproc_per_node=auto", "t.py"]\n'),
        (
            'ENTRYPOINT ["python", "t.py", "--device", "cuda"]\n',
            'ENTRYPOINT ["python", "t.py", "--device", "neuron"]\n',
        ),
        ("CMD torchrun --nproc_per_node=gpu t.py\n", "CMD torchrun --nproc_per_node=auto t.py\n"),
        ("ONBUILD CMD torchrun --nproc_per_node=gpu t.py\n", "ONBUILD CMD torchrun --nproc_per_node=auto t.py\n"),
        (
            "RUN python - <<EOF\nimport torch\nprint(torch.cuda.is_available())\nEOF\n",
            "RUN python - <<EOF\nimport torch\nprint(torch.accelerator.is_available())\nEOF\n",
        ),
        ("ENV A=1 \\\r\n  NCCL_DEBUG=INFO\r\nCMD a\r\n", "ENV A=1\r\nCMD a\r\n"),
        ("# escape=`\nRUN a && `\n  nvidia-smi\n", "# escape=`\nRUN a && `\n  neuron-ls\n"),
    ],
)
def test_fix(before: str, after: str) -> None:
    assert fix(before) == after


def test_an_option_goes_from_a_list_with_its_comma() -> None:
    text = 'CMD ["python", "t.py", "--per_device_train_batch_size", "8", "--tf32", "True", "--lr", "1"]\n'
    assert fix(text) == 'CMD ["python", "t.py", "--per_device_train_batch_size", "8", "--lr", "1"]\n'


def test_a_variable_that_another_instruction_uses_stays() -> None:
    text = "ENV CUDA_HOME=/usr/local/cuda\nENV CPATH=$CUDA_HOME/include\n"
    assert fix(text) == text


def test_places() -> None:
    text = (
        "ARG BASE=nvidia/cuda:12.4.1-base\nFROM $BASE\nFROM pytorch/pytorch:2.4.0-cuda12.4-cudnn9-devel AS a\nFROM a\n"
    )
    assert found(dockerfile.inspect, text, "Dockerfile") == [
        ("NP850", "nvidia/cuda:12.4.1-base"),
        ("NP850", "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-devel"),
    ]


@pytest.mark.parametrize(
    "image",
    [
        "ubuntu:24.04",
        "python:3.12-slim",
        "public.ecr.aws/neuron/pytorch-inference-vllm-neuronx:0.29.0.1.2.0-neuronx-py314-sdk2.33.0-ubuntu26.04",
        "myorg/neuron-trainer:1",
        "scratch",
    ],
)
def test_images_that_are_right(image: str) -> None:
    assert reports(dockerfile.inspect, f"FROM {image}\n", "Dockerfile") == []


@pytest.mark.parametrize(
    "image",
    [
        "nvidia/cuda:12.4.1-devel-ubuntu22.04",
        "nvcr.io/nvidia/pytorch:24.01-py3",
        "pytorch/pytorch",
        "pytorch/pytorch:latest",
        "public.ecr.aws/neuron/pytorch-training-neuronx:2.5.1-neuronx-py310-sdk2.21.0-ubuntu22.04",
        "huggingface/transformers-pytorch-gpu:4.41.2",
        "vllm/vllm-openai:latest",
        "myorg/trainer:cu121",
    ],
)
def test_images_for_other_platforms(image: str) -> None:
    assert [report.rule.code for report in reports(dockerfile.inspect, f"FROM {image}\n", "Dockerfile")] == ["NP850"]


def test_a_line_without_instruction_is_refused() -> None:
    with pytest.raises(UnreadableFile) as error:
        dockerfile.check("FROM a\n\nhello world\n")
    assert (error.value.row, str(error.value)) == (3, "'hello' is no instruction of a Dockerfile")


def test_a_script_that_is_copied_from_a_here_document_is_read() -> None:
    text = "COPY <<EOF /opt/run.sh\nexport NCCL_DEBUG=INFO\ntorchrun --nproc_per_node=gpu t.py\nEOF\nCMD a\n"
    assert fix(text) == "COPY <<EOF /opt/run.sh\ntorchrun --nproc_per_node=auto t.py\nEOF\nCMD a\n"


def test_a_here_document_for_another_interpreter_is_no_shell_code() -> None:
    text = "RUN <<EOF\n#!/usr/bin/env python3\nprint('nvidia-smi')\nEOF\nCOPY <<EOF /a.txt\nnvidia-smi\nEOF\n"
    assert found(dockerfile.inspect, text, "Dockerfile") == []


@pytest.mark.parametrize("form", ["$BASE", "${BASE}", "${BASE:-nvidia/cuda:12.4.1-devel-ubuntu22.04}"])
def test_an_image_in_a_variable_is_reported(form: str) -> None:
    text = f"ARG BASE=nvidia/cuda:12.4.1-devel-ubuntu22.04\nFROM {form}\n"
    codes = [code for code, _ in found(dockerfile.inspect, text, "Dockerfile")]
    assert codes == ["NP850"] * (2 if ":-" in form else 1)

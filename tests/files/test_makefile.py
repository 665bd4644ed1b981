"""Makefiles: recipes, exported variables and commands in variables."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from neuron_port.files import makefile

sys.path.insert(0, str(Path(__file__).parent))
from texts import fixed, found


def fix(text: str) -> str:
    return fixed(makefile.inspect, text, "Makefile")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("t:\n\t@torchrun --nproc_per_node=gpu $(ARGS) t.py\n", "t:\n\t@torchrun --nproc_per_node=auto $(ARGS) t.py\n"),
        (
            "t: a\n\t-CUDA_VISIBLE_DEVICES=$(G) torchrun \\\n\t\t--nproc_per_node=gpu t.py\n",
            "t: a\n\t-torchrun \\\n\t\t--nproc_per_node=auto t.py\n",
        ),
        (
            "t:\n\tfor i in 1 2; do NCCL_DEBUG=INFO python $$i.py; done\n",
            "t:\n\tfor i in 1 2; do python $$i.py; done\n",
        ),
        ("export NCCL_DEBUG = INFO\nt:\n\ttrue\n", "t:\n\ttrue\n"),
        ("export CUDA_LAUNCH_BLOCKING := 1\n", "export NEURON_LAUNCH_BLOCKING := 1\n"),
        ("t: export CUDA_LAUNCH_BLOCKING=1\n", "t: export NEURON_LAUNCH_BLOCKING=1\n"),
        ("ARGS = --device cuda \\\n\t--lr 1  # x\n", "ARGS = --device neuron \\\n\t--lr 1  # x\n"),
        ("RUN ?= python t.py --device cuda\n", "RUN ?= python t.py --device neuron\n"),
        (
            "N := $(shell nvidia-smi -L | wc -l)\n",
            "N := $(shell python -c 'import torch; print(torch.accelerator.device_count())')\n",
        ),
    ],
)
def test_fix(before: str, after: str) -> None:
    assert fix(before) == after


def test_variables_of_make_are_no_part_of_a_value() -> None:
    text = "t:\n\ttorchrun --nproc_per_node=$(gpu) t.py\n"
    assert found(makefile.inspect, text, "Makefile") == []


def test_an_exported_variable_that_is_used_stays() -> None:
    text = "export CUDA_HOME = /usr/local/cuda\nt:\n\tls $(CUDA_HOME)\n"
    assert fix(text) == text


def test_comments_and_automatic_variables() -> None:
    text = "# export NCCL_DEBUG=INFO\nt: a\n\t# torchrun --nproc_per_node=gpu\n\tcp $< $@ && echo $^ $(dir $@)\n"
    assert found(makefile.inspect, text, "Makefile") == []

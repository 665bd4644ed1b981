"""optimum-neuron's accelerator: arguments and methods that Accelerate's does not have."""

from __future__ import annotations

import pytest

from tests.codemods.lines import port
from tests.porting import check, ported

HEAD = "from optimum.neuron import NeuronAccelerator\n\n"
MADE = f"{HEAD}accelerator = NeuronAccelerator()\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("trn_config=config, zero_1=True", ""),
        ("mp_plugin=None, zero_1=None", ""),
        ('mixed_precision_config="AUTOCAST_BF16"', 'mixed_precision="bf16"'),
        ('mixed_precision_config="NO", cpu=True', 'mixed_precision="no", cpu=True'),
        ('mixed_precision_config="FULL_BF16"', ""),
        ("mixed_precision_config=made", ""),
        ('autocast_backend="amp", mixed_precision="bf16"', 'mixed_precision="bf16"'),
        ("**options", "**options"),
    ],
)
def test_arguments(before: str, after: str) -> None:
    assert port(HEAD, f"accelerator = NeuronAccelerator({before})") == f"accelerator = Accelerator({after})"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("accelerator.gather(x, sync=True)", "accelerator.gather(x)"),
        ("accelerator.gather_for_metrics(x, sync=False)", "accelerator.gather_for_metrics(x)"),
        (
            "accelerator.clip_grad_norm_(p, 1.0, postpone_clipping_to_optimizer_step=True)",
            "accelerator.clip_grad_norm_(p, 1.0)",
        ),
        (
            "loader = accelerator.prepare_data_loader(d, use_mp_device_loader=True)",
            "loader = accelerator.prepare_data_loader(d)",
        ),
        ("accelerator.save_state_for_mp(folder)", "accelerator.save_state(folder)"),
        ("train(accelerator.patch_model_for_neuron(model))", "train(model)"),
        ("other.gather(x, sync=True)", "other.gather(x, sync=True)"),
    ],
)
def test_methods(before: str, after: str) -> None:
    assert port(MADE, before) == after


def test_attribute_and_parameter_hold_an_accelerator_too() -> None:
    source = (
        f"{HEAD}def run(accelerator: NeuronAccelerator):\n    accelerator.gather(x, sync=True)\n\n\n"
        "class Run:\n    def __init__(self):\n        self.accelerator = NeuronAccelerator()\n\n"
        "    def gather(self, x):\n        return self.accelerator.gather(x, sync=True)\n"
    )
    assert "sync" not in ported(source)


def test_gather_over_all_processes_is_mentioned() -> None:
    found = [each for each in check(f"{MADE}accelerator.gather(x)\n") if each.code == "NP343"]
    assert [(each.severity.word, each.location.row) for each in found] == [("info", 4)]

"""The plan of the layers is applied where the model is placed, or the finding says where it has to be."""

from __future__ import annotations

import pytest

from tests.porting import check, ported

HEAD = """\
import torch
from neuronx_distributed.parallel_layers import ColumnParallelLinear, move_model_to_device, parallel_state
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.head = ColumnParallelLinear(width, width)


class Whole(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = Net(width)


def main(device):
    parallel_state.initialize_model_parallel(tensor_model_parallel_size=2)
"""
APPLY = 'apply_plan(model, mesh["tp"], TENSOR_PARALLEL_PLAN)'


def main(*lines: str) -> list[str]:
    """What the lines of ``main`` behind the mesh become."""
    after = ported(HEAD + "".join(f"    {line}\n" for line in lines))
    rows = [row.strip() for row in after.splitlines()]
    last = max(index for index, row in enumerate(rows) if row.startswith(("mesh_dim_names", "mesh =")))
    return [row for row in rows[last + 1 :] if row != ")"]


@pytest.mark.parametrize(
    ("lines", "after"),
    [
        (
            ["model = Net(2)", "move_model_to_device(model, device)"],
            ["model = Net(2)", APPLY, "model.to(device)"],
        ),
        (
            ["model = Net(2)", "move_model_to_device(device=device, model=model)"],
            ["model = Net(2)", APPLY, "model.to(device)"],
        ),
        (["model = Net(2)", "model.to(device)"], ["model = Net(2)", APPLY, "model.to(device)"]),
        (["model = Whole(2)", "model = model.to(device)"], ["model = Whole(2)", APPLY, "model = model.to(device)"]),
        (["model = Whole(2).to(device)"], ["model = Whole(2).to(device)", APPLY]),
        (
            ["model = Net(2)", "model.to(torch.bfloat16)", "model.to(device)"],
            ["model = Net(2)", "model.to(torch.bfloat16)", APPLY, "model.to(device)"],
        ),
        (
            ["model = Net(2)", "model.to(device)", "model.to(device)"],
            ["model = Net(2)", APPLY, "model.to(device)", "model.to(device)"],
        ),
    ],
)
def test_plan_is_applied(lines: list[str], after: list[str]) -> None:
    assert main(*lines) == after


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            ["model = Net(2)", "opt = torch.optim.SGD(model.parameters())", "move_model_to_device(model, device)"],
            "build the optimizer after apply_plan",
        ),
        (["move_model_to_device(Net(2), device)"], "move_model_to_device is model.to(device) natively"),
    ],
)
def test_plan_is_not_applied(lines: list[str], reason: str) -> None:
    source = HEAD + "".join(f"    {line}\n" for line in lines)
    finding = [finding for finding in check(source) if finding.code == "NP284"][-1]
    assert reason in finding.message
    assert lines[-1] in ported(source)


def test_model_that_another_function_places() -> None:
    other = "\n\ndef other(device):\n    model = Net(2)\n    model.to(device)\n"
    assert f"    {APPLY}\n" not in ported(HEAD + other)
    shared = ported(HEAD + other.replace("model = Net(2)", "model = Net(parallel_state.get_data_parallel_rank())"))
    assert "    global mesh\n" in shared
    assert f"    {APPLY}\n    model.to(device)\n" in shared


def test_model_that_places_itself() -> None:
    after = ported(
        HEAD.replace(
            "        self.head = ColumnParallelLinear(width, width)\n",
            "        self.head = ColumnParallelLinear(width, width)\n        move_model_to_device(self, 'xla')\n",
        )
    )
    assert "        self.head = nn.Linear(width, width)\n        self.to(" in after
    assert "def apply_plan" in after


def test_layers_of_another_file() -> None:
    source = """
        from neuronx_distributed.parallel_layers import move_model_to_device, parallel_state
        from modeling import Net

        def main(device):
            parallel_state.initialize_model_parallel(tensor_model_parallel_size=2)
            model = Net(2)
            move_model_to_device(model, device)
    """
    finding = [finding for finding in check(source) if finding.code == "NP284"][-1]
    assert "its layers come from another file: import apply_plan and TENSOR_PARALLEL_PLAN from there" in finding.message
    assert "move_model_to_device(model, device)" in ported(source)
    assert "    model.to(device)" in ported(source.replace("_size=2", "_size=1"))


def test_file_that_only_holds_layers_says_where_the_plan_is_applied() -> None:
    after = ported(HEAD.partition("def main")[0])
    assert "TENSOR_PARALLEL_PLAN = {  # apply_plan(model, mesh" in after
    assert "def apply_plan(model, mesh, plan):" in after

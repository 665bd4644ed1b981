"""The trainer of NeuronX Distributed hides backward(), averages and clipping."""

from __future__ import annotations

from tests.porting import check

SOURCE = """
    import neuronx_distributed as nxd
    import torch

    config = nxd.neuronx_distributed_config()
    model = nxd.initialize_parallel_model(config, build)
    opt = nxd.initialize_parallel_optimizer(config, torch.optim.AdamW, model.parameters())
    loss = model.run_train(x=1)
    opt.step()
    print(opt.grad_norm, other.grad_norm, model.local_parameters())
"""


def messages(source: str) -> dict[int, str]:
    return {finding.location.row: finding.message for finding in check(source) if finding.code == "NP291"}


def test_what_the_trainer_hides_is_named() -> None:
    found = messages(SOURCE)
    assert sorted(found) == [5, 6, 7, 8, 10]
    assert "clipped to 1.0" in found[5]
    assert "parallelize_module by a plan" in found[6]
    assert "averages the gradients" in found[7]
    assert "calls backward()" in found[8]
    columns = [finding.location.column for finding in check(SOURCE) if finding.location.row == 10]
    assert columns == [7, 39]


def test_other_runners_are_left_alone() -> None:
    assert messages("import torch\n\nmodel.run_train(x=1)\nprint(model.local_module)\n") == {}

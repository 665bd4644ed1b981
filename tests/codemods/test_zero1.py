"""ZeRO-1 optimizers: ported where every use of the optimizer and of its model is seen, else named."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, check, ported

HEAD = """\
import torch
import torch_xla.core.xla_model as xm
from torch_xla.distributed.zero_redundancy_optimizer import ZeroRedundancyOptimizer


def main(batches, lr, norm):
    model = torch.nn.Linear(2, 2)
"""
LOOP = """\
    for batch in batches:
        model(batch).sum().backward()
        optimizer.step()
"""


def made(arguments: str, loop: str = LOOP, before: str = "") -> str:
    lines = f"    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW{arguments})\n"
    return f"{HEAD}{before}{lines}{loop}"


@pytest.mark.parametrize(
    ("arguments", "call", "clip"),
    [
        ("", "torch.optim.AdamW(model.parameters())", "1.0"),
        (", lr=lr", "torch.optim.AdamW(model.parameters(), lr=lr)", "1.0"),
        (", lr=lr, max_norm=norm, pin_layout=False", "torch.optim.AdamW(model.parameters(), lr=lr)", "norm"),
        (", torch.float32, True, 0.5, lr=lr", "torch.optim.AdamW(model.parameters(), lr=lr)", "0.5"),
        (
            ", sharding_groups=None, bucket_cap_mb_all_gather=100, save_master_weights=True, lazy_init=False",
            "torch.optim.AdamW(model.parameters())",
            "1.0",
        ),
        (", grad_clipping=False, betas=(0, 1)", "torch.optim.AdamW(model.parameters(), betas=(0, 1))", None),
    ],
)
def test_arguments(arguments: str, call: str, clip: str | None) -> None:
    clipping = f"        torch.nn.utils.clip_grad_norm_(model.parameters(), {clip})\n" if clip else ""
    assert_ported(
        made(arguments),
        f"""\
import torch
from torch.distributed.fsdp import fully_shard


def main(batches, lr, norm):
    model = torch.nn.Linear(2, 2)
    fully_shard(model, reshard_after_forward=False)
    optimizer = {call}
    for batch in batches:
        model(batch).sum().backward()
{clipping}        optimizer.step()
""",
    )


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (made(", grad_clipping=norm > 0"), "grad_clipping is not written"),
        (made(", lazy_init=True"), "call fully_shard(model) before"),
        (made(", optimizer_dtype=torch.double"), "the precision of the master weights"),
        (made("", before="    model.to(torch.bfloat16)\n"), "mp_policy=MixedPrecisionPolicy"),
        (made(", sharding_groups=[[0, 1], [2, 3]]"), "sharding_groups are lists of ranks"),
        (made(", **options"), "stars hide"),
        (made(", max_norm=min(1, lr)"), "give it a name first"),
        (made("", loop="    return optimizer\n"), "its step(), in front of which"),
        (made("", loop=LOOP.replace("step()", "step(closure)")), "does more with its step()"),
        (made("", loop=f"{LOOP}    print(xm._fetch_gradients(optimizer))\n"), "shards and averaged"),
        (
            made("", loop=f"{LOOP}    print([p for g in optimizer.param_groups for p in g['params']])\n"),
            "reads its param",
        ),
        (made("", loop=f"{LOOP}    optimizer.init_zero()\n"), "uses its init_zero"),
        (made("", loop=f"{LOOP}    torch.save(model.state_dict(), 'x')\n"), "which are shards after fully_shard"),
        (made("", loop=f"{LOOP}    xm.save({{'m': model.state_dict()}}, 'x')\n"), "which are shards after fully_shard"),
        (
            made("", before="    if lr:\n        optimizer = torch.optim.AdamW(model.parameters())\n"),
            "made in another way",
        ),
        (
            made("").replace("= torch.nn.Linear(2, 2)", "= torch.nn.parallel.DistributedDataParallel(net)"),
            "wrapped by Dist",
        ),
        (made("", loop=f"{LOOP}    model = wrap(model)\n"), "model is bound again"),
        (made("").replace("optimizer = Zero", "return Zero"), "not assigned to a name"),
        (made("").replace("model.parameters()", "parameters"), "those of one model"),
        (made("").replace("model.parameters()", "[*model.parameters(), *other.parameters()]"), "those of one model"),
        (
            made("", loop="    train(optimizer)\n\n\ndef train(optimizer):\n    optimizer.step()\n"),
            "a function that does not get model as well",
        ),
    ],
)
def test_what_stays(source: str, reason: str) -> None:
    finding = [finding for finding in check(source) if finding.code == "NP233"][-1]
    assert reason in finding.message
    assert finding.applicability.word == "manual"
    assert "ZeroRedundancyOptimizer(" in ported(source)


@pytest.mark.parametrize(
    "line", ["xm.optimizer_step(optimizer)", "xm.reduce_gradients(optimizer)\n        optimizer.step()"]
)
def test_its_step_averages_by_itself(line: str) -> None:
    after = ported(made("", loop=LOOP.replace("optimizer.step()", line)))
    assert after.endswith("clip_grad_norm_(model.parameters(), 1.0)\n        optimizer.step()\n")
    assert "average_gradients" not in after


def test_steps_of_a_function_that_gets_both() -> None:
    after = ported(
        made(
            ", max_norm=0.5",
            loop="    train(model, optimizer, batches)\n\n\ndef train(model, optimizer, batches):\n" + LOOP,
        )
    )
    assert "        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)\n        optimizer.step()\n" in after


def test_steps_of_a_function_that_gets_another_model() -> None:
    source = made("", loop="    train(other, optimizer)\n\n\ndef train(model, optimizer):\n    optimizer.step()\n")
    assert "ZeroRedundancyOptimizer(" in ported(source)


def test_norm_that_the_step_does_not_know() -> None:
    loop = "    train(model, optimizer)\n\n\ndef train(model, optimizer):\n    optimizer.step()\n"
    finding = [finding for finding in check(made(", max_norm=norm", loop)) if finding.code == "NP233"][-1]
    assert "norm, the norm to clip to, is not known" in finding.message


def test_attributes_of_an_object() -> None:
    after = ported("""
        import torch
        from torch_xla.distributed.zero_redundancy_optimizer import ZeroRedundancyOptimizer

        class Trainer:
            def __init__(self, model):
                self.model = model
                self.optimizer = ZeroRedundancyOptimizer(self.model.parameters(), torch.optim.SGD, lr=0.1)

            def step(self):
                self.optimizer.step()
    """)
    assert (
        "        fully_shard(self.model, reshard_after_forward=False)\n        self.optimizer = torch.optim.SGD("
        in after
    )
    assert (
        "        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)\n        self.optimizer.step()" in after
    )


def test_groups_of_parameters_are_made_from_shards() -> None:
    after = ported(
        made(
            "",
            before="    named = list(model.named_parameters())\n    groups = [{'params': [p for n, p in named]}]\n",
        ).replace("model.parameters(), torch", "groups, torch")
    )
    assert "    fully_shard(model, reshard_after_forward=False)\n    named = list(model.named_parameters())\n" in after
    assert "optimizer = torch.optim.AdamW(groups)" in after


def test_norm_and_whole_weights() -> None:
    after = ported(
        made(
            "",
            loop=f"{LOOP}        print(optimizer.grad_norm)\n    xm.save(model.state_dict(), 'w.pt')\n    xm.rendezvous('x')\n",
        )
    )
    assert "        grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n" in after
    assert "        print(grad_norm)\n" in after
    assert (
        "    state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))\n"
        in after
    )
    assert after.count("barrier") == 1


def test_groups_of_neuronx_distributed() -> None:
    after = ported("""
        import torch
        from neuronx_distributed.optimizer import NeuronZero1Optimizer
        from neuronx_distributed.parallel_layers import parallel_state

        def main(model, batches):
            model = build()
            parallel_state.initialize_model_parallel(tensor_model_parallel_size=8)
            optimizer = NeuronZero1Optimizer(
                model.parameters(),
                torch.optim.AdamW,
                sharding_groups=parallel_state.get_data_parallel_replica_groups(),
                grad_norm_groups=parallel_state.get_tensor_model_parallel_replica_groups(),
                lr=0.1,
            )
            optimizer.step()
    """)
    assert '    fully_shard(model, mesh=mesh["dp"], reshard_after_forward=False)\n' in after
    assert "    clip_gradient_norm(model.parameters(), 1.0)\n    optimizer.step()\n" in after
    assert "parallel_state" not in after


def test_odd_uses_are_named_where_they_stand() -> None:
    loop = f"{LOOP}    optimizer.load_state_dict(x)\n    return optimizer.state_dict()\n"
    found = [finding for finding in check(made("", loop)) if finding.code == "NP234"]
    assert [(finding.location.row, finding.location.column) for finding in found] == [(12, 5), (13, 12)]

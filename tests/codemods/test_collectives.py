"""Collectives of PyTorch/XLA, with the conventions of their results."""

from __future__ import annotations

import textwrap

import pytest

from tests.porting import check, ported

HEAD = """\
import torch
import torch.distributed as dist
import torch_xla.core.functions as xf
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr


"""
# A group made by this file before anything else, and one that may be made elsewhere.
GROUPED = 'dist.init_process_group(init_method="env://")\n'
SUM = "dist.ReduceOp.SUM"


def body(source: str, level: str = "unsafe", *, grouped: bool = True) -> str:
    """The port of statements, without head and definitions; it settles."""
    start = GROUPED if grouped else "print(dist)\n"
    after = ported(HEAD + start + textwrap.dedent(source).strip("\n") + "\n", level)
    assert ported(after, level) == after
    return after.partition(start)[2].strip("\n")


def messages(source: str, code: str) -> list[str]:
    found = [finding for finding in check(f"{HEAD}{source}\n") if finding.code == code]
    return [finding.message for finding in found if finding.applicability.word == "manual"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = xm.all_reduce(xm.REDUCE_SUM, x)", f"y = x.detach().clone()\ndist.all_reduce(y, op={SUM})"),
        ("y = xm.all_reduce('min', x)", "y = x.detach().clone()\ndist.all_reduce(y, op=dist.ReduceOp.MIN)"),
        ("x = xm.all_reduce('max', x)", "x = x.detach().clone()\ndist.all_reduce(x, op=dist.ReduceOp.MAX)"),
        ("y = xm.all_reduce('sum', x.detach())", f"y = x.detach().clone()\ndist.all_reduce(y, op={SUM})"),
        ("y = xm.all_reduce('sum', x / 3)", f"y = (x / 3).detach().clone()\ndist.all_reduce(y, op={SUM})"),
        (
            "y = xm.all_reduce(inputs=f(x), reduce_type='sum', groups=None, pin_layout=True)  # c",
            f"y = f(x).detach().clone()  # c\ndist.all_reduce(y, op={SUM})",
        ),
        (
            "y = xm.all_reduce('sum', x, scale=1.0 / xr.world_size())",
            "y = x.detach().clone()\ndist.all_reduce(y, op=dist.ReduceOp.AVG)",
        ),
        (
            "n = dist.get_world_size()\ny = xm.all_reduce('sum', x, 1 / n)",
            "n = dist.get_world_size()\ny = x.detach().clone()\ndist.all_reduce(y, op=dist.ReduceOp.AVG)",
        ),
        (
            "y = xm.all_reduce('max', x, scale=1 / xr.world_size())",
            "y = x.detach().clone()\ndist.all_reduce(y, op=dist.ReduceOp.MAX)\ny *= 1 / dist.get_world_size()",
        ),
        (
            "y = xm.all_reduce('sum', x, scale=0.5)",
            f"y = x.detach().clone()\ndist.all_reduce(y, op={SUM})\ny *= 0.5",
        ),
        ("y = xm.all_reduce('sum', x, scale=1.0)", f"y = x.detach().clone()\ndist.all_reduce(y, op={SUM})"),
        (
            "op = xm.REDUCE_MAX\ny = xm.all_reduce(op, x)",
            "op = dist.ReduceOp.MAX\ny = x.detach().clone()\ndist.all_reduce(y, op=dist.ReduceOp.MAX)",
        ),
        ("_ = xm.all_reduce('sum', x)", f"_ = x.detach().clone()\ndist.all_reduce(_, op={SUM})"),
        ("print(xm.all_reduce('sum', x).item())", f"print(all_reduced(x, {SUM}).item())"),
        ("y = xm.all_reduce('sum', x) / 2", f"y = all_reduced(x, {SUM}) / 2"),
        ("self.y = xm.all_reduce('sum', x, scale=a + b)", f"self.y = all_reduced(x, {SUM}) * (a + b)"),
        ("y = z = xm.all_reduce('sum', x)", f"y = z = all_reduced(x, {SUM})"),
    ],
)
def test_a_tensor_is_copied(before: str, after: str) -> None:
    assert body(before, "safe") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("xm.all_reduce('sum', [x])", f"dist.all_reduce(x, op={SUM})"),
        ("xm.all_reduce('sum', [x, y])", f"for tensor in [x, y]:\n    dist.all_reduce(tensor, op={SUM})"),
        ("xm.all_reduce('sum', (*a,))", f"for tensor in (*a,):\n    dist.all_reduce(tensor, op={SUM})"),
        (
            "xm.all_reduce('sum', [p.grad for p in ps], scale=1 / xr.world_size())",
            "for gradient in [p.grad for p in ps]:\n    dist.all_reduce(gradient, op=dist.ReduceOp.AVG)",
        ),
        (
            "parts = [x, y]\nxm.all_reduce('max', parts)",
            "parts = [x, y]\nfor tensor in parts:\n    dist.all_reduce(tensor, op=dist.ReduceOp.MAX)",
        ),
        (
            "tensor = 1\nxm.all_reduce('sum', [x, y], scale=0.5)",
            f"tensor = 1\nfor each in [x, y]:\n    dist.all_reduce(each, op={SUM})\n    each.mul_(0.5)",
        ),
        (
            "gs = xm._fetch_gradients(opt)\ngs = xm.all_reduce('sum', gs)",
            'gs = [parameter.grad for group in opt.param_groups for parameter in group["params"] if parameter.grad is not None]\n'
            f"for tensor in gs:\n    dist.all_reduce(tensor, op={SUM})",
        ),
        ("if a: xm.all_reduce('sum', [x])", f"if a: dist.all_reduce(x, op={SUM})"),
    ],
)
def test_a_list_is_reduced_in_place(before: str, after: str) -> None:
    assert body(before, "safe") == after


def test_a_list_by_its_name_is_not_sure() -> None:
    assert body("xm.all_reduce('sum', grads)", "safe") == "xm.all_reduce('sum', grads)"
    assert body("xm.all_reduce('sum', grads)") == f"for gradient in grads:\n    dist.all_reduce(gradient, op={SUM})"
    assert body("xm.all_reduce_bucketized_gradients(grads, 1.0 / xr.world_size(), None, True, 50)") == (
        "for gradient in grads:\n    dist.all_reduce(gradient, op=dist.ReduceOp.AVG)"
    )


def test_without_a_sure_group_the_port_asks() -> None:
    assert (
        body("xm.all_reduce('sum', [x])", grouped=False)
        == f"if dist.is_initialized():\n    dist.all_reduce(x, op={SUM})"
    )
    assert body("y = xm.all_reduce('sum', x)", grouped=False) == f"y = all_reduced(x, {SUM})"
    assert body("xm.collective_broadcast([x, y])", grouped=False) == (
        "if dist.is_initialized():\n    for tensor in [x, y]:\n        dist.broadcast(tensor, src=0)"
    )


@pytest.mark.parametrize(
    ("groups", "group"),
    [
        ("make()._mesh", "make()"),
        ("state.get_data_parallel_group()", None),
        ("[[0, 1], [2, 3]]", None),
        ("groups", None),
    ],
)
def test_groups(groups: str, group: str | None) -> None:
    line = f"y = xm.all_reduce('sum', x, groups={groups})"
    assert body(line, "safe") == line
    expected = f"y = x.detach().clone()\ndist.all_reduce(y, op={SUM}, group={group})" if group else line
    assert body(line) == expected


@pytest.mark.parametrize("groups", ["get_data_parallel_group(as_list=True)", "get_data_parallel_replica_groups()"])
def test_groups_of_neuronx_distributed(groups: str) -> None:
    state = "from neuronx_distributed.parallel_layers import parallel_state as ps\n"
    line = f"print(xm.all_reduce('sum', x, groups=ps.{groups}))\n"
    made = "ps.initialize_model_parallel(tensor_model_parallel_size=2)\n"
    assert f'print(all_reduced(x, {SUM}, mesh["dp"].get_group()))\n' in ported(f"{state}{HEAD}{made}{line}")
    assert line in ported(f"{state}{HEAD}{line}")
    assert "torch.distributed.new_group(ranks)" in messages(f"{state}{line}", "NP240")[0]


def test_replica_groups_in_a_variable() -> None:
    source = "groups = make()._mesh\ny = xm.all_reduce('sum', x, groups=groups)"
    assert body(source) == f"groups = make()\ny = x.detach().clone()\ndist.all_reduce(y, op={SUM}, group=groups)"
    assert body("g = make()._mesh\nxm.reduce_scatter('sum', x, 1.0, 0, len(g[0]), output=y, groups=g)") == (
        f"g = make()\ny.copy_(reduce_scattered(x, {SUM}, group=g))"
    )


def test_replica_groups_that_are_read_elsewhere() -> None:
    source = "groups = make()._mesh\nprint(len(groups))\ny = xm.all_reduce('sum', x, groups=groups)"
    assert body(source) == source


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("xm.all_reduce('sum', x)", "its result is unused"),
        ("xm.all_reduce(xm.REDUCE_SUM, x.grad)", "its result is unused"),
        ("y = xm.all_reduce(xm.REDUCE_MUL, x)", "no PRODUCT"),
        ("y = xm.all_reduce('and', x)", "no bitwise AND"),
        ("y = xm.all_reduce('or', x)", "no bitwise OR"),
        ("y = xm.all_reduce('mean', x)", "'mean' is not known"),
        ("y = xm.all_reduce(op, x)", "cannot be seen"),
        ("y = xm.all_reduce('sum', [x])", "the list that it reduces in place"),
        ("y = xm.all_reduce(*a)", "a starred argument"),
        ("y = xm.all_reduce", "passed on without a call"),
        ("y = xm.all_reduce('sum')", "not to be seen"),
        ("y = xm.all_reduce('sum', x, groups=[[0]])", "torch.distributed.new_group(ranks)"),
        ("loss = xm.all_reduce('sum', loss)\nloss.backward()", "backward() is called on its result on line 9"),
    ],
)
def test_what_a_person_does(line: str, reason: str) -> None:
    (message,) = messages(line, "NP240")
    assert reason in message
    assert ported(HEAD + line + "\n").endswith(line + "\n")


def test_names_of_reductions() -> None:
    assert body("op = xm.REDUCE_MAX", "safe") == "op = dist.ReduceOp.MAX"
    assert body("f(xm.REDUCE_SUM, xm.REDUCE_MIN)", "safe") == "f(xm.REDUCE_SUM, xm.REDUCE_MIN)"
    assert body("f(xm.REDUCE_SUM, xm.REDUCE_MIN)") == f"f({SUM}, dist.ReduceOp.MIN)"
    assert "no PRODUCT" in messages("f(xm.REDUCE_MUL)", "NP240")[0]
    assert len(messages("y = xm.all_reduce(xm.REDUCE_MUL, x)", "NP240")) == 1


def test_compiled_code_gets_a_hint() -> None:
    source = "class M:\n    def forward(self, x):\n        return xm.all_reduce('sum', x)\n\n\nm = torch.compile(M())\n"
    (finding,) = [finding for finding in check(HEAD + source) if finding.code == "NP240"]
    assert "torch.distributed._functional_collectives.all_reduce" in finding.message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = xm.all_gather(x)", "y = all_gathered(x)"),
        ("y = xm.all_gather(x, 0, None, pin_layout=False)", "y = all_gathered(x)"),
        ("y = xm.all_gather(value=x, dim=-1)", "y = all_gathered(x, dim=-1)"),
        ("xm.all_gather(x, output=y)", "y.copy_(all_gathered(x))"),
        ("y = xm.all_gather(x, groups=g._mesh)", "y = all_gathered(x, group=g)"),
        (
            "y = xm.reduce_scatter(xm.REDUCE_SUM, x, scale=1.0, scatter_dim=1, shard_count=xr.world_size())",
            f"y = reduce_scattered(x, {SUM}, dim=1)",
        ),
        (
            "y = xm.reduce_scatter('max', x, 1.0 / n, 0, n, output=None)",
            "y = reduce_scattered(x, dist.ReduceOp.MAX) * (1.0 / n)",
        ),
        (
            "xm.reduce_scatter('sum', x, 1.0, 0, n, output=y, groups=g._mesh)",
            f"y.copy_(reduce_scattered(x, {SUM}, group=g))",
        ),
        ("xm.collective_broadcast([x], root_ordinal=r)", "dist.broadcast(x, src=r)"),
        ("xm.collective_broadcast(ts)", "for tensor in ts:\n    dist.broadcast(tensor, src=0)"),
        (
            "xm.collective_broadcast(ts, 1, g._mesh)",
            "for tensor in ts:\n    dist.broadcast(tensor, src=1, group=g)",
        ),
        (
            "xm.broadcast_master_param(self.model)",
            "for tensor in (*self.model.parameters(), *self.model.buffers()):\n    dist.broadcast(tensor.data, src=0)",
        ),
        ("a = xm.mesh_reduce('a', x.item(), max)", "a = mesh_reduced(x.item(), max)"),
        ("a = xm.mesh_reduce(f'{b}', data=x, reduce_fn=lambda v: v[0])", "a = mesh_reduced(x, lambda v: v[0])"),
        ("y = xf.all_gather(x)", "y = joined(x)"),
        ("y = xf.all_gather(x, dim=1)", "y = joined(x, dim=1)"),
        ("n = xf.SyncBatchNorm(8)", "n = torch.nn.SyncBatchNorm(8)"),
    ],
)
def test_other_collectives(before: str, after: str) -> None:
    assert body(before) == after


@pytest.mark.parametrize(
    ("line", "code", "reason"),
    [
        ("y = xm.all_gather([x, y])", "NP241", "given a list"),
        ("y = xm.all_gather(x, groups=g)", "NP241", "new_group(ranks)"),
        ("y = xm.all_gather()", "NP241", "not to be seen"),
        ("xm.all_gather_bucketized(xs)", "NP241", "ZeRO-1"),
        ("y = xm.reduce_scatter('mul', x, 1.0, 0, n)", "NP242", "no PRODUCT"),
        ("xm.reduce_scatter_bucketized('sum', xs, 1.0, 0, n)", "NP242", "ZeRO-1"),
        ("y = xm.all_to_all(x, 0, 1, 4)", "NP243", "all_to_all_single"),
        ("y = xm.collective_permute(x, pairs)", "NP243", "batch_isend_irecv"),
        ("xm.send(x, 1)", "NP243", "torch.distributed.send"),
        ("y = xm.recv(x, 1)", "NP243", "torch.distributed.recv"),
        ("xm.broadcast_master_param(make())", "NP244", "give it a name"),
        ("y = xm.broadcast_master_param(m)", "NP244", "larger expression"),
        ("xm.collective_broadcast([x], groups=[[0, 1]])", "NP244", "new_group(ranks)"),
        ("reduce = xm.mesh_reduce", "NP245", "without a call"),
        ("y = xf.all_reduce('sum', x)", "NP246", "torch.autograd.Function"),
        ("y = xf.nms(a, b, c, d, e)", "NP246", "torchvision.ops.nms"),
        ("y = xf.distributed_mm(a, b)", "NP246", "ColwiseParallel"),
    ],
)
def test_what_else_a_person_does(line: str, code: str, reason: str) -> None:
    (message,) = messages(line, code)
    assert reason in message
    assert ported(HEAD + line + "\n").endswith(line + "\n")


def test_ddp_broadcasts_by_itself() -> None:
    wrapped = "from torch.nn.parallel import DistributedDataParallel as DDP\nmodel = DDP(Net())\n"
    assert body(f"{wrapped}xm.broadcast_master_param(model)", "safe") == wrapped.strip()
    chosen = wrapped.replace("model = DDP(Net())", "if ddp:\n    model = DDP(model)")
    assert "dist.broadcast(tensor.data, src=0)" in body(f"{chosen}xm.broadcast_master_param(model)", "safe")


def test_a_program_of_one_process_has_nobody_to_send_to() -> None:
    source = "import torch_xla.core.xla_model as xm\n\n\ndef main(model):\n    xm.broadcast_master_param(model)\n    return model\n\n\nprint(main(1))\n"
    assert ported(source, "safe") == "def main(model):\n    return model\n\n\nprint(main(1))\n"


@pytest.mark.parametrize("name", ["all_reduced", "mesh_reduced", "all_gathered", "joined"])
def test_names_that_are_taken(name: str) -> None:
    lines = {
        "all_reduced": "print(xm.all_reduce('sum', x))",
        "mesh_reduced": "print(xm.mesh_reduce('a', x, max))",
        "all_gathered": "print(xm.all_gather(x))",
        "joined": "print(xf.all_gather(x))",
    }
    source = f"{HEAD}{name} = 3\n{lines[name]}\n"
    assert ported(source).endswith(f"{name} = 3\n{lines[name]}\n")
    assert any(f"the name {name} means something else here" in finding.message for finding in check(source))


def test_imported_names() -> None:
    source = """
        from torch_xla.core.xla_model import REDUCE_SUM, all_reduce, mesh_reduce

        def f(x):
            return all_reduce(REDUCE_SUM, x), mesh_reduce("a", 3, max)
    """
    after = ported(source, "safe")
    assert "torch_xla" not in after
    assert after.endswith("    return all_reduced(x, torch.distributed.ReduceOp.SUM), mesh_reduced(3, max)\n")


def test_where_a_finding_stands() -> None:
    (finding,) = [item for item in check(f"{HEAD}y = xm.all_reduce('sum', x)\n") if item.code == "NP240"]
    assert (finding.location.row, finding.location.column, finding.end_location.column) == (8, 5, 28)

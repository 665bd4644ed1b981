"""SPMD programs: meshes and annotations become DeviceMesh and DTensor."""

from __future__ import annotations

import pytest

from tests.porting import check, ported

HEAD = "import numpy as np\nimport torch\nimport torch_xla.distributed.spmd as xs\n"
MESH = 'mesh = xs.Mesh(np.arange(4), (2, 2), ("data", "model"))\n'
NEW = 'mesh = init_device_mesh("neuron", (2, 2), mesh_dim_names=("data", "model"))\n'


def body(lines: str, mesh: str = MESH, target: str = "neuron") -> str:
    """What the fix writes for ``lines`` behind the mesh."""
    after = ported(f"{HEAD}{mesh}MARK = 1\n{lines}\n", target=target)
    assert ported(after, target=target) == after
    return after.partition("MARK = 1\n")[2].rstrip("\n")


# -- meshes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "devices",
    [
        "np.arange(n)",
        "np.array(range(n))",
        "list(range(n))",
        "range(n)",
        "[0, 1, 2, 3]",
        "np.array(list(range(n)))",
        "ids",
    ],
)
def test_devices_that_count_up(devices: str) -> None:
    after = body(f"ids = np.arange(n)\nm = xs.Mesh({devices}, shape, names)", "")
    assert after.splitlines()[-1] == 'm = init_device_mesh("neuron", shape, mesh_dim_names=names)'


@pytest.mark.parametrize(
    ("devices", "reason"),
    [
        ("order", "the device ids may not count up from 0"),
        ("[1, 0]", "the device ids may not count up from 0"),
        ("np.arange(1, 5)", "the device ids may not count up from 0"),
        ("np.arange(4).reshape(2, 2).T", "the device ids may not count up from 0"),
    ],
)
def test_devices_in_another_order(devices: str, reason: str) -> None:
    found = [f for f in check(f"{HEAD}m = xs.Mesh({devices}, (2, 2), ('x', 'y'))\n") if f.code == "NP268"]
    assert [(f.location.row, f.applicability.word) for f in found] == [(4, "manual")]
    assert found[0].message.endswith(f"not done by itself: {reason}")


def test_mesh_without_names_and_by_keywords() -> None:
    assert body("m = xs.Mesh(device_ids=range(4), mesh_shape=(4,))", "") == 'm = init_device_mesh("neuron", (4,))'


def test_portable_mesh() -> None:
    after = body("m = xs.Mesh(range(4), (4,))", "", "portable")
    assert after == "m = init_device_mesh(torch.accelerator.current_accelerator().type, (4,))"


def test_one_dimension() -> None:
    assert body('m = xs.get_1d_mesh("data")', "").endswith(
        'm = init_device_mesh("neuron", (int(os.environ.get("WORLD_SIZE", 1)),), mesh_dim_names=("data",))'
    )
    after = body('torch.distributed.init_process_group("xla")\nm = xs.get_1d_mesh()', "")
    assert after.endswith('m = init_device_mesh("neuron", (torch.distributed.get_world_size(),))')


def test_what_is_read_of_a_mesh() -> None:
    lines = "print(mesh.mesh_shape[0], mesh.axis_names, mesh.get_logical_mesh().sum(), mesh.size(), other.mesh_shape)"
    assert body(lines) == "print(mesh.shape[0], mesh.mesh_dim_names, mesh.mesh.sum(), mesh.size(), other.mesh_shape)"


def test_global_mesh() -> None:
    assert body("xs.set_global_mesh(mesh)\nprint(mesh)") == "print(mesh)"
    for lines in ("xs.set_global_mesh(mesh)", "xs.set_global_mesh(build())"):
        found = [f for f in check(f"{HEAD}{MESH}{lines}\n") if f.code == "NP268" and f.location.row == 5]
        assert [f.applicability.word for f in found] == ["manual"]
    lines = "xs.set_global_mesh(mesh)\nother = xs.get_global_mesh()"
    found = [f for f in check(f"{HEAD}{MESH}{lines}\n") if f.code == "NP268" and f.location.row > 4]
    assert [(f.location.row, f.applicability.word) for f in found] == [(5, "manual"), (6, "manual")]


# -- placements ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "placements"),
    [
        ('("data", None)', "[Shard(0), Replicate()]"),
        ('(None, "data")', "[Shard(1), Replicate()]"),
        ('("model", "data")', "[Shard(1), Shard(0)]"),
        ("(0, 1)", "[Shard(0), Shard(1)]"),
        ("(None, None, 1)", "[Replicate(), Shard(2)]"),
        ('(("data", "model"), None)', "[Shard(0), Shard(0)]"),
        ('(("model",), None)', "[Replicate(), Shard(0)]"),
        ("(None,)", "[Replicate(), Replicate()]"),
        ("()", "[Replicate(), Replicate()]"),
    ],
)
def test_placements(spec: str, placements: str) -> None:
    assert body(f"xs.mark_sharding(x, mesh, {spec})") == f"x = distribute_tensor(x, mesh, {placements})"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            'xs.mark_sharding(x, mesh, (("model", "data"), None))',
            "the partition spec cuts along the axes in another order",
        ),
        ('xs.mark_sharding(x, mesh, ("data", "data"))', "the partition spec names an axis twice"),
        ('xs.mark_sharding(x, mesh, ("rows", None))', "the partition spec is not written out here"),
        ("xs.mark_sharding(x, mesh, (2, None))", "the partition spec is not written out here"),
        ("xs.mark_sharding(x, mesh, spec)", "the partition spec is not written out here"),
        ("xs.mark_sharding(x, mesh)", "an argument is missing"),
        ("xs.mark_sharding(f(x), mesh, (0,))", "the tensor has no name that could hold the result"),
        (
            "for p in net.parameters():\n    xs.mark_sharding(p, mesh, (0, None))",
            "a parameter has to be replaced in its module",
        ),
        (
            "w = torch.nn.Parameter(x)\nxs.mark_sharding(w, mesh, (0, None))",
            "a parameter has to be replaced in its module",
        ),
        ("mark = xs.mark_sharding", "the function is passed on, where its calls are not known"),
    ],
)
def test_marks_that_are_left_to_a_person(lines: str, reason: str) -> None:
    found = [f for f in check(f"{HEAD}{MESH}{lines}\n") if f.code == "NP269"]
    assert [f.applicability.word for f in found] == ["manual"]
    assert found[0].message.partition("not done by itself: ")[2].startswith(reason)


def test_mesh_from_elsewhere() -> None:
    source = f'{HEAD}from meshes import mesh\nxs.mark_sharding(x, mesh, ("data", None))\n'
    (finding,) = [f for f in check(source) if f.code == "NP269"]
    assert finding.message.endswith("not done by itself: the axes of the mesh cannot be read here")


def test_mesh_that_is_handed_over() -> None:
    lines = 'def f(x, m):\n    xs.mark_sharding(x, m, (None, "model"))\n    return x'
    assert body(lines) == "def f(x, m):\n    x = distribute_tensor(x, m, [Replicate(), Shard(1)])\n    return x"


def test_meshes_of_two_kinds() -> None:
    lines = 'other = xs.Mesh(range(4), (4,), ("rows",))\nxs.mark_sharding(x, other, ("rows",))\nxs.mark_sharding(x, m, (0,))'
    found = [f for f in check(f"{HEAD}{MESH}{lines}\n") if f.code == "NP269"]
    assert [f.applicability.word for f in found] == ["unsafe", "manual"]


# -- marks --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "after"),
    [
        (
            "xs.mark_sharding(net.layers[0].weight, mesh, (0, None))",
            "net.layers[0].weight = torch.nn.Parameter(distribute_tensor(net.layers[0].weight, mesh, [Shard(0), Replicate()]))",
        ),
        ("y = xs.mark_sharding(x, mesh, (0, None))", "y = distribute_tensor(x, mesh, [Shard(0), Replicate()])"),
        (
            "xs.mark_sharding(self.x, mesh, (0, None))",
            "self.x = distribute_tensor(self.x, mesh, [Shard(0), Replicate()])",
        ),
        (
            "xs.mark_sharding(x['a'], mesh, (0, None))",
            "x['a'] = distribute_tensor(x['a'], mesh, [Shard(0), Replicate()])",
        ),
        ("y = xs.mark_sharding_with_gradients(x, mesh, (0, 1))", "y = x.redistribute(mesh, [Shard(0), Shard(1)])"),
        ("y = xs.clear_sharding(x)", "y = x.full_tensor()"),
        ("xs.clear_sharding(x)", "x = x.full_tensor()"),
        ("y = xs.wrap_if_sharded(x) + 1", "y = x + 1"),
        ("net = xs.xla_sharding.apply_xla_patch_to_nn_linear(net, f)\nprint(net)", "print(net)"),
        ("xs.apply_backward_optimization_barrier(net)\nprint(net)", "print(net)"),
        ("assert isinstance(x, xs.XLAShardedTensor)", "assert isinstance(x, DTensor)"),
        ("y = xs.xla_distribute_tensor(x, mesh, p)", "y = distribute_tensor(x, mesh, p)"),
        ("net = xs.xla_distribute_module(net, mesh)", "net = distribute_module(net, mesh)"),
    ],
)
def test_marks(line: str, after: str) -> None:
    assert body(line) == after


def test_activations_are_dtensors_already() -> None:
    lines = "class Net:\n    def forward(self, x):\n        xs.mark_sharding(x, mesh, (0, None))\n        return x"
    assert "        x = x.redistribute(mesh, [Shard(0), Replicate()])\n" in body(lines)


def test_parameters_of_a_class() -> None:
    lines = (
        "class Net(torch.nn.Module):\n    def __init__(self):\n        self.scale = torch.nn.Parameter(torch.ones(2))\n"
        "        xs.mark_sharding(self.scale, mesh, (0,))"
    )
    assert "self.scale = torch.nn.Parameter(distribute_tensor(self.scale, mesh, [Shard(0), Replicate()]))" in body(
        lines
    )


def test_only_needed_names_are_imported() -> None:
    after = ported(f"{HEAD}{MESH}y = xs.mark_sharding(x, mesh, (0, 1))\n")
    assert "from torch.distributed.tensor import Shard, distribute_tensor\n" in after


def test_spec_of_a_loader_says_its_placements() -> None:
    (finding,) = [f for f in check(f'{HEAD}{MESH}s = xs.ShardingSpec(mesh, ("data", None))\n') if f.code == "NP269"]
    assert finding.applicability.word == "manual"
    assert finding.message.endswith("the placements of this one are [Shard(0), Replicate()]")


def test_automatic_sharding_is_left() -> None:
    found = [
        f for f in check(f"{HEAD}net = xs.xla_distribute_module(net, mesh, xs.auto_policy)\n") if f.code == "NP269"
    ]
    assert [f.applicability.word for f in found] == ["manual", "manual"]


@pytest.mark.parametrize("package", ["torch_xla.experimental.xla_sharding", "torch_xla.distributed.spmd.xla_sharding"])
def test_older_places(package: str) -> None:
    after = ported(f"import {package} as xs\nm = xs.Mesh(range(4), (4,), ('x',))\ny = xs.mark_sharding(x, m, ('x',))\n")
    assert after.endswith(
        "m = init_device_mesh(\"neuron\", (4,), mesh_dim_names=('x',))\ny = distribute_tensor(x, m, [Shard(0)])\n"
    )


def test_the_mode_is_a_person_s_business() -> None:
    found = [f for f in check("import torch_xla.runtime as xr\nxr.use_spmd()\n") if f.code == "NP267"]
    assert [(f.location.row, f.severity.word, f.applicability.word) for f in found] == [(2, "error", "manual")]

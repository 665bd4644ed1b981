"""NeuronX Distributed's layers become plain layers and a plan; a class is ported as a whole or not at all."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, check, ported

HEAD = """\
import torch
from neuronx_distributed.parallel_layers.layers import ColumnParallelLinear, ParallelEmbedding, RowParallelLinear
from torch import nn


class Net(nn.Module):
    def __init__(self, a, b, config):
        super().__init__()
"""


def port_line(line: str) -> tuple[list[str], str]:
    """The statements that a line of ``__init__`` becomes, and the entry of the plan."""
    after = ported(f"{HEAD}        {line}\n")
    body = after.partition("super().__init__()\n")[2].partition("\n\n\n")[0]
    plan = after.partition("Net: {")[2].partition("}")[0]
    return [row.strip() for row in body.splitlines()], " ".join(plan.split())


LINES = [
    (
        "self.x = ColumnParallelLinear(a, b)",
        ["self.x = nn.Linear(a, b)"],
        '"x": ColwiseParallel(output_layouts=Replicate())',
    ),
    (
        "self.x = ColumnParallelLinear(a, b, False, False)",
        ["self.x = nn.Linear(a, b, False)"],
        '"x": ColwiseParallel()',
    ),
    (
        "self.x = ColumnParallelLinear(input_size=a, output_size=b, gather_output=False, dtype=torch.float16)",
        ["self.x = nn.Linear(in_features=a, out_features=b, dtype=torch.float16)"],
        '"x": ColwiseParallel()',
    ),
    (
        "self.x = ColumnParallelLinear(a, b, True, False, config.dtype, config.device)",
        ["self.x = nn.Linear(a, b, True, dtype=config.dtype, device=config.device)"],
        '"x": ColwiseParallel()',
    ),
    (
        "self.x = ColumnParallelLinear(a, b, stride=1, sequence_parallel_enabled=False, reduce_dtype=torch.float32)",
        ["self.x = nn.Linear(a, b)"],
        '"x": ColwiseParallel(output_layouts=Replicate())',
    ),
    (
        "self.x = RowParallelLinear(a, b, bias=config.bias)",
        ["self.x = nn.Linear(a, b, bias=config.bias)"],
        '"x": RowwiseParallel(input_layouts=Replicate())',
    ),
    (
        "self.x = RowParallelLinear(a, b, input_is_parallel=True)",
        ["self.x = nn.Linear(a, b)"],
        '"x": RowwiseParallel()',
    ),
    (
        "self.x = RowParallelLinear(a, b, bias=False, input_is_parallel=True, reduce_output=False)",
        ["self.x = nn.Linear(a, b, bias=False)"],
        '"x": RowwiseParallel(output_layouts=Partial())',
    ),
    (
        "self.x = ParallelEmbedding(a, b, config.pad_token_id)",
        ["self.x = nn.Embedding(a, b, config.pad_token_id)"],
        '"x": RowwiseParallel(input_layouts=Replicate())',
    ),
    (
        "self.x = ParallelEmbedding(a, b, 0, dtype=config.dtype, shard_across_embedding=True)",
        ["self.x = nn.Embedding(a, b, None, dtype=config.dtype)"],
        '"x": ColwiseParallel(output_layouts=Replicate())',
    ),
    (
        "self.x = RowParallelLinear(a, b, init_method=nn.init.zeros_)",
        ["self.x = nn.Linear(a, b)", "nn.init.zeros_(self.x.weight)"],
        '"x": RowwiseParallel(input_layouts=Replicate())',
    ),
    (
        "self.x = RowParallelLinear(a, b, init_method=lambda w: w.zero_())",
        ["self.x = nn.Linear(a, b)", "(lambda w: w.zero_())(self.x.weight)"],
        '"x": RowwiseParallel(input_layouts=Replicate())',
    ),
    (
        "self.x = RowParallelLinear(a, b, init_method=config.init)",
        ["self.x = nn.Linear(a, b)", "if config.init is not None:", "config.init(self.x.weight)"],
        '"x": RowwiseParallel(input_layouts=Replicate())',
    ),
    (
        "self.x = nn.Sequential(ColumnParallelLinear(a, b), nn.ReLU(), RowParallelLinear(b, a, init_method=nn.init.zeros_))",
        ["self.x = nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, a))", "nn.init.zeros_(self.x[2].weight)"],
        '"x.0": ColwiseParallel(output_layouts=Replicate()), "x.2": RowwiseParallel(input_layouts=Replicate()),',
    ),
    (
        "self.x = nn.ModuleList([ColumnParallelLinear(a, b, init_method=nn.init.zeros_) for _ in range(3)])",
        [
            "self.x = nn.ModuleList([nn.Linear(a, b) for _ in range(3)])",
            "for layer in self.x:",
            "nn.init.zeros_(layer.weight)",
        ],
        '"x.*": ColwiseParallel(output_layouts=Replicate())',
    ),
    (
        "for _ in range(3): self.x.append(RowParallelLinear(a, b, init_method=nn.init.zeros_))",
        ["for _ in range(3): self.x.append(nn.Linear(a, b)); nn.init.zeros_(self.x[-1].weight)"],
        '"x.*": RowwiseParallel(input_layouts=Replicate())',
    ),
    (
        "self.x = nn.Sequential(*[ColumnParallelLinear(a, a) for _ in range(3)])",
        ["self.x = nn.Sequential(*[nn.Linear(a, a) for _ in range(3)])"],
        '"x.*": ColwiseParallel(output_layouts=Replicate())',
    ),
    (
        "self.x = ColumnParallelLinear(a, b) if config.parallel else nn.Linear(a, b)",
        ["self.x = nn.Linear(a, b) if config.parallel else nn.Linear(a, b)"],
        '"x": ColwiseParallel(output_layouts=Replicate())',
    ),
]


@pytest.mark.parametrize(("line", "body", "plan"), LINES, ids=[line for line, _, _ in LINES])
def test_layer(line: str, body: list[str], plan: str) -> None:
    assert port_line(line) == (body, plan)


LEFT = [
    (
        "self.x = ColumnParallelLinear(a, b, gather_output=config.gather)",
        "gather_output is not written as True or False",
    ),
    ("self.x = ColumnParallelLinear(a, b, stride=3)", "one nn.Linear for each"),
    ("self.x = ColumnParallelLinear(a, b, sequence_parallel_enabled=config.sp)", "Shard(1)"),
    ("self.x = ColumnParallelLinear(a, b, pad=True)", "does not pad"),
    ("self.x = ColumnParallelLinear(a, b, skip_bias_add=True)", "returns its bias"),
    ("self.x = ColumnParallelLinear(a, b, rank_ordering=[1, 0])", "no other order"),
    ("self.x = ColumnParallelLinear(a, b, **config)", "a ** argument hides"),
    ("self.x = RowParallelLinear(a, b, reduce_output=False)", "a bias must be added only once"),
    ("self.x = ParallelEmbedding(a, b, collect_output=False)", "keeps its output"),
    ("self.x = Other(ColumnParallelLinear(a, b))", "not stored as an attribute of self"),
    ("x = ColumnParallelLinear(a, b)", "not stored as an attribute of self"),
    ("self.x = self.y = ColumnParallelLinear(a, b)", "not stored as an attribute of self"),
    ("config.x = ColumnParallelLinear(a, b)", "not stored as an attribute of self"),
    ("self.x = partial(ColumnParallelLinear, a)", "passed on without a call"),
    (
        "self.x = ColumnParallelLinear(a, b); self.x = RowParallelLinear(a, b)",
        "x is made in two ways",
    ),
]


@pytest.mark.parametrize(("line", "reason"), LEFT, ids=[line for line, _ in LEFT])
def test_layer_is_left(line: str, reason: str) -> None:
    source = f"{HEAD}        {line}\n"
    findings = [finding for finding in check(source) if finding.code == "NP282" and finding.location.row == 9]
    assert any(reason in finding.message for finding in findings)
    assert {finding.applicability.word for finding in findings} == {"manual"}
    assert line in ported(source)


def test_one_layer_keeps_its_class_and_no_other() -> None:
    after = ported("""
        from neuronx_distributed.parallel_layers import ColumnParallelLinear, RowParallelLinear
        import torch.nn as nn

        class Kept(nn.Module):
            def __init__(self, a):
                super().__init__()
                self.up = ColumnParallelLinear(a, a, pad=True)
                self.down = RowParallelLinear(a, a)

        class Ported(nn.Module):
            def __init__(self, a):
                super().__init__()
                self.down = RowParallelLinear(a, a)
    """)
    assert "self.up = ColumnParallelLinear(a, a, pad=True)\n        self.down = RowParallelLinear(a, a)" in after
    assert (
        "class Ported(nn.Module):\n    def __init__(self, a):\n        super().__init__()\n        self.down = nn.Linear"
        in after
    )
    assert "Ported: {" in after
    assert "Kept: {" not in after


def test_layer_of_a_special_kind_keeps_the_class() -> None:
    source = """
        from neuronx_distributed.parallel_layers import layers
        from torch import nn

        class Net(nn.Module):
            def __init__(self, a):
                super().__init__()
                self.conv = layers.OutputChannelParallelConv2d(3, a, 3)
                self.up = layers.ColumnParallelLinear(a, a)
    """
    (finding,) = [finding for finding in check(source) if finding.code == "NP282"]
    assert "line 8 is not" in finding.message
    assert "layers.ColumnParallelLinear(a, a)" in ported(source)


def test_torch_nn_is_spelled_as_the_file_does() -> None:
    for imported, spelled in [
        ("from torch import nn", "nn.Linear"),
        ("import torch.nn as layers", "layers.Linear"),
        ("import torch", "torch.nn.Linear"),
    ]:
        base = spelled.replace("Linear", "Module")
        source = (
            f"from neuronx_distributed.parallel_layers.layers import RowParallelLinear as Row\n{imported}\n\n"
            f"class Net({base}):\n    def __init__(self, a):\n        super().__init__()\n        self.x = Row(a, a)\n"
        )
        assert f"self.x = {spelled}(a, a)" in ported(source)


def test_class_of_a_function_adds_its_entry_when_it_is_made() -> None:
    assert_ported(
        """
        import torch
        from neuronx_distributed.parallel_layers import RowParallelLinear, move_model_to_device, parallel_state
        from torch import nn


        def build(a):
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.x = RowParallelLinear(a, a, input_is_parallel=True)

            return Net()


        def main(device):
            parallel_state.initialize_model_parallel(2)
            model = build(4)
            move_model_to_device(model, device)
        """,
        """
        import torch
        from torch import nn
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor.parallel import RowwiseParallel


        TENSOR_PARALLEL_PLAN = {}


        def apply_plan(model, mesh, plan):
            \"\"\"Shard the layers of every module whose class, or a base class of it, is in the plan; tied weights stay tied.\"\"\"
            places = {}
            for module in model.modules():
                for name, parameter in module.named_parameters(recurse=False):
                    places.setdefault(parameter, []).append((module, name))
            for module in list(model.modules()):
                styles = {}
                for cls in reversed(type(module).__mro__):
                    styles.update(plan.get(cls, {}))
                if styles:
                    torch.distributed.tensor.parallel.parallelize_module(module, mesh, styles)
            for first, *others in places.values():
                for module, name in others:
                    setattr(module, name, getattr(*first))


        def build(a):
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.x = nn.Linear(a, a)

            TENSOR_PARALLEL_PLAN[Net] = {"x": RowwiseParallel()}

            return Net()


        def main(device):
            mesh = init_device_mesh(
                "neuron",
                (torch.distributed.get_world_size() // 2, 2),
                mesh_dim_names=("dp", "tp"),
            )
            model = build(4)
            apply_plan(model, mesh["tp"], TENSOR_PARALLEL_PLAN)
            model.to(device)
        """,
    )


def test_class_of_a_class_is_left() -> None:
    source = """
        from neuronx_distributed.parallel_layers.layers import RowParallelLinear
        from torch import nn

        class Outer:
            class Net(nn.Module):
                def __init__(self, a):
                    super().__init__()
                    self.x = RowParallelLinear(a, a)
    """
    (finding,) = [finding for finding in check(source) if finding.code == "NP282" and finding.location.row == 9]
    assert "inside a class or under a condition" in finding.message
    assert "RowParallelLinear(a, a)" in ported(source)


def test_derived_and_tested_types_are_left() -> None:
    source = """
        from neuronx_distributed.parallel_layers.layers import RowParallelLinear

        class Row(RowParallelLinear):
            pass

        def is_row(module):
            return isinstance(module, RowParallelLinear)
    """
    derived, tested = [finding for finding in check(source) if finding.code == "NP282" and finding.location.row > 2]
    assert "written anew" in derived.message
    assert "its weight is a DTensor" in tested.message


def test_plan_that_is_there_is_added_to() -> None:
    assert_ported(
        """
        from neuronx_distributed.parallel_layers.layers import RowParallelLinear
        from torch import nn
        from torch.distributed.tensor.parallel import ColwiseParallel

        class Net(nn.Module):
            def __init__(self, a):
                super().__init__()
                self.x = RowParallelLinear(a, a, input_is_parallel=True)

        TENSOR_PARALLEL_PLAN = {nn.Module: {"y": ColwiseParallel()}}
        """,
        """
        from torch import nn
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel

        class Net(nn.Module):
            def __init__(self, a):
                super().__init__()
                self.x = nn.Linear(a, a)

        TENSOR_PARALLEL_PLAN = {nn.Module: {"y": ColwiseParallel()}, Net: {"x": RowwiseParallel()}}
        """,
    )


def test_name_of_a_style_that_is_taken() -> None:
    source = """
        from neuronx_distributed.parallel_layers.layers import RowParallelLinear
        from styles import RowwiseParallel
        from torch import nn

        class Net(nn.Module):
            def __init__(self, a):
                super().__init__()
                self.x = RowParallelLinear(a, a)
    """
    assert any("RowwiseParallel means something else" in finding.message for finding in check(source))

"""Process groups of NeuronX Distributed become a mesh that is visible where it is read."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, check, ported

HEAD = "import torch\nfrom neuronx_distributed.parallel_layers import parallel_state\n"


def made(arguments: str, target: str = "neuron") -> str:
    """The call of init_device_mesh, on one line."""
    after = ported(f"{HEAD}\nt, a = 2, b\nparallel_state.initialize_model_parallel({arguments})\n", target=target)
    return " ".join(after.rpartition("init_device_mesh")[2].split()).replace("( ", "(").replace(", )", ")")


@pytest.mark.parametrize(
    ("arguments", "mesh"),
    [
        ("", '("neuron", (torch.distributed.get_world_size(), 1), mesh_dim_names=("dp", "tp"))'),
        ("8", '("neuron", (torch.distributed.get_world_size() // 8, 8), mesh_dim_names=("dp", "tp"))'),
        (
            "tensor_model_parallel_size=a.t['x']",
            '("neuron", (torch.distributed.get_world_size() // a.t[\'x\'], a.t[\'x\']), mesh_dim_names=("dp", "tp"))',
        ),
        (
            "t, a.p, context_parallel_size=2",
            '("neuron", (a.p, torch.distributed.get_world_size() // (a.p * 2 * t), 2, t), '
            'mesh_dim_names=("pp", "dp", "cp", "tp"))',
        ),
        (
            "t, 1, 1, 1, skip_collective_init=True, lnc_size=2",
            '("neuron", (torch.distributed.get_world_size() // t, t), mesh_dim_names=("dp", "tp"))',
        ),
    ],
)
def test_sizes(arguments: str, mesh: str) -> None:
    assert made(arguments) == mesh


def test_portable() -> None:
    assert made("t", "portable").startswith("(torch.accelerator.current_accelerator().type, (torch.distributed.")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("expert_model_parallel_size=2", "a second mesh"),
        ("mesh_only=True", "lists of ranks"),
        ("tensor_model_parallel_size=size()", "give it a name first"),
        ("**sizes", "a ** argument hides"),
    ],
)
def test_sizes_that_stay(arguments: str, reason: str) -> None:
    source = f"{HEAD}\nparallel_state.initialize_model_parallel({arguments})\nparallel_state.get_data_parallel_rank()\n"
    findings = [finding for finding in check(source) if finding.code == "NP285"]
    assert all(reason in finding.message and finding.applicability.word == "manual" for finding in findings)
    assert len(findings) == 2


def asked(line: str, sizes: str = "tensor_model_parallel_size=2") -> str:
    return ported(f"{HEAD}\nparallel_state.initialize_model_parallel({sizes})\n{line}\n").splitlines()[-1]


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("x = parallel_state.get_tensor_model_parallel_rank()", 'x = mesh["tp"].get_local_rank()'),
        ("x = 8 // parallel_state.get_tensor_model_parallel_size()", 'x = 8 // mesh["tp"].size()'),
        ("f(group=parallel_state.get_data_parallel_group())", 'f(group=mesh["dp"].get_group())'),
        ("f(parallel_state.get_data_parallel_group(as_list=False))", 'f(mesh["dp"].get_group())'),
        (
            "x = parallel_state.get_data_parallel_src_rank()",
            'x = torch.distributed.get_global_rank(mesh["dp"].get_group(), 0)',
        ),
        ("x = parallel_state.get_pipeline_model_parallel_rank()", "x = 0"),
        ("x = parallel_state.get_context_model_parallel_size() > 1", "x = False"),
        ("x = parallel_state.get_expert_model_parallel_size()", "x = 1"),
        ("x = parallel_state.model_parallel_is_initialized()", "x = mesh is not None"),
        ("x = not parallel_state.is_global_rank_zero()", "x = not torch.distributed.get_rank() == 0"),
        ("x = parallel_state.get_world_group()", "x = torch.distributed.group.WORLD"),
    ],
)
def test_questions(line: str, after: str) -> None:
    assert asked(line) == after


@pytest.mark.parametrize(
    "line",
    [
        "x = parallel_state.get_data_parallel_group(as_list=True)",
        "x = parallel_state.get_data_parallel_replica_groups()",
        "x = parallel_state.get_pipeline_model_parallel_group()",
        "x = parallel_state.get_tensor_model_parallel_rank",
        "x = parallel_state.get_kv_shared_group()",
        "x = parallel_state.destroy_model_parallel()",
    ],
)
def test_questions_that_stay(line: str) -> None:
    assert asked(line) == line


def test_branch_for_a_dimension_that_is_not_there() -> None:
    lines = "if parallel_state.get_pipeline_model_parallel_size() > 1:\n    a()\nb()"
    assert asked(lines) == "b()"
    assert asked(lines.replace("> 1", "== 1").replace("\nb()", "")) == "a()"


def test_pipeline_dimension() -> None:
    line = "x = parallel_state.get_pipeline_model_parallel_rank()"
    assert asked(line, "2, pipeline_model_parallel_size=4") == 'x = mesh["pp"].get_local_rank()'


def test_groups_are_destroyed_once() -> None:
    lines = "parallel_state.destroy_model_parallel()\ntorch.distributed.destroy_process_group()"
    assert asked(lines) == "torch.distributed.destroy_process_group()"
    assert "destroy_model_parallel" not in ported(f"{HEAD}\n{lines}\n")
    program = "torch.distributed.init_process_group('neuron')\nparallel_state.initialize_model_parallel(2)\n"
    after = ported(f"{HEAD}\n{program}parallel_state.destroy_model_parallel()\n")
    assert after.splitlines()[-1] == "torch.distributed.destroy_process_group()"


def test_mesh_is_global_only_where_another_function_reads_it() -> None:
    source = """
        import torch
        from neuronx_distributed.parallel_layers import parallel_state

        def main():
            "Doc."
            torch.manual_seed(0)
            parallel_state.initialize_model_parallel()
            def inner():
                return parallel_state.get_data_parallel_rank()
    """
    assert "global" not in ported(source)
    shared = ported(source + "\n        def other():\n            return parallel_state.get_data_parallel_rank()\n")
    assert '    "Doc."\n    global mesh\n    torch.manual_seed(0)\n    mesh = init_device_mesh(' in shared
    assert shared.count('return mesh["dp"].get_local_rank()') == 2


def test_name_of_the_mesh_is_free() -> None:
    source = f"{HEAD}\n\ndef main(mesh):\n    parallel_state.initialize_model_parallel()\n"
    assert "    device_mesh = init_device_mesh(" in ported(source)


def test_without_the_mesh_the_finding_says_where_it_is_needed() -> None:
    source = """
        from neuronx_distributed.parallel_layers.parallel_state import get_tensor_model_parallel_size

        class Attention:
            def __init__(self, heads):
                self.heads = heads // get_tensor_model_parallel_size()
    """
    finding = [finding for finding in check(source) if finding.code == "NP285"][-1]
    assert "makes no device mesh" in finding.message
    assert "view() and reshape() take -1" in finding.message
    assert ported(source) == ported(source, "safe")


def test_mesh_that_the_file_makes_itself() -> None:
    assert_ported(
        """
        import torch
        from neuronx_distributed.parallel_layers import parallel_state
        from torch.distributed.device_mesh import init_device_mesh

        grid = init_device_mesh("neuron", (2, 4), mesh_dim_names=("dp", "tp"))
        print(parallel_state.get_tensor_model_parallel_rank())
        """,
        """
        import torch
        from torch.distributed.device_mesh import init_device_mesh

        grid = init_device_mesh("neuron", (2, 4), mesh_dim_names=("dp", "tp"))
        print(grid["tp"].get_local_rank())
        """,
    )


def test_mesh_that_another_function_keeps() -> None:
    source = """
        from neuronx_distributed.parallel_layers import parallel_state
        from torch.distributed.device_mesh import init_device_mesh

        def make():
            grid = init_device_mesh("neuron", (2, 4), mesh_dim_names=("dp", "tp"))
            return grid

        def ask():
            return parallel_state.get_tensor_model_parallel_rank()
    """
    assert "return parallel_state.get_tensor_model_parallel_rank()" in ported(source)


def test_question_before_the_mesh() -> None:
    source = """
        from neuronx_distributed.parallel_layers import parallel_state

        def main():
            print(parallel_state.get_tensor_model_parallel_rank())
            parallel_state.initialize_model_parallel(2)
    """
    assert "print(parallel_state.get_tensor_model_parallel_rank())" in ported(source)


def test_asked_for_where_it_is_made() -> None:
    source = """
        import torch
        from neuronx_distributed.parallel_layers import parallel_state

        def main():
            if not parallel_state.model_parallel_is_initialized():
                parallel_state.initialize_model_parallel(2)
    """
    after = ported(source)
    assert "\nmesh = None\n" in after
    assert "def main():\n    global mesh\n    if mesh is None:\n        mesh = init_device_mesh(" in after
    apart = source.replace("initialize_model_parallel(2)", "get_tensor_model_parallel_rank()")
    assert "    if not torch.distributed.is_initialized():\n" in ported(apart)


@pytest.mark.parametrize(
    "line",
    ['torch.distributed.init_process_group("xla")', "def f():\n    parallel_state.initialize_model_parallel(2)\n" * 2],
)
def test_a_group_is_no_mesh(line: str) -> None:
    line = line.replace("def f", "def g", 1)
    after = ported(f"{HEAD}\n{line}\nassert not parallel_state.model_parallel_is_initialized()\n")
    assert "assert not parallel_state.model_parallel_is_initialized()" in after


def test_functions_with_meshes_of_their_own() -> None:
    source = """
        import torch
        from neuronx_distributed.parallel_layers import parallel_state

        def first():
            parallel_state.initialize_model_parallel(2)
            print(parallel_state.get_data_parallel_rank())
            parallel_state.destroy_model_parallel()

        def second():
            parallel_state.initialize_model_parallel(4)
            print(parallel_state.get_data_parallel_rank())

        def third():
            print(parallel_state.get_data_parallel_rank())
    """
    after = ported(source)
    assert after.count('print(mesh["dp"].get_local_rank())') == 2
    assert "def third():\n    print(parallel_state.get_data_parallel_rank())" in after
    assert "parallel_state.destroy_model_parallel()" in after
    assert "global" not in after


@pytest.mark.parametrize(
    ("line", "after"),
    [
        (
            "xm.reduce_gradients(opt, groups=parallel_state.get_data_parallel_replica_groups())",
            ['average_gradients(opt, mesh["dp"].get_group())'],
        ),
        (
            "xm.optimizer_step(opt, groups=parallel_state.get_data_parallel_group(as_list=True))",
            ['average_gradients(opt, mesh["dp"].get_group())', "opt.step()"],
        ),
    ],
)
def test_groups_of_collectives_are_parts_of_the_mesh(line: str, after: list[str]) -> None:
    text = ported(
        f"import torch_xla.core.xla_model as xm\n{HEAD}\nparallel_state.initialize_model_parallel(2)\n{line}\n"
    )
    assert text.splitlines()[-len(after) :] == after

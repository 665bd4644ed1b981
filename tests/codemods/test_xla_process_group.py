"""Process groups of PyTorch/XLA."""

from __future__ import annotations

import textwrap

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, codes, ported

HEAD = (
    "import os\nimport torch\nimport torch.distributed as dist\nimport torch_xla.core.xla_model as xm\n"
    "import torch_xla.runtime as xr\nimport torch_xla.distributed.xla_backend as xbn\n"
)
DEFAULT = "dist.get_default_backend_for_device(torch.accelerator.current_accelerator())"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('dist.init_process_group("xla")', 'dist.init_process_group("neuron")'),
        ("dist.init_process_group('xla')", "dist.init_process_group('neuron')"),
        ('dist.init_process_group(backend="xla")', 'dist.init_process_group(backend="neuron")'),
        ('dist.init_process_group("xla", init_method="xla://")', 'dist.init_process_group("neuron")'),
        ('dist.init_process_group("xla", init_method="pjrt://")', 'dist.init_process_group("neuron")'),
        ('dist.init_process_group("xla", "xla://")', 'dist.init_process_group("neuron")'),
        (
            'dist.init_process_group("gloo", init_method="env://")',
            'dist.init_process_group("gloo", init_method="env://")',
        ),
        (
            'dist.init_process_group("xla", rank=xm.get_ordinal(), world_size=xm.xrt_world_size())',
            'dist.init_process_group("neuron")',
        ),
        (
            'dist.init_process_group("xla", "env://", rank=xr.global_ordinal(), world_size=n)',
            'dist.init_process_group("neuron", "env://", world_size=n)',
        ),
        (
            'dist.init_process_group("xla", init_method="tcp://h:1", rank=xr.global_ordinal(), world_size=2)',
            'dist.init_process_group("neuron", init_method="tcp://h:1", rank=int(os.environ.get("RANK", 0)), world_size=2)',
        ),
        ('g = dist.new_group(ranks, backend="xla")', 'g = dist.new_group(ranks, backend="neuron")'),
        ('g = dist.new_group(ranks, None, "xla")', 'g = dist.new_group(ranks, None, "neuron")'),
        ('b = dist.Backend("xla")', 'b = dist.Backend("neuron")'),
        ('backend = "xla"', 'backend = "neuron"'),
        ('config = {"backend": "xla"}', 'config = {"backend": "neuron"}'),
        ('ok = dist.get_backend() == "xla"', 'ok = dist.get_backend() == "neuron"'),
        ('ok = dist.get_backend(group) != "xla"', 'ok = dist.get_backend(group) != "neuron"'),
        ('ok = "xla" == dist.get_backend().lower()', 'ok = "neuron" == dist.get_backend().lower()'),
        ("ok = isinstance(dist.group.WORLD, xbn.ProcessGroupXla)", 'ok = dist.get_backend() == "neuron"'),
        ("ok = isinstance(group, xbn.ProcessGroupXla)", 'ok = dist.get_backend(group) == "neuron"'),
        ('init_method = "xla://" if a else "tcp://h"', 'init_method = "env://" if a else "tcp://h"'),
        (
            'parser.add_argument("--backend", default="xla", choices=["xla", "gloo"])',
            'parser.add_argument("--backend", default="neuron", choices=["xla", "gloo", "neuron"])',
        ),
    ],
)
def test_xla_becomes_neuron(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('dist.init_process_group("cpu:gloo,xla:xla")', 'dist.init_process_group("cpu:gloo,neuron:neuron")'),
        (
            'g = dist.new_group(ranks, pg_options={"xla_pg_options": {"mesh": m}})',
            "g = dist.new_group(ranks)",
        ),
        ("g = xbn.new_xla_process_group(ranks)", "g = torch.distributed.new_group(ranks)"),
        ("g = xbn.new_xla_process_group(r, t, pg_options=p)", "g = torch.distributed.new_group(r, t)"),
        (
            'if dist.get_backend() in ("xla", "gloo"): x = 1',
            'if dist.get_backend() in ("xla", "gloo", "neuron"): x = 1',
        ),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before) == after
    assert port(HEAD, before, "safe") == before


def test_options_in_a_variable() -> None:
    head = HEAD + 'options = {"xla_pg_options": {"spmd": True}}\n'
    assert port(head, "g = dist.new_group(ranks, pg_options=options)") == "g = dist.new_group(ranks)"
    assert port(HEAD, "g = dist.new_group(ranks, pg_options=other)") == "g = dist.new_group(ranks, pg_options=other)"


def test_portable_asks_for_the_backend() -> None:
    assert port(HEAD, 'dist.init_process_group("xla")', target="portable") == f"dist.init_process_group({DEFAULT})"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('ok = args.backend == "xla"', "warning manual"),
        ('table = {"xla": 1, "gloo": 2}', "warning manual"),
        ("m = group._mesh", "error manual"),
        ("m = get_tensor_model_parallel_group()._mesh", "error manual"),
        ("m = self.pg._mesh", "error manual"),
        ('ok = init_method == "xla://"', "error manual"),
        ("kind = xbn.ProcessGroupXla", "error manual"),
    ],
)
def test_left_to_a_person(line: str, expected: str) -> None:
    assert found(HEAD, line, "NP253") == [expected]


def test_mesh_of_a_group_by_what_it_was_made_from() -> None:
    assert found(HEAD + "g = dist.new_group([0])\n", "m = g._mesh", "NP253") == ["error manual"]
    assert found(HEAD, "m = window._mesh", "NP253") == []


@pytest.mark.parametrize("line", ['print("xla")', 'x.to("xla")', 'words = ["xla", "llvm"]', 'if device == "xla": pass'])
def test_other_uses_of_the_word_are_not_about_groups(line: str) -> None:
    assert found(HEAD, line, "NP253") == []


def test_without_torch_xla_only_what_is_sure() -> None:
    head = "import torch.distributed as dist\n"
    assert found(head, 'dist.init_process_group("xla")', "NP253") == ["error safe"]
    assert codes('run(backend="xla")\n') == []


def test_one_finding_for_a_group_that_is_never_ended() -> None:
    line = 'dist.init_process_group("xla")'
    assert found(HEAD, line, "NP253") == ["info manual", "error safe"]
    assert found(HEAD + f"{line}\n", line, "NP253") == ["error safe"]
    assert found(HEAD + "dist.destroy_process_group()\n", line, "NP253") == ["error safe"]
    assert found("import torch.distributed as dist\n", line, "NP253") == ["error safe"]


def test_optional_branches_are_left_alone() -> None:
    source = """\
        import torch.distributed as dist
        try:
            import torch_xla.core.xla_model as xm
        except ImportError:
            xm = None
        if xm is not None:
            dist.init_process_group(backend="xla")
        """
    assert ported(source) == textwrap.dedent(source)


def order(source: str) -> list[tuple[int, str, bool]]:
    findings = [finding for finding in check(HEAD + textwrap.dedent(source)) if finding.code == "NP254"]
    return [(finding.location.row, finding.evidence or "", finding.fix is not None) for finding in findings]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('device = xm.xla_device()\ndist.init_process_group("xla")\n', []),
        ('model.to(device)\ndist.init_process_group("xla")\n', [(8, ".to() on line 7", True)]),
        ('model.to(xm.xla_device())\ndist.init_process_group("xla")\n', [(8, ".to() on line 7", True)]),
        ('x = torch.ones(1, device="xla")\ndist.init_process_group("xla")\n', [(8, "torch.ones on line 7", True)]),
        ('model.to(device)\nb = "xla"\ndist.init_process_group(b)\n', [(9, ".to() on line 7", False)]),
        (
            'model.to(device)\nos.environ["MASTER_ADDR"] = "h"\ndist.init_process_group("xla")\n',
            [(9, ".to() on line 7", False)],
        ),
        ('model.to(device)\nif a:\n    dist.init_process_group("xla")\n', [(9, ".to() on line 7", False)]),
        ('model.to(device)\ndist.init_process_group("xla", timeout=t())\n', [(8, ".to() on line 7", False)]),
        (
            'def main():\n    dist.init_process_group("xla")\nmodel.to(device)\nmain()\n',
            [(8, ".to() on line 9", False)],
        ),
    ],
)
def test_order(source: str, expected: list[tuple[int, str, bool]]) -> None:
    assert order(source) == expected


def test_order_before_a_launch() -> None:
    head = "import torch_xla.distributed.xla_multiprocessing as xmp\n"
    assert order(f"{head}model.to(device)\nxmp.spawn(work)\n") == [(9, ".to() on line 8", False)]
    assert order(f"{head}model.to(device)\nxmp.spawn(work, nprocs=1)\n") == []


def test_the_group_moves() -> None:
    assert_ported(
        """\
        import torch.distributed as dist
        import torch_xla.core.xla_model as xm
        device = xm.xla_device()
        model.to(device)
        other()
        dist.init_process_group(
            "xla",
            init_method="xla://",
        )
        """,
        """\
        import torch.distributed as dist
        import torch
        device = torch.device("neuron")
        dist.init_process_group(
            "neuron",
        )
        model.to(device)
        other()
        """,
    )


def test_a_gloo_group_serves_the_device_too() -> None:
    line = 'dist.init_process_group("gloo", init_method="xla://")'
    assert port(HEAD, line) == 'dist.init_process_group("cpu:gloo,neuron:neuron")'
    assert port(HEAD, line, "safe") == line
    assert ported(HEAD + line, target="portable").endswith('dist.init_process_group("gloo")')
    assert (
        'need it too: "cpu:gloo,neuron:neuron"'
        in next(each for each in check(HEAD + line) if "gloo" in each.message).message
    )

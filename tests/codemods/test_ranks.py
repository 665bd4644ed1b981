"""Ranks and counts of processes."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check

HEAD = (
    "import os\nimport torch\nimport torch.distributed as dist\nimport torch_xla.core.xla_model as xm\n"
    "import torch_xla.runtime as xr\nfrom torch_xla.experimental import pjrt\n"
)
GROUP = HEAD + 'dist.init_process_group("gloo")\n'
SINGLE = "import torch\nimport torch_xla.runtime as xr\n"
RANK, SIZE = 'int(os.environ.get("RANK", 0))', 'int(os.environ.get("WORLD_SIZE", 1))'


@pytest.mark.parametrize(
    ("before", "with_group", "without"),
    [
        ("r = xm.get_ordinal()", "r = dist.get_rank()", f"r = {RANK}"),
        ("r = xm.get_ordinal(defval=0)", "r = dist.get_rank()", f"r = {RANK}"),
        ("r = xr.global_ordinal()", "r = dist.get_rank()", f"r = {RANK}"),
        ("r = xr.process_index()", "r = dist.get_rank()", f"r = {RANK}"),
        ("r = pjrt.global_ordinal()", "r = dist.get_rank()", f"r = {RANK}"),
        ("n = xm.xrt_world_size()", "n = dist.get_world_size()", f"n = {SIZE}"),
        ("n = xm.xrt_world_size(1)", "n = dist.get_world_size()", f"n = {SIZE}"),
        ("n = xr.world_size()", "n = dist.get_world_size()", f"n = {SIZE}"),
        ("n = xr.process_count()", "n = dist.get_world_size()", f"n = {SIZE}"),
        ("n = xr.global_device_count()", "n = dist.get_world_size()", f"n = {SIZE}"),
        ("n = xr.global_runtime_device_count()", "n = dist.get_world_size()", f"n = {SIZE}"),
        ("b = 8 // xr.world_size() * 2", "b = 8 // dist.get_world_size() * 2", f"b = 8 // {SIZE} * 2"),
        ("read = xr.global_ordinal", "read = dist.get_rank", f"read = lambda: {RANK}"),
    ],
)
def test_rank_and_world_size(before: str, with_group: str, without: str) -> None:
    assert port(GROUP, before, "safe") == with_group
    assert port(HEAD, before, "safe") == without
    assert port(GROUP, before, "safe", "portable") == with_group


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("r = xm.get_local_ordinal()", "r = dist.get_node_local_rank(fallback_rank=0)"),
        ("r = xr.local_ordinal()", "r = dist.get_node_local_rank(fallback_rank=0)"),
        ("read = xr.local_ordinal", "read = lambda: dist.get_node_local_rank(fallback_rank=0)"),
        ("n = xr.local_process_count()", 'n = int(os.environ.get("LOCAL_WORLD_SIZE", 1))'),
        ("n = xr.local_device_count()", 'n = int(os.environ.get("LOCAL_WORLD_SIZE", 1))'),
        ("a = xr.get_master_ip()", 'a = os.environ.get("MASTER_ADDR", "localhost")'),
    ],
)
def test_on_this_host(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert port(GROUP, before, "safe") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("n = xr.addressable_device_count()", "n = 1"),
        ("h = xr.host_index()", 'h = int(os.environ.get("GROUP_RANK", 0))'),
        ('b = xr.device_type() == "NEURON"', 'b = torch.accelerator.current_accelerator().type == "neuron"'),
        ('b = xr.device_type() != "NEURON"', 'b = torch.accelerator.current_accelerator().type != "neuron"'),
        ('b = xr.device_type() == "TPU"', 'b = torch.accelerator.current_accelerator().type.upper() == "TPU"'),
        ("b = xr.is_bf16_supported()", "b = True"),
        ("b = pjrt.using_pjrt()", "b = True"),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before) == after
    assert port(HEAD, before, "safe") == before


def test_cores_of_a_single_process() -> None:
    line = "n = xr.addressable_device_count()"
    assert port(f"{SINGLE}print(1)\n", line) == "n = torch.accelerator.device_count()"
    assert port(SINGLE, line) == "n = 1"


def test_runtime_is_not_chosen() -> None:
    assert_ported(
        'import os\nimport torch_xla.runtime as xr\nxr.set_device_type("NEURON")\nprint(xr.world_size())\n',
        f"import os\nprint({SIZE})\n",
        "safe",
    )
    assert found(HEAD, 'xr.set_device_type("CPU")', "NP247") == ["error manual"]
    assert found(HEAD, "xr.set_device_type(kind)", "NP247") == ["error manual"]


def test_decorator_goes() -> None:
    before = f"{SINGLE}\n\n@xr.requires_pjrt\ndef f():\n    pass\n"
    assert_ported(before, "import torch\n\n\ndef f():\n    pass\n")


def test_import_goes_with_its_uses() -> None:
    assert_ported(
        "import os\nfrom torch_xla.core.xla_model import get_ordinal, xrt_world_size as size\nprint(get_ordinal(), size())\n",
        f"import os\nprint({RANK}, {SIZE})\n",
        "safe",
    )


def test_alias_stays() -> None:
    assert_ported(
        "import os\nimport torch_xla.runtime as xr\nread = xr.world_size\nprint(read())\n",
        f"import os\nread = lambda: {SIZE}\nprint(read())\n",
        "safe",
    )


def test_names_that_are_taken() -> None:
    source = "os = 1\nimport torch_xla.core.xla_model as xm\nprint(xm.get_ordinal())\n"
    (finding,) = [finding for finding in check(source) if finding.code == "NP247"]
    assert finding.fix is None
    assert "means something else here" in finding.message


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a = xr.runtime_device_attributes('TPU:0')", "warning manual"),
        ("a = xr.global_runtime_device_attributes()", "warning manual"),
        ("xr.initialize_cache('/tmp/x')", "warning manual"),
        ("n = xr.get_num_cached_compilation_graph()", "info manual"),
    ],
)
def test_left_to_a_person(line: str, expected: str) -> None:
    assert found(HEAD, line, "NP247") == [expected]


def test_spmd_is_unsafe() -> None:
    head = f"{HEAD}xr.use_spmd()\n"
    assert found(head, "n = xr.global_runtime_device_count()", "NP247") == ["error unsafe"]
    (finding,) = [finding for finding in check(f"{head}n = xr.process_count()\n") if finding.code == "NP247"]
    assert "one process drove all cores" in finding.message
    assert (finding.location.row, finding.location.column) == (8, 5)


def test_the_host_of_an_spmd_program_is_its_process() -> None:
    head = f"{HEAD}xr.use_spmd()\n"
    assert (
        port(head, "generator.manual_seed(xr.host_index())") == 'generator.manual_seed(int(os.environ.get("RANK", 0)))'
    )

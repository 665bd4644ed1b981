"""Places where processes wait for each other."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, ported

HEAD = (
    "import torch\nimport torch.distributed as dist\nimport torch_xla.core.xla_model as xm\n"
    "from torch_xla.experimental import pjrt\n"
)
GROUP = HEAD + 'dist.init_process_group("gloo")\n'


@pytest.mark.parametrize(
    "line",
    [
        'xm.rendezvous("a")',
        "xm.rendezvous('a' + str(n))",
        'xm.rendezvous(f"{n}")',
        'xm.rendezvous(tag="a")',
        'xm.rendezvous("a", b"")',
        'xm.rendezvous("a", payload=b"", replicas=[])',
        "xm.xla_rendezvous()",
        'xm.xla_rendezvous(tag="a")',
        'xm.xla_rendezvous(b"", None, "a")',
        'pjrt.rendezvous(tag="a")',
    ],
)
def test_barrier(line: str) -> None:
    assert port(GROUP, line, "safe") == "dist.barrier()"
    assert ported(f"{HEAD}{line}\n", "safe").endswith("if dist.is_initialized():\n    dist.barrier()\n")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('xm.rendezvous("a", data)', "all_gather_object"),
        ('x = xm.rendezvous("a", payload=data)', "all_gather_object"),
        ("xm.xla_rendezvous(data)", "all_gather_object"),
        ('xm.rendezvous("a", b"", [0, 1])', "some of the processes"),
        ("xm.xla_rendezvous(b'', ranks)", "some of the processes"),
        ("xm.rendezvous(*a)", "unpacked"),
        ('x = xm.rendezvous("a")', "result is used"),
        ("run(xm.rendezvous)", "without a call"),
        ("xm.do_on_ordinals(f, (x,), (0,))", "torch.distributed.get_rank() in ordinals"),
    ],
)
def test_left_to_a_person(line: str, reason: str) -> None:
    assert found(HEAD, line, "NP249") == ["error manual"]
    assert reason in next(item for item in check(f"{HEAD}{line}\n") if item.code == "NP249").message


def test_lambda_and_value() -> None:
    assert port(GROUP, "f = lambda: xm.rendezvous('a')", "safe") == "f = lambda: dist.barrier()"
    assert port(GROUP, "wait = xm.rendezvous") == "wait = lambda tag: dist.barrier()"


def test_tag_that_does_something_is_unsafe() -> None:
    assert found(GROUP, "xm.rendezvous(start())", "NP249") == ["error unsafe"]


def test_pairs_stay_pairs() -> None:
    assert_ported(
        """\
        import torch.distributed as dist
        import torch_xla.core.xla_model as xm
        dist.init_process_group("gloo")
        if not xm.is_master_ordinal(): xm.rendezvous("x")
        load()
        if xm.is_master_ordinal(): xm.rendezvous("x")
        """,
        """\
        import torch.distributed as dist
        dist.init_process_group("gloo")
        if dist.get_node_local_rank(fallback_rank=0) != 0: dist.barrier()
        load()
        if dist.get_node_local_rank(fallback_rank=0) == 0: dist.barrier()
        """,
        "safe",
    )


def test_guard_in_a_one_line_if() -> None:
    before = "import torch\nimport torch_xla.core.xla_model as xm\nif a: xm.rendezvous('x')\n"
    after = "import torch\nif a:\n    if torch.distributed.is_initialized():\n        torch.distributed.barrier()\n"
    assert_ported(before, after, "safe")

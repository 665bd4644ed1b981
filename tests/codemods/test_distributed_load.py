"""Models that several processes load together."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, codes

HEAD = (
    "import os\nimport torch\nfrom transformers import AutoModel\nfrom transformers.distributed import DistributedConfig\n"
    'os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"\ntorch.distributed.init_process_group("neuron")\n'
    "print(AutoModel, DistributedConfig)\n"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'm = AutoModel.from_pretrained(n, tp_plan="auto")',
            'm = AutoModel.from_pretrained(n, distributed_config=DistributedConfig(tp_plan="auto"))',
        ),
        (
            'm = AutoModel.from_pretrained(n, tp_plan="auto", tp_size=size)',
            'm = AutoModel.from_pretrained(n, distributed_config=DistributedConfig(tp_plan="auto", tp_size=size))',
        ),
        (
            'm = AutoModel.from_pretrained(n, distributed_config=c, device_map="neuron")',
            "m = AutoModel.from_pretrained(n, distributed_config=c)",
        ),
    ],
)
def test_safe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "c = DistributedConfig(tp_size=4, enable_expert_parallel=True)",
            "c = DistributedConfig(tp_size=4, ep_size=4, tp_plan={})",
        ),
        (
            'm = kind.from_pretrained(n, tp_plan="auto")',
            'm = kind.from_pretrained(n, distributed_config=DistributedConfig(tp_plan="auto"))',
        ),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("c = DistributedConfig(pp_size=2, fsdp_size=4)", ["error manual"]),
        ("c = DistributedConfig(pp_size=2, fsdp_size=1)", []),
        ("m = AutoModel.from_pretrained(n, distributed_config=c, device_mesh=mesh)", ["info manual"]),
        ("m.parallelize()", ["error manual"]),
        ("m = AutoModel.from_pretrained(n, tp_plan=None)", []),
    ],
)
def test_grades(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP406") == expected


def test_a_program_makes_its_process_group() -> None:
    assert_ported(
        """\
        import os
        import torch
        from transformers import AutoModel
        from transformers.distributed import DistributedConfig

        os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"
        model = AutoModel.from_pretrained("x", distributed_config=DistributedConfig(tp_size=2))
        """,
        """\
        import os
        import torch
        from transformers import AutoModel
        from transformers.distributed import DistributedConfig

        os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"
        torch.distributed.init_process_group("neuron")
        model = AutoModel.from_pretrained("x", distributed_config=DistributedConfig(tp_size=2))
        """,
    )


def test_trainers_make_theirs() -> None:
    source = """\
    from transformers import AutoModel, Trainer
    from transformers.distributed import DistributedConfig
    # HF_DEACTIVATE_ASYNC_LOAD=1
    model = AutoModel.from_pretrained("x", distributed_config=DistributedConfig(tp_size=2))
    """
    assert codes(source) == []

"""Device arguments of DistributedDataParallel."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = "import torch\nfrom functools import partial\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n"


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("m = DDP(m, device_ids=[rank])", "m = DDP(m)"),
        ("m = DDP(m, device_ids=[rank], output_device=rank)", "m = DDP(m)"),
        ("m = DDP(m, output_device=rank, device_ids=(rank,), bucket_cap_mb=1)", "m = DDP(m, bucket_cap_mb=1)"),
        ("m = DDP(m, [args.gpu], args.gpu)", "m = DDP(m)"),
        ("m = DDP(m, [0], 0, 1)", "m = DDP(m, None, None, 1)"),
        ("m = DDP(m, device_ids=[int(os.environ['LOCAL_RANK'])])", "m = DDP(m)"),
        ("m = DDP(m, device_ids=[device])", "m = DDP(m)"),
        ("m = DDP(m, device_ids=[rank] if parallel else None)", "m = DDP(m)"),
        ("m = DDP(m, device_ids=[torch.cuda.current_device()])", "m = DDP(m)"),
        (
            "m = torch.nn.parallel.DistributedDataParallel(m, device_ids=[0])",
            "m = torch.nn.parallel.DistributedDataParallel(m)",
        ),
        ("wrap = partial(DDP, device_ids=[rank])", "wrap = partial(DDP)"),
        ("m = DDP(m, device_ids=[rank], **options)", "m = DDP(m, **options)"),
    ],
)
def test_devices_go(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "safe", target) == after


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("m = DDP(m, device_ids=[0, 1])", ["error manual"]),
        ("m = DDP(m, device_ids=gpu_ids)", ["info manual"]),
        ("m = DDP(m, device_ids=args.gpus, output_device=rank)", ["info manual"]),
        ("m = DDP(m, device_ids=list(range(2)))", ["info manual"]),
        ("m = DDP(m, device_ids=[*ids])", ["info manual"]),
        ("m = DDP(m)", []),
        ("m = DDP(m, device_ids=None)", []),
        ("m = DDP(m, device_ids=[torch.accelerator.current_device_index()])", []),
        ("m = DDP(m, device_ids=[state.local_process_index], output_device=state.local_process_index)", []),
        ("m = DDP(*args)", []),
        ("m = Other(m, device_ids=[0])", []),
    ],
)
def test_what_stays(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP172") == expected


def test_a_list_is_followed_to_where_it_is_bound() -> None:
    assert port(HEAD + "ids = [rank]\n", "m = DDP(m, device_ids=ids)", "safe") == "m = DDP(m)"
    assert found(HEAD + "ids = [0, 1]\n", "m = DDP(m, device_ids=ids)", "NP172") == ["info manual"]

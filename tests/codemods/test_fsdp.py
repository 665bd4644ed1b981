"""Devices of FSDP1."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = "import torch\nfrom torch.distributed.fsdp import FullyShardedDataParallel as FSDP\n"
INDEX = "torch.accelerator.current_device_index()"


@pytest.mark.parametrize("target", ["neuron", "portable"])
def test_the_index_comes_from_the_accelerator(target: str) -> None:
    before = "m = FSDP(m, device_id=torch.cuda.current_device())"
    assert port(HEAD, before, "safe", target) == f"m = FSDP(m, device_id={INDEX})"
    assert port(HEAD, "m = FSDP(m, device_id=0)", "safe", target) == "m = FSDP(m, device_id=0)"
    assert port(HEAD, "m = FSDP(m, device_id=0)", "unsafe", target) == f"m = FSDP(m, device_id={INDEX})"


def test_an_imported_name_goes_with_its_import() -> None:
    head = HEAD + "from torch.cuda import current_device\n"
    assert port(head, "m = FSDP(m, device_id=current_device())", "safe") == f"m = FSDP(m, device_id={INDEX})"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("m = FSDP(m, device_id=rank)", ["info manual"]),
        ("m = FSDP(m, device_id=args.gpu)", ["info manual"]),
        ("m = FSDP(m, device_id=local_rank)", []),
        ("m = FSDP(m, device_id=None)", []),
        ("m = FSDP(m, device_id=device)", []),
        (f"m = FSDP(m, device_id={INDEX})", []),
        ("m = FSDP(m)", []),
    ],
)
def test_what_stays(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP174") == expected


def test_a_device_is_the_business_of_the_device_rules() -> None:
    line = 'm = FSDP(m, device_id=torch.device("cuda:0"))'
    assert found(HEAD, line, "NP174") == []
    assert port(HEAD, line, "safe") == 'm = FSDP(m, device_id=torch.device("neuron"))'

"""Lightning's Trainer and Fabric."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = "import lightning as L\nimport pytorch_lightning as pl\nfrom lightning.fabric import Fabric\n"


@pytest.mark.parametrize("target", ["neuron", "portable"])
def test_precision(target: str) -> None:
    before = 't = L.Trainer(accelerator="cpu", precision="16-mixed")'
    after = 't = L.Trainer(accelerator="cpu", precision="bf16-mixed")'
    assert port(HEAD, before, "safe", target) == before
    assert port(HEAD, before, "unsafe", target) == after
    assert (
        port(HEAD, 'f = Fabric(accelerator="cpu", precision=16)')
        == 'f = Fabric(accelerator="cpu", precision="bf16-mixed")'
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('t = L.Trainer(accelerator="gpu")', ["error manual"]),
        ('t = pl.Trainer(accelerator="cuda")', ["error manual"]),
        ('t = pl.Trainer(accelerator="auto")', ["warning manual"]),
        ("t = L.Trainer(max_epochs=1)", ["warning manual"]),
        ("f = Fabric()", ["warning manual"]),
        ('t = pl.Trainer(gpus=2, accelerator="cpu")', ["warning manual"]),
        ('t = L.Trainer(accelerator="cpu", strategy="deepspeed_stage_2")', ["error manual"]),
        ('t = L.Trainer(accelerator="tpu", devices=8)', ["error manual"]),
        ('t = pl.Trainer(accelerator="cpu", strategy="xla_fsdp")', ["error manual"]),
        ('f = Fabric(accelerator="tpu")', ["error manual"]),
        ('t = L.Trainer(accelerator="cpu", strategy="ddp")', []),
        ("t = L.Trainer(accelerator=accelerator)", []),
        ("t = L.Trainer(**options)", []),
        ('t = Trainer(accelerator="gpu")', []),
    ],
)
def test_grades(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP710") == expected


def test_the_name_of_the_accelerator_is_no_device_string() -> None:
    line = 't = L.Trainer(accelerator="cuda")'
    assert found(HEAD, line, "NP101") == found(HEAD, line, "NP104") == []

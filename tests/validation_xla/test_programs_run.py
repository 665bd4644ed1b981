"""XLA and NxD programs run before and after the port, and print the same losses.

``before.py`` runs on the stand-ins of the XLA packages, the port with the device read as the CPU, both on one thread.
Losses have six digits and may differ in the last: both sides compute the same sums, but not always in the same order
(four processes, one global program in the place of several processes, padded batches).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch.distributed.checkpoint.format_utils import dcp_to_torch_save  # noqa: E402

from tests.validation_xla.launching import Program  # noqa: E402

SCRIPTS = Path(__file__).parent.parent.parent / "fixtures" / "scripts"
TWO_CORES = (("NEURONCORE_NUM_DEVICES", "2"),)

# name -> (arguments, processes before and after the port, lines printed); a program that starts its processes itself
# is run by no process manager before the port.
RUNS = {
    "neuronx-trace": ("", 0, 0, 5),
    "nxd-tensor-parallel": ("--max_steps 4", 2, 2, 4),
    "xla-bert-finetune": ("--max_steps 4", 2, 2, 4),
    "xla-fsdp": ("--steps 3 --checkpoint-activations", 2, 2, 3),
    "xla-launch-newapi": ("--epochs 1 --samples 96", 2, 2, 4),
    "xla-mlp-single": ("--epochs 1 --samples 128", 0, 0, 5),
    "xla-spawn": ("--epochs 1 --samples 96", 0, 2, 4),
    "xla-spmd": ("--epochs 1 --samples 96", 0, 2, 3),
    "xla-torchrun-ddp": ("--epochs 2 --samples 128", 2, 2, 11),
    "xla-zero1": ("--steps 4", 2, 2, 4),
}

# Where the programs write what they trained.
CHECKPOINTS = {
    "xla-bert-finetune": "ckpt_4.pt",
    "xla-launch-newapi": "autoencoder.pt",
    "xla-mlp-single": "checkpoints/mlp.pt",
    "xla-spawn": "convnet.pt",
    "xla-spmd": "spmd.pt",
    "xla-torchrun-ddp": "output/checkpoint.pt",
    "xla-zero1": "zero1.pt",
}

# What the XLA call did and a careless port forgets: what is written, what is there instead.
MISTAKES = {
    "nxd-tensor-parallel": ('average_gradients(optimizer, mesh["dp"].get_group())', "pass"),
    "xla-bert-finetune": ("model.to(device, dtype=torch.bfloat16)", "model.to(device)"),
    "xla-fsdp": ("model.parameters(), args.max_norm)", "model.parameters(), 1e6)"),
    "xla-launch-newapi": ("        average_gradients(self.optimizer)\n", ""),
    "xla-spawn": ("        average_gradients(optimizer)\n", ""),
    "xla-spmd": ("loss.full_tensor().item()", "loss.to_local().item()"),
    "xla-torchrun-ddp": ("            average_gradients(optimizer)\n", ""),
    "xla-zero1": ("        torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)\n", ""),
}


def finished_port(name: str) -> Path:
    """What the fix writes, or that finished by hand where findings remain that a person must settle."""
    by_hand = SCRIPTS / name / "ported.py"
    return by_hand if by_hand.is_file() else SCRIPTS / name / "after.py"


Sides = tuple[Path, list[str], list[str]]


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> Callable[..., Sides]:
    """Runs a program and its port once; returns the folder with their two folders, and what they print."""

    @cache
    def run(name: str, extra: str = "", processes: int | None = None) -> Sides:
        folder = tmp_path_factory.mktemp(name)
        arguments, before, after, _ = RUNS[name]
        arguments = f"{arguments} {extra}"
        old = Program(SCRIPTS / name / "before.py", arguments, processes or before, TWO_CORES)
        new = Program(finished_port(name), arguments, processes or after)
        return folder, old.on_standins(folder / "before"), new.on_cpu(folder / "after")

    return run


NUMBER = re.compile(r"-?\d+\.\d{6}")


def losses(lines: list[str]) -> list[float]:
    return [float(number) for line in lines for number in NUMBER.findall(line)]


def assert_equal_up_to_the_last_digit(after: list[str], before: list[str]) -> None:
    assert [NUMBER.sub("#", line) for line in after] == [NUMBER.sub("#", line) for line in before]
    assert losses(after) == pytest.approx(losses(before), abs=2e-6)


@pytest.mark.parametrize("name", sorted(RUNS))
def test_same_losses(both, name: str) -> None:
    _, before, after = both(name)
    assert len(before) == RUNS[name][3]
    assert_equal_up_to_the_last_digit(after, before)


@pytest.mark.parametrize("name", sorted(CHECKPOINTS))
def test_same_checkpoints(both, name: str) -> None:
    folder, _, _ = both(name)
    old, new = (torch.load(folder / side / CHECKPOINTS[name]) for side in ("before", "after"))
    assert_same(old, new)


def assert_same(old, new) -> None:
    """Equal keys in equal order, equal numbers; a port may keep tuples that XLA's saving made lists."""
    if isinstance(old, torch.Tensor):
        # float32 against bfloat16 where XLA kept bfloat16 behind the name of float32
        torch.testing.assert_close(new, old, check_dtype=False)
    elif isinstance(old, dict):
        assert list(new) == list(old)
        for key in old:
            assert_same(old[key], new[key])
    elif isinstance(old, (list, tuple)):
        assert len(new) == len(old)
        for left, right in zip(old, new):
            assert_same(left, right)
    else:
        assert new == old


def test_tensor_parallel_checkpoints(both, tmp_path: Path) -> None:
    """The parts that NxD wrote, one file a rank, are the model that torch.distributed.checkpoint wrote."""
    folder, _, _ = both("nxd-tensor-parallel")
    dcp_to_torch_save(folder / "after" / "checkpoint", tmp_path / "whole.pt")
    whole = torch.load(tmp_path / "whole.pt")["model"]
    files = sorted((folder / "before" / "checkpoint").glob("*/checkpoint.pt"))
    parts = [torch.load(file)["model"] for file in files]
    assert len(parts) == 2
    assert set(whole) == set(parts[0])
    for key, tensor in whole.items():
        pieces = [part[key] for part in parts]
        cut = [dim for dim in range(tensor.dim()) if pieces[0].shape[dim] != tensor.shape[dim]]
        torch.testing.assert_close(tensor, torch.cat(pieces, dim=cut[0]) if cut else pieces[0])


@pytest.mark.parametrize(
    ("name", "extra", "processes"),
    [
        ("nxd-tensor-parallel", "--tensor_parallel_size 1", 2),  # two replicas
        ("nxd-tensor-parallel", "--tensor_parallel_size 2", 4),  # gradients are averaged over the replicas only
        ("xla-fsdp", "--auto-wrap", 2),
        ("xla-spmd", "--model-axis 2", None),
    ],
)
def test_same_losses_with_other_arguments(both, name: str, extra: str, processes: int | None) -> None:
    _, before, after = both(name, extra, processes)
    assert len(before) == RUNS[name][3]
    assert_equal_up_to_the_last_digit(after, before)


@pytest.mark.parametrize("name", sorted(MISTAKES))
def test_a_careless_port_is_seen(both, tmp_path: Path, name: str) -> None:
    # with one replica there would be nothing to average
    extra = "--tensor_parallel_size 1" if name == "nxd-tensor-parallel" else ""
    _, before, _ = both(name, extra)
    right, wrong = MISTAKES[name]
    text = finished_port(name).read_text(encoding="utf-8")
    assert text.count(right) == 1
    careless = tmp_path / "careless.py"
    careless.write_text(text.replace(right, wrong), encoding="utf-8")
    arguments, _, processes, _ = RUNS[name]
    after = Program(careless, f"{arguments} {extra}", processes).on_cpu(tmp_path / "after")
    assert len(after) == len(before)
    assert max(abs(new - old) for new, old in zip(losses(after), losses(before))) > 2e-5

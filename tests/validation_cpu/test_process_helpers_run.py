"""The definitions about processes do what they replace: alone, and in two processes over gloo."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from neuron_port.codemods.helpers.print_master import print_master  # noqa: E402
from neuron_port.codemods.helpers.save_on_cpu import save_on_cpu  # noqa: E402
from neuron_port.codemods.helpers.SerialExecutor import SerialExecutor  # noqa: E402


def test_alone_the_only_process_prints(capsys: pytest.CaptureFixture) -> None:
    print_master("a", 1, sep="-")
    print_master("b", local=True)
    assert capsys.readouterr().out == "a-1\nb\n"


def test_without_a_group_the_variables_of_torchrun_count(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RANK", "5")
    monkeypatch.setenv("LOCAL_RANK", "0")
    print_master("a")
    print_master("b", local=True)
    save_on_cpu(1, tmp_path / "host")
    save_on_cpu(2, tmp_path / "all", global_master=True)
    save_on_cpu(3, tmp_path / "each", master_only=False, global_master=True)
    assert capsys.readouterr().out == "b\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["each", "host"]


def test_nested_data_is_saved_from_the_cpu(tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    path = tmp_path / "x.pt"
    save_on_cpu({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "args": SimpleNamespace(lr=1)}, path)
    found = torch.load(path, weights_only=False)
    assert torch.equal(found["model"]["weight"], model.weight)
    assert torch.equal(found["optimizer"]["state"][0]["exp_avg"], optimizer.state_dict()["state"][0]["exp_avg"])
    assert found["args"].lr == 1
    save_on_cpu(model, path)
    assert torch.equal(torch.load(path, weights_only=False).weight, model.weight)
    assert model.weight.grad is not None


def test_alone_an_executor_just_runs() -> None:
    assert SerialExecutor().run(lambda: 3) == 3


def work(rank: int, folder: str) -> None:
    """What each of two processes does and checks; together they stand for two hosts, and then for one."""
    place = Path(folder)
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)

    os.environ["LOCAL_RANK"] = "0"  # two hosts with a process each
    save_on_cpu(torch.ones(1), place / f"host{rank}")
    save_on_cpu(torch.ones(1), place / f"all{rank}", global_master=True)

    os.environ["LOCAL_RANK"] = str(rank)  # one host with two processes
    save_on_cpu(torch.ones(1), place / f"first{rank}")
    save_on_cpu(torch.ones(1), place / f"each{rank}", master_only=False)
    with open(place / f"out{rank}", "w") as out:
        print_master("one", file=out)
        print_master("host", local=True, file=out)

    # The second process finds what the first one has made.
    shared = place / "data"

    def load() -> bool:
        there = shared.exists()
        shared.touch()
        return there

    executor = SerialExecutor()
    assert executor.run(load) is (rank == 1)
    assert executor.run(lambda: rank) == rank
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def test_two_processes(tmp_path: Path) -> None:
    torch.multiprocessing.spawn(work, args=(str(tmp_path),), nprocs=2)
    names = {path.name for path in tmp_path.iterdir()} - {"store"}
    assert names == {"host0", "host1", "all0", "first0", "each0", "each1", "out0", "out1", "data"}
    assert [(tmp_path / f"out{rank}").read_text() for rank in (0, 1)] == ["one\nhost\n", ""]

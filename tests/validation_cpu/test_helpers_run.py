"""The definitions that a port writes into a file do what they replace: alone, and in two processes over gloo."""

from __future__ import annotations

import os
import re
import sys
import time
import types
from collections import OrderedDict, UserDict, namedtuple
from dataclasses import dataclass
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from neuron_port.codemods.helpers.all_gathered import all_gathered  # noqa: E402
from neuron_port.codemods.helpers.all_reduced import all_reduced  # noqa: E402
from neuron_port.codemods.helpers.average_gradients import average_gradients  # noqa: E402
from neuron_port.codemods.helpers.check_env_flag import check_env_flag  # noqa: E402
from neuron_port.codemods.helpers.DeviceLoader import DeviceLoader  # noqa: E402
from neuron_port.codemods.helpers.get_free_tcp_ports import get_free_tcp_ports  # noqa: E402
from neuron_port.codemods.helpers.get_summary_writer import get_summary_writer  # noqa: E402
from neuron_port.codemods.helpers.HostModel import HostModel  # noqa: E402
from neuron_port.codemods.helpers.joined import joined  # noqa: E402
from neuron_port.codemods.helpers.mesh_reduced import mesh_reduced  # noqa: E402
from neuron_port.codemods.helpers.print_test_update import print_test_update  # noqa: E402
from neuron_port.codemods.helpers.print_training_update import print_training_update  # noqa: E402
from neuron_port.codemods.helpers.RateTracker import RateTracker  # noqa: E402
from neuron_port.codemods.helpers.reduce_scattered import reduce_scattered  # noqa: E402
from neuron_port.codemods.helpers.to_device import to_device  # noqa: E402
from neuron_port.codemods.helpers.write_to_summary import write_to_summary  # noqa: E402

Pair = namedtuple("Pair", "x y")
ONE = torch.ones(2)


@dataclass(frozen=True)
class Batch:
    x: object
    name: str


class Ids(UserDict):
    pass


@pytest.mark.parametrize(
    ("batch", "tensors"),
    [
        (ONE, lambda moved: [moved]),
        ([ONE, (ONE, "text", 3)], lambda moved: [moved[0], moved[1][0]]),
        ({"a": ONE, "b": {"c": [ONE]}, "d": None}, lambda moved: [moved["a"], moved["b"]["c"][0]]),
        (OrderedDict(a=ONE), lambda moved: [moved["a"]]),
        (Pair(ONE, ONE), lambda moved: [moved.x, moved.y]),
        (Batch(ONE, "n"), lambda moved: [moved.x]),
        (Ids(a=ONE), lambda moved: [moved["a"]]),
        (torch.nn.utils.rnn.pack_sequence([ONE]), lambda moved: [moved.data]),
    ],
)
def test_every_tensor_of_a_batch_moves(batch: object, tensors) -> None:
    moved = to_device(batch, "meta")
    assert [tensor.device.type for tensor in tensors(moved)] == ["meta"] * len(tensors(moved))
    assert [tensor.device.type for tensor in tensors(batch)] == ["cpu"] * len(tensors(batch))
    if not isinstance(batch, OrderedDict):
        assert type(moved) is type(batch)


@pytest.mark.parametrize("example", [ONE, (ONE,), [ONE]])
def test_wrapped_model_is_called_once_with_the_example(example: object) -> None:
    seen = []

    class Net(torch.nn.Linear):
        def forward(self, x, scale=1):
            seen.append((x.device.type, torch.is_grad_enabled()))
            return {"y": super().forward(x) * scale, "x": x}

    net = Net(2, 2)
    host = HostModel(net, example, "cpu")
    assert seen == [("cpu", False)]
    out = host(ONE, scale=2)
    assert torch.equal(out["y"], (net.weight.sum(1) + net.bias) * 2)
    assert not out["y"].requires_grad
    assert [name for name, _ in host.named_parameters()] == ["_model.weight", "_model.bias"]


def test_what_is_no_tensor_stays() -> None:
    module = torch.nn.Linear(1, 1)
    for value in (module, "text", 3, None, len, Path("x"), range(2)):
        assert to_device(value, "meta") is value
    assert module.weight.device.type == "cpu"
    assert to_device(Batch(ONE, "n"), "meta").name == "n"


def test_a_device_loader_is_as_long_as_its_loader_and_starts_again() -> None:
    data = torch.utils.data.TensorDataset(torch.arange(5.0), torch.arange(5))
    loader = DeviceLoader(torch.utils.data.DataLoader(data, batch_size=2), "meta")
    assert len(loader) == 3
    for _ in range(2):
        assert [(x.shape[0], x.device.type, y.device.type) for x, y in loader] == [
            (2, "meta", "meta"),
            (2, "meta", "meta"),
            (1, "meta", "meta"),
        ]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which stands still until a test sets it."""
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    return now


def test_rates_are_smoothed(clock: list[float]) -> None:
    tracker = RateTracker()
    assert (tracker.rate(), tracker.global_rate()) == (0.0, 0.0)
    tracker.add(10)
    tracker.add(10)
    clock[0] = 102.0
    assert tracker.global_rate() == 10.0
    assert tracker.rate() == 10.0
    assert tracker.rate() == 0.0  # no time has passed
    tracker.add(40)
    clock[0] = 104.0
    assert tracker.rate() == pytest.approx(0.6 * 20 + 0.4 * 10)
    assert tracker.global_rate() == 15.0
    clock[0] = 105.0
    assert tracker.rate() == pytest.approx(0.4 * 16)


def test_rates_wait_for_the_device(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    waited = []
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "synchronize", lambda: waited.append(clock[0]))
    tracker = RateTracker(smooth_factor=0.0)
    tracker.add(1)
    assert waited == []
    clock[0] = 104.0
    assert (tracker.rate(), tracker.global_rate()) == (0.25, 0.25)
    assert waited == [104.0, 104.0]


class Writer:
    """Keeps the scalars that it is given."""

    def __init__(self, log_dir: str = "") -> None:
        self.log_dir, self.scalars = log_dir, []

    def add_scalar(self, name: str, value: float, step: int | None = None) -> None:
        self.scalars.append((name, value, step))


def test_lines_about_progress(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer()
    print_training_update("neuron", 3, torch.tensor(0.5), 1.0, 2.345, epoch=0, summary_writer=writer)
    monkeypatch.setenv("RANK", "2")
    print_training_update("neuron", 3, 0.5, 1, 2)
    print_test_update("neuron", 97.125, 1, 7)
    print_test_update("neuron", None)
    lines = [re.sub(r"\d\d:\d\d:\d\d", "now", line) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "| Training Device=neuron/0 Epoch=0 Step=3 Loss=0.50000 Rate=1.00 GlobalRate=2.35 Time=now",
        "| Training Device=neuron/2 Step=3 Loss=0.50000 Rate=1.00 GlobalRate=2.00 Time=now",
        "| Test Device=neuron/2 Step=7 Epoch=1 Accuracy=97.12 Time=now",
        "| Test Device=neuron/2 Time=now",
    ]
    assert writer.scalars == [("examples/sec", 1.0, None), ("average_examples/sec", 2.345, None)]


def test_summary_writers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert get_summary_writer(None) is get_summary_writer("") is None
    write_to_summary(None, 1, {"a": 2})
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", types.SimpleNamespace(SummaryWriter=Writer))
    writer = get_summary_writer("logs")
    write_to_summary(writer, 4, dict_to_write={"a": 2, "b": 0.5})
    write_to_summary(writer, 5)
    assert writer.log_dir == "logs"
    assert [name for name, _, _ in writer.scalars] == ["TensorboardStartTimestamp", "a", "b"]
    assert writer.scalars[1:] == [("a", 2, 4), ("b", 0.5, 4)]


@pytest.mark.parametrize(
    ("value", "answer"),
    [("true", True), ("1", True), ("12", True), ("0", False), ("True", False), ("", False), ("-1", False)],
)
def test_flags_of_the_environment(value: str, answer: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_FLAG", value)
    assert check_env_flag("SOME_FLAG") is answer
    monkeypatch.delenv("SOME_FLAG")
    assert check_env_flag("SOME_FLAG", value) is answer
    assert "SOME_FLAG" not in os.environ


def test_free_ports() -> None:
    (port,) = get_free_tcp_ports()
    assert 0 < port < 65536
    assert len(get_free_tcp_ports(3)) == 3


def test_alone_they_need_no_group() -> None:
    parameter = torch.nn.Parameter(torch.ones(1))
    parameter.grad = torch.full((1,), 3.0)
    average_gradients(torch.optim.SGD([parameter], lr=1.0))
    assert parameter.grad.item() == 3.0
    assert mesh_reduced(2.5, sum) == 2.5
    tensor = torch.ones(1, requires_grad=True)
    result = all_reduced(tensor * 2, torch.distributed.ReduceOp.SUM)
    assert (result.item(), result.requires_grad) == (2.0, False)
    tensor = torch.ones(2, 3, requires_grad=True)
    for result in (all_gathered(tensor, 1), reduce_scattered(tensor, torch.distributed.ReduceOp.SUM, 1)):
        assert torch.equal(result, tensor) and not result.requires_grad
    joined(tensor, 1).sum().backward()
    assert torch.equal(tensor.grad, torch.ones(2, 3))


def work(rank: int, folder: str) -> None:
    """What each of two processes does and checks."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    ops = torch.distributed.ReduceOp

    model = torch.nn.Linear(2, 1)
    with torch.no_grad():
        model.weight.fill_(1.0)
    unused = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([{"params": model.parameters()}, {"params": [unused]}], lr=0.1)
    model(torch.full((1, 2), 1.0 + rank)).sum().backward()
    average_gradients(optimizer)
    assert model.weight.grad.tolist() == [[1.5, 1.5]]
    assert unused.grad is None

    # The same as DistributedDataParallel, step by step.
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    twin = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    twin.load_state_dict(net.state_dict())
    wrapped = torch.nn.parallel.DistributedDataParallel(twin)
    plain, other = (torch.optim.Adam(each.parameters(), lr=0.01) for each in (net, twin))
    torch.manual_seed(rank)
    for _ in range(5):
        batch = torch.randn(8, 3)
        losses = []
        for module, opt in ((net, plain), (wrapped, other)):
            opt.zero_grad()
            loss = module(batch).square().mean()
            loss.backward()
            if module is net:
                average_gradients(opt)
            opt.step()
            losses.append(loss.detach())
        assert torch.equal(*losses)
    for first, second in zip(net.parameters(), twin.parameters()):
        assert torch.equal(first, second)

    tensor = torch.tensor([1.0 + rank, 4.0], requires_grad=True)
    assert all_reduced(tensor, ops.SUM).tolist() == [3.0, 8.0]
    assert all_reduced(tensor, ops.AVG).tolist() == [1.5, 4.0]
    assert all_reduced(tensor, ops.MAX).tolist() == [2.0, 4.0]
    assert tensor.tolist() == [1.0 + rank, 4.0]

    tensor = torch.tensor([[1.0, 2.0], [3.0, 4.0]]) + 10 * rank
    assert all_gathered(tensor).tolist() == [[1.0, 2.0], [3.0, 4.0], [11.0, 12.0], [13.0, 14.0]]
    assert all_gathered(tensor.t(), dim=-1).tolist() == [[1.0, 3.0, 11.0, 13.0], [2.0, 4.0, 12.0, 14.0]]
    assert reduce_scattered(tensor, ops.SUM).tolist() == [[[12.0, 14.0]], [[16.0, 18.0]]][rank]
    assert reduce_scattered(tensor, ops.SUM, dim=1).tolist() == [[[12.0], [16.0]], [[14.0], [18.0]]][rank]
    alone = torch.distributed.new_group([0]), torch.distributed.new_group([1])
    assert torch.equal(all_reduced(tensor, ops.SUM, alone[rank]), tensor)
    assert torch.equal(all_gathered(tensor, 1, group=alone[rank]), tensor)
    assert torch.equal(reduce_scattered(tensor, ops.SUM, group=alone[rank]), tensor)

    # The gradient of the own part, while the collectives of torch.distributed.nn add those of the other processes.
    weights = torch.tensor([1.0, 2.0]) * (rank + 1)
    leaf = torch.tensor([5.0 + rank], requires_grad=True)
    (joined(leaf) * weights).sum().backward()
    assert leaf.grad.tolist() == [weights[rank].item()]
    other = torch.tensor([5.0 + rank], requires_grad=True)
    (torch.cat(torch.distributed.nn.functional.all_gather(other)) * weights).sum().backward()
    assert other.grad.tolist() == [3.0, 6.0][rank : rank + 1]

    # What xm.broadcast_master_param becomes.
    model = torch.nn.BatchNorm1d(1)
    with torch.no_grad():
        model.weight.fill_(rank)
        model.running_mean.fill_(rank)
    for tensor in (*model.parameters(), *model.buffers()):
        torch.distributed.broadcast(tensor.data, src=1)
    assert (model.weight.item(), model.running_mean.item(), model.weight.requires_grad) == (1.0, 1.0, True)

    for _ in range(2):
        assert mesh_reduced(0.5 + rank, lambda values: sum(values) / len(values)) == 1.0
    assert mesh_reduced({"ids": list(range(rank * 9)), "t": torch.ones(1)}, len) == 2
    assert mesh_reduced((rank, "a"), list) == [(0, "a"), (1, "a")]
    torch.distributed.destroy_process_group()


def test_two_processes(tmp_path: Path) -> None:
    torch.multiprocessing.spawn(work, args=(str(tmp_path),), nprocs=2)

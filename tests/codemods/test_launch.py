"""Calls that start processes, and what forked processes shared."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, ported

HEAD = (
    "import os\nimport torch\nimport torch.distributed as dist\nimport torch_xla\n"
    "import torch_xla.distributed.xla_multiprocessing as xmp\n"
)
SPAWN = "import torch_xla.distributed.xla_multiprocessing as xmp\n"
INIT, DONE = 'dist.init_process_group("neuron")', "dist.destroy_process_group()"
LOCAL = "dist.get_node_local_rank(fallback_rank=0)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("xmp.spawn(work)", "work(dist.get_rank())"),
        ("xmp.spawn(work, ())", "work(dist.get_rank())"),
        ("xmp.spawn(work, args=())", "work(dist.get_rank())"),
        ("xmp.spawn(work, args=(a,))", "work(dist.get_rank(), a)"),
        ("xmp.spawn(work, (a, b), 8)", "work(dist.get_rank(), a, b)"),
        ("xmp.spawn(work, args=[a, *b])", "work(dist.get_rank(), a, *b)"),
        ("xmp.spawn(work, args=options)", "work(dist.get_rank(), *options)"),
        ("xmp.spawn(work, args=(a, b) + c)", "work(dist.get_rank(), *(a, b) + c)"),
        ("xmp.spawn(fn=work, nprocs=None, daemon=True, join=True)", "work(dist.get_rank())"),
        ('xmp.spawn(work, nprocs=n, start_method="fork")', "work(dist.get_rank())"),
        ("xmp.spawn(lambda i, x: run(i), args=(a,))", "(lambda i, x: run(i))(dist.get_rank(), a)"),
        ("xmp.spawn(functools.partial(work, k=1))", "functools.partial(work, k=1)(dist.get_rank())"),
        ("xmp.spawn(module.work)", "module.work(dist.get_rank())"),
        ("torch_xla.launch(work)", f"work({LOCAL})"),
        ("torch_xla.launch(work, args=(a,))", f"work({LOCAL}, a)"),
        ('torch_xla.launch(work, (a,), "fork")', f"work({LOCAL}, a)"),
        ("torch_xla.launch(work, debug_single_process=flags.debug)", f"work({LOCAL})"),
    ],
)
def test_call_in_a_group(before: str, after: str) -> None:
    assert ported(f"{HEAD}{before}\n").endswith(f"{INIT}\n{after}\n{DONE}\n")
    assert ported(f"{HEAD}{before}\n", "safe").endswith(f"{before}\n")


@pytest.mark.parametrize(
    "before",
    [
        "xmp.spawn(work, nprocs=1)",
        "xmp.spawn(work, (), 1)",
        'xmp.spawn(work, nprocs=1, start_method="fork")',
        "torch_xla.launch(work, debug_single_process=True)",
    ],
)
def test_one_process(before: str) -> None:
    assert port(HEAD, before) == "work(0)"


def test_portable_asks_for_the_backend() -> None:
    after = ported(f"{HEAD}xmp.spawn(work)\n", target="portable")
    backend = "dist.get_default_backend_for_device(torch.accelerator.current_accelerator())"
    assert after.endswith(f"dist.init_process_group({backend})\nwork(dist.get_rank())\n{DONE}\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            """\
            if os.environ.get("WORLD_SIZE"):
                dist.init_process_group("gloo")
                work(0)
            else:
                xmp.spawn(work)
            """,
            """\
            if os.environ.get("WORLD_SIZE"):
                dist.init_process_group("gloo")
                work(0)
            else:
                work(0)
            """,
        ),
        (
            """\
            def start():
                if dist.is_torchelastic_launched():
                    return main(0, a)
                xmp.spawn(main, args=(a,))
            """,
            """\
            def start():
                if dist.is_torchelastic_launched():
                    return main(0, a)
                main(0, a)
            """,
        ),
        (
            """\
            def main(index):
                if not dist.is_torchelastic_launched():
                    dist.init_process_group("gloo")
            if "RANK" in os.environ:
                dist.init_process_group("gloo")
                main(0)
            else:
                xmp.spawn(main)
            """,
            """\
            def main(index):
                if not dist.is_torchelastic_launched():
                    dist.init_process_group("gloo")
            if "RANK" in os.environ:
                dist.init_process_group("gloo")
                main(0)
            else:
                raise SystemExit("start this program with torchrun")
            """,
        ),
        (
            """\
            def main(index):
                dist.init_process_group("gloo")
            xmp.spawn(main)
            """,
            """\
            def main(index):
                dist.init_process_group("gloo")
            main(int(os.environ.get("RANK", 0)))
            """,
        ),
        (
            """\
            class Run:
                def __init__(self):
                    dist.init_process_group("gloo")
            def main(index):
                run = Run()
            xmp.spawn(main)
            """,
            """\
            class Run:
                def __init__(self):
                    dist.init_process_group("gloo")
            def main(index):
                run = Run()
            main(int(os.environ.get("RANK", 0)))
            """,
        ),
        (
            """\
            dist.init_process_group("gloo")
            xmp.spawn(main)
            """,
            """\
            dist.init_process_group("gloo")
            main(int(os.environ.get("RANK", 0)))
            """,
        ),
        (
            """\
            class Run:
                def start(self):
                    if torch_version == "2.0":
                        dist.init_process_group("gloo", rank=0)
                def go(self):
                    xmp.spawn(self.work)
            """,
            """\
            class Run:
                def start(self):
                    if torch_version == "2.0":
                        if not dist.is_initialized():
                            dist.init_process_group("gloo", rank=0)
                def go(self):
                    dist.init_process_group("neuron")
                    self.work(dist.get_rank())
                    dist.destroy_process_group()
            """,
        ),
        (
            """\
            def main(index):
                if flags.ddp:
                    dist.init_process_group("gloo")
                work()
                if flags.ddp:
                    dist.destroy_process_group()
            xmp.spawn(main)
            """,
            """\
            def main(index):
                if flags.ddp:
                    if not dist.is_initialized():
                        dist.init_process_group("gloo")
                work()
                if flags.ddp:
                    dist.destroy_process_group()
            dist.init_process_group("neuron")
            main(dist.get_rank())
            if dist.is_initialized():
                dist.destroy_process_group()
            """,
        ),
        (
            """\
            def start():
                return xmp.spawn(work, args=(1,))
            """,
            """\
            def start():
                dist.init_process_group("neuron")
                work(dist.get_rank(), 1)
                dist.destroy_process_group()
                return
            """,
        ),
        (
            """\
            if __name__ == "__main__": xmp.spawn(work)
            """,
            """\
            if __name__ == "__main__": dist.init_process_group("neuron"); work(dist.get_rank()); dist.destroy_process_group()
            """,
        ),
    ],
)
def test_programs(before: str, after: str) -> None:
    head = "import os\nimport torch.distributed as dist\n"
    indented = [f"            {line}\n" for line in (head + SPAWN).splitlines()]
    assert_ported("".join(indented[:2]) + indented[2] + before, "".join(indented[:2]) + after)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("xmp.spawn(*args)", "unpacked"),
        ("xmp.spawn(work, **options)", "unpacked"),
        ("xmp.spawn()", "names no function"),
        ("context = xmp.spawn(work, join=False)", "result is used"),
        ("run(xmp.spawn)", "passed on"),
        ("start = xmp.spawn", "passed on"),
    ],
)
def test_left_to_a_person(line: str, reason: str) -> None:
    assert found(HEAD, line, "NP250") == ["error manual"]
    assert reason in next(item for item in check(f"{HEAD}{line}\n") if item.code == "NP250").message


def test_call_through_a_variable() -> None:
    assert found(HEAD + "start = xmp.spawn\n", "start(work)", "NP250") == ["error unsafe"]


def message(source: str) -> str:
    return next(item for item in check(source) if item.code == "NP250").message


def test_message_names_the_number_of_processes() -> None:
    assert "`torchrun --nproc_per_node=8`" in message(f"{SPAWN}xmp.spawn(work, nprocs=8)\n")
    assert "`torchrun --nproc_per_node=N`" in message(f"{SPAWN}xmp.spawn(work, nprocs=n)\n")


def test_message_names_what_runs_everywhere_now() -> None:
    assert "from line 3 on runs in each" in message(f"{SPAWN}xmp.spawn(work)\nplot()\n")
    assert "runs in each" not in message(f"{SPAWN}if a:\n    xmp.spawn(work)\nplot()\n")


def test_message_asks_for_a_seed_after_fork() -> None:
    forked = 'xmp.spawn(work, start_method="fork")\n'
    assert "seed them" in message(f"{SPAWN}{forked}")
    assert "seed them" not in message(f"{SPAWN}import torch\ntorch.manual_seed(0)\n{forked}")
    assert "seed them" not in message(f"{SPAWN}xmp.spawn(work)\n")
    assert "seed them" not in message(f"{SPAWN}from torch.nn.parallel import DistributedDataParallel as DDP\n{forked}")


def test_shared_queue() -> None:
    made = f"{SPAWN}import torch.multiprocessing as mp\nbatches = mp.Queue(8)\n"
    assert found(made, "xmp.spawn(work, args=(flags, batches))", "NP250") == ["error manual"]
    assert "all its processes share batches" in message(f"{made}xmp.spawn(work, args=(flags, batches))\n")
    assert found(made, "xmp.spawn(work, args=(flags,))", "NP250") == ["error unsafe"]


def test_model_wrapper() -> None:
    seeded = f"{HEAD}torch.manual_seed(0)\n"
    assert port(seeded, "m = xmp.MpModelWrapper(Net())", "safe") == "m = Net()"
    assert port(seeded, "m = xmp.MpModelWrapper(model=net) if fork else net", "safe") == "m = net if fork else net"
    assert found(seeded, "m = xmp.MpModelWrapper(Net())", "NP251") == ["error safe"]
    assert found(HEAD, "m = xmp.MpModelWrapper(Net())", "NP251") == ["error unsafe"]
    assert found(seeded + "print(m._model)\n", "m = xmp.MpModelWrapper(Net())", "NP251") == ["error manual"]
    assert found(seeded, "isinstance(m, xmp.MpModelWrapper)", "NP251") == ["error manual"]


def test_serial_executor() -> None:
    after = ported("import torch_xla.distributed.xla_multiprocessing as xmp\nonce = xmp.MpSerialExecutor()\n")
    assert after.startswith("import torch\n\n\nclass SerialExecutor:\n")
    assert after.endswith("\n\n\nonce = SerialExecutor()\n")
    assert found(HEAD + "SerialExecutor = 1\n", "once = xmp.MpSerialExecutor()", "NP251") == ["error manual"]


def test_data_parallel_in_threads() -> None:
    head = "import torch_xla.distributed.data_parallel as dp\n"
    assert found(head, "m = dp.DataParallel(net)", "NP252") == ["error manual"]
    head = "from torch_xla.distributed.xla_dist import DistributedExecutor\n"
    assert found(head, "run = DistributedExecutor(hosts)", "NP252") == ["error manual"]

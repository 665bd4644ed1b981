"""Whole runs on the emulated device: what is seen, where, how often, and whether the run passes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.validation.conftest import TRAINING

ROOT = Path(__file__).parents[2]


def seen(judgement, kind):
    return [(each.line, each.operation, each.count) for each in judgement.observations if each.kind == kind]


def test_a_training_program_passes_and_is_counted(judged) -> None:
    judgement = judged(TRAINING, steps=3)
    assert (judgement.passed, judgement.device, judgement.steps) == (True, "emulated", 3)
    assert seen(judgement, "sync") == [(13, "item", 2)]
    assert judgement.syncs_per_step == 1.0
    assert judgement.executed > 0
    assert judgement.peak > 0
    assert any("no pass on Trainium" in note for note in judgement.notes)


def test_a_program_that_stays_on_the_cpu_fails(judged) -> None:
    judgement = judged("import torch\nprint(torch.ones(2).sum())\n")
    assert judgement.problems == ("the device was never reached: everything ran on the CPU",)


def test_a_refused_feature_is_explained(judged) -> None:
    judgement = judged(
        """
        import torch
        x = torch.ones(2, 2, device="neuron").to_sparse()
        """
    )
    assert (judgement.failure.kind, judgement.failure.line) == ("NotImplementedError", 3)
    assert judgement.known.cause == "TorchNeuron has no sparse tensors"
    assert seen(judgement, "refused")[0][0] == 3


def test_a_limit_can_be_switched_off(judged) -> None:
    source = """
        import torch
        x = torch.ones(2, 2, device="neuron")
        print(torch.func.jvp(torch.sin, (x,), (x,)))
    """
    assert not judged(source).passed
    assert judged(source, allow=("jvp",)).passed


def test_recompiles_after_the_first_step_are_found(judged) -> None:
    source = TRAINING.replace(
        "for step", 'fast = torch.compile(net, backend="neuron", dynamic=False)\nfor step'
    ).replace("net(torch.randn(3, 4)", "fast(torch.randn(3 + step // 2, 4)")
    judgement = judged(source, ["recompile"])
    (region,) = judgement.regions
    assert (region.graphs, len(region.signatures), region.late) == (3, 3, 2)
    assert judgement.problems == ("2 graphs were compiled after the first step (--fail-on recompile)",)


def test_what_fails_is_up_to_the_caller(judged) -> None:
    assert judged(TRAINING, steps=3).passed
    assert judged(TRAINING, ["sync"], steps=3).problems == ("the host waited 1.0 times in a step (--fail-on sync)",)


def test_arguments_and_exit_status(judged) -> None:
    source = 'import sys, torch\ntorch.ones(1, device="neuron") + 1\nsys.exit(int(sys.argv[1]))\n'
    assert judged(source, args=("0",)).passed
    assert judged(source, args=("4",)).problems == ("the program left with status 4",)


def test_a_module_is_run(program, tmp_path, monkeypatch) -> None:
    from neuron_port.validation.request import Request
    from neuron_port.validation.run import validate

    program(TRAINING, "trains.py")
    monkeypatch.chdir(tmp_path)
    assert validate(Request(script="trains", module=True, device="emulated", timeout=200.0)).steps == 5


def test_time_runs_out(judged) -> None:
    judgement = judged("import time\ntime.sleep(600)\n", timeout=8.0)
    assert judgement.problems == ("the run was ended after 8 s",)


def test_nothing_is_left_behind_when_time_runs_out(judged, tmp_path) -> None:
    pids = tmp_path / "pids"
    judged(
        f"""
        import os, subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        open({str(pids)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
        time.sleep(600)
        """,
        timeout=12.0,
    )
    time.sleep(0.5)
    for pid in map(int, pids.read_text().split()):
        assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_process_that_dies_is_named(judged) -> None:
    judgement = judged("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert judgement.problems == ("the process of rank 0 died without a record (SIGKILL)",)


def test_two_ranks(judged) -> None:
    source = """
        import torch, torch.distributed as dist
        from torch import nn
        dist.init_process_group("neuron")
        net = nn.parallel.DistributedDataParallel(nn.Linear(4, 2).to("neuron"))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(2):
            net(torch.ones(3, 4, device="neuron")).sum().backward()
            optimizer.step()
        dist.destroy_process_group()
    """
    judgement = judged(source, processes=2)
    assert (judgement.passed, judgement.ranks, judgement.steps) == (True, 2, 2)
    assert any(each.ranks == 2 for each in judgement.observations if each.kind == "collective")


def test_same_path_is_no_agreement(judged) -> None:
    judgement = judged(TRAINING, ["numerics"], capture=2)
    assert judgement.passed
    assert {pair.verdict.value for pair in judgement.pairs} == {"same path"}
    assert any("prove nothing about the chip" in note for note in judgement.notes)
    names = [pair.name for pair in judgement.pairs]
    assert names[:3] == ["step 1/output of Sequential", "step 1/loss", "step 1/gradient of 0.weight"]


def test_narrowed_arithmetic_differs(judged) -> None:
    source = """
        import torch
        from torch import nn

        class Net(nn.Module):
            def forward(self, x):
                return (x.double() + 1e9 - 1e9).float()

        torch.manual_seed(0)
        x = Net()(torch.rand(8, device="neuron"))
    """
    judgement = judged(source, ["numerics"], capture=1)
    assert [pair.verdict.value for pair in judgement.pairs] == ["differs"]
    assert judgement.problems == ("1 of 1 values differ from the CPU run (--fail-on numerics)",)


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "neuron_port", "validate", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=250)


def test_the_command_says_which_device(program, tmp_path) -> None:
    program(TRAINING)
    done = run("program.py", "--device", "emulated", "--steps", "2", cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert any(line.startswith("Seen on the emulated neuron device") for line in lines)
    assert "EMULATED PASS: nothing was seen that speaks against the port" in lines
    assert not any(line.startswith("PASS") for line in lines)


def test_json_and_html(program, tmp_path) -> None:
    program(TRAINING)
    for name in ("json", "html"):
        done = run("program.py", "--steps", "2", "--format", name, "--output-file", f"out.{name}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    data = json.loads((tmp_path / "out.json").read_text())
    assert (data["device"], data["passed"], data["steps"]) == ("emulated", True, 2)
    page = (tmp_path / "out.html").read_text()
    assert "Emulated pass" in page
    assert "program.py:13" in page


def test_wrong_usage(tmp_path, program) -> None:
    program(TRAINING)
    missing = run("nothing.py", cwd=tmp_path)
    assert (missing.returncode, missing.stderr) == (2, "neuron-port: error: nothing.py: no such file\n")
    assert run("program.py", "--fail-on", "speed", cwd=tmp_path).returncode == 2
    assert run("program.py", "--device", "neuron", "--shape-only", cwd=tmp_path).returncode == 2
    unknown = run("program.py", "--allow", "gravity", cwd=tmp_path)
    assert unknown.returncode == 2
    assert "unknown limit 'gravity'" in unknown.stderr


def test_no_device_is_said(program, tmp_path) -> None:
    program(TRAINING)
    done = run("program.py", "--device", "neuron", cwd=tmp_path)
    assert done.returncode == 2
    assert "torch_neuronx cannot be imported" in done.stderr


def test_a_syntax_error_is_shown_at_its_line(judged) -> None:
    judgement = judged("import torch\ndef f(:\n    pass\n")
    assert (Path(judgement.failure.file).name, judgement.failure.line) == ("program.py", 2)


def test_an_exception_that_cannot_be_printed_is_no_loss(judged) -> None:
    judgement = judged(
        """
        import torch
        class Odd(Exception):
            def __str__(self):
                raise RuntimeError
        x = torch.ones(2, device="neuron")
        raise Odd
        """
    )
    assert (judgement.failure.kind, judgement.failure.line, judgement.executed > 0) == ("Odd", 7, True)


def test_a_run_out_of_time_tells_what_it_saw(judged) -> None:
    judgement = judged(
        """
        import torch
        x = torch.ones(2, device="neuron")
        while True:
            x.sum().item()
        """,
        timeout=15.0,
    )
    assert judgement.problems == ("the run was ended after 15 s",)
    assert judgement.executed > 0 and [line for line, *_ in seen(judgement, "sync")] == [5]


def test_workers_of_a_program_can_still_be_ended(judged) -> None:
    judgement = judged(
        """
        import multiprocessing, os, signal, time, torch
        x = torch.ones(2, device="neuron") + 1
        worker = multiprocessing.get_context("fork").Process(target=time.sleep, args=(100,))
        worker.start()
        time.sleep(0.5)
        worker.terminate()
        worker.join(20)
        assert worker.exitcode == -signal.SIGTERM
        """
    )
    assert judgement.passed, judgement.problems


def test_a_rank_that_leaves_is_not_hidden_by_the_others(judged) -> None:
    judgement = judged(
        """
        import sys, torch
        import torch.distributed as dist
        dist.init_process_group("neuron")
        x = torch.ones(3, device="neuron")
        if dist.get_rank() == 1:
            sys.exit(4)
        dist.all_reduce(x)
        """,
        processes=2,
    )
    assert judgement.problems[0] == "rank 1 left with status 4"


def test_an_exception_in_a_thread_is_no_pass(judged) -> None:
    judgement = judged(
        """
        import threading, torch
        def work():
            x = torch.ones(2, device="neuron") + 1
            raise ValueError("lost")
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    )
    assert judgement.problems == ("a thread of the program ended by an exception",)
    assert seen(judgement, "thread") == [(5, "ValueError: lost", 1)]


def test_a_signal_is_called_by_its_name(judged) -> None:
    judgement = judged("import os, signal, torch\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    assert judgement.problems == ("the process of rank 0 died without a record (SIGSEGV)",)


def test_tensors_that_are_only_moved_compute_nothing(judged) -> None:
    judgement = judged('import torch\nx = torch.ones(2).to("neuron")\n')
    assert judgement.problems == ("nothing was computed on the device: tensors were only moved there",)

"""``python -m neuron_port.emulator``: the script sees what Python would give it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run(tmp_path):
    def run(source, *args, options=()):
        (tmp_path / "script.py").write_text(textwrap.dedent(source))
        command = [sys.executable, "-W", "ignore", "-m", "neuron_port.emulator", *options, "script.py", *args]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)

    return run


def test_arguments_name_and_import_path(run, tmp_path):
    (tmp_path / "beside.py").write_text("VALUE = 3")
    done = run(
        """
        import sys, beside, torch
        print(__name__, sys.argv, beside.VALUE, __file__)
        print(torch.ones(1, device="neuron").device, torch.neuron.is_available())
        sys.exit(7)
        """,
        *("--x", "1"),
    )
    assert done.stdout.splitlines() == ["__main__ ['script.py', '--x', '1'] 3 script.py", "neuron:0 True"]
    assert (done.returncode, done.stderr) == (7, "")


def test_traceback_is_the_users(run):
    done = run(
        """
        import torch
        def add():
            return torch.ones(2, device="neuron") + torch.ones(2)
        add()
        """
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "Traceback (most recent call last):"
    assert 'File "script.py", line 4, in add' in done.stderr
    assert "neuron_port" not in done.stderr
    assert (
        done.stderr.splitlines()[-1] == "RuntimeError: Non-scalar tensor arg of add is on cpu device, expected neuron"
    )


def test_exit_with_a_message_and_missing_script(run):
    assert (run("raise SystemExit('no')").returncode, run("raise SystemExit('no')").stderr) == (1, "no\n")
    done = run("", options=["--allow", "sparce"])
    assert done.returncode == 2 and "unknown limit 'sparce'" in done.stderr


def test_allow_and_observations(run, tmp_path):
    source = """
        import torch
        x = torch.tensor([1.0], dtype=torch.float64, device="neuron")
        print((x + 1e-12).item() == 1.0)
        """
    done = run(source, options=["--observations", "seen.json"])
    assert done.stdout == "True\n"
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen["device"] == "emulated neuron" and "float64" in seen["limits"]
    assert [(e["operation"], e["file"], e["line"]) for e in seen["events"] if e["kind"] == "wide"] == [
        ("aten::add", "script.py", 4)
    ]
    assert run(source, options=["--allow", "float64"]).stdout == "False\n"


def test_children_have_the_device_too(run):
    done = run(
        """
        import torch, torch.multiprocessing as mp, subprocess, sys
        def work(rank, queue):
            queue.put(torch.full((1,), rank + 1.0, device="neuron").item())
        if __name__ == "__main__":
            queue = mp.get_context("spawn").Queue()
            mp.spawn(work, (queue,), nprocs=2)
            print(sorted([queue.get(), queue.get()]))
            print(subprocess.check_output([sys.executable, "-c", "import torch; print(torch.neuron.device_count())"]))
        """
    )
    assert done.stdout.splitlines() == ["[1.0, 2.0]", "b'4\\n'"], done.stderr


def test_the_stand_in_package(run):
    done = run(
        """
        import importlib.metadata, torch, torch_neuronx
        from torch_neuronx.profiling import NeuronConfig, ProfileMode
        print(importlib.metadata.version("torch-neuronx"), torch_neuronx.__version__)
        torch.ones(2, 2, device="neuron").std()
        print(torch_neuronx.get_fallback_ops(), torch_neuronx.get_executed_ops()["aten::std"])
        torch_neuronx.clear_op_tracking()
        print(torch_neuronx.get_fallback_ops(), torch_neuronx.is_neuron_runtime_initialized())
        print(torch_neuronx.memory_allocated() >= 0, NeuronConfig(modes=[ProfileMode.DEVICE]).modes)
        """
    )
    assert done.stdout.splitlines() == [
        "2.13.3.0.0+emulated 2.13.3.0.0+emulated",
        "['aten::std'] 1",
        "[] True",
        "True [<ProfileMode.DEVICE: 'device'>]",
    ], done.stderr


def test_limits_are_listed():
    command = [sys.executable, "-m", "neuron_port.emulator", "--limits"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert "sparse                 on   Sparse tensors of any layout [documented, 2.13.3]" in done.stdout.splitlines()

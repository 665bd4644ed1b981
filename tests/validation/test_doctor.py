"""The preflight: each state of a machine, its advice, and the exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from neuron_port.validation import doctor
from neuron_port.validation.doctor import State, examine

CLEAN: dict[str, str] = {"HF_DEACTIVATE_ASYNC_LOAD": "1"}


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """``machine(versions, product=..., chips=...)``: pretend."""

    def pretend(versions: dict[str, str], product: str = "", chips: int = 0) -> None:
        monkeypatch.setattr(doctor, "version_of", versions.get)
        monkeypatch.setattr(doctor, "_PYTHON", (3, 12, 4))
        monkeypatch.setattr(doctor.importlib.util, "find_spec", lambda name: None)
        (tmp_path / "product").write_text(product)
        monkeypatch.setattr(doctor, "_PRODUCT", tmp_path / "product")
        for number in range(chips):
            (tmp_path / f"neuron{number}").touch()
        monkeypatch.setattr(doctor, "_DEVICES", tmp_path)

    return pretend


def found(name: str, environment: dict[str, str] = CLEAN) -> tuple[State, str]:
    (check,) = [each for each in examine(environment) if each.name == name]
    return check.state, check.advice


def test_a_machine_that_fits(machine) -> None:
    machine({"torch": "2.14.0", "torch-neuronx": "2.14.2.1", "transformers": "5.24.0"}, "trn2.3xlarge", 1)
    assert {check.state for check in examine(CLEAN)} == {State.OK}


@pytest.mark.parametrize(
    ("versions", "name", "state", "advice"),
    [
        ({}, "torch", State.ERROR, "install torch 2.13 or newer"),
        ({"torch": "2.9.1+cu128"}, "torch", State.ERROR, "2.13 or newer"),
        ({"torch": "2.13.0", "torch-neuronx": "1.0"}, "torch-neuronx", State.ERROR, "placeholder"),
        ({"torch": "2.13.0", "torch-neuronx": "2.8.0.2.10"}, "torch-neuronx", State.ERROR, "PyTorch/XLA"),
        ({"torch": "2.14.0", "torch-neuronx": "2.13.3"}, "torch-neuronx", State.ERROR, "built for torch 2.13"),
        ({"torch": "2.13.0rc1+cpu"}, "torch", State.OK, ""),
        ({"torch": "2.13"}, "torch", State.OK, ""),
        ({"torch": "2.13.0", "trl": "1.16.0.dev0"}, "trl", State.OK, ""),
        ({"torch": "2.13.0", "trl": "from a branch"}, "trl", State.OK, ""),
        ({"torch": "2.13.0", "torch-xla": "2.9.0"}, "torch-xla", State.ERROR, "uninstall"),
        ({"torch": "2.13.0", "transformers": "5.3.0"}, "transformers", State.WARNING, "5.22.2 or newer"),
    ],
)
def test_package(machine, versions, name, state, advice) -> None:
    machine(versions)
    assert found(name)[0] is state
    assert advice in found(name)[1]


@pytest.mark.parametrize(
    ("product", "state"), [("trn2u.48xlarge", State.OK), ("trn1.32xlarge", State.ERROR), ("inf2.xlarge", State.ERROR)]
)
def test_instance(machine, product, state) -> None:
    machine({"torch": "2.13.0"}, product)
    assert found("instance")[0] is state


def test_python(machine, monkeypatch) -> None:
    machine({"torch": "2.13.0"})
    monkeypatch.setattr(doctor, "_PYTHON", (3, 11, 9))
    assert found("python") == (State.WARNING, "torch-neuronx has wheels for Python 3.12 and newer")


def test_a_chip_that_somebody_holds(machine, tmp_path) -> None:
    machine({"torch": "2.13.0"}, chips=1)
    assert found("neuron chips")[0] is State.OK
    import subprocess
    import sys

    code = f"import time; held = open({str(tmp_path / 'neuron0')!r}); print('open', flush=True); time.sleep(60)"
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "open\n"
        (check,) = [each for each in examine(CLEAN) if each.name == "neuron chips"]
        assert (check.state, check.found) == (State.WARNING, f"1, in use by process {holder.pid}")
    finally:
        holder.kill()
        holder.wait()


def test_environment(machine, tmp_path: Path) -> None:
    machine({"torch": "2.13.0"})
    environment = {**CLEAN, "XLA_USE_BF16": "1", "RANK": "0", "NEURON_RT_VISIBLE_CORES": "0-3"}
    assert found("XLA_USE_BF16", environment)[0] is State.WARNING
    assert found("NEURON_RT_VISIBLE_CORES", environment)[0] is State.WARNING
    cache = tmp_path / "cache"
    cache.mkdir()
    assert found("compile cache", {**CLEAN, "TORCH_NEURONX_NEFF_CACHE_DIR": str(cache)})[0] is State.OK
    (cache / "x.lock").touch()
    assert found("compile cache", {**CLEAN, "TORCH_NEURONX_NEFF_CACHE_DIR": str(cache)})[0] is State.WARNING


def test_command(machine) -> None:
    from neuron_port.cli.doctor import command

    machine({"torch": "2.13.0", "torch-xla": "2.9.0"})
    runner = CliRunner()
    done = runner.invoke(command, ["--format", "json"], standalone_mode=False)
    rows = {row["name"]: row["state"] for row in json.loads(done.output)}
    assert rows["torch-xla"] == "error"
    assert done.return_value == 1
    text = runner.invoke(command, [], standalone_mode=False)
    assert any(line.startswith("error") and "torch-xla" in line for line in text.output.splitlines())

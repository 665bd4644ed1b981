"""The path for the real device, tried on a stand-in package with the same functions; never on a device."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.validation.conftest import TRAINING

ROOT = Path(__file__).parents[2]
STAND_IN = ROOT / "neuron_port" / "emulator" / "stand_in"


def validate(tmp_path: Path, source: str, *options: str, path: Path = STAND_IN) -> subprocess.CompletedProcess:
    (tmp_path / "program.py").write_text(source, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), str(ROOT)])}
    command = [sys.executable, "-m", "neuron_port", "validate", "program.py", "--device", "neuron", *options]
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=250)


def test_the_native_observer_reads_the_packages_own_functions(tmp_path) -> None:
    source = TRAINING.replace("for step", 'fast = torch.compile(net, backend="neuron")\nfor step').replace(
        "net(t", "fast(t"
    )
    done = validate(tmp_path, source, "--steps", "3")
    assert done.returncode == 0, done.stderr
    assert "host waited for the device" in done.stdout
    assert "compiled regions: 1" in done.stdout


def test_a_stand_in_is_never_called_the_device(tmp_path) -> None:
    done = validate(tmp_path, TRAINING, "--steps", "1")
    assert "Seen on the emulated neuron device" in done.stdout
    assert "EMULATED PASS" in done.stdout


@pytest.mark.parametrize(
    ("package", "text"),
    [
        ("", "is the build for PyTorch/XLA"),
        ("raise RuntimeError('WRONG PACKAGE')", "torch_neuronx cannot be imported: WRONG PACKAGE"),
    ],
)
def test_other_packages_of_that_name_are_refused(tmp_path, package, text) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "torch_neuronx.py").write_text(package, encoding="utf-8")
    done = validate(tmp_path, TRAINING, path=folder)
    assert done.returncode == 2
    assert text in done.stderr

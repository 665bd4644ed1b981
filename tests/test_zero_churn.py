"""Code that is device-agnostic already must not change, not even with ``--unsafe-fixes``.

Two sets: own files that run anywhere (tests/corpus/agnostic/), and a hundred files of well-known packages
(tests/corpus/device_agnostic.txt). Most of these hold no word that the tool looks for, and so it does not even parse
them; the same files are therefore also tried with a harmless line at the end that makes it look.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CORPUS = Path(__file__).parent / "corpus"
AGNOSTIC = sorted((CORPUS / "agnostic").glob("*.py"))
LISTED = [tuple(line.split()) for line in (CORPUS / "device_agnostic.txt").read_text(encoding="utf-8").splitlines()]
DECOY = b'\n\n_SUPPORTED = "cuda, neuron and cpu are supported"\n'


@pytest.fixture(scope="module")
def packages() -> Path:
    done = subprocess.run(
        [sys.executable, str(CORPUS / "download.py"), "agnostic"], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return CORPUS.parents[1] / ".corpus" / "agnostic"


# Agnostic of the device, but not of what Neuron's libraries can: safetensors reads onto no Neuron device, and a
# GenerationConfig without a static cache compiles for each token.
WANTED = ["accelerate-1.15.0/accelerate/utils/offload.py", "trl-1.16.0/trl/experimental/a2po/a2po_trainer.py"]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "neuron_port", *arguments]
    return subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True, encoding="utf-8")


def changed_by_fix(folder: Path, target: str) -> list[str]:
    """Fix a folder and return the names of the files that are different afterwards."""
    before = {path: path.read_bytes() for path in sorted(folder.rglob("*.py"))}
    done = run(folder, "fix", "--apply", "--unsafe-fixes", "--target", target, ".")
    assert done.returncode in (0, 1), done.stderr
    assert "NP001" not in done.stdout
    return [str(path.relative_to(folder)) for path, data in before.items() if path.read_bytes() != data]


def copy_listed(packages: Path, folder: Path, suffix: bytes = b"") -> None:
    for package, name in LISTED:
        target = folder / package / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((packages / package / name).read_bytes() + suffix)


def test_the_lists_are_complete() -> None:
    assert len(AGNOSTIC) == 12
    assert len(LISTED) == 100
    assert len(set(LISTED)) == 100


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize("suffix", [b"", DECOY], ids=["as-is", "decoy"])
def test_own_files_do_not_change(tmp_path: Path, target: str, suffix: bytes) -> None:
    for path in AGNOSTIC:
        (tmp_path / path.name).write_bytes(path.read_bytes() + suffix)
    assert changed_by_fix(tmp_path, target) == []


def test_what_own_files_have(tmp_path: Path) -> None:
    """A generator on whatever device the inputs have is not proven to work on Neuron, and a mask, if there is one, is slow there."""
    for path in AGNOSTIC:
        shutil.copy(path, tmp_path)
    done = run(tmp_path, "check", "--no-cache", "--format", "json", ".")
    findings = json.loads(done.stdout)
    found = [
        (Path(item["filename"]).name, item["location"]["row"], item["code"], item["severity"]) for item in findings
    ]
    assert found == [("device_of_inputs.py", 27, "NP147", "info"), ("factory_arguments.py", 43, "NP530", "info")]
    assert done.returncode == 0


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize("suffix", [b"", DECOY], ids=["as-is", "decoy"])
def test_library_files_do_not_change(packages: Path, tmp_path: Path, target: str, suffix: bytes) -> None:
    copy_listed(packages, tmp_path, suffix)
    assert changed_by_fix(tmp_path, target) == WANTED

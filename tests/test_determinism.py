"""The same input gives the same bytes out, whatever the hash seed, the number of jobs and the order of the paths."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_port.runner import SERIAL_BYTES

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "fixtures" / "scripts").rglob("*.py")) + sorted((ROOT / "tests/corpus/agnostic").glob("*.py"))
SEEDS = ("0", "1", "12345")
JOBS = ("1", "2", "4")
# Copies of the sources, so that there is enough work for worker processes to be started (see runner.SERIAL_BYTES).
COPIES = 2


def lay_out(folder: Path) -> list[str]:
    """Copy the sources into ``folder`` and return their names there."""
    names = []
    for number, path in itertools.product(range(COPIES), SOURCES):
        name = f"{number}/{path.parent.name}/{path.name}"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / name)
        names.append(name)
    return names


def run(folder: Path, command: str, *arguments: str, seed: str = "0") -> bytes:
    """Run the tool in ``folder`` and return its standard output, with the folder's own name taken out."""
    line = [sys.executable, "-m", "neuron_port", command, *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(line, check=False, cwd=folder, capture_output=True, env=environment)
    assert done.returncode in (0, 1), done.stderr.decode()
    return done.stdout.replace(str(folder).encode(), b"FOLDER")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.py"))}


def everything(folder: Path, *arguments: str, seed: str = "0") -> dict[str, object]:
    """All that the tool says and writes about ``folder``; the folder holds the fixed files afterwards."""
    return {
        "json": run(folder, "check", "--no-cache", "--format", "json", *arguments, seed=seed),
        "text": run(folder, "check", "--no-cache", "--format", "text", *arguments, seed=seed),
        "diff": run(folder, "fix", "--unsafe-fixes", *arguments, seed=seed),
        "applied": run(folder, "fix", "--apply", "--unsafe-fixes", "--annotate", *arguments, seed=seed),
        "files": contents(folder),
    }


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """One plain run: seed 0, one job, sorted paths."""
    folder = tmp_path_factory.mktemp("reference")
    names = lay_out(folder)
    return everything(folder, "--jobs", "1", *sorted(names))


def test_there_is_enough_to_do_for_worker_processes(tmp_path: Path) -> None:
    lay_out(tmp_path)
    assert sum(len(data) for data in contents(tmp_path).values()) > SERIAL_BYTES


def test_the_reference_run_finds_and_changes_something(reference: dict[str, object], tmp_path: Path) -> None:
    lay_out(tmp_path)
    assert b'"code": "NP120"' in reference["json"]
    assert b'"neuron"' in reference["diff"]
    assert reference["files"] != contents(tmp_path)


@pytest.mark.parametrize(("seed", "jobs"), list(itertools.product(SEEDS, JOBS)))
def test_seed_jobs_and_order_do_not_matter(seed: str, jobs: str, reference: dict[str, object], tmp_path: Path) -> None:
    names = lay_out(tmp_path)
    random.Random(f"{seed}-{jobs}").shuffle(names)
    assert everything(tmp_path, "--jobs", jobs, *names, seed=seed) == reference


def test_a_folder_gives_the_same_as_its_files(reference: dict[str, object], tmp_path: Path) -> None:
    lay_out(tmp_path)
    assert everything(tmp_path, ".", seed="7") == reference

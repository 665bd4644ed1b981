"""How fast ``neuron-port check`` is, side by side with its peers.

    python benchmarks/speed.py --download --json benchmarks/results/speed.json

The corpus is the Python files of six wheels: transformers, accelerate, trl, diffusers, peft and timm (4,787 files,
94 MB). Measured in turn, ``--runs`` times each, medians are reported: ruff with two rule groups and no cache, a bare
``ast.parse`` of every file, check without a cache (cold), check with a filled cache (warm), check of one file of about
300 lines, ``--version``. TorchFix is slower by orders of magnitude, so it gets a sample of the corpus and fewer runs
(``--torchfix``); ruff and check are measured on the same sample. All figures are of whole processes, start-up included.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from datetime import date
from pathlib import Path

from measure import ENVIRONMENT, Series, side_by_side, table

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / ".corpus"
TORCHFIX = "torchfix==0.7.0"
PARSE_ALL = """
import ast, pathlib, sys, warnings
warnings.simplefilter("ignore")
for path in pathlib.Path(sys.argv[1]).rglob("*.py"):
    ast.parse(path.read_bytes())
"""
# What the project promises; see the table that this program prints.
COLD_TIMES_RUFF = 3.0
PEAK_MIB = 300.0
ONE_FILE_S = 0.25
VERSION_S = 0.1


def neuron_port(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "neuron_port", *arguments]


def check(*arguments: str) -> list[str]:
    return neuron_port("check", "--no-config", "--exit-zero", "--format", "concise", *arguments)


def ruff(folder: Path) -> list[str]:
    options = ["--select", "UP,NPY", "--no-cache", "--isolated", "--exit-zero", "--output-format", "concise"]
    return [sys.executable, "-m", "ruff", "check", *options, str(folder)]


def download() -> None:
    """Fetch the corpus with the corpus program of the tests."""
    subprocess.run([sys.executable, str(ROOT / "tests" / "corpus" / "download.py"), "bench"], check=True)


def python_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def size_of(files: list[Path]) -> int:
    return sum(file.stat().st_size for file in files)


def file_of_300_lines(files: list[Path]) -> Path:
    """The file of 290 to 310 lines that names CUDA most often: one that gives the tool something to do."""

    def mentions(file: Path) -> int:
        data = file.read_bytes()
        return data.count(b"cuda") if 290 <= data.count(b"\n") <= 310 else -1

    return max(files, key=lambda file: (mentions(file), file))


def sample(files: list[Path], count: int, folder: Path) -> None:
    """Copy ``count`` files, chosen at random but always the same, into ``folder``."""
    for number, file in enumerate(random.Random(0).sample(files, count)):
        shutil.copy(file, folder / f"{number:03}_{file.name}")


def torchfix_program() -> Path:
    """TorchFix in an environment of its own, made when it is not there yet."""
    folder = CORPUS / "torchfix"
    program = folder / ("Scripts" if os.name == "nt" else "bin") / "torchfix"
    if not program.exists():
        venv.create(folder, with_pip=True, clear=True)
        python = program.with_name("python")
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", TORCHFIX, "setuptools<81"], check=True)
    return program


def phases(files: list[Path]) -> dict[str, float]:
    """Where the processor time of a cold check goes, in one process: seconds for each step over the whole corpus."""
    from neuron_port.config import Settings
    from neuron_port.engine import Engine
    from neuron_port.prefilter import Prefilter
    from neuron_port.rules.loader import load_rules
    from neuron_port.sources.python import UnreadableFile, decode, parse, read_bytes

    def lap(name: str) -> None:
        nonlocal start
        now = time.process_time()
        result[name] = round(now - start, 3)
        start = now

    result: dict[str, float] = {}
    start = time.process_time()
    rules = load_rules(())
    engine = Engine(rules, Settings())
    lap("load_rules")
    data = {file: read_bytes(file) for file in files}
    lap("read")
    prefilter = Prefilter(rules.triggers)
    wanted = [file for file in files if prefilter.wants(data[file])]
    lap("prefilter")
    texts = {}
    for file in wanted:
        try:
            texts[file] = decode(file, data[file]).text
        except UnreadableFile:
            continue
    lap("decode")
    for text in texts.values():
        parse(text)
    lap("parse")
    findings = 0
    for file, text in texts.items():
        findings += len(engine.check_text(text, str(file)))
    lap("parse_and_analyse")
    result["analyse"] = round(result.pop("parse_and_analyse") - result["parse"], 3)
    return {
        **result,
        "files_parsed": len(texts),
        "megabytes_parsed": round(size_of(wanted) / 1e6, 2),
        "findings": findings,
    }


def goals(results: dict[str, dict]) -> list[dict[str, object]]:
    """The promises with what was reached."""
    cold, warm, ruff_cold = results["check cold"], results["check warm"], results["ruff UP,NPY"]
    rows = [
        (f"cold check <= {COLD_TIMES_RUFF:g} x ruff, wall", cold["wall_s"] / ruff_cold["wall_s"], COLD_TIMES_RUFF),
        ("warm check <= ruff cold, wall", warm["wall_s"] / ruff_cold["wall_s"], 1.0),
        (f"largest process < {PEAK_MIB:g} MiB", max(cold["peak_mib"], warm["peak_mib"]), PEAK_MIB),
        (f"one file < {ONE_FILE_S:g} s", results["check one file"]["wall_s"], ONE_FILE_S),
        (f"--version < {VERSION_S:g} s", results["--version"]["wall_s"], VERSION_S),
    ]
    return [{"goal": goal, "value": round(value, 3), "met": value <= limit} for goal, value, limit in rows]


def measure_corpus(corpus: Path, runs: int, scratch: Path) -> list[dict[str, object]]:
    """All commands on the whole corpus, in turn."""
    files = python_files(corpus)
    size = size_of(files)
    one = file_of_300_lines(files)
    cache = scratch / "cache"
    warm = check("--cache-dir", str(cache), str(corpus))
    # Fills the cache, and the bytecode of the tool.
    subprocess.run(warm, check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    series = [
        Series("ruff UP,NPY", ruff(corpus), len(files), size),
        Series("ast.parse", [sys.executable, "-c", PARSE_ALL, str(corpus)], len(files), size),
        Series("check cold", check("--no-cache", str(corpus)), len(files), size),
        Series("check warm", warm, len(files), size),
        Series("check one file", check("--no-cache", str(one)), 1, one.stat().st_size),
        Series("--version", neuron_port("--version"), 0, 0),
    ]
    side_by_side(series, runs)
    return [one.result() for one in series]


def measure_sample(corpus: Path, count: int, runs: int, scratch: Path) -> list[dict[str, object]]:
    """TorchFix, and ruff and check for comparison, on a sample."""
    folder = scratch / "sample"
    folder.mkdir()
    sample(python_files(corpus), count, folder)
    files = python_files(folder)
    size = size_of(files)
    series = [
        Series("TorchFix 0.7.0 (sample)", [str(torchfix_program()), str(folder)], len(files), size, allowed=(0, 1)),
        Series("ruff UP,NPY (sample)", ruff(folder), len(files), size),
        Series("check cold (sample)", check("--no-cache", str(folder)), len(files), size),
    ]
    side_by_side(series, runs)
    return [one.result() for one in series]


def machine() -> dict[str, object]:
    """What the figures depend on."""
    return {
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.system(),
        "machine": platform.machine(),
        "python": platform.python_version(),
    }


def main() -> int:
    """Measure, print the tables, and write the JSON file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=CORPUS / "bench", metavar="DIR")
    parser.add_argument("--download", action="store_true", help="fetch the corpus first, into .corpus/bench")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--torchfix", type=int, default=1, metavar="RUNS", help="runs of TorchFix; 0 leaves it out")
    parser.add_argument("--torchfix-files", type=int, default=100, metavar="COUNT", help="files in its sample")
    arguments = parser.parse_args()
    if arguments.download:
        download()
    files = python_files(arguments.corpus)
    if not files:
        parser.error(f"{arguments.corpus} holds no Python files; --download fetches the corpus")
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        results = measure_corpus(arguments.corpus, arguments.runs, scratch)
        reached = goals({str(result["name"]): result for result in results})
        if arguments.torchfix:
            results += measure_sample(arguments.corpus, arguments.torchfix_files, arguments.torchfix, scratch)
    report = {
        "date": date.today().isoformat(),
        "machine": machine(),
        "corpus": {"files": len(files), "megabytes": round(size_of(files) / 1e6, 2)},
        "results": results,
        "goals": reached,
        "phases_cpu_s": phases(files),
    }
    print(table(results))
    print("\n| goal | reached | met |\n|---|---|---|")
    for goal in reached:
        print(f"| {goal['goal']} | {goal['value']} | {'yes' if goal['met'] else 'no'} |")
    print("\nProcessor time of a cold check, one process:", json.dumps(report["phases_cpu_s"]))
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

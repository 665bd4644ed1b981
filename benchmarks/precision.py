"""How much ``neuron-port fix --unsafe-fixes`` changes in code that has nothing to do with CUDA.

    python benchmarks/precision.py --json benchmarks/results/precision.json

Two counts: the hundred device-agnostic files of tests/corpus/device_agnostic.txt, and all files of the corpus that hold
no word of CUDA or NCCL at all. For the latter each change is listed with the codes that caused it: ``torch.compile``
needs its backend named in such files too, and ``nn.DataParallel`` has no place on Neuron.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests" / "corpus"
_CUDA = re.compile(rb"cuda|nccl|nvtx|cudnn", re.IGNORECASE)


def fetch(name: str) -> Path:
    subprocess.run([sys.executable, str(TESTS / "download.py"), name], check=True, stdout=subprocess.DEVNULL)
    return ROOT / ".corpus" / name


def listed_files() -> dict[str, bytes]:
    """The files of device_agnostic.txt."""
    folder = fetch("agnostic")
    names = [
        line.replace(" ", "/") for line in (TESTS / "device_agnostic.txt").read_text(encoding="utf-8").splitlines()
    ]
    return {name: (folder / name).read_bytes() for name in names}


def files_without_cuda() -> dict[str, bytes]:
    """Every file of the corpus that never says CUDA."""
    result = {}
    for folder in (fetch("full"), fetch("bench")):
        for path in sorted(folder.rglob("*.py")):
            data = path.read_bytes()
            if not _CUDA.search(data):
                result[str(path.relative_to(folder))] = data
    return result


def tool(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "neuron_port", *arguments, "--no-config", "--exit-zero", "."]
    return subprocess.run(command, check=True, cwd=folder, capture_output=True, text=True, encoding="utf-8").stdout


def count(files: dict[str, bytes]) -> dict[str, object]:
    """Fix a copy of the files and count what changed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        codes: dict[str, set[str]] = {}
        severities: Counter[str] = Counter()
        for finding in json.loads(tool(folder, "check", "--no-cache", "--format", "json")):
            severities[finding["severity"]] += 1
            if finding["fix"]:
                codes.setdefault(str(Path(finding["filename"]).relative_to(folder)), set()).add(finding["code"])
        tool(folder, "fix", "--apply", "--unsafe-fixes")
        changed = [path for path, data in files.items() if (folder / path).read_bytes() != data]
    return {
        "files": len(files),
        "changed": len(changed),
        "changed_for": {path: sorted(codes.get(path, ())) for path in changed},
        "findings": {severity: severities[severity] for severity in ("error", "warning", "info")},
    }


def main() -> int:
    """Count, print, and write the JSON file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result there")
    arguments = parser.parse_args()
    report = {
        "date": date.today().isoformat(),
        "device_agnostic": count(listed_files()),
        "without_cuda": count(files_without_cuda()),
    }
    print(json.dumps(report, indent=2))
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Prove the tool on real code: check and fix a copy of a corpus and look at what is left.

    python tests/corpus/run.py full                  # fetches the corpus when it is not there yet
    python tests/corpus/run.py small --target portable --keep DIR

What must hold (the exit status says whether it does):
    crashes      the tool ends with 0 or 1, and NP001 only says what is true: Python itself cannot read the file
    broken       every file that parsed before the fix parses after it
    unstable     a second fix changes no file
    residue      each occurrence of the old platform that is left carries a finding (see residue.py)
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import download
import residue


class ToolError(RuntimeError):
    """The tool ended in a way that no input may cause; the message holds its standard error."""


@dataclass
class Proof:
    """What one run over a corpus showed; the last four lists are empty when all is well."""

    files: int = 0
    before: Counter[str] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)
    changed: int = 0
    lines_removed: int = 0
    lines_added: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    crashes: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    unstable: list[str] = field(default_factory=list)
    residue: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """True when nothing is wrong."""
        return not (self.crashes or self.broken or self.unstable or self.residue)

    def table(self) -> str:
        """The counts as text, one row for each code, then what is wrong."""
        rows = [f"{'code':8}{'before':>8}{'after':>8}"]
        for code in sorted(self.before | self.after):
            rows.append(f"{code:8}{self.before[code]:8}{self.after[code]:8}")
        rows.append(f"{'all':8}{self.before.total():8}{self.after.total():8}")
        rows.append(f"{self.files} files, {self.changed} changed (-{self.lines_removed} +{self.lines_added} lines)")
        rows.append(", ".join(f"{step} {seconds:.1f} s" for step, seconds in self.seconds.items()))
        for name in ("crashes", "broken", "unstable", "residue"):
            found = getattr(self, name)
            rows.append(f"{name}: {len(found)}")
            rows += [f"    {item}" for item in found]
        return "\n".join(rows)


def prove(corpus: Path, copy: Path, target: str = "neuron") -> Proof:
    """Check and fix ``copy``, a fresh copy of ``corpus``, and return what that showed.

    Raises:
        ToolError: the tool reported wrong usage or an internal error, or printed no JSON.
    """
    shutil.copytree(corpus, copy)
    proof = Proof()
    originals = {path: path.read_bytes() for path in sorted(copy.rglob("*.py"))}
    proof.files = len(originals)

    findings = _check(copy, target, proof, "check")
    proof.before.update(finding["code"] for finding in findings)
    proof.crashes += _false_alarms(findings, copy)

    _fix(copy, target, proof, "fix")
    fixed = {path: path.read_bytes() for path in originals}
    for path, data in fixed.items():
        if data != originals[path]:
            proof.changed += 1
            _count_lines(proof, originals[path], data)
            if _parses(originals[path]) and not _parses(data):
                proof.broken.append(str(path.relative_to(copy)))

    _fix(copy, target, proof, "second fix")
    proof.unstable += [str(path.relative_to(copy)) for path in originals if path.read_bytes() != fixed[path]]

    findings = _check(copy, target, proof, "second check")
    proof.after.update(finding["code"] for finding in findings)
    proof.crashes += _false_alarms(findings, copy)
    for path, left in residue.check_files(originals, findings).items():
        proof.residue += [f"{path.relative_to(copy)}:{item}" for item in left]
    return proof


def _check(folder: Path, target: str, proof: Proof, step: str) -> list[dict]:
    output = _run(["check", "--no-cache", "--format", "json", "--exit-zero"], folder, target, proof, step)
    try:
        return json.loads(output)
    except json.JSONDecodeError as error:
        raise ToolError(f"check --format json printed no JSON ({error}): {output[:200]!r}") from error


def _fix(folder: Path, target: str, proof: Proof, step: str) -> None:
    _run(["fix", "--apply", "--unsafe-fixes"], folder, target, proof, step)


def _run(command: list[str], folder: Path, target: str, proof: Proof, step: str) -> str:
    arguments = [sys.executable, "-m", "neuron_port", *command, "--target", target, "."]
    start = time.perf_counter()
    done = subprocess.run(arguments, check=False, cwd=folder, capture_output=True, text=True, encoding="utf-8")
    proof.seconds[step] = time.perf_counter() - start
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        raise ToolError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-4000:]}")
    return done.stdout


def _false_alarms(findings: list[dict], folder: Path) -> list[str]:
    """NP001 findings on files that Python reads: the tool failed, not the file."""
    alarms = []
    for finding in findings:
        if finding["code"] == "NP001":
            path = folder / finding["filename"]
            if _parses(path.read_bytes()):
                alarms.append(f"{path.relative_to(folder)}: {finding['message']}")
    return alarms


def _parses(data: bytes) -> bool:
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        return False
    return True


def _count_lines(proof: Proof, before: bytes, after: bytes) -> None:
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind != "equal":
            proof.lines_removed += end - start
            proof.lines_added += new_end - new_start


def main() -> int:
    """Run the proof on a set, print the table, and exit 1 when it does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=sorted(download.SETS))
    parser.add_argument("--target", choices=("neuron", "portable"), default="neuron")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="put the fixed copy here (must not exist) and keep it")
    arguments = parser.parse_args()
    corpus = download.fetch(arguments.set)
    if arguments.keep:
        proof = prove(corpus, arguments.keep, arguments.target)
    else:
        with tempfile.TemporaryDirectory() as scratch:
            proof = prove(corpus, Path(scratch) / "corpus", arguments.target)
    print(proof.table())
    return 0 if proof.holds else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""The baseline: accepted findings stay accepted while their lines stay, and nothing else does."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from neuron_port import baseline
from neuron_port.baseline import Baseline, BaselineError, Entry
from neuron_port.findings import Applicability, Finding, Location, Severity


def finding(path: Path | str, row: int, code: str = "NP101", column: int = 1) -> Finding:
    start, end = Location(row, column), Location(row, column + 1)
    return Finding(code, "", f"{code} at {row}", str(path), start, end, Severity.ERROR, Applicability.SAFE)


def write(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines))
    return path


def test_file(tmp_path: Path) -> None:
    first = write(tmp_path / "b.py", "x.cuda()", "y.cuda()", "x.cuda()")
    second = write(tmp_path / "a" / "ü.py", "torch.cuda.synchronize()")
    path = tmp_path / "baseline.json"
    findings = [finding(first, 3), finding(second, 1, "NP130"), finding(first, 1), finding(first, 2)]
    assert baseline.write(path, findings) == 4
    expected = """\
{
  "version": 1,
  "findings": [
    {"path": "a/\\u00fc.py", "code": "NP130", "line": "193e9af8222a4985", "index": 0},
    {"path": "b.py", "code": "NP101", "line": "133070b55e5659da", "index": 0},
    {"path": "b.py", "code": "NP101", "line": "133070b55e5659da", "index": 1},
    {"path": "b.py", "code": "NP101", "line": "ce85876051955062", "index": 0}
  ]
}
"""
    assert path.read_text() == expected
    assert baseline.write(path, findings[::-1]) == 4
    assert path.read_text() == expected
    loaded = Baseline.load(path)
    assert loaded.root == tmp_path
    assert sorted(loaded.entries)[0] == Entry("a/ü.py", "NP130", "193e9af8222a4985", 0)
    assert loaded.filter(findings) == ([], 0)


def test_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    assert baseline.write(path, []) == 0
    assert json.loads(path.read_text()) == {"version": 1, "findings": []}
    one = finding(write(tmp_path / "a.py", "x"), 1)
    assert Baseline.load(path).filter([one]) == ([one], 0)


def test_what_moves_and_what_changes(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    source = write(tmp_path / "a.py", "x.cuda()", "y.cuda()")
    baseline.write(path, [finding(source, 1), finding(source, 2)])
    loaded = Baseline.load(path)
    # Moved, turned round, indented and spaced otherwise.
    write(source, "", "if a:", "    y.cuda( )", "", "\tx . cuda()\r")
    assert loaded.filter([finding(source, 3), finding(source, 5)]) == ([], 0)
    # A new line is new, and the old entry is out of date.
    write(source, "x.cuda()", "z.cuda()")
    assert loaded.filter([finding(source, 1), finding(source, 2)]) == ([finding(source, 2)], 1)
    # So is another code on the line, and the same line in another file.
    assert loaded.filter([finding(source, 1, "NP110")]) == ([finding(source, 1, "NP110")], 2)
    other = write(tmp_path / "b.py", "x.cuda()")
    assert loaded.filter([finding(other, 1)]) == ([finding(other, 1)], 2)


def test_findings_that_are_alike(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    source = write(tmp_path / "a.py", "x.cuda(); x.cuda()", "x.cuda(); x.cuda()")
    two = [finding(source, 1, column=1), finding(source, 1, column=11)]
    all_four = [*two, finding(source, 2, column=1), finding(source, 2, column=11)]
    baseline.write(path, two)
    # Which ones of them were meant cannot be known; their number can.
    assert Baseline.load(path).filter(all_four) == (all_four[2:], 0)
    assert Baseline.load(path).filter(all_four[::-1]) == (all_four[:1:-1], 0)
    baseline.write(path, all_four)
    assert Baseline.load(path).filter(two) == ([], 2)


def test_out_of_date_counts_for_checked_files_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "baseline.json"
    first, second = write(tmp_path / "a.py", "x"), write(tmp_path / "b.py", "y")
    baseline.write(path, [finding(first, 1), finding(second, 1)])
    loaded = Baseline.load(path)
    assert loaded.filter([]) == ([], 2)
    assert loaded.filter([], checked=[str(first)]) == ([], 1)
    assert loaded.filter([finding(first, 1)], checked=[str(first)]) == ([], 0)
    monkeypatch.chdir(tmp_path)
    assert loaded.filter([], checked=["b.py", "c.py"]) == ([], 1)


def test_paths_do_not_depend_on_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ci").mkdir()
    source = write(tmp_path / "src" / "a.py", "x")
    monkeypatch.chdir(tmp_path)
    baseline.write(Path("ci/known.json"), [finding("src/a.py", 1)])
    assert [entry.path for entry in Baseline.load(Path("ci/known.json")).entries] == ["../src/a.py"]
    monkeypatch.chdir(tmp_path / "src")
    loaded = Baseline.load(tmp_path / "ci/known.json")
    assert loaded.filter([finding("a.py", 1)]) == ([], 0)
    assert loaded.filter([finding(source, 1)]) == ([], 0)


def test_lines_from_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    one = finding("no/such/file.py", 7)
    baseline.write(path, [one], line_of=lambda finding: f"line {finding.location.row}")
    loaded = Baseline.load(path)
    assert loaded.filter([one], line_of=lambda finding: "line 7") == ([], 0)
    assert loaded.filter([one], line_of=lambda finding: "line 8") == ([one], 1)


def test_files_without_lines(tmp_path: Path) -> None:
    """A finding about a file that cannot be read can be accepted too."""
    path = tmp_path / "baseline.json"
    (tmp_path / "a.py").write_bytes(b"\0")
    findings = [finding(tmp_path / "a.py", 1, "NP001"), finding(write(tmp_path / "b.py"), 1, "NP001")]
    baseline.write(path, findings)
    assert Baseline.load(path).filter(findings) == ([], 0)


def test_lines_end_where_python_ends_them(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    source.write_bytes(b"a\x0cb\rx.cuda()\r\ny")
    path = tmp_path / "baseline.json"
    baseline.write(path, [finding(source, 2)])
    source.write_bytes(b"x.cuda()\n")
    assert Baseline.load(path).filter([finding(source, 1)]) == ([], 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "it is not valid JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))"),
        ("[]", "it is not a baseline file"),
        ("3", "it is not a baseline file"),
        ("{}", "it is not a baseline file"),
        ('{"version": 1}', "it is not a baseline file"),
        ('{"version": 1, "findings": [3]}', "it is not a baseline file"),
        ('{"version": 1, "findings": [{"path": "a"}]}', "it is not a baseline file"),
        ('{"version": 2, "findings": []}', "it is from another version of neuron-port, write it anew"),
    ],
)
def test_what_is_no_baseline(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(BaselineError) as caught:
        Baseline.load(path)
    assert str(caught.value) == f"{path}: {message}"


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(BaselineError) as caught:
        Baseline.load(tmp_path / "x.json")
    assert str(caught.value) == f"{tmp_path / 'x.json'}: it cannot be read (No such file or directory)"
    with pytest.raises(BaselineError) as caught:
        baseline.write(tmp_path / "y" / "x.json", [])
    assert str(caught.value) == f"{tmp_path / 'y' / 'x.json'}: it cannot be written (No such file or directory)"


def test_mode_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.touch()
    path.chmod(0o604)
    baseline.write(path, [])
    assert path.stat().st_mode & 0o777 == 0o604
    path.chmod(0o444)
    with pytest.raises(BaselineError, match=r"it cannot be written \(the file is read-only\)"):
        baseline.write(path, [])
    assert os.listdir(tmp_path) == ["x.json"]

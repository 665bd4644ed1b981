"""``check``: what it prints, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_project import CODE, CONCISE, TEXT, run


def test_check() -> None:
    Path("a.py").write_text(CODE)
    result = run("check", "a.py")
    assert (result.stdout, result.stderr, result.exit_code) == (TEXT, "", 1)


def test_check_takes_this_folder_by_default() -> None:
    Path("a.py").write_text(CODE)
    Path("sub").mkdir()
    Path("sub/b.py").write_text("import oldlib\noldlib.note()\n")
    assert run("check", "--format", "concise").stdout == CONCISE + "sub/b.py:2:1: TST104 good to know\n"


def test_check_of_clean_code() -> None:
    Path("a.py").write_text("print()\n")
    result = run("check")
    assert (result.stdout, result.stderr, result.exit_code) == ("Checked 1 file: no findings.\n", "", 0)


@pytest.mark.parametrize(
    ("call", "options", "status"),
    [
        ("run", (), 1),
        ("slow", (), 1),
        ("note", (), 0),
        ("note", ("--fail-on", "info"), 1),
        ("slow", ("--fail-on", "error"), 0),
        ("run", ("--fail-on", "error"), 1),
        ("run", ("--exit-zero",), 0),
        ("print", ("--fail-on", "info"), 0),
    ],
)
def test_exit_status(call: str, options: tuple[str, ...], status: int) -> None:
    Path("a.py").write_text(f"import oldlib\noldlib.{call}()\n")
    assert run("check", "a.py", *options).exit_code == status


def test_fail_on_in_the_configuration(project: Path) -> None:
    (project / "neuron-port.toml").write_text('extend-rules = ["rules"]\nselect = ["TST"]\nfail-on = "error"\n')
    Path("a.py").write_text("import oldlib\noldlib.slow()\n")
    assert run("check").exit_code == 0
    assert run("check", "--fail-on", "warning").exit_code == 1


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        (("--select", "TST101,TST102"), ["TST101", "TST102"]),
        (("--select", "TST101", "--select", "TST104"), ["TST101", "TST104"]),
        (("--select", "TST10", "--ignore", "TST102, TST103"), ["TST101", "TST104"]),
        (("--ignore", "TST101"), ["TST102", "TST103", "TST104"]),
        (("--select", "TST101", "--extend-select", "TST103"), ["TST101", "TST103"]),
        (("--select", "NP1"), []),
    ],
)
def test_selection(options: tuple[str, ...], codes: list[str]) -> None:
    Path("a.py").write_text(CODE)
    found = json.loads(run("check", "a.py", "--format", "json", *options).stdout)
    assert [finding["code"] for finding in found] == codes


def test_json_has_the_edits(project: Path) -> None:
    Path("a.py").write_text(CODE)
    first, second, third, _ = json.loads(run("check", "a.py", "--format", "json").stdout)
    assert first["filename"] == str(project / "a.py")
    assert first["fix"] == {
        "applicability": "safe",
        "edits": [
            {
                "content": "oldlib.api.run",
                "end_location": {"column": 11, "row": 3},
                "location": {"column": 1, "row": 3},
            }
        ],
        "message": "Call api.run",
    }
    assert second["fix"]["applicability"] == "unsafe"
    assert third["fix"] is None


def test_github(project: Path) -> None:
    Path("a.py").write_text(CODE)
    assert run("check", "a.py", "--format", "github", "--select", "TST102").stdout == (
        f"::warning title=neuron-port (TST102),file={project}/a.py,line=4,col=1,endLine=4,endColumn=12::slow is slow\n"
    )


def test_statistics() -> None:
    Path("a.py").write_text(CODE + "oldlib.gone()\n")
    assert run("check", "--statistics").stdout == (
        "2  TST103  [ ]  old-gone\n"
        "1  TST101  [*]  old-run\n"
        "1  TST102  [*]  old-slow\n"
        "1  TST104  [ ]  old-note\n"
        "[*] has fixes: see neuron-port fix\n"
    )
    assert json.loads(run("check", "--statistics", "--format", "json").stdout)[0] == {
        "code": "TST103",
        "name": "old-gone",
        "count": 2,
        "fixable": False,
    }


def test_output_file() -> None:
    Path("a.py").write_text(CODE)
    result = run("check", "a.py", "--format", "concise", "--output-file", "report.txt")
    assert (result.output, result.exit_code) == ("", 1)
    assert Path("report.txt").read_text() == CONCISE


def test_a_file_is_coloured_on_demand_only(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.py").write_text(CODE)
    monkeypatch.setenv("FORCE_COLOR", "1")
    run("check", "--output-file", "plain.txt")
    run("check", "--output-file", "colour.txt", "--color", "always")
    assert Path("plain.txt").read_text() == TEXT
    assert Path("colour.txt").read_text().startswith("\x1b[1ma.py (2 errors, 1 warning, 1 note)\x1b[0m\n")


def test_no_files() -> None:
    for command in ("check", "fix"):
        result = run(command)
        assert result.stderr.startswith("neuron-port: warning: no files to check\n")
        assert result.exit_code == 0
    assert run("check").stdout == "Checked 0 files: no findings.\n"


def test_a_file_that_cannot_be_parsed_is_a_finding() -> None:
    Path("a.py").write_text("import oldlib\noldlib.run(\n")
    result = run("check", "a.py", "--format", "concise", "--extend-select", "NP001")
    assert result.stdout.startswith("a.py:2:11: NP001 the file was not checked: it is not valid Python ")
    assert result.exit_code == 1


def test_standard_input() -> None:
    result = run("check", "-", "--format", "concise", "--stdin-filename", "a.py", stdin=CODE)
    assert (result.stdout, result.exit_code) == (CONCISE, 1)
    assert run("check", "-", "--format", "concise", stdin=CODE).stdout == CONCISE.replace("a.py", "-")
    assert run("check", "-", "--stdin-filename", "a.py", stdin=CODE).stdout == TEXT


def test_standard_input_that_is_no_text() -> None:
    result = run("check", "-", "--format", "concise", "--extend-select", "NP001", stdin=b"x = '\xff'\n")
    assert (result.stdout, result.exit_code) == (
        "-:1:6: NP001 the file was not checked: byte 0xff is not valid utf-8\n",
        1,
    )


# A second run with the cache, and one with worker processes, print the same.


def _many_files() -> str:
    for number in range(40):
        folder = Path(f"part{number % 3}")
        folder.mkdir(exist_ok=True)
        (folder / f"m{number}.py").write_text("import oldlib\n" + "oldlib.run()\n" * (number + 1) + "#" * 20_000)
    return "".join(
        f"{path}:{row}:1: TST101 run has moved\n"
        for path in sorted(Path(".").glob("part*/*.py"))
        for row in range(2, int(path.stem[1:]) + 3)
    )


def test_job_count_and_cache_do_not_change_the_report(project: Path) -> None:
    expected = _many_files()
    for options in (("--no-cache", "-j", "1"), ("--no-cache", "-j", "3"), ("-j", "2"), ("-j", "2"), ("-j", "1")):
        result = run("check", "--format", "concise", *options)
        assert (result.stdout, result.stderr, result.exit_code) == (expected, "", 1), options
    assert (project / ".neuron_port_cache" / "findings").exists()


def test_the_cache_is_not_used_for_other_content_or_options(project: Path) -> None:
    _many_files()
    cache = ("--cache-dir", "elsewhere")
    assert "part0/m0.py:2:1: TST101" in run("check", "--format", "concise", *cache).stdout
    (project / "part0" / "m0.py").write_text("import oldlib\noldlib.gone()\n")
    assert "part0/m0.py:2:1: TST103" in run("check", "--format", "concise", *cache).stdout
    assert run("check", "--format", "concise", "--select", "TST104", *cache).stdout == ""
    found = json.loads(run("check", "--format", "json", *cache).stdout)
    assert all(finding["fix"]["edits"] for finding in found if finding["code"] == "TST101")
    assert (project / "elsewhere" / "findings").exists()
    assert not (project / ".neuron_port_cache").exists()


def test_no_cache_writes_none(project: Path) -> None:
    _many_files()
    run("check", "--no-cache")
    assert not (project / ".neuron_port_cache").exists()


def test_baseline() -> None:
    Path("a.py").write_text(CODE)
    written = run("check", "--write-baseline", "known.json")
    assert (written.stdout, written.stderr, written.exit_code) == ("", "Wrote 4 findings to known.json.\n", 0)
    result = run("check", "--baseline", "known.json")
    assert (result.stdout, result.exit_code) == (
        "Checked 1 file: no findings.\n  baseline   hides 4 findings\n",
        0,
    )
    Path("a.py").write_text(CODE.replace("oldlib.gone()\n", "") + "oldlib.run(2)\n")
    result = run("check", "--baseline", "known.json")
    assert result.stdout.splitlines()[2] == "a.py:6:1 TST101[old-run] error: run has moved"
    assert result.stdout.splitlines()[-1] == "  baseline   hides 3 findings, 1 of its entries out of date"
    assert result.exit_code == 1


def test_baseline_in_the_configuration(project: Path) -> None:
    config = 'extend-rules = ["rules"]\nselect = ["TST"]\nbaseline = "known.json"\n'
    (project / "neuron-port.toml").write_text(config)
    Path("a.py").write_text(CODE)
    assert run("check").stderr.startswith(f"neuron-port: error: {project}/known.json: it cannot be read")
    assert run("check", "--write-baseline", "known.json").exit_code == 0
    assert run("check").exit_code == 0
    # Written anew, it lists what it hides.
    assert run("check", "--write-baseline", "known.json").stderr == "Wrote 4 findings to known.json.\n"


def test_baseline_and_standard_input() -> None:
    Path("a.py").write_text(CODE)
    run("check", "--write-baseline", "known.json")
    options = ("-", "--stdin-filename", "a.py", "--baseline", "known.json", "--format", "concise")
    assert run("check", *options, stdin=CODE).stdout == ""
    assert run("check", *options, stdin=CODE + "oldlib.note(3)\n").stdout == "a.py:7:1: TST104 good to know\n"


def test_cached_findings_follow_the_requirements(project: Path) -> None:
    code = 'from transformers import AutoModel\n\nAutoModel.from_pretrained("a", device_map="neuron")\n'
    for number in range(20):
        (project / f"model{number}.py").write_text(f"# {number}\n{code}")
    for asked, count in (("4.50.0", 20), ("5.24.0", 0), ("4.50.0", 20)):
        (project / "requirements.txt").write_text(f"transformers=={asked}\n")
        found = run("check", "--format", "concise", "--select", "NP485").stdout.splitlines()
        assert len(found) == count
        assert all(f"requirements.txt:1 asks for transformers=={asked}" in line for line in found)

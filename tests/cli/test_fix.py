"""``fix``: the diff, what is written, and what is said about it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from made_project import CODE, CONCISE, DIFF, FIXED, FIXED_ALL, run, shell


def test_fix_shows_a_diff() -> None:
    Path("a.py").write_text(CODE)
    result = run("fix", "a.py")
    assert result.stdout == DIFF
    assert result.stderr == (
        "Would fix 1 place in 1 file; 3 left (1 error, 1 warning, 1 note).\n"
        "1 more fix with --unsafe-fixes.\n"
        "Write the changes with --apply.\n"
    )
    assert result.exit_code == 1
    assert Path("a.py").read_text() == CODE
    assert run("fix", "a.py", "--exit-zero").exit_code == 0


def test_fix_with_nothing_to_fix() -> None:
    Path("a.py").write_text("import oldlib\noldlib.gone()\n")
    result = run("fix")
    assert (result.stdout, result.stderr) == ("", "Nothing to fix; 1 left (1 error).\n")
    assert result.exit_code == 0
    Path("a.py").write_text("print()\n")
    assert run("fix").stderr == "Nothing to fix; nothing left.\n"


def test_fix_applies_safe_fixes() -> None:
    Path("a.py").write_text(CODE)
    result = run("fix", "a.py", "--apply", "--format", "concise")
    assert Path("a.py").read_text() == FIXED
    assert result.stdout == "".join(CONCISE.splitlines(keepends=True)[1:])
    assert result.stderr == (
        "Fixed 1 place in 1 file; 3 left (1 error, 1 warning, 1 note).\n1 more fix with --unsafe-fixes.\n"
    )
    assert result.exit_code == 1
    again = run("fix", "a.py", "--apply", "--format", "concise")
    assert (again.stdout, again.exit_code) == (result.stdout, 1)
    assert again.stderr.startswith("Nothing to fix; 3 left (1 error, 1 warning, 1 note).\n")


def test_fix_applies_unsafe_fixes() -> None:
    Path("a.py").write_text(CODE)
    result = run("fix", "a.py", "--apply", "--unsafe-fixes", "--format", "concise", "--fail-on", "error")
    assert Path("a.py").read_text() == FIXED_ALL
    assert result.stderr == "Fixed 2 places in 1 file; 2 left (1 error, 1 note).\n"
    assert result.exit_code == 1
    Path("a.py").write_text("import oldlib\noldlib.run()\n")
    assert run("fix", "--apply").exit_code == 0


def test_fix_counts_files() -> None:
    for name in ("a.py", "b.py", "c.py"):
        Path(name).write_text("import oldlib\noldlib.run(oldlib.run)\n")
    Path("d.py").write_text("print()\n")
    assert run("fix", "--apply").stderr == "Fixed 6 places in 3 files; nothing left.\n"


def test_fix_keeps_what_is_left_in_json_with_edits() -> None:
    Path("a.py").write_text(CODE)
    found = json.loads(run("fix", "--apply", "--format", "json").stdout)
    assert [finding["code"] for finding in found] == ["TST102", "TST103", "TST104"]
    assert [edit["content"] for edit in found[0]["fix"]["edits"]] == ["oldlib.fast"]


def test_fix_annotates() -> None:
    Path("a.py").write_text("import oldlib\n\noldlib.gone()\noldlib.note()\n")
    result = run("fix", "--annotate", "--apply")
    assert Path("a.py").read_text() == (
        "import oldlib\n\n# TODO(neuron-port): TST103 gone is gone\noldlib.gone()\noldlib.note()\n"
    )
    assert result.stderr == "Annotated 1 file; 2 left (1 error, 1 note).\n"
    assert run("fix", "--annotate", "--apply").stderr == "Nothing to fix; 2 left (1 error, 1 note).\n"


def test_fix_of_standard_input() -> None:
    result = run("fix", "-", "--stdin-filename", "a.py", stdin=CODE)
    assert (result.stdout, result.exit_code) == (DIFF, 1)
    applied = run("fix", "-", "--apply", "--format", "concise", "--stdin-filename", "a.py", stdin=CODE)
    assert applied.stdout == FIXED
    assert applied.stderr == (
        "".join(CONCISE.splitlines(keepends=True)[1:])
        + "Fixed 1 place in 1 file; 3 left (1 error, 1 warning, 1 note).\n1 more fix with --unsafe-fixes.\n"
    )
    assert applied.exit_code == 1


def test_fix_gives_standard_input_back_when_it_is_no_text() -> None:
    result = run("fix", "-", "--apply", "--extend-select", "NP001", stdin=b"oldlib = '\xff'\r\n")
    assert result.stdout_bytes == b"oldlib = '\xff'\r\n"
    assert result.exit_code == 1


def test_the_diff_of_a_folder_applies(project: Path) -> None:
    latin = b"# coding: latin-1\r\nimport oldlib  # \xe9\r\noldlib.run()\r\n\x0coldlib.run()"
    (project / "sub dir").mkdir()
    (project / "sub dir" / "b.py").write_bytes(latin)
    (project / "a.py").write_text(CODE)
    result = shell("fix", ".")
    assert result.returncode == 1
    subprocess.run(["git", "apply", "-"], input=result.stdout, check=True, cwd=project)
    assert (project / "a.py").read_text() == FIXED
    assert (project / "sub dir" / "b.py").read_bytes() == latin.replace(b"oldlib.run", b"oldlib.api.run")
    assert shell("fix", ".").returncode == 0


def test_fix_of_a_read_only_file_goes_on_with_the_others() -> None:
    for name in ("a.py", "b.py"):
        Path(name).write_text("import oldlib\noldlib.run()\n")
    Path("a.py").chmod(0o444)
    result = run("fix", "--apply", "--format", "concise")
    assert result.exit_code == 2
    assert result.stderr == (
        "neuron-port: error: a.py was not changed: the file is read-only\nFixed 1 place in 1 file; 1 left (1 error).\n"
    )
    assert Path("a.py").read_text() == "import oldlib\noldlib.run()\n"
    assert Path("b.py").read_text() == "import oldlib\noldlib.api.run()\n"


@pytest.mark.parametrize("apply", [(), ("--apply",)])
def test_fix_does_not_count_what_the_baseline_hides(apply: tuple[str, ...]) -> None:
    Path("a.py").write_text(CODE)
    run("check", "--write-baseline", "known.json", "--ignore", "TST104")
    result = run("fix", "--baseline", "known.json", "--format", "concise", *apply)
    assert result.stdout == ("a.py:6:1: TST104 good to know\n" if apply else DIFF)
    assert result.stderr.splitlines()[0].endswith("1 place in 1 file; 1 left (1 note).")


def test_fix_with_worker_processes(project: Path) -> None:
    for number in range(20):
        (project / f"m{number}.py").write_text("import oldlib\noldlib.run()\n" + "#" * 30_000)
    serial, parallel = (run("fix", "-j", jobs) for jobs in ("1", "3"))
    assert serial.stdout == parallel.stdout
    assert serial.stdout.count("+oldlib.api.run()\n") == 20
    assert run("fix", "-j", "3", "--apply").stderr == "Fixed 20 places in 20 files; nothing left.\n"

"""Wrong usage, wrong files, internal errors, interrupts and closed pipes."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest
from made_project import run, shell_command, shell_environment


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check", "nowhere.py"), "no such file or folder: nowhere.py"),
        (
            ("check", "--select", "np1"),
            "Invalid value for '--select': 'np1' is not a code, the beginning of a code, or 'ALL', did you mean 'NP1'?"
            " (see neuron-port check --help)",
        ),
        (("check", "--select", "XX9"), "--select: no rule has the code 'XX9'"),
        (
            ("check", "--statistics", "--format", "github"),
            "--statistics has no github format (see neuron-port check --help)",
        ),
        (("fix", "--validate", "nowhere.py"), "no such file or folder: nowhere.py"),
        (
            ("fix", "--timeout", "3", "neuron-port.toml"),
            "--nproc-per-node, --steps and --timeout are about the run of --validate",
        ),
        (("check", "-", "a.py"), "- (standard input) and other paths do not go together"),
        (("check", "--stdin-filename", "a.py"), "--stdin-filename needs - as the path"),
        (("check", "--no-config", "--config", "neuron-port.toml"), "--config and --no-config do not go together"),
        (("chek",), "No such command 'chek' (see neuron-port --help)"),
        (
            ("check", "--output-file", "no/such/folder.txt"),
            "no/such/folder.txt: it cannot be written (No such file or directory)",
        ),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], message: str) -> None:
    Path("a.py").write_text("print()\n")
    result = run(*arguments)
    assert (result.stdout, result.exit_code) == ("", 2)
    first, end = result.stderr[: len(message) + 20], result.stderr[len(message) + 20 :]
    assert first == f"neuron-port: error: {message}"
    assert end.count("\n") == 1


def test_an_unknown_option_is_one_line() -> None:
    result = run("check", "--nope")
    assert (result.stdout, result.exit_code) == ("", 2)
    assert result.stderr.startswith("neuron-port: error: No such option")
    assert result.stderr.endswith(" (see neuron-port check --help)\n")
    assert result.stderr.count("\n") == 1


def test_wrong_configuration(project: Path) -> None:
    (project / "neuron-port.toml").write_text("selekt = 1\n")
    for arguments in (("check",), ("fix",), ("rules",), ("explain", "NP101")):
        result = run(*arguments)
        assert (result.stdout, result.exit_code) == ("", 2)
        assert result.stderr == (
            f"neuron-port: error: {project}/neuron-port.toml: unknown key 'selekt', did you mean 'select'?\n"
        )
    assert run("check", "--no-config", "--select", "NP1").exit_code == 0


def test_wrong_rule_file(project: Path) -> None:
    (project / "rules" / "bad.toml").write_text('code = "TST900"\n')
    result = run("check")
    assert (result.stdout, result.exit_code) == ("", 2)
    assert result.stderr == f"neuron-port: error: {project}/rules/bad.toml: missing key 'name'\n"


def test_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise RuntimeError("first\nsecond")

    monkeypatch.setattr("neuron_port.cli.session.Session.open", fail)
    result = run("check")
    assert (result.stdout, result.exit_code) == ("", 2)
    assert result.stderr == (
        "neuron-port: internal error: RuntimeError: first second (NEURON_PORT_DEBUG=1 shows the traceback)\n"
    )
    monkeypatch.setenv("NEURON_PORT_DEBUG", "1")
    assert isinstance(run("check").exception, RuntimeError)


def test_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("neuron_port.cli.session.Session.open", interrupt)
    result = run("check")
    assert (result.stdout, result.exit_code) == ("", 130)


def test_ctrl_c_while_waiting_for_input(project: Path) -> None:
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(shell_command("check", "-"), env=shell_environment(), **streams) as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"Traceback" not in stderr


def test_a_closed_pipe_is_no_error(project: Path) -> None:
    (project / "a.py").write_text("import oldlib\n" + "oldlib.run()\n" * 20_000)
    command = shell_command("check", "a.py", "--format", "concise")
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=shell_environment(), **streams) as process:
        assert process.stdout.readline() == b"a.py:2:1: TST101 run has moved\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141

"""A made-up library with four rules, code that uses it, and what the commands print about it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from neuron_port.cli.group import cli

RULE = """\
code = "{code}"
name = "{name}"
family = "test"
summary = "{summary}"
why = "Because it is so."
fix = "{fix}"
severity = "{severity}"
applicability = "{applicability}"
confidence = "verified"
sources = [ {{ text = "a test", checked = "2026-11-30" }} ]
map = [ {{ from = "{source}", message = "{message}"{to} }} ]
"""
RULES = (
    ("TST101", "old-run", "run has moved", "Call api.run", "error", "safe", "oldlib.run", "oldlib.api.run"),
    ("TST102", "old-slow", "slow is slow", "Call fast", "warning", "unsafe", "oldlib.slow", "oldlib.fast"),
    ("TST103", "old-gone", "gone is gone", "Nothing", "error", "manual", "oldlib.gone", None),
    ("TST104", "old-note", "good to know", "Nothing", "info", "manual", "oldlib.note", None),
)
CODE = "import oldlib\n\noldlib.run(1)\noldlib.slow()\noldlib.gone()\noldlib.note()\n"
TEXT = """\
a.py (2 errors, 1 warning, 1 note)

a.py:3:1 TST101[old-run] error: run has moved
      3 | oldlib.run(1)
        | ^^^^^^^^^^
    fix (safe): Call api.run

a.py:4:1 TST102[old-slow] warning: slow is slow
      4 | oldlib.slow()
        | ^^^^^^^^^^^
    fix (unsafe): Call fast

a.py:5:1 TST103[old-gone] error: gone is gone
      5 | oldlib.gone()
        | ^^^^^^^^^^^
    by hand: see neuron-port explain TST103

a.py:6:1 TST104[old-note] info: good to know
      6 | oldlib.note()
        | ^^^^^^^^^^^
    more: see neuron-port explain TST104

Checked 1 file.
  findings   4 in 1 file: 2 errors, 1 warning, 1 note
  fixes      1 safe (neuron-port fix), 1 unsafe (--unsafe-fixes), 1 by hand
  blockers   1 error without a fix
  readiness  28% now, 40% after the safe fixes, 50% after the unsafe ones too
"""
CONCISE = """\
a.py:3:1: TST101 run has moved
a.py:4:1: TST102 slow is slow
a.py:5:1: TST103 gone is gone
a.py:6:1: TST104 good to know
"""
DIFF = """\
--- a/a.py
+++ b/a.py
@@ -1,6 +1,6 @@
 import oldlib
 
-oldlib.run(1)
+oldlib.api.run(1)
 oldlib.slow()
 oldlib.gone()
 oldlib.note()
"""
FIXED = CODE.replace("oldlib.run", "oldlib.api.run")
FIXED_ALL = FIXED.replace("oldlib.slow", "oldlib.fast")


REPOSITORY = Path(__file__).parent.parent.parent


def write_rules(folder: Path) -> None:
    """Write the rules into a folder, one file each."""
    folder.mkdir(parents=True)
    for code, name, summary, fix, severity, applicability, source, to in RULES:
        text = RULE.format(
            code=code, name=name, summary=summary, message=summary, fix=fix, severity=severity,
            applicability=applicability, source=source, to=f', to = "{to}"' if to else "",
        )  # fmt: skip
        (folder / f"{name}.toml").write_text(text)


def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
    """Call the command in this process."""
    return CliRunner().invoke(cli, arguments, prog_name="neuron-port", input=stdin)


def shell_command(*arguments: str) -> list[str]:
    """The words that call the command in a process of its own."""
    return [sys.executable, "-m", "neuron_port", *arguments]


def shell_environment(**variables: str) -> dict[str, str]:
    """The environment in which that process finds the package."""
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), **variables}


def shell(*arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Call the command in a process of its own, its output in pipes."""
    return subprocess.run(
        shell_command(*arguments), capture_output=True, env=shell_environment(**variables), timeout=60
    )

"""Port one line, and read the findings of one line, behind a common head of imports."""

from __future__ import annotations

from tests.porting import check, ported


def port(head: str, line: str, level: str = "unsafe", target: str = "neuron") -> str:
    """The last line after the fix, which must have nothing left to fix."""
    after = ported(f"{head}{line}\n", level, target)
    assert ported(after, level, target) == after
    return after.splitlines()[-1]


def found(head: str, line: str, code: str, target: str = "neuron") -> list[str]:
    """Severity and applicability of the findings with this code that the last line has."""
    row = f"{head}{line}".count("\n") + 1
    return [
        f"{finding.severity.word} {finding.applicability.word}"
        for finding in check(f"{head}{line}\n", target)
        if finding.code == code and finding.location.row == row
    ]

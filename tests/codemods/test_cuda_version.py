"""torch.version.cuda."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import check, codes

HEAD = "import torch\nfrom torch import version\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('x = torch.version.cuda.split(".")', ["error manual"]),
        ("x = version.cuda[:2]", ["error manual"]),
        ("x = float(torch.version.cuda)", ["error manual"]),
        ("x = Version(torch.version.cuda)", ["error manual"]),
        ('x = torch.version.cuda >= "11"', ["error manual"]),
        ('x = "cu" + torch.version.cuda', ["error manual"]),
        ("x = torch.version.hip.split('.')", ["error manual"]),
        ("x = helper(torch.version.cuda)", ["warning manual"]),
        ('x = torch.version.cuda == "11.8"', ["info manual"]),
        ("x = torch.version.cuda is None", ["info manual"]),
        ("x = bool(torch.version.cuda)", ["info manual"]),
        ("x = torch.version.cuda or '12'", ["info manual"]),
        ("print(torch.version.cuda)", ["info manual"]),
        ("x = f'CUDA {torch.version.cuda}'", ["info manual"]),
        ("x = 'CUDA %s' % torch.version.cuda", ["info manual"]),
        ("x = 'CUDA %s %s' % (torch.version.cuda, 1)", ["info manual"]),
        ("x = {'cuda_version': torch.version.cuda}", ["info manual"]),
        ("x = torch.version.git_version", []),
        ("x = other.version.cuda.split('.')", []),
    ],
)
def test_grades(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP192") == expected


@pytest.mark.parametrize(
    "line",
    [
        "x = torch.version.cuda and float(torch.version.cuda)",
        "x = torch.version.cuda is None or float(torch.version.cuda) > 11",
        "x = float(torch.version.cuda) if torch.version.cuda is not None else 0",
        "if torch.version.cuda: x = float(torch.version.cuda)",
    ],
)
def test_guarded_uses_are_notes(line: str) -> None:
    assert found(HEAD, line, "NP192") == ["info manual", "info manual"]


def test_an_early_return_guards() -> None:
    severities = [
        finding.severity.word
        for finding in check("""
            import torch
            def f():
                if not torch.version.cuda:
                    return 0
                return float(torch.version.cuda)
        """)
    ]
    assert severities == ["info", "info"]


def test_the_availability_of_a_device_is_no_guard() -> None:
    source = """
        import torch
        if torch.cuda.is_available():
            x = float(torch.version.cuda)
    """
    assert codes(source) == [(3, "NP122"), (4, "NP192")]


def test_a_variable_means_the_version() -> None:
    assert [
        (finding.location.row, finding.severity.word)
        for finding in check("""
        import torch
        cuda = torch.version.cuda
        print(cuda)
        x = cuda.split(".")
    """)
    ] == [(3, "info"), (4, "info"), (5, "error")]

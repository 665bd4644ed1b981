"""Questions whether PyTorch/XLA is there."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check

HEAD = "import importlib.util\nimport sys\n\nimport torch\n\nprint(importlib, sys, torch)\n"
THERE = 'hasattr(torch, "neuron") and torch.neuron.is_available()'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('on = "torch_xla" in sys.modules', f"on = {THERE}"),
        ("on = 'neuronx_distributed' in sys.modules", f"on = {THERE}"),
        ('off = "torch_xla" not in sys.modules', f"off = not ({THERE})"),
        ('print(1) if "torch_xla" in sys.modules and x else 2', f"print(1) if {THERE} and x else 2"),
    ],
)
def test_loaded_modules(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after
    assert port(HEAD, before, target="portable") == after


@pytest.mark.parametrize(
    "line",
    [
        'x = importlib.util.find_spec("torch_xla") is not None',
        'x = importlib.import_module("torch_xla.core.xla_model")',
        'x = __import__("torch_xla")',
        'x = sys.modules["torch_xla"]',
        'x = sys.modules.get("torch_xla")',
    ],
)
def test_reported(line: str) -> None:
    assert port(HEAD, line) == line
    assert "warning manual" in found(HEAD, line, "NP204")


@pytest.mark.parametrize(
    "line",
    [
        'x = "torch" in sys.modules',
        'x = "torch_xla" in names',
        'x = importlib.util.find_spec("torch_neuronx")',
        'x = importlib.util.find_spec("jax")',
        'x = {"torch_xla": 1}["torch_xla"]',
        'print("torch_xla")',
    ],
)
def test_nothing_to_say(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP204") == []


def test_what_the_question_guards_is_ported_with_it() -> None:
    assert_ported(
        """
        import sys

        import torch

        def finish():
            if "torch_xla" in sys.modules:
                import torch_xla.core.xla_model as xm

                xm.mark_step()
                print(torch.ones(1))
        """,
        f"""
        import torch

        def finish():
            if {THERE}:
                print(torch.ones(1))
        """,
    )


def test_an_optional_import_names_its_flags() -> None:
    source = """
        try:
            import torch_xla.core.xla_model as xm
        except ImportError:
            HAS_XLA = False
        else:
            HAS_XLA = True
    """
    (finding,) = check(source)
    assert (finding.code, finding.severity.word, finding.location.row, finding.location.column) == (
        "NP204",
        "warning",
        3,
        12,
    )
    assert "HAS_XLA is False" in finding.message

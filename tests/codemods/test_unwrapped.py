"""Context managers without a meaning."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check

HEAD = "import torch\nimport torch_xla\nfrom torch_xla.experimental import eager_mode_context\n"


def test_the_body_takes_the_place() -> None:
    assert_ported(
        """
        import torch
        import torch_xla

        for batch in loader:
            with torch_xla.step():  # one graph
                # forward
                loss = model(batch)

            with torch_xla.step(), torch.no_grad():
                model(batch)
        """,
        """
        import torch

        for batch in loader:
            # forward
            loss = model(batch)

            with torch.no_grad():
                model(batch)
        """,
    )


def test_a_block_of_torch_xla_compile() -> None:
    source = "import torch_xla\nwith torch_xla.compile(full_graph=True):\n    work()\n"
    assert_ported(source, "work()\n")
    (finding,) = [item for item in check(source) if item.code == "NP221"]
    assert (finding.severity.word, finding.applicability.word) == ("warning", "unsafe")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("c = torch_xla.step() if lazy else other", "c = contextlib.nullcontext() if lazy else other"),
        ("c = eager_mode_context(True)", "c = contextlib.nullcontext()"),
    ],
)
def test_a_context_that_is_kept(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after


def test_as_a_decorator() -> None:
    assert_ported("import torch_xla\n\n@torch_xla.step()\ndef f():\n    pass\n", "def f():\n    pass\n", level="safe")


def test_a_bound_name_is_for_a_person() -> None:
    source = f"{HEAD}with eager_mode_context(True) as before:\n    pass\n"
    assert [item.applicability.word for item in check(source) if item.code == "NP221"] == ["manual", "manual"]
    assert found(HEAD, "step = torch_xla.step", "NP221") == ["error manual"]

"""Optimizers that take the verdict about infinite gradients as a tensor."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check

HEAD = "import torch\nfrom torch_xla.amp import syncfree\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("o = syncfree.SGD(p, lr=1)", "o = torch.optim.SGD(p, lr=1)"),
        ("o = syncfree.adamw.AdamW(p)", "o = torch.optim.AdamW(p)"),
        ("c = syncfree.Adam if x else None", "c = torch.optim.Adam if x else None"),
    ],
)
def test_the_one_of_torch(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert found(HEAD, before, "NP239") == ["error safe"]


def test_an_import_moves_and_its_alias_follows() -> None:
    assert_ported(
        "from torch_xla.amp.syncfree import AdamW\ncls = AdamW\no = cls(p)\n",
        "from torch.optim import AdamW\ncls = AdamW\no = cls(p)\n",
        level="safe",
    )


def test_a_verdict_keeps_the_optimizer() -> None:
    source = f"{HEAD}o = syncfree.SGD(p)\no.step(found_inf=found)\n"
    assert [(item.location.row, item.applicability.word) for item in check(source) if item.code == "NP239"] == [
        (3, "manual"),
        (4, "manual"),
    ]


@pytest.mark.parametrize("value", ["None", "0", "torch.tensor(0)", "torch.zeros(1)", "zero"])
def test_a_verdict_that_is_always_no_goes(value: str) -> None:
    line = f"o.step(found_inf={value})"
    assert port(f"{HEAD}zero = torch.tensor(0, device=d)\no = syncfree.SGD(p)\n", line, "safe") == "o.step()"


def test_a_verdict_that_changes() -> None:
    source = f"{HEAD}found = torch.tensor(0)\nfound.add_(1)\no.step(found_inf=found)\n"
    assert [item.applicability.word for item in check(source) if item.code == "NP239"] == ["manual"]

"""Memory formats: ``codemods.channels_last``."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, check

HEAD = "import torch\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("m = m.to(memory_format=torch.channels_last)\nm.eval()\n", "m.eval()\n"),
        ("m.to(memory_format=torch.channels_last)\nm.eval()\n", "m.eval()\n"),
        ("n = m.to(memory_format=torch.channels_last)\n", "n = m\n"),
        ("m = net().to(memory_format=torch.channels_last)\n", "m = net()\n"),
        ("x = x.to(d, memory_format=torch.channels_last)\n", "x = x.to(d)\n"),
        ("x = x.contiguous(memory_format=torch.channels_last)\n", "x = x.contiguous()\n"),
        ("x = x.clone(memory_format=torch.channels_last_3d)\n", "x = x.clone()\n"),
        (
            "x = torch.empty(2, 3, 4, 5, memory_format=torch.channels_last)\n",
            "x = torch.empty(2, 3, 4, 5)\n",
        ),
    ],
)
def test_the_format_goes(before, after):
    kept = "y = torch.ones(3)\n"
    assert_ported(HEAD + kept + before, HEAD + kept + after)
    assert_ported(HEAD + kept + before, HEAD + kept + before, level="safe")
    assert_ported(HEAD + kept + before, HEAD + kept + before, target="portable")


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("f = torch.channels_last\n", (2, 5, "warning")),
        ("a = x.is_contiguous(memory_format=torch.channels_last)\n", (2, 35, "info")),
        ("a = f == torch.channels_last\n", (2, 10, "info")),
    ],
)
def test_other_uses_are_reported(code, place):
    (finding,) = check(HEAD + code)
    assert finding.code == "NP510"
    assert (finding.location.row, finding.location.column, finding.severity.word) == place
    assert finding.fix is None

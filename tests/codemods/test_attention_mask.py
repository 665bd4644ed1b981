"""The mask of scaled_dot_product_attention: a tensor, perhaps a tensor, or only "causal"."""

from __future__ import annotations

import pytest

from tests.codemods.steps import FORWARD, found, port

CALL = "return F.scaled_dot_product_attention(x, x, x, {mask})"


@pytest.mark.parametrize(
    ("lines", "severity"),
    [
        ("m = y > 0\n{call}", "warning"),
        ("m = y.masked_fill(y > 0, 1.0)\n{call}", "warning"),
        ("m = y\n{call}", "warning"),
        ("m = k.view(1, 1, n, n) + y\n{call}", "warning"),
        ("m = y[:, None]\n{call}", "warning"),
        ("m = y if n else -y\n{call}", "warning"),
        ("m = k\n{call}", "info"),
        ("m = k\nif m is not None:\n    m = m[:, None]\n{call}", "info"),
        ("m = self.bias()\n{call}", "info"),
        ("m = y > 0 if n else None\n{call}", "info"),
        ("m = k[n]\n{call}", "info"),
        ("m = not n\n{call}", "info"),
    ],
)
def test_is_it_surely_a_tensor(lines: str, severity: str) -> None:
    places = found(FORWARD, lines.format(call=CALL.format(mask="attn_mask=m")), "NP530")
    assert [each[1] for each in places] == [severity]


def test_a_declared_tensor_that_is_asked_about_may_be_none() -> None:
    line = "causal = y is None\n" + CALL.format(mask="y, is_causal=causal")
    assert found(FORWARD, line, "NP530") == [(56, "info")]


@pytest.mark.parametrize("mask", ["attn_mask=None", "None, 0.1", "is_causal=True"])
def test_no_mask(mask: str) -> None:
    assert found(FORWARD, CALL.format(mask=mask), "NP530") == []


SQUARE = "torch.ones(n, n, dtype=torch.bool, device=x.device)"


@pytest.mark.parametrize(
    ("mask", "after"),
    [
        (f"attn_mask={SQUARE}.tril()", "is_causal=True"),
        (f"attn_mask=torch.tril({SQUARE})", "is_causal=True"),
        (f"attn_mask=torch.tril({SQUARE}, diagonal=0)[None, None]", "is_causal=True"),
        (f"{SQUARE}.tril().unsqueeze(0), 0.0", "None, 0.0, is_causal=True"),
        ("attn_mask=torch.tril(torch.ones((n, n))).bool()", "is_causal=True"),
        ("attn_mask=torch.ones(n, n).tril().bool().view(1, 1, n, n)", "is_causal=True"),
        ('attn_mask=torch.triu(torch.full((n, n), float("-inf")), 1)', "is_causal=True"),
        ('attn_mask=torch.full((n, n), -float("inf")).triu(diagonal=1)', "is_causal=True"),
        ("attn_mask=nn.Transformer.generate_square_subsequent_mask(n), is_causal=False", "is_causal=True"),
    ],
)
def test_a_causal_mask_becomes_a_flag(mask: str, after: str) -> None:
    assert port(FORWARD, CALL.format(mask=mask)) == CALL.format(mask=after)


@pytest.mark.parametrize(
    "lines",
    [
        "torch.tril(torch.ones(n, n))",  # added to the scores as it is
        f"{SQUARE}.tril(1)",
        f"{SQUARE}.tril(-1)",
        f"{SQUARE}.triu()",
        f"{SQUARE}.tril() & y.bool()",
        f"{SQUARE}.tril()[:, :4]",
        "torch.ones(n, 2 * n, dtype=torch.bool).tril()",
        'torch.triu(torch.full((n, n), float("-inf")))',
        "torch.triu(torch.full((n, n), -1e4), 1)",
    ],
)
def test_other_masks_stay(lines: str) -> None:
    line = CALL.format(mask=f"attn_mask={lines}")
    assert port(FORWARD, line) == line
    assert len(found(FORWARD, line, "NP530")) == 1


def test_a_mask_that_is_written_to_stays() -> None:
    lines = f"m = {SQUARE}.tril()\nm[:, 0] = True\n" + CALL.format(mask="m")
    assert port(FORWARD, lines).endswith("x, m)")


def test_what_the_flag_does() -> None:
    """The flag and the mask give the same on the CPU."""
    import torch
    import torch.nn.functional as F

    q, k, v = torch.randn(3, 1, 2, 5, 4)
    masks = [
        torch.ones(5, 5, dtype=torch.bool).tril(),
        torch.triu(torch.full((5, 5), float("-inf")), 1),
        torch.nn.Transformer.generate_square_subsequent_mask(5),
    ]
    causal = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    for mask in masks:
        torch.testing.assert_close(F.scaled_dot_product_attention(q, k, v, attn_mask=mask), causal)

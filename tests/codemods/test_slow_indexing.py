"""Indices, slices and copies that are slow on Neuron, and whole numbers where it takes none."""

from __future__ import annotations

import pytest

from tests.codemods.steps import COMPILED, FORWARD, TRAINING, found, port


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("return x.gather(1, y.unsqueeze(-1).expand(-1, -1, 4))", [(28, "warning")]),
        ("i = y.expand_as(x)\nreturn x.scatter_add(1, i, x)", [(33, "warning")]),
        ("return torch.gather(x, 1, index=y.repeat(1, 1, 4))", [(41, "warning")]),
        ("return x.index_add_(0, y.long(), x)", [(32, "info")]),
        ("return x.gather(1, y.to(torch.int64))", [(28, "info")]),
        ("return x.gather(1, y)", []),
        ("return x.gather(1, y.int())", []),
        ("return x.cpu().gather(1, y.expand_as(x))", []),
        ("return k.gather(1, 'expand')", []),
    ],
)
def test_the_index_of_gather_and_scatter(line, expected):
    assert found(FORWARD, line, "NP637") == expected


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("self.cache_k[:, n : n + 4] = x", 1),
        ("self.cache_k[:, :, n:] = x", 1),
        ("self.cache_k[:, 0:4] = x", 0),
        ("self.cache_k[:, :n] = x", 0),
        ("x[:, n : n + 4] = y", 0),
        ("for i in range(4): self.cache_k[:, i : i + 1] = x", 0),
        ("self.cache_k[n : n + 1] = ['text']", 0),
    ],
)
def test_writes_to_a_cache(line, count):
    assert len(found(FORWARD, line, "NP648")) == count


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.copy_(y.transpose(0, 1))", "x.copy_(y.transpose(0, 1).contiguous())"),
        ("x.copy_(y.T, non_blocking=True)", "x.copy_(y.T.contiguous(), non_blocking=True)"),
    ],
)
def test_copies_from_a_turned_view(before, after):
    assert found(FORWARD, before, "NP649") == [(9, "warning")]
    assert port(FORWARD, before) == after


@pytest.mark.parametrize("line", ["x.copy_(y)", "x.copy_(y.T.contiguous())", "x.copy_(y.cpu().T)", "x.copy_()"])
def test_copies_that_are_plain(line):
    assert found(FORWARD, line, "NP649") == []


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("return x.argsort(-1).topk(4)", 1),
        ("return torch.topk(x.long(), 4)", 1),
        ("return torch.matmul((x > 0).int(), y)", 1),
        ("return x.topk(4)", 0),
        ("return (x.long() / 2).topk(4)", 0),
        ("return torch.arange(9).topk(4)", 0),
    ],
)
def test_whole_numbers(line, count):
    assert found(FORWARD, line, "NP641") == [(16, "error")] * count


@pytest.mark.parametrize(
    ("template", "line", "count"),
    [
        (COMPILED, "a, b = x.chunk(2, dim=-1)", 1),
        (COMPILED, "a, b = torch.chunk(x, 2, -1)", 1),
        (COMPILED, "a, b = x.chunk(2, dim=1)", 0),
        (COMPILED, "a = x.chunk(2, dim=-1)", 0),
        (FORWARD, "a, b = x.chunk(2, dim=-1)", 0),
        (TRAINING, "a, b = x.chunk(2, dim=-1)", 0),
    ],
)
def test_gates(template, line, count):
    assert len(found(template, line, "NP647")) == count

"""What the process group of Neuron refuses: types, ranks, sizes."""

from __future__ import annotations

import pytest

from tests.porting import RULES, check

HEAD = "import torch\nimport torch.distributed as dist\n"


def found(code: str, rule: str) -> list[tuple[int, int, str]]:
    return [
        (finding.location.row, finding.location.column, finding.severity.word)
        for finding in check(HEAD + code)
        if finding.code == rule
    ]


@pytest.mark.parametrize(
    ("value", "column"),
    [
        ("torch.zeros(2, dtype=torch.float64, device=d)", 17),
        ("torch.tensor([1.0], dtype=torch.double, device=d)", 17),
        ("x.double()", 17),
        ("x.to(torch.float64)", 17),
        ("x.double().to('neuron').sum()", 17),
        ("x.double() * 2", 17),
        ("torch.polar(x, x)", 17),
        ("x.to(torch.complex64)", 17),
        ("x.to(torch.float8_e5m2)", 17),
        ("torch.stack([x.double(), x.double()])", 17),
    ],
)
def test_a_type_that_the_group_refuses(value, column):
    assert found(f"dist.all_reduce({value})\n", "NP544") == [(3, column, "warning")]
    assert found(f"y = {value}\ndist.all_reduce(y)\n", "NP544") == [(4, 17, "warning")]


@pytest.mark.parametrize(
    "value",
    [
        "x",
        "x.double().float()",
        "x.to(y)",
        "x.double().to(y)",
        "x.double() * y",
        "torch.zeros(2, device=d)",
        "torch.zeros(2, dtype=torch.float64)",
        "x.double().cpu()",
        "torch.view_as_real(torch.polar(x, x))",
        "x.double() if y else x",
        "torch.fft.fft(x).abs()",
        "torch.abs(torch.fft.fft(x))",
    ],
)
def test_other_types_and_tensors_of_the_host(value):
    assert found(f"dist.all_reduce({value})\n", "NP544") == []


def test_a_group_of_the_host_takes_every_type():
    reduced = "dist.all_reduce(x.double())\n"
    assert found(f"dist.init_process_group('gloo')\n{reduced}", "NP544") == []
    assert found(f"dist.init_process_group('neuron')\n{reduced}", "NP544") == [(4, 17, "warning")]
    assert found("g = dist.new_group(backend='gloo')\ndist.all_reduce(x.double(), group=g)\n", "NP544") == []


def test_a_field_that_always_has_the_type():
    body = "class M:\n    def __init__(self, d):\n        self.n = torch.zeros(1, dtype=torch.float64, device=d)\n"
    assert found(f"{body}    def sync(self):\n        dist.all_reduce(self.n)\n", "NP544") == [(7, 25, "warning")]
    other = "    def reset(self):\n        self.n = torch.zeros(1, device='neuron')\n"
    assert found(f"{body}{other}    def sync(self):\n        dist.all_reduce(self.n)\n", "NP544") == []


@pytest.mark.parametrize("row", RULES.rules["NP544"].rows, ids=lambda row: row.source)
def test_every_collective_and_parameter(row):
    call = row.source.replace("torch.distributed", "dist")
    for name in row.options["tensors"]:
        value = "[x.double()]" if "list" in name else "x.double()"
        assert len(found(f"{call}({name}={value})\n", "NP544")) == 1


@pytest.mark.parametrize(
    ("ranks", "severity"),
    [("[1, 2]", "warning"), ("[0, 1, 5]", "warning"), ("range(2, 6)", "warning"), ("[0, 1, 2]", "info")],
)
def test_ranks_that_do_not_fit(ranks, severity):
    assert found(f"g = dist.new_group({ranks})\n", "NP545") == [(3, 5, severity)]


@pytest.mark.parametrize("ranks", ["[0]", "[2, 3]", "range(0, 8)", "[0, 2, 4, 6]", "[3, 2]", "[r, r + 1]", "", "None"])
def test_ranks_that_fit_or_are_unknown(ranks):
    assert found(f"g = dist.new_group({ranks})\n", "NP545") == []


def test_an_exchange_takes_some_sizes_only():
    assert found("g = dist.new_group([0, 1])\ndist.all_to_all_single(o, i, group=g)\n", "NP545") == [(4, 36, "warning")]
    assert found("g = dist.new_group([0, 1])\ndist.all_to_all(o, i, g)\n", "NP545") == [(4, 23, "warning")]
    assert found("g = dist.new_group(range(4))\ndist.all_to_all(o, i, g)\n", "NP545") == []
    assert found("g = dist.new_group([0, 1], backend='gloo')\ndist.all_to_all(o, i, g)\n", "NP545") == []


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ("[torch.empty(n, device=d) for n in sizes]", [(3, 17, "warning")]),
        ("[x.new_zeros((sizes[i], 4)) for i in range(w)]", [(3, 17, "warning")]),
        ("[torch.empty(2, device=d), torch.empty(3, device=d)]", [(3, 17, "warning")]),
        ("[torch.empty(n, device=d) for _ in sizes]", []),
        ("[torch.empty_like(x) for x in xs]", []),
        ("[torch.empty(2, device=d), torch.empty(2, device=d)]", []),
        ("[torch.empty(n) for n in sizes]", []),
        ("parts", []),
    ],
)
def test_gathered_sizes(parts, expected):
    assert found(f"dist.all_gather({parts}, x)\n", "NP546") == expected

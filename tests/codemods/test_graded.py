"""Operations and types that matter by the place where they run: ``codemods.graded``."""

from __future__ import annotations

import pytest

from tests.porting import RULES, check

HEAD = "import torch\nfrom torch import nn\n"


def found(code: str) -> list[tuple[int, int, str, str, str | None]]:
    return [
        (finding.location.row, finding.location.column, finding.code, finding.severity.word, finding.evidence)
        for finding in check(HEAD + code)
        if finding.code.startswith("NP5")
    ]


IN_FORWARD = """
class Net(nn.Module):
    def forward(self, x):
        {body}
"""


@pytest.mark.parametrize(
    ("body", "column", "code", "severity"),
    [
        ("return torch.linalg.qr(x)", 16, "NP517", "warning"),
        ("return torch.cdist(x, x)", 16, "NP517", "info"),
        ("return torch.fft.rfft(x)", 16, "NP506", "warning"),
        ("return x.to(torch.float64)", 21, "NP507", "warning"),
        ("return x.double()", 16, "NP507", "warning"),
        ("return x.to(torch.float64 if self.exact else torch.float32)", 21, "NP507", "warning"),
        ("return x.to(dtype_for(torch.float64, x.device))", 31, "NP507", "info"),
        ("return x.to(dtype_for(torch.float64 if self.exact else torch.int64, x.device))", 31, "NP507", "info"),
        ("return x.to(torch.float8_e4m3fn)", 21, "NP505", "error"),
        ("return x.to_sparse()", 16, "NP500", "error"),
        ("return x.atan2(x)", 16, "NP517", "warning"),
        ("return x.scatter_reduce_(0, self.index, x, 'amax')", 16, "NP517", "warning"),
        ("return torch.linalg.eigvalsh(x)", 16, "NP517", "warning"),
        ("return torch.special.i1e(x)", 16, "NP517", "info"),
        ("return torch.roll(x, 1, 0)", 16, "NP517", "info"),
        ("return torch.linspace(0, 1, 9, device=x.device)", 16, "NP517", "info"),
        ("return x.dequantize()", 16, "NP517", "warning"),
        ("return torch.dequantize(x)", 16, "NP517", "warning"),
    ],
)
def test_in_each_step_it_is_what_the_row_says(body, column, code, severity):
    assert found(IN_FORWARD.format(body=body)) == [(6, column, code, severity, "it runs in Net.forward")]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("q = torch.linalg.qr(a)\n", []),
        ("f = torch.fft.rfft(a)\n", []),
        ("t = torch.arange(3, dtype=torch.float64)\n", []),
        ("y = torch.polar(a, b)\n", [(3, 5, "NP506", "info", None)]),
        ("y = a.to(torch.float8_e4m3fn)\n", [(3, 10, "NP505", "warning", None)]),
        ("STORAGE = torch.float8_e4m3fn\n", [(3, 11, "NP505", "info", None)]),
        ("def f(x, dtype=torch.float8_e4m3fn): ...\n", [(3, 16, "NP505", "info", None)]),
        ("w = torch.empty(3, dtype=torch.float8_e4m3fn if small else d)\n", [(3, 26, "NP505", "warning", None)]),
        ("pool = nn.AdaptiveMaxPool2d(1)\n", [(3, 8, "NP517", "info", None)]),
    ],
)
def test_elsewhere_it_is_less_or_nothing(code, expected):
    assert found(code) == expected


@pytest.mark.parametrize(
    "body",
    [
        "return x.dtype == torch.float64",
        "return x.dtype in (torch.float64, torch.complex64)",
        "return isinstance(x, dict) or torch.finfo(torch.float64).max",
        "return torch.linalg.qr(x.cpu())",
        "return torch.zeros(3, dtype=torch.float64, device='cpu')",
        "return torch.fft.rfft(torch.from_numpy(self.wave))",
        "return self.frame.double()",
        "return self.values.conj()",
        "return x.conj()",
        "return self.order.sort()",
        "return self.quantizer.dequantize(self.scale)",
        "return self.table.inverse()",
        "return math.atan2(1, 2)",
        "return np.linalg.slogdet(x.detach().cpu().numpy())",
        "return x.cpu().roll(1, 0)",
        "return torch.linspace(0, 1, 9)",
        "return torch.special.expit(x) + torch.special.ndtr(x) + torch.special.softmax(x, -1)",
        "return torch.norm(x) + x.norm(dim=1)",
    ],
)
def test_questions_and_values_of_the_host_are_left_alone(body):
    assert found(IN_FORWARD.format(body=body)) == []


def test_an_operator_is_named_once_in_a_file():
    body = "a = torch.linalg.inv(x)\n        return torch.linalg.inv(a)"
    assert [place[:3] for place in found(IN_FORWARD.format(body=body))] == [(6, 13, "NP517")]


def test_a_method_and_a_function_are_one_operator():
    body = "a = torch.acos(x)\n        return a.acos_() + a.arccos()"
    assert [(place[0], place[1]) for place in found(IN_FORWARD.format(body=body))] == [(6, 13)]


def test_a_method_is_not_spent_on_what_is_no_tensor():
    body = "self.order.sort()\n        return x.sort()"
    assert [(place[0], place[1]) for place in found(IN_FORWARD.format(body=body))] == [(7, 16)]


@pytest.mark.parametrize(
    "row", [row for row in RULES.rules["NP517"].rows if row.source.startswith("method:")], ids=lambda row: row.source
)
def test_each_method_of_a_tensor_is_an_operator(row):
    name = row.source.removeprefix("method:")
    assert found(IN_FORWARD.format(body=f"return x.{name}(self.other)")) == [
        (6, 16, "NP517", row.severity.word, "it runs in Net.forward")
    ]


def test_each_row_for_a_method_is_watched():
    rule = RULES.rules["NP517"]
    assert sorted(rule.options["methods"]) == sorted(
        row.source.removeprefix("method:") for row in rule.rows if row.source.startswith("method:")
    )

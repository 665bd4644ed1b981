"""Names and methods that matter only in code that runs in each step."""

from __future__ import annotations

import pytest

from tests.codemods.steps import COMPILED, FORWARD, TRAINING, found, messages


@pytest.mark.parametrize(
    ("template", "line", "expected"),
    [
        (TRAINING, "t = torch.randn(4, device=device)", [(13, "warning")]),
        (TRAINING, "t = torch.randn_like(x)", [(13, "warning")]),
        (TRAINING, "t = torch.normal(0.0, 1.0, (4,), device=device)", [(13, "warning")]),
        (TRAINING, "t = torch.randint(0, 9, (4,), device=device)", [(13, "info")]),
        (FORWARD, "return torch.empty_like(x).normal_()", [(16, "warning")]),
        (FORWARD, "return x.uniform_(0, 1)", [(16, "info")]),
        (COMPILED, "return torch.randn_like(x)", [(16, "warning")]),
        (FORWARD, "return torch.multinomial(x, 1)", [(16, "info")]),
        (FORWARD, "return torch.poisson(x) + torch.binomial(x, y)", [(16, "info"), (35, "info")]),
        (FORWARD, "return x.multinomial(1)", [(16, "info")]),
        (FORWARD, "return x.bernoulli()", [(16, "info")]),
    ],
)
def test_random_numbers_on_the_device(template, line, expected):
    assert found(template, line, "NP640") == expected


@pytest.mark.parametrize(
    ("template", "line"),
    [
        (TRAINING, "t = torch.randn(4)"),
        (TRAINING, 't = torch.randn(4, device="cpu")'),
        (TRAINING, "t = torch.randn(4).to(torch.bfloat16)"),
        (TRAINING, "t = torch.randn(4).to(device)"),
        (TRAINING, "t = torch.randn(4, device=device) if step % 10 == 0 else 0"),
        (TRAINING, "t = torch.randn_like(x.cpu())"),
        (TRAINING, 't = torch.randn_like(x, device="cpu")'),
        (FORWARD, "return torch.randn(4)"),
    ],
)
def test_random_numbers_on_the_host(template, line):
    assert [each for each in found(template, line, "NP640") if each[1] == "warning"] == []


@pytest.mark.parametrize(
    "line", ["return torch.multinomial(x.cpu(), 1)", "return self.dice.multinomial(n)", "return k.poisson()"]
)
def test_samples_of_the_host_are_left_alone(line):
    assert found(FORWARD, line, "NP640") == []


def test_the_message_names_the_place():
    (message,) = messages(TRAINING, "t = torch.randn(4, device=device)", "NP640")
    assert message == (
        "torch.randn has no native lowering on Neuron: in each training step the numbers are drawn on the CPU and copied to the "
        "device; draw them ahead of the step and move them with the batch"
    )


@pytest.mark.parametrize(
    ("line", "count"),
    [("return F.one_hot(y)", 1), ("return F.one_hot(y, -1)", 0), ("return F.one_hot(y, num_classes=4)", 0)],
)
def test_one_hot_without_a_number_of_classes(line, count):
    assert len(found(FORWARD, line, "NP645")) == count

"""What uses the device in front of init_process_group."""

from __future__ import annotations

import textwrap

import pytest

from tests.porting import check

HEAD = "import torch\nimport torch.distributed as dist\nmodel = torch.nn.Linear(1, 1)\n"


def order(body: str) -> list[tuple[int, str | None]]:
    """Line and evidence of each NP171; the head has three lines."""
    findings = check(HEAD + textwrap.dedent(body))
    return [(finding.location.row, finding.evidence) for finding in findings if finding.code == "NP171"]


@pytest.mark.parametrize(
    ("touch", "name"),
    [
        ('model.to("neuron")', ".to()"),
        ("model.to(device)", ".to()"),
        ("model.to(args.device)", ".to()"),
        ("model.to(torch.device(kind))", ".to()"),
        ("model.cuda()", ".cuda()"),
        ("x = torch.zeros(3, device=device)", "torch.zeros"),
        ('x = torch.zeros(3, device="cuda")', "torch.zeros"),
        ("torch.cuda.synchronize()", "torch.cuda.synchronize"),
        ("torch.accelerator.empty_cache()", "torch.accelerator.empty_cache"),
    ],
)
def test_a_use_before_the_group(touch: str, name: str) -> None:
    assert order(f'{touch}\ndist.init_process_group("neuron")\n') == [(5, f"{name} on line 4")]
    assert order(f'dist.init_process_group("neuron")\n{touch}\n') == []


@pytest.mark.parametrize(
    "line",
    [
        'model.to("cpu")',
        "model.to(torch.bfloat16)",
        'd = torch.device("neuron")',
        "x = torch.zeros(3)",
        'x = torch.zeros(3, device="cpu")',
        'state = torch.load("x", map_location=device)',
        "torch.cuda.set_device(rank)",
        "path.to(place)",
        "f = lambda: model.cuda()",
    ],
)
def test_what_leaves_the_device_alone(line: str) -> None:
    assert order(f'{line}\ndist.init_process_group("neuron")\n') == []


def test_the_first_use_is_named() -> None:
    assert order("""\
        def main(device):
            model.to(device)
            if True:
                model.cuda()
                dist.init_process_group("neuron")
    """) == [(8, ".to() on line 5")]


def test_callers_are_looked_at() -> None:
    assert order("""\
        def setup():
            dist.init_process_group("neuron")

        def main():
            model.cuda()
            setup()
    """) == [(5, ".cuda() on line 8")]


def test_a_function_that_calls_itself() -> None:
    assert (
        order("""\
        def setup():
            dist.init_process_group("neuron")
            setup()
    """)
        == []
    )


def test_branches_that_leave_do_not_count() -> None:
    assert (
        order("""\
        def main(single):
            if single:
                model.cuda()
                return
            dist.init_process_group("neuron")
    """)
        == []
    )


def test_other_branches_do_not_count() -> None:
    assert (
        order("""\
        def main(single):
            if single:
                model.cuda()
            else:
                dist.init_process_group("neuron")
    """)
        == []
    )


def test_inside_handlers_and_cases() -> None:
    assert order("""\
        model.cuda()
        try:
            pass
        except ValueError:
            dist.init_process_group("neuron")
    """) == [(8, ".cuda() on line 4")]

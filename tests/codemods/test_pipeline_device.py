"""The device of a pipeline."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check

HEAD = "import torch\nfrom transformers import FillMaskPipeline, pipeline\nprint(torch, FillMaskPipeline)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('p = pipeline("t", device=0)', 'p = pipeline("t", device="neuron")'),
        ('p = pipeline("t", device=local_rank)', 'p = pipeline("t", device="neuron")'),
        ('p = pipeline("t", device="cuda")', 'p = pipeline("t", device="neuron")'),
        ('p = pipeline("t", device=torch.device("cuda:0"))', 'p = pipeline("t", device=torch.device("neuron"))'),
        ('p = pipeline("t", device=torch.cuda.current_device())', 'p = pipeline("t", device="neuron")'),
        ("p = FillMaskPipeline(model=m, device=0)", 'p = FillMaskPipeline(model=m, device="neuron")'),
        (
            'p = pipeline("t", device=0 if torch.cuda.is_available() else -1)',
            'p = pipeline("t", device="neuron" if torch.accelerator.is_available() else -1)',
        ),
    ],
)
def test_safe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('p = pipeline("t")', 'p = pipeline("t", device="neuron")'),
        ('p = pipeline("t", model=m, device=None)', 'p = pipeline("t", model=m, device="neuron")'),
        ('p = pipeline("t", device_map="auto")', 'p = pipeline("t", device_map="neuron")'),
        (
            'p = pipeline("t", model_kwargs={"device_map": "auto"})',
            'p = pipeline("t", model_kwargs={"device_map": "neuron"})',
        ),
        (
            'p = pipeline("t", device=accelerator.process_index)',
            'p = pipeline("t", device="neuron")',
        ),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before) == after


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('p = pipeline("t", device=2)', ["error manual"]),
        ('p = pipeline("t", device=-1)', []),
        ('p = pipeline("t", device="cpu")', []),
        ('p = pipeline("t", device=model.device)', []),
        ('p = pipeline("t", device=device)', []),
        ('p = pipeline("t", **options)', ["info manual"]),
        ('p = pipeline("t", device_map="balanced")', ["error manual"]),
    ],
)
def test_grades(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP401") == expected


def test_a_number_that_is_used_otherwise_stays() -> None:
    source = "from transformers import pipeline\ndevice = 0\nif device >= 0:\n    print(device)\np = pipeline('t', device=device)\n"
    (finding,) = check(source)
    assert (finding.code, finding.location.row, finding.fix) == ("NP401", 5, None)


def test_options_that_are_numbers() -> None:
    source = (
        "import argparse\nfrom transformers import pipeline\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--device', type=int, default=-1)\nargs = parser.parse_args()\np = pipeline('t', device=args.device)\n"
    )
    (finding,) = check(source)
    assert (finding.code, finding.location.row, finding.location.column) == ("NP401", 6, 26)


def test_portable_code_runs_without_an_accelerator() -> None:
    assert_ported(
        """\
        from transformers import pipeline

        write = pipeline("fill-mask")
        """,
        """\
        from transformers import pipeline
        import torch

        write = pipeline("fill-mask", device=torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu")
        """,
        target="portable",
    )

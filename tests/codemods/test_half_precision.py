"""float16 beside the weights that a program loads."""

from __future__ import annotations

import pytest

from tests.porting import check, ported

HEAD = "import torch\nfrom diffusers import AutoencoderKL\n\n"


def port(line: str, level: str = "unsafe", target: str = "neuron") -> str:
    return ported(f"{HEAD}{line}\n", level, target).removeprefix(HEAD).rstrip("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = x.to(torch.float16)", "x = x.to(torch.bfloat16)"),
        ("x = x.to(device, torch.half)", "x = x.to(device, torch.bfloat16)"),
        ("x.to(dtype=torch.float16 if a else torch.float32)", "x.to(dtype=torch.bfloat16 if a else torch.float32)"),
        ("t = torch.float16\nx.to(t)", "t = torch.bfloat16\nx.to(t)"),
        ("def f(a, t=torch.half): pass", "def f(a, t=torch.bfloat16): pass"),
        ("def f(*, t=torch.half): return torch.half", "def f(*, t=torch.bfloat16): return torch.bfloat16"),
        ("class A:\n    t: torch.dtype = torch.float16", "class A:\n    t: torch.dtype = torch.bfloat16"),
        ("x = torch.ones(1, dtype=torch.half)", "x = torch.ones(1, dtype=torch.bfloat16)"),
        ("vae.half()", "vae.to(torch.bfloat16)"),
        ("x = encode(x.half())", "x = encode(x.to(torch.bfloat16))"),
        ("from torch import float16\nx.to(float16)", "x.to(torch.bfloat16)"),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(before) == after
    assert port(before, "safe") == before
    assert port(before, "unsafe", "portable") == after


@pytest.mark.parametrize(
    "line",
    [
        "x.to(torch.bfloat16)",
        "if x.dtype == torch.float16: pass",
        "x.dtype in (torch.float16, torch.half)",
        "table = {'fp16': torch.float16}",
        "torch.finfo(torch.float16)",
        "word.half(1)",
        "quantize(bnb_4bit_compute_dtype=torch.float16)",
        "def load(t=torch.float16): return load_it(t).from_pretrained('x', dtype=t)",
    ],
)
def test_what_stays(line: str) -> None:
    assert port(line) == line
    assert [finding for finding in check(f"{HEAD}{line}\n") if finding.code == "NP481"] == []


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("if args.fp16:\n    t = torch.float16", (5, 9)),
        ("t = torch.float16 if precision == 'fp16' else torch.float32", (4, 5)),
        ("t = torch.float32 if not half else torch.half", (4, 36)),
    ],
)
def test_what_a_switch_chooses_is_noted(line: str, place: tuple[int, int]) -> None:
    assert port(line) == line
    (finding,) = check(f"{HEAD}{line}\n")
    assert (finding.code, finding.severity.word, finding.applicability.word) == ("NP481", "info", "manual")
    assert (finding.location.row, finding.location.column) == place


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("import torch\n\nx.half()\nx.to(torch.float16)\n", 0),
        ("import torch\nfrom transformers import AutoConfig\n\nx.half()\nx.to(torch.float16)\n", 0),
        ("import torch\nfrom transformers import AutoModel\n\nm = AutoModel.from_pretrained('a')\nm.half()\n", 1),
    ],
)
def test_files_that_are_looked_at(source: str, count: int) -> None:
    assert [finding.code for finding in check(source)].count("NP481") == count


@pytest.mark.parametrize("imports", ["", "import transformers\n"])
def test_a_pipeline_of_another_module(imports: str) -> None:
    source = (
        f"{HEAD}{imports}from own import OwnPipeline\nOwnPipeline.from_pretrained('x', torch_dtype=torch.float16)\n"
    )
    assert ported(source).endswith("dtype=torch.bfloat16)\n")
    assert ported(ported(source)) == ported(source)

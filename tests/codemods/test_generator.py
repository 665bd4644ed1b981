"""Random generators on the device."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported

HEAD = "import torch\nimport diffusers\npipe = diffusers.DiffusionPipeline.from_pretrained('a')\n"


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "pipe('p', generator=torch.Generator('cuda').manual_seed(0))",
            "pipe('p', generator=torch.Generator('cpu').manual_seed(0))",
        ),
        ("pipe('p', generator=[torch.Generator('cuda:0')])", "pipe('p', generator=[torch.Generator('cpu')])"),
    ],
)
def test_a_pipeline_takes_a_cpu_generator(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "safe", target) == after
    assert found(HEAD, before, "NP147", target) == ["error safe"]


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("g = torch.Generator(device='cuda')", "g = torch.Generator(device='cpu')"),
        ("g = torch.Generator(f'cuda:{rank}')", 'g = torch.Generator("cpu")'),
        ("g = torch.Generator(torch.device('cuda'))", 'g = torch.Generator("cpu")'),
        ("g = torch.Generator('cuda' if torch.cuda.is_available() else 'cpu')", 'g = torch.Generator("cpu")'),
    ],
)
def test_unsafe(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "safe", target) == before
    assert port(HEAD, before, "unsafe", target) == after
    assert found(HEAD, before, "NP147", target) == ["error unsafe"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = torch.rand(3, device=place, generator=torch.Generator('cuda'))", ["warning manual"]),
        ("g = torch.Generator(device=device)", ["info manual"]),
        ("g = torch.Generator(self._device).manual_seed(2)", ["info manual"]),
        ("g = torch.Generator(x.device)", ["info manual"]),
        ("g = torch.Generator()", []),
        ("g = torch.Generator('cpu')", []),
        ("g = torch.Generator(torch.device('cpu'))", []),
        ("g = Generator('cuda')", []),
        ("make = torch.Generator", []),
    ],
)
def test_what_stays(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line.splitlines()[-1]
    assert found(HEAD, line, "NP147") == expected


def test_a_generator_on_a_held_device_for_a_pipeline() -> None:
    assert_ported(
        """\
        import torch
        from diffusers import DiffusionPipeline

        pipe = DiffusionPipeline.from_pretrained("x").to("neuron")
        pipe("a", generator=torch.Generator(device=pipe.device).manual_seed(0))
        generators = [torch.Generator(device).manual_seed(seed) for seed in range(4)] if seeds else None
        pipe("a", generator=generators)
        options = {"generator": torch.Generator("cuda")}
        pipe("a", **options)
        """,
        """\
        import torch
        from diffusers import DiffusionPipeline

        pipe = DiffusionPipeline.from_pretrained("x").to("neuron")
        pipe("a", generator=torch.Generator(device="cpu").manual_seed(0))
        generators = [torch.Generator("cpu").manual_seed(seed) for seed in range(4)] if seeds else None
        pipe("a", generator=generators)
        options = {"generator": torch.Generator("cpu")}
        pipe("a", **options)
        """,
        level="safe",
    )


def test_a_generator_on_the_current_device_for_a_pipeline() -> None:
    assert port(HEAD, "pipe('a', generator=torch.Generator(device=torch.cuda.current_device()))", "safe") == (
        "pipe('a', generator=torch.Generator(device=\"cpu\"))"
    )


def test_a_generator_on_the_cpu_is_left_alone() -> None:
    line = "device = 'cpu'\npipe('a', generator=torch.Generator(device))"
    assert port(HEAD, line) == line.splitlines()[-1]

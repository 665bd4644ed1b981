"""Offloading becomes a place on the device."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, check, ported

HEAD = "from diffusers import DiffusionPipeline\n\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("pipe.enable_model_cpu_offload()", 'pipe.to("neuron")'),
        ('pipe.enable_model_cpu_offload(device="cuda")', 'pipe.to("neuron")'),
        ("self.pipe.enable_sequential_cpu_offload(gpu_id=1)", 'self.pipe.to("neuron")'),
        ('pipe.to("cuda")\npipe.enable_model_cpu_offload()', 'pipe.to("neuron")'),
        ("pipe.enable_model_cpu_offload()\npipe = pipe.to(device)", "pipe = pipe.to(device)"),
        ("pipe.to(torch.float32)\npipe.enable_model_cpu_offload()", 'pipe.to(torch.float32)\npipe.to("neuron")'),
        (
            "pipe = DiffusionPipeline.from_pretrained('x').to(device)\nif low:\n    pipe.enable_model_cpu_offload()\nrun()",
            "pipe = DiffusionPipeline.from_pretrained('x').to(device)\nrun()",
        ),
        (
            "if low:\n    pipe.enable_model_cpu_offload()\nelse:\n    pipe.to(device)",
            'if low:\n    pipe.to("neuron")\nelse:\n    pipe.to(device)',
        ),
        ("pipe.enable_model_cpu_offload()\npipe = pipe.to('cpu')", "pipe.to(\"neuron\")\npipe = pipe.to('cpu')"),
        (
            "pipe = load().to(device)\npipe = load()\npipe.enable_model_cpu_offload()",
            'pipe = load().to(device)\npipe = load()\npipe.to("neuron")',
        ),
        (
            "pipe.to(device)\npipe = load()\npipe.enable_model_cpu_offload()",
            'pipe.to(device)\npipe = load()\npipe.to("neuron")',
        ),
        ("other.to(device)\npipe.enable_model_cpu_offload()", 'other.to(device)\npipe.to("neuron")'),
    ],
)
def test_placed_once(before: str, after: str) -> None:
    assert_ported(f"{HEAD}{before}\n", f"{HEAD}{after}\n")
    assert ported(f"{HEAD}{before}\n", "safe").count("offload") == 1


def test_the_function() -> None:
    before = "from diffusers.hooks import apply_group_offloading\n\napply_group_offloading(pipe.vae, onload_device=d)\n"
    assert_ported(before, 'pipe.vae.to("neuron")\n')


@pytest.mark.parametrize("line", ["x = pipe.enable_model_cpu_offload()", "run(pipe.enable_group_offload(d))"])
def test_what_stays(line: str) -> None:
    assert ported(f"{HEAD}{line}\n") == f"{HEAD}{line}\n"
    (finding,) = check(f"{HEAD}{line}\n")
    assert (finding.code, finding.severity.word, finding.applicability.word) == ("NP470", "warning", "manual")


def test_portable_code_keeps_it() -> None:
    line = f"{HEAD}pipe.enable_model_cpu_offload()\n"
    assert ported(line, "unsafe", "portable") == line
    (finding,) = check(line, "portable")
    assert (finding.code, finding.location.row, finding.location.column) == ("NP470", 3, 1)

"""Methods by the rows of a rule: removed, renamed, or with other arguments."""

from __future__ import annotations

import pytest

from tests.porting import check, ported

HEAD = "from diffusers import DiffusionPipeline\n\npipe = DiffusionPipeline.from_pretrained('x')\n"


def port(line: str, level: str = "safe", target: str = "neuron") -> str:
    return ported(f"{HEAD}{line}\n", level, target).removeprefix(HEAD).rstrip("\n")


def found(line: str, target: str = "neuron") -> list[tuple[int, int, str, str, str]]:
    return [
        (item.location.row, item.location.column, item.code, item.severity.word, item.applicability.word)
        for item in check(f"{HEAD}{line}\n", target)
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("pipe.enable_xformers_memory_efficient_attention(); x = 1", "x = 1"),
        ("pipe.unet.disable_xformers_memory_efficient_attention()\nx = 1", "x = 1"),
        ("pipe.enable_vae_slicing()", "pipe.vae.enable_slicing()"),
        ("self.pipes[0].disable_vae_tiling()", "self.pipes[0].vae.disable_tiling()"),
        ("pipe.unet.set_attention_backend('sage')", "pipe.unet.set_attention_backend('native')"),
        (
            'pipe.unet.set_attention_backend("flash" if fast else "native")',
            'pipe.unet.set_attention_backend("native" if fast else "native")',
        ),
        (
            "pipe.unet.compile_repeated_blocks()",
            'pipe.unet.compile_repeated_blocks(backend="neuron", dynamic=False)',
        ),
        (
            "pipe.unet.compile_repeated_blocks(mode='max-autotune', dynamic=False)",
            'pipe.unet.compile_repeated_blocks(dynamic=False, backend="neuron")',
        ),
    ],
)
def test_safe(before: str, after: str) -> None:
    assert port(before) == after


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = pipe.enable_xformers_memory_efficient_attention()", [(4, 5, "NP472", "error", "manual")]),
        (
            "try:\n    pipe.enable_xformers_memory_efficient_attention()\nexcept Exception:\n    pass",
            [(5, 5, "NP472", "info", "manual")],
        ),
        ("pipe.unet.enable_npu_flash_attention()", [(4, 1, "NP472", "error", "manual")]),
        ("pipe.unet.set_attention_backend(name)", []),
        ("pipe.unet.set_attention_backend('native')", []),
        ("pipe.unet.compile_repeated_blocks(**options)", []),
        ("from diffusers import XFormersAttnProcessor\nisinstance(x, XFormersAttnProcessor)", []),
    ],
)
def test_what_stays(line: str, expected: list[tuple[int, int, str, str, str]]) -> None:
    assert port(line, "unsafe") == line
    assert found(line) == expected


def test_finally_catches_nothing() -> None:
    line = "try:\n    pipe.enable_xformers_memory_efficient_attention()\n    run()\nfinally:\n    stop()"
    assert port(line) == "try:\n    run()\nfinally:\n    stop()"


def test_portable_code_keeps_its_kernels() -> None:
    for line in ("pipe.enable_xformers_memory_efficient_attention()", "pipe.unet.set_attention_backend('sage')"):
        assert port(line, "unsafe", "portable") == line
        assert [code for _, _, code, _, _ in found(line, "portable")] == ["NP472"]


def test_own_methods_are_left_alone() -> None:
    source = """\
    from diffusers import DiffusionPipeline

    class Pipeline(DiffusionPipeline):
        def enable_vae_slicing(self):
            self.vae.enable_slicing()

        def prepare(self):
            self.enable_vae_slicing()
    """
    assert check(source) == ()


def test_files_without_the_package_are_left_alone() -> None:
    assert check("reader.enable_attention_slicing()\nloss.backward()\n") == ()


def test_once_in_a_file() -> None:
    assert found("loss.backward()\nloss.backward()") == [(4, 1, "NP479", "warning", "manual")]


def test_a_version_is_named() -> None:
    (message,) = [item.message for item in check(f"{HEAD}pipe.unet.compile_repeated_blocks(dynamic=False)\n")]
    assert message.endswith(' is called "neuron" (needs diffusers>=0.39)')

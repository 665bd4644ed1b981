"""What a GPU is and can do."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check

HEAD = "import torch\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("n = torch.cuda.get_device_name(0)", ["error manual"]),
        ("ok = torch.cuda.get_device_capability()[0] >= 8", ["error manual"]),
        ("n = torch.cuda.get_device_properties(0).total_memory", ["error manual"]),
        ("n = torch.cuda.get_device_properties(0).multi_processor_count", ["error manual"]),
        ("p = torch.cuda.get_device_properties(0)", ["error manual"]),
        ("ok = torch.cuda.is_tf32_supported()", ["info manual"]),
        ("n = get_device_name(0)", []),
        ("n = torch.neuron.get_device_properties(0).name", []),
    ],
)
def test_reported(line: str, expected: list[str]) -> None:
    for target in ("neuron", "portable"):
        assert port(HEAD, line, "unsafe", target) == line
        assert found(HEAD, line, "NP133", target) == expected


@pytest.mark.parametrize(
    ("attribute", "words"),
    [
        ("total_memory", "torch.accelerator.get_memory_info(index)[1] gives the size in bytes"),
        ("name", "torch.neuron.get_device_properties(index).name gives the instance type"),
        ("warp_size", "the property warp_size describes CUDA hardware and does not exist on Neuron"),
    ],
)
def test_the_message_says_what_to_ask(attribute: str, words: str) -> None:
    (finding,) = check(f"import torch\nx = torch.cuda.get_device_properties(0).{attribute}\n")
    assert finding.message.endswith(words)


def test_bfloat16_is_asked_of_neuron() -> None:
    line = "ok = torch.cuda.is_bf16_supported()"
    assert port(HEAD, line, "safe") == line
    assert port(HEAD, line) == "ok = torch.accelerator.is_available() and torch.neuron.is_bf16_supported()"
    assert port(HEAD, line, "unsafe", "portable") == line
    assert found(HEAD, line, "NP133") == ["warning unsafe"]


def test_an_import_does_not_name_the_neuron_module() -> None:
    assert_ported(
        """
        import torch
        from torch.cuda import is_bf16_supported
        print(is_bf16_supported())
        """,
        """
        import torch
        print(torch.accelerator.is_available() and torch.neuron.is_bf16_supported())
        """,
    )


def test_portable_code_keeps_the_whole_condition() -> None:
    line = "if torch.cuda.is_available() and torch.cuda.is_bf16_supported(): y = 1"
    assert port(HEAD, line, "unsafe", "portable") == line
    after = "if torch.accelerator.is_available() and torch.neuron.is_bf16_supported(): y = 1"
    assert port(HEAD, line) == after

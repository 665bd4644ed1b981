"""Models that are quantized when they are loaded."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, ported

HEAD = (
    "import torch\nfrom transformers import AutoModel, BitsAndBytesConfig, GPTQConfig, pipeline\n"
    "from peft import prepare_model_for_kbit_training\nprint(torch, AutoModel, BitsAndBytesConfig, GPTQConfig, pipeline)\n"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "m = AutoModel.from_pretrained(n, load_in_4bit=True)",
            'm = AutoModel.from_pretrained(n, dtype=torch.bfloat16, device_map="neuron")',
        ),
        (
            "m = AutoModel.from_pretrained(n, load_in_8bit=flag, dtype=torch.float32)",
            'm = AutoModel.from_pretrained(n, dtype=torch.float32, device_map="neuron")',
        ),
        (
            "m = AutoModel.from_pretrained(n, quantization_config=BitsAndBytesConfig(load_in_4bit=True))",
            'm = AutoModel.from_pretrained(n, dtype=torch.bfloat16, device_map="neuron")',
        ),
        (
            'm = AutoModel.from_pretrained(n, quantization_config={"load_in_4bit": True})',
            'm = AutoModel.from_pretrained(n, dtype=torch.bfloat16, device_map="neuron")',
        ),
        ("m = prepare_model_for_kbit_training(m, use_gradient_checkpointing=False); x = 1", "x = 1"),
        ("run(prepare_model_for_kbit_training(m))", "run(m)"),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after


def test_a_flag_that_is_off_goes() -> None:
    before = "m = AutoModel.from_pretrained(n, load_in_8bit=False)"
    assert port(HEAD, before, "safe") == "m = AutoModel.from_pretrained(n)"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("m = AutoModel.from_pretrained(n, quantization_config=GPTQConfig(bits=4))", ["error manual"]),
        ("m = AutoModel.from_pretrained(n, quantization_config=config)", ["warning manual"]),
        ("m = AutoModel.from_pretrained(n, quantization_config=None)", []),
        ('m = AutoModel.from_pretrained("org/Llama-7B-AWQ")', ["warning manual"]),
        ('m = AutoModel.from_pretrained("org/Llama-8B-FP8-dynamic")', ["warning manual"]),
        ('m = AutoModel.from_pretrained("org/big-bird")', []),
        ("other.from_json(n, load_in_8bit=True)", []),
    ],
)
def test_grades(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP407") == expected


def test_portable_code_keeps_its_quantization() -> None:
    line = "m = AutoModel.from_pretrained(n, quantization_config=BitsAndBytesConfig(load_in_4bit=True))"
    assert port(HEAD, line, "unsafe", "portable") == line


def test_qlora_becomes_lora() -> None:
    assert_ported(
        """\
        import os
        import torch
        from peft import prepare_model_for_kbit_training
        from transformers import AutoModelForCausalLM, BitsAndBytesConfig

        os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"
        config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16)
        model = AutoModelForCausalLM.from_pretrained("x", quantization_config=config if torch else None)
        model = prepare_model_for_kbit_training(model, gradient_checkpointing_kwargs={"use_reentrant": False})
        """,
        """\
        import os
        import torch
        from transformers import AutoModelForCausalLM

        os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"
        model = AutoModelForCausalLM.from_pretrained("x", dtype=torch.bfloat16, device_map="neuron")
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        model.enable_input_require_grads()
        """,
    )


def test_what_an_option_turns_on_stays() -> None:
    source = """\
    import torch
    from transformers import AutoModel, BitsAndBytesConfig

    def load(four_bits):
        kwargs = {"dtype": torch.bfloat16}
        if four_bits:
            kwargs["quantization_config"] = BitsAndBytesConfig(load_in_4bit=True)
        return AutoModel.from_pretrained("x", **kwargs)
    """
    assert_ported(source, source)


def test_a_configuration_that_is_read_elsewhere_stays() -> None:
    source = """\
    from transformers import AutoModel, BitsAndBytesConfig

    config = BitsAndBytesConfig(load_in_4bit=True)
    options = dict(quantization_config=config)
    run(options)
    """
    assert_ported(source, source)


def test_a_torch_that_is_imported_later() -> None:
    assert_ported(
        """\
        import os
        from transformers import AutoModel

        os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"
        model = AutoModel.from_pretrained("x", load_in_8bit=True)
        import torch

        print(torch.__version__)
        """,
        """\
        import os
        from transformers import AutoModel

        os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"
        model = AutoModel.from_pretrained("x", dtype="bfloat16", device_map="neuron")
        import torch

        print(torch.__version__)
        """,
    )


def test_a_place_that_is_given_stays() -> None:
    before = 'm = AutoModel.from_pretrained(n, load_in_4bit=True, device_map="cpu")'
    assert port(HEAD, before) == 'm = AutoModel.from_pretrained(n, device_map="cpu", dtype=torch.bfloat16)'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "m.gradient_checkpointing_enable()\nm = prepare_model_for_kbit_training(m)",
            "m.gradient_checkpointing_enable()\nm.enable_input_require_grads()",
        ),
        (
            "m = prepare_model_for_kbit_training(m)\nm.enable_input_require_grads()\nm.gradient_checkpointing_enable()",
            "m.enable_input_require_grads()\nm.gradient_checkpointing_enable()",
        ),
        (
            "n.gradient_checkpointing_enable()\nm = prepare_model_for_kbit_training(m)",
            "n.gradient_checkpointing_enable()\nm.gradient_checkpointing_enable()\nm.enable_input_require_grads()",
        ),
    ],
)
def test_gradient_checkpointing_is_turned_on_once(before: str, after: str) -> None:
    head = "from peft import prepare_model_for_kbit_training\nprint(prepare_model_for_kbit_training)\nm = n = load()\n"
    assert ported(f"{head}{before}\n").endswith(f"m = n = load()\n{after}\n")


def test_accelerates_way_to_quantize() -> None:
    head = (
        "from accelerate.utils import BnbQuantizationConfig, load_and_quantize_model\nprint(load_and_quantize_model)\n"
    )
    assert found(head, "c = BnbQuantizationConfig(load_in_4bit=True)", "NP407") == ["error manual"]
    assert found(head, "m = load_and_quantize_model(m, c)", "NP407") == ["error manual"]

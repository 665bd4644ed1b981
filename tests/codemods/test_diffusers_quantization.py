"""Quantized diffusion models are loaded in bfloat16."""

from __future__ import annotations

from tests.porting import assert_ported, check, ported


def test_bitsandbytes_goes_with_its_configuration() -> None:
    assert_ported(
        """\
        import torch
        from diffusers import BitsAndBytesConfig, FluxTransformer2DModel

        four = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16)
        model = FluxTransformer2DModel.from_pretrained("flux", quantization_config=four)
        other = FluxTransformer2DModel.from_pretrained("flux", quantization_config=BitsAndBytesConfig(load_in_8bit=True))
        """,
        """\
        import torch
        from diffusers import FluxTransformer2DModel

        model = FluxTransformer2DModel.from_pretrained("flux", dtype=torch.bfloat16)
        other = FluxTransformer2DModel.from_pretrained("flux", dtype=torch.bfloat16)
        """,
    )


def test_the_other_quantizers_are_reported() -> None:
    source = (
        "from diffusers import FluxTransformer2DModel, TorchAoConfig\n\n"
        'FluxTransformer2DModel.from_pretrained("flux", quantization_config=TorchAoConfig("int8wo"))\n'
    )
    assert ported(source) == source
    assert [(f.code, f.location.row, f.location.column, f.severity.word) for f in check(source)] == [
        ("NP476", 3, 68, "warning")
    ]

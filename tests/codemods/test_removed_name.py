"""Names that the releases of Hugging Face's libraries with Neuron have not."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, check, ported


def test_the_optimizer_keeps_its_defaults() -> None:
    assert_ported(
        """\
        from transformers import AdamW

        optimizer = AdamW(model.parameters(), lr=5e-5, no_deprecation_warning=True)
        """,
        """\
        from torch.optim import AdamW

        optimizer = AdamW(model.parameters(), lr=5e-5, eps=1e-06, weight_decay=0.0)
        """,
    )


def test_an_optimizer_without_bias_correction_stays() -> None:
    source = "from transformers import AdamW\n\nAdamW(p, correct_bias=False)\n"
    assert ported(source) == source
    assert [(f.location.row, f.severity.word, f.applicability.word) for f in check(source)] == [
        (1, "error", "manual"),
        (3, "error", "manual"),
    ]


def test_telemetry_goes() -> None:
    assert_ported(
        'from transformers.utils import check_min_version, send_example_telemetry\n\ncheck_min_version("4")\n'
        'send_example_telemetry("x", a)\n',
        'from transformers.utils import check_min_version\n\ncheck_min_version("4")\n',
        level="safe",
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from transformers import AutoModelForVision2Seq\n\nAutoModelForVision2Seq.from_config(c)\n",
            "from transformers import AutoModelForImageTextToText\n\nAutoModelForImageTextToText.from_config(c)\n",
        ),
        (
            "import transformers\n\ntransformers.CLIPFeatureExtractor()\n",
            "import transformers\n\ntransformers.CLIPImageProcessor()\n",
        ),
        (
            "from transformers import CLIPFeatureExtractor as Reader\n\nReader()\n",
            "from transformers import CLIPImageProcessor as Reader\n\nReader()\n",
        ),
        (
            "from huggingface_hub import HfFolder\n\nt = HfFolder.get_token()\n",
            "import huggingface_hub\n\nt = huggingface_hub.get_token()\n",
        ),
        (
            "from huggingface_hub.hf_api import HfFolder\n\nt = HfFolder.get_token()\n",
            "import huggingface_hub\n\nt = huggingface_hub.get_token()\n",
        ),
    ],
)
def test_successors(before: str, after: str) -> None:
    assert_ported(before, after, level="safe")


def test_metrics_are_loaded_by_another_package() -> None:
    assert_ported(
        'from datasets import load_metric\n\nm = load_metric("glue", "mrpc")\n',
        'import evaluate\n\nm = evaluate.load("glue", "mrpc")\n',
    )


@pytest.mark.parametrize(
    "statement",
    [
        "from transformers import TFAutoModel",
        "from transformers import AutoModelWithLMHead, AutoTokenizer",
        "import transformers.onnx",
        "from transformers.deepspeed import HfDeepSpeedConfig",
        "from huggingface_hub import Repository",
    ],
)
def test_what_is_gone_is_reported_at_its_import(statement: str) -> None:
    assert [(f.code, f.location.row, f.severity.word) for f in check(f"{statement}\n")] == [("NP493", 1, "error")]
    assert ported(f"{statement}\n") == f"{statement}\n"

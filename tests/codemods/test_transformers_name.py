"""Names that Transformers 5 does not have."""

from __future__ import annotations

from tests.porting import assert_ported, codes


def test_renamed_where_it_is_used() -> None:
    assert_ported(
        """\
        from transformers import MT5Tokenizer

        tokenizer = MT5Tokenizer.from_pretrained("x")
        """,
        """\
        from transformers import T5Tokenizer

        tokenizer = T5Tokenizer.from_pretrained("x")
        """,
        level="safe",
    )


def test_classes_of_other_frameworks() -> None:
    source = "from transformers import TFBertModel, TFxModel, TrainerState\nmodel = TFBertModel()\n"
    assert codes(source) == [(1, "NP409")]
    assert codes("import transformers\nmodel = transformers.FlaxGPT2Model()\n") == [(2, "NP409")]


def test_an_import_that_may_fail() -> None:
    source = "try:\n    from transformers import TFBertModel\nexcept ImportError:\n    TFBertModel = None\n"
    assert codes(source) == [(2, "NP409")]

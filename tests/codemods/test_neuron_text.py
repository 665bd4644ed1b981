"""Text for decoders of optimum-neuron: static caches, prompts of one length, padding on the left."""

from __future__ import annotations

import pytest

from tests.porting import ported

HEAD = """from optimum.neuron import NeuronModelForCausalLM
from transformers import AutoTokenizer

"""


def program(load: str, tokenizer: str, tokenize: str, generate: str) -> str:
    return f"""{HEAD}
def run(texts, length, **kwargs):
    model = NeuronModelForCausalLM.from_pretrained("org/model", export=True{load})
    tokenizer = AutoTokenizer.from_pretrained("org/model"{tokenizer})
    tokenizer.pad_token = tokenizer.eos_token
    inputs = tokenizer(texts, return_tensors="pt"{tokenize})
    return model.generate(**inputs{generate})
"""


@pytest.mark.parametrize(
    ("load", "generate", "written"),
    [
        ("", "", ', cache_implementation="static")'),
        (", sequence_length=512", "", ', cache_implementation="static", max_cache_len=512)'),
        (", sequence_length=length", "", ', cache_implementation="static", max_cache_len=length)'),
        (", sequence_length=len(texts)", "", ', cache_implementation="static")'),
        ("", ", **kwargs", ', **kwargs, cache_implementation="static")'),
        ("", ', cache_implementation="static"', ', cache_implementation="static")'),
    ],
)
def test_cache(load: str, generate: str, written: str) -> None:
    after = ported(program(load, "", "", generate), level="unsafe")
    assert f"return model.generate(**inputs{written}\n" in after


@pytest.mark.parametrize(
    ("load", "tokenize", "generate", "written"),
    [
        (
            ", sequence_length=512",
            ", padding=True",
            ", max_new_tokens=32",
            ', padding="max_length", truncation=True, max_length=480',
        ),
        (", sequence_length=512", "", ", max_new_tokens=32", ""),
        (
            ", sequence_length=512",
            ", padding=True, max_length=64, truncation=True",
            ", max_new_tokens=32",
            ', padding="max_length", max_length=64, truncation=True',
        ),
        (", sequence_length=512", ", padding=True", ", max_length=128", ", padding=True"),
        (
            ", sequence_length=512",
            ", padding=True",
            ", max_new_tokens=length",
            ", padding=True, pad_to_multiple_of=128",
        ),
        (", sequence_length=32", ", padding=True", ", max_new_tokens=32", ", padding=True, pad_to_multiple_of=128"),
        ("", ", padding=True", ", max_new_tokens=32", ", padding=True, pad_to_multiple_of=128"),
    ],
)
def test_prompts_get_what_the_new_tokens_leave(load: str, tokenize: str, generate: str, written: str) -> None:
    after = ported(program(load, "", tokenize, generate), level="unsafe")
    assert f'inputs = tokenizer(texts, return_tensors="pt"{written})\n' in after


@pytest.mark.parametrize(
    ("shown", "padded"),
    [
        ("tokenizer.batch_decode(out, skip_special_tokens=True)", True),
        ("tokenizer.batch_decode(out[:, inputs['input_ids'].shape[1]:])", True),
        ("tokenizer.decode(out[0][len(inputs['input_ids'][0]):])", True),
        ("tokenizer.decode(out[0])[len(texts):]", False),
        ("out", False),
    ],
)
def test_one_prompt_is_padded_where_its_padding_is_not_shown(shown: str, padded: bool) -> None:
    before = program(", sequence_length=512", "", "", ", max_new_tokens=32")
    before = before.replace(
        "return model.generate(**inputs, max_new_tokens=32)",
        f"out = model.generate(**inputs, max_new_tokens=32)\n    return {shown}",
    )
    after = ported(before, level="unsafe")
    assert ("max_length=480" in after) is padded
    assert ('padding_side="left"' in after) is padded


@pytest.mark.parametrize(
    ("tokenizer", "tokenize", "written"),
    [
        ("", ", padding=True", ', padding_side="left"'),
        (', padding_side="right"', ", padding=True", ', padding_side="left"'),
        (', padding_side="left"', ", padding=True", ', padding_side="left"'),
        ("", "", ""),
        (', padding_side="right"', "", ', padding_side="left"'),
    ],
)
def test_prompts_are_padded_on_the_left(tokenizer: str, tokenize: str, written: str) -> None:
    after = ported(program("", tokenizer, tokenize, ""), level="unsafe")
    assert f'tokenizer = AutoTokenizer.from_pretrained("org/model"{written})\n' in after


def test_side_that_is_stored() -> None:
    before = program("", "", ", padding=True", "").replace(
        "    inputs =", '    tokenizer.padding_side = "right"\n    inputs ='
    )
    after = ported(before, level="unsafe")
    assert '    tokenizer.padding_side = "left"\n' in after
    assert 'AutoTokenizer.from_pretrained("org/model")' in after


def test_padding_token_where_none_is_set() -> None:
    before = program("", "", ", padding=True", "").replace("    tokenizer.pad_token = tokenizer.eos_token\n", "")
    after = ported(before, level="unsafe")
    assert after.count("    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token\n") == 1
    single = program("", "", "", "").replace("    tokenizer.pad_token = tokenizer.eos_token\n", "")
    assert "pad_token" not in ported(single, level="unsafe")


def test_encoder_tokenizers_keep_their_side() -> None:
    before = """from optimum.neuron import NeuronModelForMaskedLM
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert", padding_side="right")
model = NeuronModelForMaskedLM.from_pretrained("bert", export=True, sequence_length=64)


def run(texts):
    inputs = tokenizer(texts, padding=True)
    return model(**inputs).logits.shape
"""
    after = ported(before, level="unsafe")
    assert 'padding_side="right"' in after
    assert 'tokenizer(texts, padding="max_length", truncation=True, max_length=64)' in after

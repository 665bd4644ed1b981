"""Models of sentence-transformers."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = (
    "from sentence_transformers import CrossEncoder, SentenceTransformer\n"
    'model = SentenceTransformer("x", device="neuron")\nhost = SentenceTransformer("x", device="cpu")\nprint(CrossEncoder)\n'
)
PADDED = 'processing_kwargs={"text": {"padding": "max_length"}}'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('m = SentenceTransformer("x")', 'm = SentenceTransformer("x", device="neuron")'),
        ("m = CrossEncoder(name, max_length=9)", 'm = CrossEncoder(name, max_length=9, device="neuron")'),
        ("v = model.encode(texts)", f"v = model.encode(texts, {PADDED})"),
        ("v = model.eval().encode_query(texts)", f"v = model.eval().encode_query(texts, {PADDED})"),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after


def test_a_cuda_device_is_safe() -> None:
    before = 'm = SentenceTransformer("x", device="cuda")'
    assert port(HEAD, before, "safe") == 'm = SentenceTransformer("x", device="neuron")'


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pool = model.start_multi_process_pool()", ["warning manual"]),
        ("v = host.encode(texts)", []),
        ("v = text.encode()", []),
        (f"v = model.encode(texts, {PADDED})", []),
        ('m = SentenceTransformer("x", device=device)', []),
        ("v = model.encode(texts, **options)", ["warning manual"]),
    ],
)
def test_grades(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP411") == expected


def test_where_and_how_a_part_is_loaded() -> None:
    head = "from sentence_transformers.models import Transformer\nprint(Transformer)\n"
    before = 'm = Transformer("x", model_kwargs={"torch_dtype": "float16", "device_map": "auto"})'
    assert port(head, before) == 'm = Transformer("x", model_kwargs={"dtype": "bfloat16", "device_map": "neuron"})'

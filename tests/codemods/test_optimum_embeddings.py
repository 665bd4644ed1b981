"""Sentence Transformers of optimum-neuron: encode with the texts, or the model with what the tokenizer returns."""

import pytest

from tests.porting import assert_ported, check

NAMES = ["NeuronModelForSentenceTransformers", "NeuronSentenceTransformers"]


@pytest.mark.parametrize("name", NAMES)
def test_a_call_becomes_encode(name: str) -> None:
    assert_ported(
        f"""\
        from optimum.neuron import {name}
        from transformers import AutoTokenizer
        tok = AutoTokenizer.from_pretrained("a/b")
        texts = ["a", "b"]
        m = {name}.from_pretrained("a/b", export=True, batch_size=2, sequence_length=32)
        e = m(**tok(texts, padding=True, return_tensors="pt"))["sentence_embedding"]
        """,
        """\
        from transformers import AutoTokenizer
        from sentence_transformers import SentenceTransformer
        tok = AutoTokenizer.from_pretrained("a/b")
        texts = ["a", "b"]
        m = SentenceTransformer("a/b", device="neuron", model_kwargs={"dtype": "float32"})
        m.max_seq_length = 32
        e = m.encode(texts, batch_size=2, processing_kwargs={"text": {"padding": "max_length"}}, convert_to_tensor=True).cpu()
        """,
    )


def test_one_text_stays_a_batch_of_one() -> None:
    assert_ported(
        """\
        from optimum.neuron import NeuronModelForSentenceTransformers
        from transformers import AutoTokenizer
        tok = AutoTokenizer.from_pretrained("a/b")
        m = NeuronModelForSentenceTransformers.from_pretrained("a/b", export=True)
        text = "a"
        inputs = tok(text, return_tensors="pt")
        outputs = m(**inputs)
        print(outputs.sentence_embedding.shape)
        """,
        """\
        from transformers import AutoTokenizer
        from sentence_transformers import SentenceTransformer
        tok = AutoTokenizer.from_pretrained("a/b")
        m = SentenceTransformer("a/b", device="neuron", model_kwargs={"dtype": "float32"})
        text = "a"
        outputs = m.encode([text], convert_to_tensor=True, processing_kwargs={"text": {"padding": "max_length"}}).cpu()
        print(outputs.shape)
        """,
    )


def test_other_fields_need_the_inputs() -> None:
    assert_ported(
        """\
        from optimum.neuron import NeuronModelForSentenceTransformers
        from transformers import AutoTokenizer
        tok = AutoTokenizer.from_pretrained("a/b")
        m = NeuronModelForSentenceTransformers.from_pretrained("a/b", export=True, auto_cast="all", auto_cast_type="bf16")
        def vectors(texts):
            inputs = tok(texts, return_tensors="pt")
            outputs = m(**inputs)
            return outputs.token_embeddings, outputs["sentence_embedding"]
        """,
        """\
        from transformers import AutoTokenizer
        from sentence_transformers import SentenceTransformer
        tok = AutoTokenizer.from_pretrained("a/b")
        m = SentenceTransformer("a/b", device="neuron", model_kwargs={"dtype": "bfloat16"})
        def vectors(texts):
            inputs = tok(texts, return_tensors="pt")
            outputs = m(dict(inputs.to(m.device)))
            return outputs["token_embeddings"].detach().float().cpu(), outputs["sentence_embedding"].detach().float().cpu()
        """,
    )


def test_encode_gave_tensors_on_the_cpu() -> None:
    assert_ported(
        """\
        from optimum.neuron import NeuronSentenceTransformers
        m = NeuronSentenceTransformers.from_pretrained("a/b", export=True, batch_size=4, sequence_length=384)
        a = m.encode(["a"], normalize_embeddings=True)
        print(m.similarity(a, a))
        """,
        """\
        from sentence_transformers import SentenceTransformer
        m = SentenceTransformer("a/b", device="neuron", model_kwargs={"dtype": "float32"})
        m.max_seq_length = 384
        a = m.encode(["a"], normalize_embeddings=True, batch_size=4, processing_kwargs={"text": {"padding": "max_length"}}, convert_to_tensor=True).cpu()
        print(m.similarity(a, a))
        """,
    )


def test_what_is_for_a_person() -> None:
    for call, reason in [
        ("M.from_pretrained(name)", "without export=True it loads compiled artefacts"),
        ('M.from_pretrained("bge_inf2/")', "'bge_inf2/' looks like a compiled artefact"),
        ("M.from_pretrained(name, export=True, num_channels=3)", "it is a CLIP model"),
        ("M.from_pretrained(name, export=True, thing=3)", "what thing= means"),
        ("M.from_pretrained(name, export=True)(inputs)", "is not model(**inputs)"),
    ]:
        source = f"from optimum.neuron import NeuronModelForSentenceTransformers as M\ndef load(name, inputs):\n    return {call}\n"
        found = [finding for finding in check(source) if finding.location.row == 3]
        assert len(found) == 1 and reason in found[0].message and found[0].fix is None, (call, found)

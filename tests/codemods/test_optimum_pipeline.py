"""Pipelines of optimum-neuron: the device, the model that it took, and calls that pad."""

import pytest

from tests.porting import assert_ported, check


@pytest.mark.parametrize("source", ["optimum.neuron", "optimum.neuron.pipelines"])
def test_calls_pad_to_the_compiled_length(source: str) -> None:
    assert_ported(
        f"""\
        from {source} import pipeline
        p = pipeline("text-classification", model="a/b", export=True, input_shapes={{"batch_size": 4, "sequence_length": 64}})
        print(p("good"))
        """,
        """\
        from transformers import pipeline
        import torch
        p = pipeline("text-classification", model="a/b", dtype=torch.float32, device="neuron", batch_size=4)
        print(p("good", padding="max_length", truncation=True, max_length=64))
        """,
    )


def test_default_shapes_and_the_default_model() -> None:
    assert_ported(
        """\
        from optimum.neuron import pipeline
        p = pipeline("feature-extraction", export=True)
        print(p("good"))
        """,
        """\
        from transformers import pipeline
        import torch
        p = pipeline("feature-extraction", model="distilbert-base-cased", dtype=torch.float32, device="neuron")
        print(p("good", tokenize_kwargs={"padding": "max_length", "truncation": True, "max_length": 128}))
        """,
    )


def test_arguments_by_position_get_their_names() -> None:
    assert_ported(
        """\
        from optimum.neuron import pipeline
        from transformers import AutoModelForMaskedLM
        m = AutoModelForMaskedLM.from_pretrained("a/b").to("neuron")
        p = pipeline("fill-mask", m, tokenizer)
        """,
        """\
        from transformers import AutoModelForMaskedLM, pipeline
        m = AutoModelForMaskedLM.from_pretrained("a/b").to("neuron")
        p = pipeline("fill-mask", m, tokenizer=tokenizer, device="neuron")
        """,
    )


def test_a_pipeline_that_cannot_pad_says_so() -> None:
    source = """\
    from optimum.neuron import pipeline
    p = pipeline("ner", model="a/b", export=True, input_shapes={"sequence_length": 64})
    print(p("My name"))
    """
    found = [finding for finding in check(source) if finding.location.row == 3]
    assert [finding.code for finding in found] == ["NP366"]
    assert "cannot pad" in found[0].message and found[0].fix is None


def test_what_is_for_a_person() -> None:
    for call, reason in [
        ('pipeline("question-answering", model="a", export=True)', "Transformers 5 has no pipeline"),
        ('pipeline("translation_en_to_fr", model="a", export=True)', "Transformers 5 has no pipeline"),
        ('pipeline("fill-mask", model="a/b")', "loads 'a/b' as a compiled artefact"),
        ('pipeline("fill-mask", model=name)', "without export=True it loads compiled artefacts"),
        ('pipeline("text-generation", model=name, export=True, num_cores=2)', "DistributedConfig(tp_size=2)"),
        ("pipeline(task, export=True)", "name it"),
        ('pipeline("fill-mask", model=name, export=True, **options)', "not all of its arguments are in sight"),
    ]:
        source = f"from optimum.neuron import pipeline\ndef load(name, task, options):\n    return {call}\n"
        found = [finding for finding in check(source) if finding.location.row == 3]
        assert len(found) == 1 and reason in found[0].message and found[0].fix is None, (call, found)

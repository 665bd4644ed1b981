"""Device maps of models that are loaded."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, ported

HEAD = "import os\nimport torch\nfrom accelerate import Accelerator\nfrom transformers import AutoModel\nprint(os, torch, Accelerator)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('AutoModel.from_pretrained(n, device_map="cuda")', 'AutoModel.from_pretrained(n, device_map="neuron")'),
        ("AutoModel.from_pretrained(n, device_map='cuda:0')", "AutoModel.from_pretrained(n, device_map='neuron')"),
        ("AutoModel.from_pretrained(n, device_map=0)", 'AutoModel.from_pretrained(n, device_map="neuron")'),
        ('AutoModel.from_pretrained(n, device_map={"": 0})', 'AutoModel.from_pretrained(n, device_map="neuron")'),
        (
            'AutoModel.from_pretrained(n, device_map={"": int(os.environ.get("LOCAL_RANK") or 0)})',
            'AutoModel.from_pretrained(n, device_map="neuron")',
        ),
        (
            'AutoModel.from_pretrained(n, device_map={"": args.local_rank})',
            'AutoModel.from_pretrained(n, device_map="neuron")',
        ),
        (
            'AutoModel.from_pretrained(n, device_map={"": torch.cuda.current_device()})',
            'AutoModel.from_pretrained(n, device_map="neuron")',
        ),
        (
            'AutoModel.from_pretrained(n, device_map="cuda" if torch.cuda.is_available() else "cpu")',
            'AutoModel.from_pretrained(n, device_map="neuron" if torch.accelerator.is_available() else "cpu")',
        ),
    ],
)
def test_safe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("AutoModel.from_pretrained(n, device_map='auto')", "AutoModel.from_pretrained(n, device_map='neuron')"),
        (
            'AutoModel.from_pretrained(n, device_map={"": Accelerator().process_index})',
            'AutoModel.from_pretrained(n, device_map="neuron")',
        ),
        (
            'AutoModel.from_pretrained(n, device_map="auto", max_memory={0: "9GB"}, offload_buffers=True)',
            'AutoModel.from_pretrained(n, device_map="neuron")',
        ),
        ('load(cls.from_pretrained(n, device_map="auto"))', 'load(cls.from_pretrained(n, device_map="neuron"))'),
        ('f(AutoModel.from_config(c), x=kind.from_config(c, device_map="auto"))', None),
    ],
)
def test_unsafe(before: str, after: str | None) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == (after or before.replace('"auto"', '"neuron"'))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('AutoModel.from_pretrained(n, device_map="balanced")', ["error manual"]),
        ('AutoModel.from_pretrained(n, device_map="sequential", max_memory=m)', ["error manual", "warning manual"]),
        ('AutoModel.from_pretrained(n, device_map={"a": 0, "b": "disk"})', ["warning manual"]),
        ('AutoModel.from_pretrained(n, device_map={"": 1})', ["warning manual"]),
        ("AutoModel.from_pretrained(n, device_map=3)", ["warning manual"]),
        ('AutoModel.from_pretrained(n, device_map={"a": "cpu", "b": "cpu"})', []),
        ("AutoModel.from_pretrained(n, device_map=None)", []),
        ("AutoModel.from_pretrained(n, device_map=place)", []),
        ('tokenizer_class.from_pretrained(n, device_map="auto")', []),
        ('other.load(n, device_map="auto")', []),
    ],
)
def test_grades(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP400") == expected


def test_files_without_transformers_have_their_own_from_pretrained() -> None:
    assert check('from mine import Map\nMap.from_pretrained("x", device_map="auto")\n') == ()


def test_values_from_elsewhere() -> None:
    assert_ported(
        """\
        import argparse
        import os

        from transformers import AutoModelForCausalLM

        os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"
        parser = argparse.ArgumentParser()
        parser.add_argument("--device-map", default="auto")
        args = parser.parse_args()

        device_map = "auto"
        if os.environ.get("WORLD_SIZE"):
            device_map = {"": int(os.environ["LOCAL_RANK"])}
        first = AutoModelForCausalLM.from_pretrained("gpt2", device_map=device_map)
        second = AutoModelForCausalLM.from_pretrained("gpt2", device_map=args.device_map)
        """,
        """\
        import argparse
        import os

        from transformers import AutoModelForCausalLM

        os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"
        parser = argparse.ArgumentParser()
        parser.add_argument("--device-map", default="neuron")
        args = parser.parse_args()

        device_map = "neuron"
        if os.environ.get("WORLD_SIZE"):
            device_map = "neuron"
        first = AutoModelForCausalLM.from_pretrained("gpt2", device_map=device_map)
        second = AutoModelForCausalLM.from_pretrained("gpt2", device_map=args.device_map)
        """,
    )


def test_position() -> None:
    findings = check('from transformers import AutoModel\nm = AutoModel.from_pretrained("x", device_map="auto")\n')
    finding = next(finding for finding in findings if finding.code == "NP400")
    assert (finding.code, finding.location.row, finding.location.column) == ("NP400", 2, 47)
    assert (finding.end_location.row, finding.end_location.column) == (2, 53)


def test_a_rank_by_another_name() -> None:
    source = """
        from accelerate import Accelerator
        from transformers import AutoModel
        index = Accelerator().local_process_index
        AutoModel.from_pretrained(n, device_map={"": index})
        AutoModel.from_pretrained(n, device_map={"": other})
        """
    after = ported(source)
    assert '(n, device_map="neuron")' in after
    assert '(n, device_map={"": other})' in after


def test_options_in_the_place_of_a_parameter() -> None:
    source = """
        import os
        from transformers import AutoModel
        os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"
        def load(name, place="auto", **options):
            options = {"device_map": place}
            return AutoModel.from_pretrained(name, **options)
        def given(name, place="auto", **options):
            return AutoModel.from_pretrained(name, **options)
        """
    assert_ported(source, source.replace('"auto"', '"neuron"', 1))


def test_a_class_of_the_programs_own_utils() -> None:
    head = "import transformers\nfrom utils import Mine\nprint(transformers)\n"
    assert port(head, 'Mine.from_pretrained(n, device_map="auto")') == 'Mine.from_pretrained(n, device_map="neuron")'

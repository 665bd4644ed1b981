"""Text generation: static caches, options, prompts, inputs, loops."""

from __future__ import annotations

import pytest

from neuron_port.findings import Applicability, Severity
from tests.porting import assert_ported, check, codes, fix, ported

HEAD = """import os
os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, pipeline
import functools, threading, transformers, vllm
model = AutoModelForCausalLM.from_pretrained("org/model", device_map="neuron")
"""
STATIC = 'cache_implementation="static"'


def port(code: str) -> str:
    """The port of code behind the head, without the head."""
    after = ported(HEAD + code)
    assert after.startswith(HEAD)
    return after[len(HEAD) :]


def found(code: str, wanted: str) -> list[tuple[int, int, Severity, Applicability]]:
    """Row, column, severity and level of the findings with a code in code behind the head; rows are those of the code."""
    lines = HEAD.count("\n")
    return [
        (
            each.location.row - lines,
            each.location.column,
            each.severity,
            each.fix.applicability if each.fix else Applicability.MANUAL,
        )
        for each in check(HEAD + code)
        if each.code == wanted
    ]


WARNING, ERROR, INFO = Severity.WARNING, Severity.ERROR, Severity.INFO
UNSAFE, SAFE, MANUAL = Applicability.UNSAFE, Applicability.SAFE, Applicability.MANUAL


CACHES = [
    ("model.generate(ids)\n", f"model.generate(ids, {STATIC})\n"),
    ("model.generate(**batch)\n", f"model.generate(**batch, {STATIC})\n"),
    ("model.generate(**batch, max_length=9)\n", f"model.generate(**batch, max_length=9, {STATIC}, max_cache_len=9)\n"),
    ("model.generate(ids, max_length=n)\n", f"model.generate(ids, max_length=n, {STATIC})\n"),
    # max_new_tokens goes before max_length
    (
        "model.generate(ids, max_length=9, max_new_tokens=n)\n",
        f"model.generate(ids, max_length=9, max_new_tokens=n, {STATIC})\n",
    ),
    ("o = {'top_k': 3}\nmodel.generate(ids, **o)\n", f"o = {{'top_k': 3}}\nmodel.generate(ids, {STATIC}, **o)\n"),
    (
        "threading.Thread(target=model.generate, kwargs={'inputs': ids})\n",
        'threading.Thread(target=model.generate, kwargs={\'inputs\': ids, "cache_implementation": "static"})\n',
    ),
    (
        "step = functools.partial(model.generate, top_k=3)\n",
        f"step = functools.partial(model.generate, top_k=3, {STATIC})\n",
    ),
    (
        "def f(**kwargs):\n    return model.generate(ids, **kwargs)\n",
        f"def f(**kwargs):\n    model.generation_config.{STATIC.replace('=', ' = ')}\n    return model.generate(ids, **kwargs)\n",
    ),
    (
        "class A:\n    def f(self):\n        self.model = model\n        self.model.generate(x, **self.options)\n",
        "class A:\n    def f(self):\n        self.model = model\n"
        '        self.model.generation_config.cache_implementation = "static"\n'
        "        self.model.generate(x, **self.options)\n",
    ),
    (
        "c = GenerationConfig(top_k=3)\nmodel.generate(ids, generation_config=c)\n",
        f"c = GenerationConfig(top_k=3, {STATIC})\nmodel.generate(ids, generation_config=c)\n",
    ),
    (
        "def f(**kw):\n    c = GenerationConfig(**kw)\n    model.generate(ids, generation_config=c)\n",
        "def f(**kw):\n    c = GenerationConfig(**kw)\n"
        '    c.cache_implementation = "static"\n    model.generate(ids, generation_config=c)\n',
    ),
    (
        "def f(**kw):\n    model.generate(ids, generation_config=GenerationConfig(**kw))\n",
        f"def f(**kw):\n    model.generate(ids, generation_config=GenerationConfig(**kw), {STATIC})\n",
    ),
    (
        "c = GenerationConfig.from_pretrained('org/model')\nmodel.generate(ids, generation_config=c)\n",
        f"c = GenerationConfig.from_pretrained('org/model')\nmodel.generate(ids, generation_config=c, {STATIC})\n",
    ),
    (
        'p = pipeline("text-generation", model, max_length=9, device="neuron")\n',
        f'p = pipeline("text-generation", model, max_length=9, device="neuron", {STATIC}, max_cache_len=9)\n',
    ),
    (
        'p = pipeline("text-to-audio", "org/model", device="neuron")\n',
        'p = pipeline("text-to-audio", "org/model", device="neuron", generate_kwargs={"cache_implementation": "static"})\n',
    ),
]


@pytest.mark.parametrize(("before", "after"), CACHES)
def test_a_static_cache(before: str, after: str) -> None:
    assert port(before) == after
    assert port(after) == after


LEFT = [
    "model.generate(ids, cache_implementation=kind)\n",
    "model.generate(ids, past_key_values=cache)\n",
    "model.generate(ids, assistant_model=small)\n",
    "model.generation_config.cache_implementation = 'static'\nmodel.generate(ids)\n",
    "model.generation_config.update(cache_implementation='static')\nmodel.generate(ids)\n",
    "c = GenerationConfig()\nc.cache_implementation = 'static'\nmodel.generate(ids, generation_config=c)\n",
    "model.generate(ids, sampling_params=p)\n".replace("model", "engine"),
    "vllm.LLM('org/model').generate(prompts, p)\n",
    "def f(model):\n    model.generate(prompts, p)\n",
    "p = pipeline('text-generation', model)\np(x, cache_implementation='static')\n",
    "def f(**kw):\n    kw.setdefault('cache_implementation', 'static')\n    model.generate(ids, **kw)\n",
]


@pytest.mark.parametrize("source", LEFT)
def test_a_cache_that_is_decided(source: str) -> None:
    assert found(source, "NP425") == []


def test_where_the_findings_are() -> None:
    assert found("x = model.generate(ids)\n", "NP425") == [(1, 5, WARNING, UNSAFE)]
    assert found("def f(model):\n    model.generate(x)\n", "NP425") == [(2, 5, INFO, MANUAL)]
    assert found("[model.generate(i, **o) for i, o in many]\n", "NP425") == [(1, 2, WARNING, UNSAFE)]
    assert found("[model.generate(i, **options) for i in many]\n", "NP425") == [(1, 2, WARNING, MANUAL)]
    assert found("transformers.BarkModel.from_pretrained('b').generate(ids)\n", "NP425") == [(1, 1, WARNING, MANUAL)]
    finding = check(HEAD + "def f(net):\n    net.generate(ids, pad_token_id=0)\n")[0]
    assert finding.evidence == "generate() is called with pad_token_id"


def test_portable_code_gets_a_static_cache_too() -> None:
    source = "import transformers\nm = transformers.GPT2LMHeadModel(c)\nm.generate(ids, top_k=3)\n"
    assert_ported(source, source.replace("top_k=3", f"top_k=3, {STATIC}"), target="portable")


@pytest.mark.parametrize(
    ("source", "code", "place"),
    [
        ("model.generate(x, num_beams=4)\n", "NP431", (1, 29, WARNING, MANUAL)),
        ("model.generate(x, num_return_sequences=4)\n", "NP431", (1, 40, INFO, MANUAL)),
        ("o = {'num_beams': 4}\nmodel.generate(x, **o)\n", "NP431", (1, 19, WARNING, MANUAL)),
        ("model.generation_config.num_beams = 4\n", "NP431", (1, 1, WARNING, MANUAL)),
        ("model.generate(x, penalty_alpha=0.6)\n", "NP429", (1, 33, ERROR, MANUAL)),
        ("model.generate(x, num_beam_groups=n)\n", "NP429", (1, 35, WARNING, MANUAL)),
        ("model.generate(x, prompt_lookup_num_tokens=3)\n", "NP430", (1, 44, WARNING, MANUAL)),
        ("model.generate(x, use_cache=False)\n", "NP439", (1, 29, WARNING, UNSAFE)),
        ("model.generate(x, disable_compile=True)\n", "NP440", (1, 35, INFO, MANUAL)),
        ("model.generate(x, cache_implementation='offloaded')\n", "NP426", (1, 40, ERROR, UNSAFE)),
        ("model.generate(x, cache_implementation='hybrid')\n", "NP426", (1, 40, INFO, SAFE)),
        ("transformers.Own(cache_implementation='dynamic')\n", "NP426", (1, 39, WARNING, UNSAFE)),
        ("model.generate_batch(x)\n", "NP438", (1, 1, WARNING, MANUAL)),
        ("model.generate(x, cache_position=p)\n", "NP436", (1, 19, ERROR, UNSAFE)),
        ("model(x, cache_position=p)\n", "NP436", (1, 10, INFO, UNSAFE)),
    ],
)
def test_options(source: str, code: str, place: tuple) -> None:
    assert found(source, code) == [place]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("C(fullgraph=True)", 'C(fullgraph=True, backend="neuron", mode="default", dynamic=False)'),
        ("C(True, True, 'inductor', 'max-autotune')", "C(True, False, 'neuron', 'default')"),
        ("C(dynamic=None, backend='neuron', mode='default')", "C(dynamic=False, backend='neuron', mode='default')"),
    ],
)
def test_compile_config(before: str, after: str) -> None:
    source = "from transformers import CompileConfig as C\nc = "
    assert_ported(f"{source}{before}\n", f"{source}{after}\n", level="safe")
    codes = {finding.code for finding in check(f"{source}C()\n", "portable")}
    assert codes == {"NP427"}


PROMPTS = [
    # The tokenizer's loader says the side, and the prompt gets a multiple.
    (
        't = AutoTokenizer.from_pretrained("org/model")\nx = t(p, padding=True)\n',
        't = AutoTokenizer.from_pretrained("org/model", padding_side="left")\nx = t(p, padding=True, pad_to_multiple_of=128)\n',
    ),
    (
        't = AutoTokenizer.from_pretrained("org/model", padding_side="right")\nx = t(p)\n',
        't = AutoTokenizer.from_pretrained("org/model", padding_side="left")\nx = t(p)\n',
    ),
    # A file that trains pads its training data as before.
    (
        't = AutoTokenizer.from_pretrained("org/model")\nloss.backward()\nx = t(p, padding=True)\n',
        't = AutoTokenizer.from_pretrained("org/model")\nloss.backward()\n'
        'x = t(p, padding=True, pad_to_multiple_of=128, padding_side="left")\n',
    ),
    (
        't = AutoTokenizer.from_pretrained("org/model", padding_side="left")\nx = t(p, padding=True).to("neuron")\n',
        't = AutoTokenizer.from_pretrained("org/model", padding_side="left")\nx = t(p, padding=True, pad_to_multiple_of=128)\n',
    ),
    (
        't = AutoTokenizer.from_pretrained("org/model")\nx = t(p)\nx["input_ids"] = x["input_ids"].to(model.device)\n',
        't = AutoTokenizer.from_pretrained("org/model")\nx = t(p)\n',
    ),
]


@pytest.mark.parametrize(("before", "after"), PROMPTS)
def test_prompts(before: str, after: str) -> None:
    tail = f"model.generate(**x, {STATIC})\n"
    assert port(before + tail) == after + tail


def test_a_side_that_is_out_of_sight() -> None:
    source = (
        "from transformers import AutoModelForImageTextToText, AutoProcessor\n"
        'm = AutoModelForImageTextToText.from_pretrained("org/vlm")\np = AutoProcessor.from_pretrained("org/vlm")\n'
        f"m.generate(**p(text=t, padding=True), {STATIC})\n"
    )
    assert ported(source) == source
    assert [(finding.location.row, finding.code) for finding in check(source) if finding.code == "NP432"] == [
        (4, "NP432")
    ]


@pytest.mark.parametrize(
    ("call", "moved"),
    [
        ("t(x, return_tensors='pt')", True),
        ("t(x, return_tensors='pt').to('neuron')", False),
        ("{k: v.to(d) for k, v in t(x).items()}", False),
    ],
)
def test_inputs_of_an_encoder(call: str, moved: bool) -> None:
    source = (
        "from transformers import AutoModelForSeq2SeqLM, AutoTokenizer\n"
        't = AutoTokenizer.from_pretrained("org/t5")\nm = AutoModelForSeq2SeqLM.from_pretrained("org/t5").to("neuron")\n'
        f"e = {call}\nm.generate(**e, {STATIC})\n"
    )
    assert ("**e.to(m.device)" in ported(source)) is moved


@pytest.mark.parametrize(
    ("tail", "level"),
    [
        ("model.generate(x)\n", SAFE),
        ("x.shape\n", SAFE),
        ("x = x.to('neuron')\nlen(x)\n", SAFE),
        ("store(x)\n", UNSAFE),
        ("model.generate(**x)\n", None),
        ("x['input_ids']\n", None),
        ("x.input_ids.shape\n", None),
    ],
)
def test_ids_of_a_chat(tail: str, level: Applicability | None) -> None:
    source = f't = AutoTokenizer.from_pretrained("org/model")\nx = t.apply_chat_template(chat)\n{tail}'
    places = found(source, "NP437")
    assert [place[3] for place in places] == ([] if level is None else [level])
    if level is not None:
        assert places[0][:2] == (2, 5)


def test_evaluation_with_a_trainer_of_the_users() -> None:
    source = """\
        from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments

        class Mine(Seq2SeqTrainer):
            pass

        args = Seq2SeqTrainingArguments("out", predict_with_generate=True)
        trainer = Mine(model=net, args=args)
        """
    after = source.replace(
        "        trainer =", '        net.generation_config.cache_implementation = "static"\n        trainer ='
    )
    assert_ported(source, after)


def test_one_fix_for_options_that_two_threads_share() -> None:
    source = "o = dict(inputs=ids)\nthreading.Thread(target=model.generate, kwargs=o)\nthreading.Thread(target=model.generate, kwargs=o)\n"
    assert port(source).count("static") == 1


def test_nothing_of_this_is_safe_but_names() -> None:
    source = HEAD + "model.generate(ids, use_cache=False)\nmodel.generate(ids, max_length=9)\n"
    assert fix(source, level="safe").after == source


def test_a_decoder_that_is_given_images_keeps_its_cache() -> None:
    source = """
        from transformers import AutoModelForCausalLM, GitForCausalLM
        model = AutoModelForCausalLM.from_pretrained("x")
        model.generate(pixel_values=images, max_length=50)
        GitForCausalLM.from_pretrained("x").generate(**inputs)
        """
    assert "static" not in ported(source)
    assert [item for item in codes(source) if item[1] == "NP425"] == [(4, "NP425"), (5, "NP425")]

"""Which expressions are models, tokenizers and pipelines of Transformers."""

from __future__ import annotations

import pytest

from neuron_port.semantics.pretrained import Pretrained
from neuron_port.semantics.pretrained_names import Decodes, decodes, is_model
from neuron_port.semantics.receivers import Grade
from tests.semantics.build import module

HEAD = """
import torch, peft, trl, accelerate, copy, vllm, faker
from transformers import AutoModelForCausalLM, AutoTokenizer, AutoProcessor, PreTrainedModel, pipeline, Trainer
from transformers import T5ForConditionalGeneration as T5
import transformers
"""
LOAD = "AutoModelForCausalLM.from_pretrained('x')"


def receiver(source: str):
    """The origin of the receiver of the last ``.generate()`` call."""
    model = module(HEAD + source)
    calls = model.calls_of("generate")
    return Pretrained(model).generates(calls[-1])


MODELS = {
    "loader": f"m = {LOAD}\nm.generate()",
    "chain": f"m = {LOAD}.to('cuda').eval()\nm.generate()",
    "inline": f"{LOAD}.generate()",
    "constructor": "m = transformers.GPT2LMHeadModel(cfg)\nm.generate()",
    "annotation": "def f(m: PreTrainedModel):\n    m.generate()",
    "quoted": "def f(m: 'PreTrainedModel | None'):\n    m.generate()",
    "optional": "from typing import Optional\ndef f(m: Optional[PreTrainedModel] = None):\n    m.generate()",
    "peft": f"m = {LOAD}\nm = peft.PeftModel.from_pretrained(m, 'adapter')\nm.generate()",
    "peft alone": "m = peft.PeftModel.from_pretrained(base, 'adapter')\nm.generate()",
    "get_peft_model": f"base = {LOAD}\nm = peft.get_peft_model(base, cfg)\nm.generate()",
    "merged": f"m = peft.PeftModel.from_pretrained({LOAD}, 'a').merge_and_unload()\nm.generate()",
    "trl": "m = trl.AutoModelForCausalLMWithValueHead.from_pretrained('x')\nm.generate()",
    "compiled": f"m = torch.compile({LOAD}, mode='max-autotune')\nm.generate()",
    "wrapped": f"m = torch.nn.DataParallel({LOAD})\nm.module.generate()",
    "prepared": f"acc = accelerate.Accelerator()\nm, o = acc.prepare({LOAD}, opt)\nm.generate()",
    "unwrapped": f"m = {LOAD}\nm = acc.prepare(m)\nacc.unwrap_model(m).generate()",
    "attribute": f"class A:\n    def __init__(self):\n        self.m = {LOAD}\n    def f(self):\n        self.m.generate()",
    "pair": f"class A:\n    def __init__(self):\n        self.m, self.t = {LOAD}, tok()\n    def f(self):\n        self.m.generate()",
    "of an instance": f"class A:\n    def __init__(self):\n        self.m = {LOAD}\na = A()\na.m.generate()",
    "returned": f"def load():\n    m = {LOAD}\n    return m, tok\nm, t = load()\nm.generate()",
    "returned by a method": f"class A:\n    def load(self):\n        return {LOAD}\n    def f(self):\n        self.m = self.load()\n        self.m.generate()",
    "passed on": f"def f(net):\n    net.generate()\nf({LOAD})",
    "keyword": f"def f(x, net=None):\n    net.generate()\nm = {LOAD}\nf(1, net=m)",
    "to the constructor": f"class A:\n    def __init__(self, net):\n        self.net = net\n    def f(self):\n        self.net.generate()\nA({LOAD})",
    "of a pipeline": "p = pipeline('text-generation', 'x')\np.model.generate()",
    "of a trainer": f"t = Trainer({LOAD}, args)\nt.model.generate()",
    "subclass": "class M(transformers.LlamaForCausalLM):\n    pass\nm = M.from_pretrained('x')\nm.generate()",
    "remote class": "from llava.model import LlavaLlamaForCausalLM\nm = LlavaLlamaForCausalLM.from_pretrained('x')\nm.generate()",
    "in a branch": f"m = vllm.LLM('x') if fast else None\nif slow:\n    m = {LOAD}\n    m.generate()",
    "two loaders": f"if a:\n    m = {LOAD}\nelse:\n    m = T5.from_pretrained('x')\nm.generate()",
    "copy": f"m = copy.deepcopy({LOAD})\nm.generate()",
    "optimum": "from optimum.neuron import NeuronModelForCausalLM\nm = NeuronModelForCausalLM.from_pretrained('x')\nm.generate()",
    "context": "with trl.models.utils.unwrap_model_for_generation(model, acc) as m:\n    m.generate()",
}


@pytest.mark.parametrize("source", MODELS.values(), ids=MODELS)
def test_models(source: str) -> None:
    found = receiver(source)
    assert found.kind == "model"
    assert found.grade >= Grade.FLOW


OTHERS = {
    "vllm": "m = vllm.LLM('x')\nm.generate(p)",
    "own class": "class M:\n    def generate(self, x): ...\nmodel = M()\nmodel.generate(x, max_new_tokens=3)",
    "own method": "class M(torch.nn.Module):\n    def generate(self, x): ...\n    def f(self):\n        self.generate(input_ids=x)",
    "override": "class M(transformers.LlamaForCausalLM):\n    def generate(self, x): ...\nm = M.from_pretrained('x')\nm.generate(input_ids=x)",
    "own model": "class GPT(torch.nn.Module):\n    def generate(self, x): ...\ndef build():\n    return GPT()\nmodel = build()\nmodel.generate(x)",
    "runtime": "from optimum.onnxruntime import ORTModelForCausalLM\nmodel = ORTModelForCausalLM.from_pretrained('x')\nmodel.generate(input_ids=x)",
    "runtime of its own": "from ctransformers import AutoModelForCausalLM as A\nmodel = A.from_pretrained('x')\nmodel.generate(x)",
    "classifier": "model = transformers.BertForSequenceClassification.from_pretrained('x')\nmodel.generate(input_ids=x)",
    "faker": "f = faker.Faker()\nf.generate()",
}


@pytest.mark.parametrize("source", OTHERS.values(), ids=OTHERS)
def test_others(source: str) -> None:
    assert receiver(source).kind == "other"


@pytest.mark.parametrize(
    ("source", "kind", "grade"),
    [
        ("def f(net):\n    net.generate(ids, pad_token_id=0)", "model", Grade.USAGE),
        ("def f(model):\n    model.generate(ids, max_new_tokens=3)", "model", Grade.USAGE),
        ("t = AutoTokenizer.from_pretrained('x')\ndef f(model):\n    model.generate(**t('a'))", "model", Grade.USAGE),
        ("def f(model):\n    model.generate(x)", "model", Grade.FILE),
        ("def f(self):\n    self.base_model.generate(x)", "model", Grade.FILE),
        ("def f(client):\n    client.generate(text, max_new_tokens=3)", "unknown", Grade.NOTHING),
        ("def f(report):\n    report.generate()", "unknown", Grade.NOTHING),
        ("import jax\ndef f(model):\n    model.generate(input_ids=x, max_new_tokens=3)", "unknown", Grade.NOTHING),
        ("def f(model):\n    model.generate(input_ids=x, params=p)", "unknown", Grade.NOTHING),
        ("def f(model):\n    model.generate(prompts, sampling)", "unknown", Grade.NOTHING),
        # One of two things, and nothing says which.
        (f"m = vllm.LLM('x') if fast else {LOAD}\nm.generate(x)", "unknown", Grade.NOTHING),
    ],
)
def test_weak_evidence(source: str, kind: str, grade: Grade) -> None:
    found = receiver(source)
    assert (found.kind, found.grade) == (kind, grade)


def test_nothing_without_the_packages() -> None:
    model = module("def f(model):\n    model.generate(input_ids=x, max_new_tokens=3)")
    assert Pretrained(model).generates(model.calls_of("generate")[-1]).kind == "unknown"


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("t = AutoTokenizer.from_pretrained('x')\nuse(t)", "processor"),
        ("t = AutoProcessor.from_pretrained('x')\nuse(t.tokenizer)", "processor"),
        ("p = pipeline('text-generation', 'x')\nuse(p.tokenizer)", "processor"),
        ("p = pipeline('text-generation', 'x')\nuse(p)", "pipeline"),
        ("t = AutoTokenizer.from_pretrained('x')\nuse(t('a', return_tensors='pt').to('cuda'))", "encoding"),
        ("t = AutoTokenizer.from_pretrained('x')\ne = t('a')\nuse(e.input_ids.cuda())", "encoding"),
        ("t = AutoTokenizer.from_pretrained('x')\ne = t('a')\nuse(e['input_ids'])", "encoding"),
        ("t = AutoTokenizer.from_pretrained('x')\nuse(t.apply_chat_template(m))", "encoding"),
        ("def f(t: transformers.PreTrainedTokenizerBase):\n    use(t.encode('a'))", "encoding"),
        ("use(open('x'))", "unknown"),
    ],
)
def test_processors_and_what_they_return(source: str, kind: str) -> None:
    model = module(HEAD + source)
    assert Pretrained(model).origin(model.calls_of("use")[-1].args[0]).kind == kind


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AutoModelForCausalLM", Decodes.DECODER),
        ("NeuronModelForCausalLM", Decodes.DECODER),
        ("GPT2LMHeadModel", Decodes.DECODER),
        ("LlamaForCausalLM", Decodes.DECODER),
        ("NeuronModelForSeq2SeqLM", Decodes.ENCODER_DECODER),
        ("T5ForConditionalGeneration", Decodes.ENCODER_DECODER),
        ("NeuronWhisperForConditionalGeneration", Decodes.ENCODER_DECODER),
        ("MarianMTModel", Decodes.ENCODER_DECODER),
        ("LlavaForConditionalGeneration", Decodes.MIXED),
        ("AutoModelForImageTextToText", Decodes.MIXED),
        ("AutoModel", Decodes.UNKNOWN),
        ("PeftModel", Decodes.UNKNOWN),
        ("BertForSequenceClassification", Decodes.NOTHING),
        ("AutoModelForMaskedLM", Decodes.NOTHING),
    ],
)
def test_what_a_class_decodes_with(name: str, expected: Decodes) -> None:
    assert decodes(name) is expected


def test_class_names() -> None:
    assert is_model("transformers.LlamaForCausalLM")
    assert is_model("transformers.models.llama.modeling_llama.LlamaForCausalLM")
    assert is_model("optimum.neuron.NeuronModelForCausalLM")
    for name in (
        "transformers.LlamaConfig",
        "transformers.AutoTokenizer",
        "transformers.TFAutoModelForCausalLM",
        "transformers.pipeline",
        "transformers.Trainer",
        "optimum.onnxruntime.ORTModelForCausalLM",
        "diffusers.UNet2DModel",
    ):
        assert not is_model(name)

"""Ported text generation runs on tiny random models and gives the tokens of the code before."""

from __future__ import annotations

import textwrap

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

from tests.porting import ported  # noqa: E402

transformers.logging.set_verbosity_error()
IDS = torch.tensor([[0, 0, 5, 6, 7], [3, 4, 5, 6, 9]])
TEXT = {"input_ids": IDS, "attention_mask": (IDS != 0).long()}
SOUND = {"input_features": torch.randn(2, 8, 100, generator=torch.Generator().manual_seed(0))}
SPECIAL = {"vocab_size": 99, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 98}
ENCODER_DECODER = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 37,
    "decoder_ffn_dim": 37,
    "decoder_start_token_id": 2,
}


def model(name: str):
    """A tiny model with random weights, the same ones each time."""
    torch.manual_seed(1)
    match name:
        case "llama":
            config = transformers.LlamaConfig(
                hidden_size=32,
                intermediate_size=37,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=2,
                max_position_embeddings=256,
                **SPECIAL,
            )
            made = transformers.LlamaForCausalLM(config)
        case "gpt2":
            made = transformers.GPT2LMHeadModel(
                transformers.GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=256, **SPECIAL)
            )
        case "t5":
            config = transformers.T5Config(d_model=32, d_ff=37, num_layers=2, num_heads=4, d_kv=8, **SPECIAL)
            config.decoder_start_token_id = 0
            made = transformers.T5ForConditionalGeneration(config)
        case "bart":
            config = transformers.BartConfig(
                max_position_embeddings=128, forced_eos_token_id=None, **ENCODER_DECODER, **SPECIAL
            )
            made = transformers.BartForConditionalGeneration(config)
        case _:
            config = transformers.WhisperConfig(
                max_source_positions=50,
                max_target_positions=60,
                num_mel_bins=8,
                suppress_tokens=None,
                begin_suppress_tokens=None,
                **ENCODER_DECODER,
                **SPECIAL,
            )
            made = transformers.WhisperForConditionalGeneration(config)
    return made.eval()


def tokenizer(**options):
    """Words t0 to t98."""
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({f"t{i}": i for i in range(99)}, unk_token="t2"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="t0", eos_token="t98", bos_token="t1", unk_token="t2", **options
    )


MODES = {
    "greedy": "max_new_tokens=8, do_sample=False",
    "length": "max_length=20, do_sample=False",
    "sampled": "max_new_tokens=8, do_sample=True, top_k=20",
    "beams": "max_new_tokens=8, num_beams=3",
    "answers": "max_new_tokens=8, do_sample=True, num_return_sequences=2",
    "without a cache": "max_new_tokens=8, do_sample=False, use_cache=False",
}


@pytest.mark.parametrize("name", ["llama", "gpt2", "t5", "bart", "whisper"])
@pytest.mark.parametrize("options", MODES.values(), ids=MODES)
def test_a_static_cache_gives_the_same_tokens(name: str, options: str) -> None:
    before = f"from transformers import PreTrainedModel\n\ndef run(model: PreTrainedModel, batch):\n    return model.generate(**batch, {options})\n"
    after = ported(before)
    assert 'cache_implementation="static"' in after
    results = []
    for source in (before, after):
        names: dict = {}
        exec(source, names)
        torch.manual_seed(3)
        results.append(names["run"](model(name), SOUND if name == "whisper" else TEXT))
    assert torch.equal(*results)


PROGRAM = """
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, StaticCache, pipeline
import torch

tokenizer = AutoTokenizer.from_pretrained(NAME, padding_side="left")
model = AutoModelForCausalLM.from_pretrained(NAME)


def batch(prompts):
    inputs = tokenizer(prompts, return_tensors="pt", padding=True).to(model.device)
    output = model.generate(**inputs, max_new_tokens=8, do_sample=False)
    return tokenizer.batch_decode(output[:, inputs["input_ids"].shape[1] :])


def configured(prompts):
    config = GenerationConfig(max_new_tokens=8, pad_token_id=0, eos_token_id=98)
    inputs = tokenizer(prompts, return_tensors="pt", padding=True)
    output = model.generate(**inputs, generation_config=config)
    return tokenizer.batch_decode(output[:, inputs.input_ids.shape[1] :])


def handed_on(prompts, **kwargs):
    inputs = tokenizer(prompts, return_tensors="pt", padding=True)
    output = model.generate(**inputs, **kwargs)
    return tokenizer.batch_decode(output[:, inputs.input_ids.shape[1] :])


def chat(prompt):
    ids = tokenizer.apply_chat_template([{"role": "user", "content": prompt}], return_tensors="pt")
    output = model.generate(ids, max_new_tokens=8, do_sample=False)
    return tokenizer.decode(output[0, ids.shape[1] :])


def piped(prompt):
    pipe = pipeline("text-generation", model=model, tokenizer=tokenizer, device="cpu")
    return pipe(prompt, max_new_tokens=8, do_sample=False, return_full_text=False)[0]["generated_text"]


def old_cache(ids):
    cache = StaticCache(model.config, 1, 64, "cpu", torch.float32)
    return model.generate(ids, past_key_values=cache, max_new_tokens=8, do_sample=False)
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The names of the program before and after its port, with a model and a tokenizer in a folder."""
    folder = tmp_path_factory.mktemp("model")
    model("llama").save_pretrained(folder)
    words = tokenizer()
    words.chat_template = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
    words.save_pretrained(folder)
    before, after = {"NAME": str(folder)}, {"NAME": str(folder)}
    exec(textwrap.dedent(PROGRAM), before)
    exec(ported(PROGRAM.replace("NAME", repr(str(folder)))).replace('device="neuron"', 'device="cpu"'), after)
    return before, after


PROMPTS = ["t3 t4 t5", "t9 t8 t7 t6 t5 t4"]


@pytest.mark.parametrize("name", ["batch", "configured"])
def test_a_port_gives_the_same_text(program, name: str) -> None:
    before, after = program
    assert after[name](PROMPTS) == before[name](PROMPTS)
    assert after["model"]._previous_max_cache_length > 0


def test_options_out_of_sight(program) -> None:
    before, after = program
    options = {"max_new_tokens": 8, "do_sample": False}
    assert after["handed_on"](PROMPTS, **options) == before["handed_on"](PROMPTS, **options)
    assert after["model"].generation_config.cache_implementation == "static"
    # what the caller passes goes first
    assert after["handed_on"](PROMPTS, **options, cache_implementation="dynamic") == before["handed_on"](
        PROMPTS, **options
    )


def test_a_pipeline(program) -> None:
    before, after = program
    assert after["piped"]("t3 t4 t5") == before["piped"]("t3 t4 t5")


def test_a_chat(program) -> None:
    _, after = program
    expected = after["batch"](["t3 t4 t5"])[0]
    assert after["chat"]("t3 t4 t5") == expected


def test_a_cache_of_transformers_4(program) -> None:
    before, after = program
    ids = torch.tensor([[3, 4, 5]])
    expected = before["model"].generate(ids, max_new_tokens=8, do_sample=False)
    after["model"].generation_config.cache_implementation = None
    assert torch.equal(after["old_cache"](ids), expected)


def test_a_loop_with_a_static_cache() -> None:
    net = model("llama")
    ids = torch.tensor([[3, 4, 5]])
    expected = net.generate(ids, max_new_tokens=8, do_sample=False, eos_token_id=None)
    cache = transformers.StaticCache(config=net.config, max_cache_len=32)
    step, found = ids, [ids]
    for _ in range(8):
        step = net(step, past_key_values=cache, use_cache=True).logits[:, -1:].argmax(-1)
        found.append(step)
    assert torch.equal(torch.cat(found, 1), expected)


@pytest.mark.parametrize("multiple", [1, 8])
@pytest.mark.parametrize("static", [{}, {"cache_implementation": "static"}])
def test_the_side_of_the_padding(multiple: int, static: dict) -> None:
    net = model("llama")
    options = {"max_new_tokens": 6, "do_sample": False, "eos_token_id": None}
    alone = [net.generate(tokenizer()(text, return_tensors="pt").input_ids, **options)[0, -6:] for text in PROMPTS]
    for side, right in (("left", True), ("right", False)):
        inputs = tokenizer(padding_side=side)(PROMPTS, return_tensors="pt", padding=True, pad_to_multiple_of=multiple)
        inputs.pop("token_type_ids", None)
        output = net.generate(**inputs, **options, **static)[:, -6:]
        assert all(torch.equal(*pair) for pair in zip(output, alone, strict=True)) is right

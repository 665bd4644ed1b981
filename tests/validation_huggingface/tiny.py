"""Tiny models, tokenizers and data in folders, as the programs take them: made here, nothing is downloaded."""

from __future__ import annotations

import json
from pathlib import Path

TEXTS = [
    "the river runs to the sea and the boats go home at night",
    "a good soup needs salt and time and a quiet cook",
    "in the morning the baker opens the door and lights the oven",
    "trains leave the old station when the bell rings twice",
    "she keeps the letters in a box under the window",
    "we planted beans and roses behind the garden wall",
]
SPECIAL = ["<pad>", "<s>", "</s>", "<unk>", "<user>", "<assistant>"]
OTHER_WORDS = "Article: Summary:"
CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<' + message['role'] + '>' + message['content'] + '</s>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<assistant>' }}{% endif %}"
)
PROMPT = "Article: {}\nSummary:"  # of the program with tensor parallelism


def halves(text: str) -> tuple[str, str]:
    """The first four words of a text, and the rest."""
    words = text.split()
    return " ".join(words[:4]), " ".join(words[4:])


def make(folder: Path) -> None:
    """Writes everything."""
    causal_model(folder / "causal")
    encoder(folder / "encoder")
    encoder(folder / "answers", "BertForQuestionAnswering")
    sentence_encoder(folder / "sentence")
    stable_diffusion(folder / "sd")
    stable_diffusion_xl(folder / "sdxl")
    data(folder / "data")


def data(folder: Path) -> None:
    """The files that programs read."""
    folder.mkdir(parents=True)

    def write(name: str, lines: list) -> None:
        rows = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        (folder / name).write_text("\n".join(rows) + "\n", encoding="utf-8")

    starts = [halves(text)[0] for text in TEXTS]
    rests = [halves(text)[1] for text in TEXTS]
    write("texts.txt", TEXTS)
    # prompts of several lengths, so that batches are padded
    write("prompts.txt", [" ".join(text.split()[: 2 + n % 3]) for n, text in enumerate(TEXTS[:5])])
    write("questions.txt", [*starts[:3], TEXTS[3]])
    write("articles.jsonl", [{"id": n, "text": text} for n, text in enumerate([starts[0], TEXTS[1], starts[2]])])
    write("texts.jsonl", [{"text": text} for text in TEXTS])
    write("pairs.jsonl", [{"question": start, "answer": rest} for start, rest in zip(starts, rests)])
    write(
        "preferences.jsonl",
        [
            {"prompt": s, "chosen": f" {good}", "rejected": f" {bad}"}
            for s, good, bad in zip(starts, rests, rests[1:] + rests[:1])
        ],
    )
    reviews(folder / "reviews")
    write("mail.csv", ["text,label", *(f"{text},{n % 2}" for n, text in enumerate(TEXTS + TEXTS[::-1]))])


def reviews(folder: Path) -> None:
    """A data set with names of labels, as from the Hub."""
    from datasets import ClassLabel, Dataset, Features, Value

    features = Features({"text": Value("string"), "label": ClassLabel(names=["bad", "good"])})
    rows = {"text": TEXTS, "label": [n % 2 for n in range(len(TEXTS))]}
    folder.mkdir()
    for split in ("train", "test"):
        Dataset.from_dict(rows, features=features).to_parquet(str(folder / f"{split}.parquet"))


def word_tokenizer(folder: Path):
    """A tokenizer of whole words for the texts; pads on the right unless a program says otherwise."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    words = trainers.WordLevelTrainer(special_tokens=SPECIAL, show_progress=False)
    tokenizer.train_from_iterator([*TEXTS, OTHER_WORDS], words)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A",
        pair="<s> $A </s> $B",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")],
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        padding_side="right",
        chat_template=CHAT_TEMPLATE,
        model_max_length=512,
    )
    fast.save_pretrained(folder)
    return fast


def causal_model(folder: Path) -> None:
    """A Llama that knows the texts by heart, so that rounding does not decide between two next words."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = word_tokenizer(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=False,
    )
    model = LlamaForCausalLM(config).train()
    rows = [tokenizer(f"{text}</s>").input_ids for text in TEXTS]
    for text in TEXTS:
        start, rest = halves(text)
        rows.append(tokenizer(f"<user>{start}</s><assistant>{rest}</s>", add_special_tokens=False).input_ids)
        rows.append(tokenizer(f"<user>{text}</s><assistant>{rest}</s>", add_special_tokens=False).input_ids)
        rows.append(tokenizer(f"{PROMPT.format(start)} {rest}</s>").input_ids)
        rows.append(tokenizer(f"{PROMPT.format(text)} {rest}</s>").input_ids)
    width = max(map(len, rows))
    ids = torch.tensor([row + [tokenizer.pad_token_id] * (width - len(row)) for row in rows])
    labels = ids.masked_fill(ids == tokenizer.pad_token_id, -100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(120):
        loss = model(input_ids=ids, attention_mask=(labels != -100).long(), labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)


def encoder(folder: Path, head: str = "BertForSequenceClassification") -> None:
    """A BERT with a head."""
    import torch
    import transformers

    tokenizer = word_tokenizer(folder)
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=128,
        pad_token_id=tokenizer.pad_token_id,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.4,
        id2label={0: "calm", 1: "lively"},
        label2id={"calm": 0, "lively": 1},
    )
    getattr(transformers, head)(config).save_pretrained(folder)


def sentence_encoder(folder: Path) -> None:
    """A sentence encoder: BERT with mean pooling."""
    from sentence_transformers import SentenceTransformer, models

    bert = folder.parent / "sentence-bert"
    encoder(bert)
    words = models.Transformer(str(bert))
    SentenceTransformer(modules=[words, models.Pooling(words.get_word_embedding_dimension())], device="cpu").save(
        str(folder)
    )


def clip_tokenizer(folder: Path):
    """CLIP's tokenizer with a vocabulary of single letters."""
    from transformers import CLIPTokenizer

    folder.mkdir(parents=True)
    letters = "abcdefghijklmnopqrstuvwxyz,."
    tokens = [*letters, *(letter + "</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({token: n for n, token in enumerate(tokens)}), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    return CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=77), len(tokens)


def _text_config(words: int):
    from transformers import CLIPTextConfig

    return CLIPTextConfig(
        vocab_size=words,
        hidden_size=32,
        intermediate_size=37,
        num_hidden_layers=2,
        num_attention_heads=4,
        projection_dim=32,
        bos_token_id=words - 2,
        eos_token_id=words - 1,
        pad_token_id=words - 1,
    )


def _vae():
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        block_out_channels=(16, 32),
        norm_num_groups=8,
        in_channels=3,
        out_channels=3,
        down_block_types=("DownEncoderBlock2D", "DownEncoderBlock2D"),
        up_block_types=("UpDecoderBlock2D", "UpDecoderBlock2D"),
        latent_channels=4,
        sample_size=64,
    )


# One block: most of a run is torch.compile.
UNET = {
    "block_out_channels": (32,),
    "norm_num_groups": 8,
    "layers_per_block": 1,
    "sample_size": 32,
    "in_channels": 4,
    "out_channels": 4,
    "down_block_types": ("CrossAttnDownBlock2D",),
    "up_block_types": ("CrossAttnUpBlock2D",),
}


def stable_diffusion(folder: Path) -> None:
    """The components of Stable Diffusion 1."""
    import torch
    from diffusers import DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
    from transformers import CLIPTextModel

    torch.manual_seed(2)
    tokenizer, words = clip_tokenizer(folder.parent / "clip-1")
    StableDiffusionPipeline(
        unet=UNet2DConditionModel(**UNET, cross_attention_dim=32, attention_head_dim=8),
        vae=_vae(),
        text_encoder=CLIPTextModel(_text_config(words)),
        tokenizer=tokenizer,
        scheduler=DDIMScheduler(clip_sample=False, set_alpha_to_one=False),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(folder)


def stable_diffusion_xl(folder: Path) -> None:
    """The components of Stable Diffusion XL."""
    import torch
    from diffusers import EulerDiscreteScheduler, StableDiffusionXLPipeline, UNet2DConditionModel
    from transformers import CLIPTextModel, CLIPTextModelWithProjection

    torch.manual_seed(3)
    tokenizer, words = clip_tokenizer(folder.parent / "clip-2")
    unet = UNet2DConditionModel(
        **UNET,
        cross_attention_dim=64,
        attention_head_dim=4,
        use_linear_projection=True,
        addition_embed_type="text_time",
        addition_time_embed_dim=8,
        transformer_layers_per_block=2,
        projection_class_embeddings_input_dim=80,
    )
    StableDiffusionXLPipeline(
        unet=unet,
        vae=_vae(),
        text_encoder=CLIPTextModel(_text_config(words)),
        text_encoder_2=CLIPTextModelWithProjection(_text_config(words)),
        tokenizer=tokenizer,
        tokenizer_2=tokenizer,
        scheduler=EulerDiscreteScheduler(beta_schedule="scaled_linear", timestep_spacing="leading"),
        add_watermarker=False,
    ).save_pretrained(folder)

"""What the programs have to print, computed on the CPU with plain models: without padding, caches, trainers or pipelines.

Each function runs in a process of its own and prints its result, one line for each text or step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path


def greedy(model_folder: str, prompts: list[str], new_tokens: int, dtype: str, special_tokens: bool = True) -> None:
    """The most likely continuation of each prompt: whole sequences through the model, token by token."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    model = AutoModelForCausalLM.from_pretrained(model_folder, dtype=getattr(torch, dtype)).eval()
    for prompt in prompts:
        ids = tokenizer(prompt, return_tensors="pt", add_special_tokens=special_tokens).input_ids
        start = ids.shape[1]
        with torch.no_grad():
            for _ in range(new_tokens):
                ids = torch.cat([ids, model(ids, use_cache=False).logits[:, -1:].argmax(-1)], dim=1)
                if ids[0, -1] == tokenizer.eos_token_id:
                    break
        print(tokenizer.decode(ids[0, start:], skip_special_tokens=True))


def classify(model_folder: str, texts: list[str]) -> None:
    """Label and probability of each text."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    model = AutoModelForSequenceClassification.from_pretrained(model_folder, dtype=torch.float32).eval()
    for text in texts:
        with torch.no_grad():
            scores = model(**tokenizer(text, return_tensors="pt")).logits.softmax(-1)[0]
        print(model.config.id2label[int(scores.argmax())], float(scores.max()))


def spans(model_folder: str, questions: list[str], context: str, longest: int) -> None:
    """The answer to each question: the words of the context that have the highest scores as its first and last."""
    import torch
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    model = AutoModelForQuestionAnswering.from_pretrained(model_folder, dtype=torch.float32).eval()
    words = context.split()
    for question in questions:
        with torch.no_grad():
            output = model(**tokenizer(question, context, return_tensors="pt"))
        starts, ends = (scores[0, -len(words) :].tolist() for scores in (output.start_logits, output.end_logits))
        pairs = [(i, j) for i in range(len(words)) for j in range(i, min(i + longest, len(words)))]
        first, last = max(pairs, key=lambda pair: starts[pair[0]] + ends[pair[1]])
        print(" ".join(words[first : last + 1]))


def search(model_folder: str, texts: list[str], queries: list[str]) -> None:
    """For each query the similarities of all texts: the mean of BERT's vectors, normalised."""
    import torch
    from transformers import AutoTokenizer, BertModel

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    model = BertModel.from_pretrained(model_folder, dtype=torch.float32).eval()

    def vector(text: str):
        with torch.no_grad():
            mean = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(0)
        return mean / mean.norm()

    index = torch.stack([vector(text) for text in texts])
    for query in queries:
        print(json.dumps((index @ vector(query)).tolist()))


def pictures(kind: str, model_folder: str, dtype: str, calls: list[dict], out: str, scheduler: str = "") -> None:
    """Draws with a pipeline of diffusers on the CPU, one picture for each call (the call's ``seed`` is its generator's)."""
    import diffusers
    import torch

    pipe = getattr(diffusers, kind).from_pretrained(model_folder, dtype=getattr(torch, dtype), safety_checker=None)
    if scheduler:
        pipe.scheduler = getattr(diffusers, scheduler).from_config(pipe.scheduler.config)
    for number, call in enumerate(calls):
        generator = torch.Generator().manual_seed(call.pop("seed"))
        pipe(**call, generator=generator).images[0].save(Path(out) / f"{number:04d}.png")


def train_classifier(model_folder: str, rows: list[tuple[str, int]], steps: int, rate: float, warmup: int) -> None:
    """Losses of a classifier that sees all rows in every step; AdamW, warm-up, then linear decay, gradients clipped to 1."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    model = AutoModelForSequenceClassification.from_pretrained(model_folder, dtype=torch.float32).train()
    enc = tokenizer([text for text, _ in rows], padding=True, return_tensors="pt")
    labels = torch.tensor([label for _, label in rows])

    def loss():
        return torch.nn.functional.cross_entropy(model(**enc).logits, labels)

    for value in _steps(model, loss, steps, lambda step: rate * _warm_linear(step, steps, warmup)):
        print(value)


def fine_tune(
    model_folder: str,
    texts: list[str],
    chunk: int,
    steps: int,
    rate: float,
    linear: bool,
    lora: dict,
    seed: int,
    dtype: str,
) -> None:
    """Losses of a causal model with LoRA that sees everything in every step.

    With a ``chunk``, texts are joined and cut to this length, without a start token; 0 keeps them apart.
    """
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    rows = [tokenizer(text, add_special_tokens=not chunk).input_ids for text in texts]
    rows = [row if row[-1] == tokenizer.eos_token_id else [*row, tokenizer.eos_token_id] for row in rows]
    if chunk:
        joined = [token for row in rows for token in row]
        rows = [joined[start : start + chunk] for start in range(0, len(joined), chunk)]
    set_seed(seed)
    model = AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32)
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", lora_dropout=0.0, **lora)).train()

    def loss():
        total, count = 0.0, 0
        for row in rows:
            ids = torch.tensor([row])
            with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bfloat16"):
                logits = model(input_ids=ids, use_cache=False).logits[0, :-1]
            total = total + torch.nn.functional.cross_entropy(logits.float(), ids[0, 1:], reduction="sum")
            count += len(row) - 1
        return total / count

    for value in _steps(model, loss, steps, lambda step: rate * (_warm_linear(step, steps, 0) if linear else 1.0)):
        print(value)


def _warm_linear(step: int, steps: int, warmup: int) -> float:
    return step / warmup if step < warmup else (steps - step) / (steps - warmup)


def _steps(model, loss: Callable, steps: int, rate: Callable[[int], float], decay: float = 0.0) -> Iterator[float]:
    """Losses of training steps with AdamW and clipped gradients."""
    import torch

    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, weight_decay=decay)
    for step in range(steps):
        value = loss()
        value.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        optimizer.step()
        optimizer.zero_grad()
        yield float(value.detach())


def _log_odds(good, bad):
    """The log of the ratio of odds; ``good`` and ``bad`` are mean losses."""
    import torch

    return (bad - good) - (torch.log1p(-torch.exp(-good)) - torch.log1p(-torch.exp(-bad)))


def tune_preferences(
    method: str,
    model_folder: str,
    rows: list[dict],
    steps: int,
    rates: list[float],
    beta: float,
    decay: float,
    lora: dict,
    seed: int,
) -> None:
    """Losses of preference optimization by the formulas, with LoRA, in bfloat16.

    "orpo": loss of the chosen text - beta log sigmoid(log of the ratio of odds);
    "dpo": - log sigmoid(beta * (margin of the trained model - margin of the untrained one)).
    """
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    set_seed(seed)
    model = AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32)
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", lora_dropout=0.0, **lora)).train()

    def text_losses(prompt: str, answer: str):
        """Losses of all tokens, and those of the answer."""
        start = tokenizer(prompt).input_ids
        ids = torch.tensor([[*tokenizer(prompt + answer).input_ids, tokenizer.eos_token_id]])
        with torch.autocast("cpu", torch.bfloat16):
            logits = model(input_ids=ids, use_cache=False).logits[0, :-1]
        losses = torch.nn.functional.cross_entropy(logits.float(), ids[0, 1:], reduction="none")
        return losses, losses[len(start) - 1 :]

    def margin(row: dict):
        good, bad = (text_losses(row["prompt"], row[key])[1].sum() for key in ("chosen", "rejected"))
        return bad - good

    def dpo():
        trained = [margin(row) for row in rows]
        return -sum(torch.nn.functional.logsigmoid(beta * (m - u)) for m, u in zip(trained, untrained)) / len(rows)

    def orpo():
        nll, count, ratio = 0.0, 0, 0.0
        for row in rows:
            every, good = text_losses(row["prompt"], row["chosen"])
            _, bad = text_losses(row["prompt"], row["rejected"])
            nll, count = nll + every.sum(), count + len(every)
            ratio = ratio + torch.nn.functional.logsigmoid(_log_odds(good.mean(), bad.mean()))
        return nll / count - beta * ratio / len(rows)

    with torch.no_grad():
        untrained = [margin(row) for row in rows]
    for value in _steps(model, {"orpo": orpo, "dpo": dpo}[method], steps, lambda step: rates[step], decay):
        print(value)

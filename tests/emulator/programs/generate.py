"""Generation with a tiny random Llama: greedy, static cache, sampling, beams with a padded batch. Argument: the device."""

import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM, set_seed

device = sys.argv[1]
set_seed(0)
config = LlamaConfig(
    vocab_size=128, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=256, bos_token_id=1, eos_token_id=2, pad_token_id=0,
)  # fmt: skip
model = LlamaForCausalLM(config).eval().to(device)
ids = torch.randint(3, 128, (2, 8)).to(device)
mask = torch.ones_like(ids)
mask[0, :3] = 0
print(model.generate(ids, max_new_tokens=8, do_sample=False).tolist())
static = dict(cache_implementation="static", disable_compile=device == "cpu")
print(model.generate(ids, max_new_tokens=8, do_sample=False, **static).tolist())
torch.manual_seed(0)
print(model.generate(ids, max_new_tokens=8, do_sample=True, temperature=0.7, top_k=20).tolist())
print(model.generate(ids, attention_mask=mask, max_new_tokens=5, num_beams=2, do_sample=False).tolist())

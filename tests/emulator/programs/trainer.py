"""Four steps of the Trainer with a tiny random Llama. Arguments: the device, then any of bf16, checkpointing, compile."""

import sys
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed


class Tokens(Dataset):
    def __init__(self):
        self.rows = torch.randint(0, 128, (32, 16), generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return {"input_ids": self.rows[index], "labels": self.rows[index]}


set_seed(0)
config = LlamaConfig(
    vocab_size=128, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
    max_position_embeddings=64,
)  # fmt: skip
arguments = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    max_steps=4,
    per_device_train_batch_size=4,
    logging_steps=1,
    save_steps=4,
    eval_strategy="steps",
    eval_steps=2,
    use_cpu=sys.argv[1] == "cpu",
    bf16="bf16" in sys.argv,
    gradient_checkpointing="checkpointing" in sys.argv,
    torch_compile="compile" in sys.argv,
    report_to=[],
    disable_tqdm=True,
)
trainer = Trainer(model=LlamaForCausalLM(config), args=arguments, train_dataset=Tokens(), eval_dataset=Tokens())
trainer.train()
if trainer.is_world_process_zero():
    print("step: device", arguments.device.type)
    for row in trainer.state.log_history:
        print(
            "step:",
            {name: round(value, 3) for name, value in row.items() if name in ("loss", "grad_norm", "eval_loss")},
        )

"""Device placement left to Accelerate."""

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader


def fit(model: torch.nn.Module, dataset, epochs: int = 1, batch_size: int = 8) -> torch.nn.Module:
    accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    loader = DataLoader(dataset, batch_size=batch_size, shuffle=True, drop_last=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for _ in range(epochs):
        for batch in loader:
            with accelerator.accumulate(model):
                loss = model(**batch).loss
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
        accelerator.wait_for_everyone()
    noise = torch.randn(4, 4, device=accelerator.device)
    accelerator.print(noise.device)
    return accelerator.unwrap_model(model)

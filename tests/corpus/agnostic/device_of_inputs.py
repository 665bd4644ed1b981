"""Code that follows the device of its inputs."""

import torch


def pad_to(batch, length, value=0):
    sizes = torch.tensor([len(row) for row in batch], device=batch[0].device)
    out = batch[0].new_full((len(batch), length), value)
    for index, row in enumerate(batch):
        out[index, : len(row)] = row
    return out, torch.arange(length, device=out.device)[None] < sizes[:, None]


def one_hot(labels, classes):
    table = torch.eye(classes, device=labels.device, dtype=torch.get_default_dtype())
    return table[labels]


def same_device(*tensors):
    first, *rest = tensors
    return [first, *(tensor.to(first.device) if tensor.device != first.device else tensor for tensor in rest)]


def sample(logits, generator=None, temperature=1.0):
    device = logits.device
    if generator is None:
        generator = torch.Generator(device=device).manual_seed(0)
    if device.type == "cpu":
        logits = logits.float()
    noise = torch.rand(logits.shape, generator=generator, device=device, dtype=logits.dtype)
    return (logits / temperature - torch.log(-torch.log(noise))).argmax(-1)


def move(value, device):
    match value:
        case torch.Tensor():
            return value.to(device)
        case dict():
            return {key: move(item, device) for key, item in value.items()}
        case list() | tuple():
            return type(value)(move(item, device) for item in value)
        case _:
            return value

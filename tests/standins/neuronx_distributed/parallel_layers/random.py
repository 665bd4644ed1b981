import torch


def model_parallel_xla_manual_seed(seed: int) -> None:
    torch.manual_seed(seed)

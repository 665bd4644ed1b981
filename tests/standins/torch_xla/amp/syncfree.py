"""Optimizers that skip a step without waiting; used without ``found_inf`` they are the plain ones."""

from torch.optim import SGD, Adam, AdamW

__all__ = ["SGD", "Adam", "AdamW"]

"""Layers that pass device and dtype on, as torch.nn does."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class RotaryTable(nn.Module):
    def __init__(self, dim, length=2048, base=10_000.0, device=None, dtype=None):
        super().__init__()
        factory = {"device": device, "dtype": dtype}
        steps = torch.arange(0, dim, 2, dtype=torch.float32, device=device)
        inverse = 1.0 / base ** (steps / dim)
        angles = torch.outer(torch.arange(length, dtype=torch.float32, device=device), inverse)
        self.register_buffer("cos", angles.cos().to(**factory), persistent=False)
        self.register_buffer("sin", angles.sin().to(**factory), persistent=False)

    def forward(self, x, offset=0):
        cos = self.cos[offset : offset + x.shape[-2]].to(x.device)
        sin = self.sin[offset : offset + x.shape[-2]].to(x.device)
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


class Attention(nn.Module):
    def __init__(self, dim, heads, device=None, dtype=None):
        super().__init__()
        factory = {"device": device, "dtype": dtype}
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False, **factory)
        self.out = nn.Linear(dim, dim, **factory)
        self.rotary = RotaryTable(dim // heads, device=device)
        self.scale = nn.Parameter(torch.full((heads, 1, 1), 1 / math.sqrt(dim // heads), **factory))

    def forward(self, x, mask=None):
        batch, length, dim = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k = self.rotary(q), self.rotary(k)
        if mask is None:
            mask = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
        mixed = F.scaled_dot_product_attention(q * self.scale, k, v, attn_mask=mask, scale=1.0)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, dim))

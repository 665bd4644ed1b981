"""What fixtures/scripts/imagenet-main-worker asks of torchvision, in small: pictures of numbers, a model of two layers."""

import sys
import types

import torch
from torch import nn


class _Same:
    def __init__(self, *args, **kwargs):
        pass


class ImageFolder(torch.utils.data.Dataset):
    def __init__(self, root, transform=None):
        made = torch.Generator().manual_seed(len(root))
        self.pictures = torch.randn(24, 3, 8, 8, generator=made)
        self.labels = torch.randint(0, 10, (24,), generator=made).tolist()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.pictures[index], self.labels[index]


def resnet18():
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))


def _module(name, **members):
    module = types.ModuleType(f"torchvision.{name}")
    module.__dict__.update(members)
    sys.modules[module.__name__] = module
    return module


__path__ = []
datasets = _module("datasets", ImageFolder=ImageFolder)
models = _module("models", resnet18=resnet18)
transforms = _module(
    "transforms",
    **dict.fromkeys(
        "Compose Normalize RandomResizedCrop RandomHorizontalFlip Resize CenterCrop ToTensor".split(), _Same
    ),
)

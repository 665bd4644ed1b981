"""A training loop whose device comes from the command line."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(nn.Module):
    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, width), nn.ReLU(), nn.Dropout(0.1))
        self.head = nn.Linear(width, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(images))


def accuracy(model: nn.Module, loader: DataLoader, device: torch.device) -> float:
    model.eval()
    right = total = 0
    with torch.no_grad():
        for images, labels in loader:
            predicted = model(images.to(device, non_blocking=True)).argmax(dim=1).cpu()
            right += int((predicted == labels).sum())
            total += len(labels)
    return right / total


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu", help="where to train")
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()

    device = torch.device(args.device)
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(256, 1, 28, 28), torch.randint(10, (256,)))
    loader = DataLoader(data, batch_size=32, shuffle=True, drop_last=True)
    model = Classifier(64, 10).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loss_function = nn.CrossEntropyLoss().to(device)

    for epoch in range(args.epochs):
        model.train()
        for images, labels in loader:
            images, labels = images.to(device), labels.to(device)
            optimizer.zero_grad(set_to_none=True)
            loss = loss_function(model(images), labels)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {accuracy(model, loader, device):.3f} on {device}")


if __name__ == "__main__":
    main()

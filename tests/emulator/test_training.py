"""Training on the device gives the CPU's numbers."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
        self.head = nn.Linear(16, 11, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        h = self.layer(self.embed(x))
        h = h + F.scaled_dot_product_attention(h[:, None], h[:, None], h[:, None], is_causal=True)[:, 0]
        return self.head(h).flatten(0, 1)


def conv():
    return nn.Sequential(
        *(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.ConvTranspose2d(8, 4, 2), nn.GroupNorm(2, 4), nn.GELU(), nn.AdaptiveAvgPool2d(2)),
        *(nn.Flatten(), nn.Dropout(0.2), nn.Linear(16, 11)),
    )


def images():
    return torch.randn(4, 3, 8, 8), torch.randint(11, (4,))


def tokens():
    x = torch.randint(11, (2, 5))
    return x, x.flatten()


OPTIMISERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
    "adamw-fused": lambda p: torch.optim.AdamW(p, lr=0.01, fused=True),
    "adam-foreach": lambda p: torch.optim.Adam(p, lr=0.01, foreach=True),
    "adam-loop": lambda p: torch.optim.Adam(p, lr=0.01, foreach=False),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01),
    "adadelta": lambda p: torch.optim.Adadelta(p),
    "adamax": lambda p: torch.optim.Adamax(p),
    "adafactor": lambda p: torch.optim.Adafactor(p),
}


# Their gradients are zero but for rounding (softmax and batch norm are blind to them), and Adam divides noise by noise.
NOISE = {"layer.self_attn.in_proj_bias", "0.bias"}


def train(make, batch, optimiser, device, steps=3):
    torch.manual_seed(0)
    model = make().to(device)
    opt = OPTIMISERS[optimiser](model.parameters())
    losses = []
    for _ in range(steps):
        x, y = (t.to(device) for t in batch())
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        losses.append((loss.item(), nn.utils.clip_grad_norm_(model.parameters(), 1.0).item()))
        opt.step()
    return losses, {name: value.cpu() for name, value in model.state_dict().items()}


@pytest.mark.parametrize("optimiser", sorted(OPTIMISERS))
@pytest.mark.parametrize("make, batch", [(conv, images), (Attention, tokens)])
def test_same_losses_and_weights_as_the_cpu(make, batch, optimiser):
    losses, state = train(make, batch, optimiser, "cpu")
    seen, weights = train(make, batch, optimiser, "neuron")
    for step, expected in zip(seen, losses):
        assert step == pytest.approx(expected, rel=1e-5)
    for name, value in state.items():
        if name not in NOISE:
            torch.testing.assert_close(weights[name], value, rtol=1e-4, atol=1e-6)


def test_module_to_keeps_parameters_and_ties():
    model = Attention()
    before = list(map(id, model.parameters()))
    opt = torch.optim.SGD(model.parameters(), lr=1.0)
    model.to("neuron")
    assert list(map(id, model.parameters())) == before
    assert model.head.weight is model.embed.weight
    model(torch.zeros(1, 2, dtype=torch.int64, device="neuron")).sum().backward()
    old = model.head.weight.detach().clone()
    opt.step()
    assert not torch.equal(model.embed.weight, old)
    assert model.cpu().head.weight.device.type == "cpu"


def test_hooks_run_with_neuron_tensors():
    seen = []
    model = nn.Linear(2, 2).to("neuron")
    model.register_forward_hook(lambda m, i, o: seen.append(o.device.type))
    model.register_full_backward_hook(lambda m, i, o: seen.append(o[0].device.type))
    model.weight.register_hook(lambda g: g * 0)
    model.weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.device.type))
    model(torch.ones(1, 2, device="neuron")).sum().backward()
    assert seen == ["neuron"] * 3
    assert model.weight.grad.abs().sum().item() == 0


def test_autograd_function_and_double_backward():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 3 * x**2

    x = torch.tensor([2.0], device="neuron", requires_grad=True)
    (first,) = torch.autograd.grad(Cube.apply(x), x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert (first.item(), second.item()) == (12, 12)


def test_checkpointing_and_gradient_scaler():
    model = nn.Linear(3, 3).to("neuron")
    x = torch.ones(2, 3, device="neuron")
    scaler = torch.amp.GradScaler("neuron")
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    expected = torch.autograd.grad(model(x).sum(), model.weight)[0]
    scaler.scale(torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False).sum()).backward()
    scaler.unscale_(opt)
    torch.testing.assert_close(model.weight.grad, expected)
    scaler.step(opt)
    scaler.update()
    assert scaler.get_scale() == 65536


def test_func_transforms():
    w = torch.arange(4.0, device="neuron").view(2, 2)
    grad = torch.func.grad(lambda w: (w**2).sum())(w)
    assert grad.tolist() == [[0, 2], [4, 6]]
    assert torch.func.vmap(lambda row: row.sum())(w).tolist() == [1, 5]
    assert torch.func.jacrev(lambda w: w.sum(0))(w).shape == (2, 2, 2)


def test_data_loader_with_pinned_memory():
    data = TensorDataset(torch.arange(6.0), torch.arange(6))
    batches = [x.to("neuron", non_blocking=True) for x, _ in DataLoader(data, batch_size=4, pin_memory=True)]
    assert [x.tolist() for x in batches] == [[0, 1, 2, 3], [4, 5]]
    assert torch.ones(1).pin_memory().is_pinned() and not torch.ones(1).is_pinned()


def test_inference_mode_and_no_grad():
    model = conv().to("neuron").eval()
    x = torch.ones(1, 3, 8, 8, device="neuron")
    with torch.no_grad():
        one = model(x)
    with torch.inference_mode():
        two = model(x)
    assert torch.equal(one.cpu(), two.cpu())


def test_printing_and_numpy():
    x = torch.tensor([1.0, 2.0], device="neuron")
    assert repr(x) == "tensor([1., 2.], device='neuron:0')"
    assert x.cpu().numpy().tolist() == [1, 2]
    with pytest.raises(TypeError, match="can't convert neuron:0 device type tensor to numpy"):
        x.numpy()

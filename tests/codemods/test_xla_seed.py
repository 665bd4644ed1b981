"""The random numbers of an XLA device."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import check, ported

HEAD = "import torch\nimport torch_xla\nimport torch_xla.core.xla_model as xm\n"


@pytest.mark.parametrize(
    "seed",
    ["3", "args.seed", "seed", "config['seed']", "base_seed + rank", "int(text)", "make_seed(3)", "-1", "SEED"],
)
def test_a_seed(seed: str) -> None:
    assert port(HEAD, f"xm.set_rng_state({seed})", "safe") == f"torch.manual_seed({seed})"
    assert port(HEAD, f"torch_xla.manual_seed(seed={seed}, device=d)", "safe") == f"torch.manual_seed({seed})"
    assert found(HEAD, f"xm.set_rng_state({seed})", "NP217") == ["error safe"]


@pytest.mark.parametrize("state", ["state", "ctx.xla_rng_state", "states['xla']", "saved[0]", "xm.get_rng_state()"])
def test_a_state(state: str) -> None:
    line = f"xm.set_rng_state({state})"
    ported_state = state.replace("xm.", "torch.neuron.")
    assert port(HEAD, line) == f"torch.neuron.set_rng_state({ported_state})"
    assert found(HEAD, line, "NP217")[0] == "error unsafe"
    if "xm." not in state:
        assert port(HEAD, line, target="portable") == f"torch.get_device_module().set_rng_state({state})"


def test_reading_a_state() -> None:
    assert port(HEAD, "s = xm.get_rng_state(device)") == "s = torch.neuron.get_rng_state()"
    assert found(HEAD, "s = xm.get_rng_state(device)", "NP217") == ["warning unsafe"]


def test_the_same_seed_twice() -> None:
    assert ported(f"{HEAD}torch.manual_seed(value)\nxm.set_rng_state(value)\n", "safe") == (
        "import torch\ntorch.manual_seed(value)\n"
    )


def test_another_seed_leaves_the_host_alone() -> None:
    head = f"{HEAD}torch.manual_seed(seed)\n"
    assert port(head, "xm.set_rng_state(seed + 1)") == "torch.neuron.manual_seed(seed + 1)"
    assert found(head, "xm.set_rng_state(seed + 1)", "NP217") == ["error unsafe"]


def test_a_seed_between_states_leaves_the_host_alone() -> None:
    source = (
        f"{HEAD}def f(seed):\n    old = xm.get_rng_state()\n    xm.set_rng_state(seed)\n    xm.set_rng_state(old)\n"
    )
    assert ported(source).splitlines()[-2:] == [
        "    torch.neuron.manual_seed(seed)",
        "    torch.neuron.set_rng_state(old)",
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("with xm.fork_rng(): pass", 'with torch.random.fork_rng(device_type="neuron"): pass'),
        ("with xm.fork_rng(d, on): pass", 'with torch.random.fork_rng(enabled=on, device_type="neuron"): pass'),
    ],
)
def test_a_fork(before: str, after: str) -> None:
    assert port(HEAD, before) == after
    assert found(HEAD, before, "NP217") == ["error unsafe"]


@pytest.mark.parametrize("line", ["f = xm.set_rng_state", "xm.set_rng_state(*a)", "f = xm.get_rng_state"])
def test_what_a_person_decides(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP217") == ["error manual"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('g = torch.Generator(device="xla")', 'g = torch.Generator(device="cpu")'),
        ("g = torch.Generator(xm.xla_device())", 'g = torch.Generator("cpu")'),
    ],
)
def test_a_generator(before: str, after: str) -> None:
    assert port(HEAD, before) == after
    assert found(HEAD, before, "NP217") == ["error unsafe"]


def test_a_generator_that_fills_a_device_tensor() -> None:
    source = f'{HEAD}torch.rand(2, device="xla", generator=torch.Generator("xla"))\n'
    assert [item.applicability.word for item in check(source) if item.code == "NP217"] == ["manual"]

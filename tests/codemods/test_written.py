"""Rows that say what is written in the place of a call: the tools of NeuronX Distributed."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import ported

HEAD = """\
import logging
import os
import torch
from neuronx_distributed import utils as nxd
from neuronx_distributed.parallel_layers import utils
from neuronx_distributed.utils.logger import get_logger

"""


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("n = utils.divide(a + b, c)", "n = (a + b) // c"),
        ("n = utils.divide(denominator=c, numerator=a) * 2", "n = a // c * 2"),
        ("n = 2 * utils.divide(a, c)", "n = 2 * (a // c)"),
        ("n = utils.divide(*pair)", "n = utils.divide(*pair)"),
        ("f = utils.divide", "f = utils.divide"),
        ("n = utils.get_local_world_size()", 'n = int(os.environ.get("LOCAL_WORLD_SIZE", 1))'),
        ("x = utils.split_tensor_along_dim(t, 1, n)", "x = t.chunk(n, dim=1)"),
        ("x = utils.split_tensor_along_dim(t, 1, n, True)", "x = utils.split_tensor_along_dim(t, 1, n, True)"),
        ("x = utils.requires_init_pg_override()", "x = False"),
        ("x = not nxd.cpu_mode()", "x = True"),
        ("x = a if utils.is_pjrt_device() else b", "x = b"),
        ("x = get_logger()", "x = logging.getLogger(__name__)"),
        ("x = get_logger('a', rank0_only=False)", "x = logging.getLogger(__name__)"),
        ("x = nxd.get_device()", 'x = torch.device("neuron")'),
    ],
)
def test_line(line: str, after: str) -> None:
    assert port(HEAD, line) == after


def test_levels() -> None:
    assert found(HEAD, "utils.get_local_world_size()", "NP288") == ["error safe"]
    assert found(HEAD, "utils.divide(a, b)", "NP288") == ["error unsafe"]
    assert found(HEAD, "utils.divide(a)", "NP288") == ["error manual"]


def test_definition_comes_with_the_call() -> None:
    after = ported(f"{HEAD}torch.save(utils.move_all_tensor_to_cpu(state), path)\n")
    assert "def to_device(value, device):" in after
    assert after.endswith('torch.save(to_device(state, "cpu"), path)\n')


def test_name_of_the_definition_is_taken() -> None:
    source = f"{HEAD}to_device = 1\ntorch.save(utils.move_all_tensor_to_cpu(state), path)\n"
    assert ported(source).endswith("torch.save(utils.move_all_tensor_to_cpu(state), path)\n")


def test_imports_come_with_the_call() -> None:
    assert ported(
        "from neuronx_distributed.parallel_layers.utils import get_local_world_size as n\nx = n()\n", "safe"
    ) == ('import os\nx = int(os.environ.get("LOCAL_WORLD_SIZE", 1))\n')

"""How many processes a file runs in, and where it has a process group after its port."""

from __future__ import annotations

import ast
import textwrap

import pytest

from neuron_port.semantics.processes import Parallel, Processes
from tests.semantics.build import module

HEAD = """
import os
import torch
import torch.distributed as dist
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_multiprocessing as xmp
import torch_xla.runtime as xr
"""
PLAIN = "import os\nimport torch\nimport torch_xla.core.xla_model as xm\n"


def grouped(source: str) -> list[bool]:
    """Whether there is a process group at each call of ``here()``, in source order."""
    model = module(HEAD + textwrap.dedent(source))
    processes = Processes(model)
    return [processes.grouped(call) for call in model.calls_of("here")]


def parallel(source: str, head: str = PLAIN) -> Parallel:
    return Processes(module(head + textwrap.dedent(source))).parallel


def has_group(source: str) -> bool:
    return Processes(module(HEAD + textwrap.dedent(source))).has_group


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('dist.init_process_group("xla")\nhere()', [True]),
        ('here()\ndist.init_process_group("xla")', [False]),
        ('dist.init_process_group("xla", rank=here())', [False]),
        ("here()", [False]),
        ('if not dist.is_initialized():\n    dist.init_process_group("xla")\nhere()', [True]),
        ('if args.distributed:\n    dist.init_process_group("xla")\n    here()\nhere()', [True, False]),
        ('if a:\n    dist.init_process_group("xla")\nelse:\n    dist.init_process_group("gloo")\nhere()', [True]),
        ('try:\n    dist.init_process_group("xla")\nexcept RuntimeError:\n    here()\nhere()', [False, True]),
        ('for x in y:\n    dist.init_process_group("xla")\nhere()', [False]),
        ('with x:\n    dist.init_process_group("xla")\nhere()', [True]),
        ('mesh = dist.init_device_mesh("xla", (2,))\nhere()', [True]),
        ('mesh = dist.device_mesh.init_device_mesh("xla", (2,))\nhere()', [True]),
    ],
)
def test_group_in_one_block(source: str, expected: list[bool]) -> None:
    assert grouped(source) == expected


def test_no_group_where_it_is_made_only_now() -> None:
    source = """
        class Strategy:
            def setup(self):
                if self.plain:
                    rank = here()
                if self.old:
                    dist.init_process_group("xla", init_method="pjrt://", rank=rank)
                else:
                    dist.init_process_group("xla", rank=rank)
                here()
    """
    assert grouped(source) == [False, True]
    asked = 'def f():\n    here()\n    if not dist.is_initialized():\n        dist.init_process_group("xla")\n'
    assert grouped(f'{asked}dist.init_process_group("xla")\nf()') == [True]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            """
            def setup():
                dist.init_process_group("xla")

            def main():
                here()
                setup()
                here()

            main()
            here()
            """,
            [False, True, True],
        ),
        (
            """
            def work():
                here()

            def main():
                work()

            dist.init_process_group("xla")
            main()
            """,
            [True],
        ),
        (
            """
            def work():
                here()

            work()
            dist.init_process_group("xla")
            work()
            """,
            [False],
        ),
        (
            """
            RANK = here()

            def main():
                dist.init_process_group("xla")
                train()

            def train():
                here()

            if __name__ == "__main__":
                main()
            """,
            [False, True],
        ),
        (
            """
            class Trainer:
                def __init__(self):
                    dist.init_process_group("xla")
                    here()

                def fit(self):
                    here()

            here()
            trainer = Trainer()
            here()
            """,
            [True, True, False, True],
        ),
        (
            """
            class Trainer:
                def setup(self):
                    if self.distributed:
                        dist.init_process_group("xla")

                def fit(self):
                    here()
            """,
            [False],
        ),
        (
            """
            def called_elsewhere():
                here()

            if __name__ == "__main__":
                dist.init_process_group("xla")
            """,
            [True],
        ),
        (
            """
            def called_elsewhere():
                here()

            if args.distributed:
                dist.init_process_group("xla")
            """,
            [False],
        ),
        (
            """
            def fall(n):
                here()
                fall(n - 1)

            dist.init_process_group("xla")
            fall(3)
            """,
            [True],
        ),
    ],
)
def test_group_through_functions(source: str, expected: list[bool]) -> None:
    assert grouped(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(i):\n    here()\nxmp.spawn(f)\nhere()", [True, False]),
        ("def f(i):\n    here()\ntorch_xla.launch(f, args=())", [True]),
        ("def f(i):\n    here()\nxmp.spawn(f, nprocs=8)", [True]),
        ("def f(i):\n    here()\nxmp.spawn(f, nprocs=1)", [False]),
        ("def f(i):\n    here()\nxmp.spawn(f, (), 1)", [False]),
        ("def f(i):\n    here()\ntorch_xla.launch(f, debug_single_process=True)", [False]),
        ("def f(i):\n    here()\ntorch_xla.launch(f, debug_single_process=flags.debug)", [True]),
        ("xmp.spawn(lambda i: here())", [True]),
        ("def f(i):\n    here()\ndef start():\n    here()\n    xmp.spawn(f)", [True, False]),
        (
            'def f(i):\n    dist.init_process_group("xla")\n    g()\ndef g():\n    here()\ndef start():\n    xmp.spawn(f)',
            [True],
        ),
        ("def g():\n    here()\ndef f(i):\n    g()\nxmp.spawn(f)", [True]),
        ('def f(i):\n    here()\n    dist.init_process_group("xla")\n    here()\nxmp.spawn(f)', [False, True]),
        (
            'def f(i):\n    here()\nif a:\n    dist.init_process_group("xla")\n    f(0)\nelse:\n    xmp.spawn(f)',
            [False],
        ),
        (
            'def f(i):\n    here()\nif os.environ.get("WORLD_SIZE"):\n    f(0)\nelse:\n    xmp.spawn(f)',
            [False],
        ),
        (
            'def f(i):\n    if not dist.is_torchelastic_launched():\n        dist.init_process_group("xla")\n    here()\n'
            'if "RANK" in os.environ:\n    dist.init_process_group("xla")\n    f(0)\nelse:\n    xmp.spawn(f)',
            [True],
        ),
        (
            'def setup():\n    if a:\n        dist.init_process_group("xla")\n    else:\n'
            '        dist.init_process_group("gloo")\ndef other():\n    here()',
            [True],
        ),
        (
            'def main():\n    if "RANK" in os.environ:\n        dist.init_process_group("xla")\n        return f(0)\n'
            "    xmp.spawn(f)\ndef f(i):\n    here()\nmain()",
            [False],
        ),
    ],
)
def test_group_of_a_launch(source: str, expected: list[bool]) -> None:
    assert grouped(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("xm.mark_step()", False),
        ('dist.init_process_group("xla")', True),
        ('if a:\n    dist.init_process_group("xla")', True),
        ("xmp.spawn(f)", True),
        ("xmp.spawn(f, nprocs=1)", False),
        ("torch_xla.launch(f)", True),
        ("torch_xla.launch(f, debug_single_process=True)", False),
        ("start = xmp.spawn\nstart(f)", True),
        ("run(xmp.spawn)", True),
    ],
)
def test_has_group(source: str, expected: bool) -> None:
    assert has_group(source) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("device = xm.xla_device()\nprint(device)", Parallel.SINGLE),
        ("def step():\n    xm.mark_step()", Parallel.UNKNOWN),
        ("def step():\n    xm.rendezvous('x')", Parallel.MULTI),
        ("rank = int(os.environ['RANK'])", Parallel.MULTI),
        ("from torch.nn.parallel import DistributedDataParallel as DDP\nmodel = DDP(model)", Parallel.MULTI),
        ("import torch_xla.distributed.xla_multiprocessing as xmp\nxmp.spawn(f, nprocs=1)\n", Parallel.SINGLE),
        (
            "import torch_xla.distributed.xla_multiprocessing as xmp\nn = xm.xrt_world_size()\nxmp.spawn(f, nprocs=1)\n",
            Parallel.SINGLE,
        ),
        ("import torch_xla.distributed.xla_multiprocessing as xmp\nxmp.spawn(f, nprocs=n)\n", Parallel.MULTI),
        ("import torch_xla\ntorch_xla.launch(f)", Parallel.MULTI),
        ("from transformers import Trainer\ntrainer = Trainer(model)\nprint(trainer.train())", Parallel.MULTI),
        ("from optimum.neuron import NeuronSFTTrainer as T\nprint(T(model).train())", Parallel.MULTI),
        ("from transformers import AutoModel\nprint(AutoModel.from_pretrained(name))", Parallel.SINGLE),
        ("import logging\nlogging.basicConfig()\nlogger = logging.getLogger()\nlogger.info('x')", Parallel.UNKNOWN),
        ("import sys\nsys.path.append('..')", Parallel.UNKNOWN),
        ("parser = make()\nparser.parse_args()", Parallel.SINGLE),
    ],
)
def test_parallel(source: str, expected: Parallel) -> None:
    assert parallel(source) is expected


def test_launches() -> None:
    model = module(HEAD + "xmp.spawn(f, (1,), 4)\ntorch_xla.launch(fn=g, debug_single_process=True)\nother.spawn(f)")
    launches = Processes(model).launches
    assert [(ast.unparse(item.function), item.passes_local_rank, item.single) for item in launches] == [
        ("f", False, False),
        ("g", True, True),
    ]

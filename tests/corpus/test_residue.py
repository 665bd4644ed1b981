"""The independent checker must see what is there and must be quiet about text."""

from __future__ import annotations

import sys

import pytest
from residue import residue


def found(text: str, *findings: dict) -> list[str]:
    return [str(item) for item in residue(text, findings)]


def finding(code: str, row: int, end_row: int | None = None) -> dict:
    return {"code": code, "location": {"row": row, "column": 1}, "end_location": {"row": end_row or row, "column": 1}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import torch\ntorch.cuda.synchronize()\n", ["2:1: name torch.cuda.synchronize"]),
        ("import torch as th\nx = th . cuda\n", ["2:5: name torch.cuda"]),
        ("import torch\n(torch\n .cuda\n .init())\n", ["2:2: name torch.cuda.init"]),
        ("import torch.cuda\n", ["1:1: import torch.cuda"]),
        ("import torch.cuda as tc\ntc.Stream()\n", ["1:1: import torch.cuda", "2:1: name torch.cuda.Stream"]),
        (
            "from torch import cuda as c, nn\nc.init()\nnn.Linear(1, 1)\n",
            ["1:1: import torch.cuda", "2:1: name torch.cuda.init"],
        ),
        (
            "from torch.cuda.amp import (\n    autocast,\n    GradScaler as G,\n)\nwith autocast(): G()\n",
            [
                "1:1: import torch.cuda.amp.autocast",
                "1:1: import torch.cuda.amp.GradScaler",
                "5:6: name torch.cuda.amp.autocast",
                "5:18: name torch.cuda.amp.GradScaler",
            ],
        ),
        ("import torch\nx = 1; torch.backends.cudnn.benchmark = True\n", ["2:8: name torch.backends.cudnn.benchmark"]),
        ("import torch\nmodel.cuda(0)\n", ["2:7: method .cuda("]),
        ("import torch\nf(x).cuda()\n", ["2:6: method .cuda("]),
        ("if x.is_cuda: pass\n", ["1:6: method .is_cuda"]),
        ("import torch\nd = 'cuda'\n", ["2:5: string cuda"]),
        ('import torch\nd = "cuda" ":1"\n', ["2:5: string cuda:1"]),
        ("import torch\nd = f'cuda:{rank}'\n", ["2:5: string cuda:"]),
        ("import torch\ninit('nccl')\n", ["2:6: string nccl"]),
        ("import torch\nt.type('torch.cuda.FloatTensor')\n", ["2:8: string torch.cuda.FloatTensor"]),
        ("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n", ["2:12: variable CUDA_VISIBLE_DEVICES"]),
        ("x = current_env.get('NCCL_DEBUG')\n", ["1:21: variable NCCL_DEBUG"]),
        ("x = os.getenv('CUDA_HOME')\n", ["1:15: variable CUDA_HOME"]),
        ("if 'NCCL_DEBUG' not in os.environ: pass\n", ["1:4: variable NCCL_DEBUG"]),
        ("try: import apex\nexcept ImportError: pass\n", ["1:6: import apex"]),
        ("from numba import cuda\ncuda.jit()\n", ["1:1: import numba.cuda"]),
        ("import triton.language as tl\n", ["1:1: import triton.language"]),
    ],
)
def test_occurrences(text: str, expected: list[str]) -> None:
    assert found(text) == expected


def test_names_inside_an_f_string_are_no_text() -> None:
    column = 10 if sys.version_info >= (3, 12) else 7  # before 3.12 an f-string is one token
    expected = [f"2:{column}: name torch.cuda.device_count"]
    assert found("import torch\nprint(f'{torch.cuda.device_count()}')\n") == expected


@pytest.mark.parametrize(
    "text",
    [
        '"""cuda"""\nimport torch\n',
        "import torch\n# torch.cuda.init() on 'cuda'\n",
        "import torch\nprint('cuda')\nlogger.info('cuda')\nwarnings.warn('nccl')\n",
        "import torch\nraise ValueError('cuda')\n",
        "import torch\nparser.add_argument('-c', help='cuda')\n",
        "import torch\nx = b'cuda'\n",
        "import torch\nx = 'barracuda'\ny = 'on cuda'\n",
        "import torch\nf(cuda=True)\nopt.cuda = True\n",
        "import torch\nplatform.is_cuda()\n",
        "import torch\nfrom backends import gpu\ngpu.cuda()\n",
        "class C:\n    pass\nC().cuda()\ndevice = 'cuda'\n",
        "import torch\np = os.path.join(root, 'cuda')\nq = root / 'cuda'\n",
        "from .apex import x\nfrom . import triton\n",
        "x = {'CUDA_HOME': os.environ.get('HOME')}\n",
        "import torch\nDEVICES = ('cuda', 'neuron')\n",
        "import torch\nself.is_cuda = True\nif self.is_cuda: pass\n",
        "import torch\ntorch.accelerator.synchronize()\nx.to('neuron')\n",
    ],
)
def test_text_and_foreign_names_are_left_alone(text: str) -> None:
    assert found(text) == []


def test_a_name_with_another_binding_is_left_alone_but_its_import_is_not() -> None:
    new, old = "from torch.amp import autocast", "from torch.cuda.amp import autocast"
    text = f"try:\n    {new}\nexcept ImportError:\n    {old}\nautocast()\n"
    assert found(text) == ["4:5: import torch.cuda.amp.autocast"]


def test_a_finding_covers_its_logical_line_only() -> None:
    text = "import torch\nx = f(\n    'cuda',\n)\ny = 'cuda'\n"
    assert found(text, finding("NP101", 3)) == ["5:5: string cuda"]
    assert found(text, finding("NP101", 2, 5)) == ["5:5: string cuda"]


def test_a_dead_branch_covers_its_lines() -> None:
    text = "import torch\nif torch.cuda.is_available():\n    x = 'cuda'\n    y.cuda()\nz.cuda()\n"
    assert found(text, finding("NP122", 2, 4)) == ["5:3: method .cuda("]


def test_a_file_that_was_not_read_has_no_residue() -> None:
    assert found("import torch\nprint 'cuda'\nx = 'cuda'\n", finding("NP001", 2)) == []

"""Environment variables of CUDA, NCCL and NVIDIA."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, codes

HEAD = "import os\nimport subprocess\nfrom os import environ\nprint(os, subprocess, environ)\n"
CARDS = "CUDA_VISIBLE_DEVICES"
CORES = "NEURON_RT_VISIBLE_CORES"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('os.environ["CUDA_LAUNCH_BLOCKING"] = "1"', 'os.environ["NEURON_LAUNCH_BLOCKING"] = "1"'),
        ("environ['CUDA_LAUNCH_BLOCKING'] = '1'", "environ['NEURON_LAUNCH_BLOCKING'] = '1'"),
        ('os.putenv("CUDA_LAUNCH_BLOCKING", "1")', 'os.putenv("NEURON_LAUNCH_BLOCKING", "1")'),
        ('x = os.getenv("CUDA_LAUNCH_BLOCKING")', 'x = os.getenv("NEURON_LAUNCH_BLOCKING")'),
        ('os.environ["NCCL_DEBUG"] = "INFO"; x = 1', "x = 1"),
        ('os.environ.setdefault("NCCL_P2P_DISABLE", "1"); x = 1', "x = 1"),
        ('os.environ.pop("NCCL_DEBUG", None); x = 1', "x = 1"),
        ('del os.environ["NCCL_DEBUG"]; x = 1', "x = 1"),
        ('env["PYTORCH_CUDA_ALLOC_CONF"] = "x"; x = 1', "x = 1"),
    ],
)
def test_safe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert port(HEAD, before, "unsafe", "portable") == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f'os.environ["{CARDS}"] = "0"', f'os.environ["{CORES}"] = "0"'),
        (f"os.environ['{CARDS}'] = str(gpu)", f"os.environ['{CORES}'] = str(gpu)"),
        (f'os.environ.setdefault("{CARDS}", "0")', f'os.environ.setdefault("{CORES}", "0")'),
        ('os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"; x = 1', "x = 1"),
        ('os.environ["NCCL_DEBUG"] = level(); x = 1', "x = 1"),
        ('os.environ.update({"CUDA_LAUNCH_BLOCKING": "1"})', 'os.environ.update({"NEURON_LAUNCH_BLOCKING": "1"})'),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f'os.environ["{CARDS}"] = ""', ["warning manual"]),
        (f'os.environ["{CARDS}"] = "-1"', ["warning manual"]),
        (f'x = os.environ["{CARDS}"]', ["error manual"]),
        (f'x = os.environ.get("{CARDS}")', ["warning manual"]),
        (f'x = "{CARDS}" in os.environ', ["warning manual"]),
        (f'subprocess.run(c, env={{**os.environ, "{CARDS}": "0"}})', ["warning manual"]),
        (f'x = len(os.environ["{CARDS}"].split(","))', ["error manual"]),
        ('x = os.environ.get("CUDA_HOME")', ["info manual"]),
        ('os.environ["LD_LIBRARY_PATH"] = "/usr/local/cuda/lib64"', ["info manual"]),
    ],
)
def test_reported(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP195") == expected


@pytest.mark.parametrize(
    "line",
    [
        f'print("{CARDS}")',
        f'x = {{"{CARDS}": 1}}',
        f'x = table["{CARDS}"]',
        f'x = options.get("{CARDS}")',
        'os.environ["OMP_NUM_THREADS"] = "8"',
        'os.environ["LD_LIBRARY_PATH"] = "/opt/lib"',
        'os.environ["NCCL"] = "1"',
        f'os.environ["{CORES}"] = "0"',
    ],
)
def test_left_alone(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP195") == []


def test_what_is_renamed_where_it_is_set_is_renamed_where_it_is_read() -> None:
    assert_ported(
        """
        import os
        os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"
        print(os.environ["CUDA_VISIBLE_DEVICES"], os.environ.get("CUDA_VISIBLE_DEVICES"))
        del os.environ["CUDA_VISIBLE_DEVICES"]
        """,
        """
        import os
        os.environ["NEURON_RT_VISIBLE_CORES"] = "0,1"
        print(os.environ["NEURON_RT_VISIBLE_CORES"], os.environ.get("NEURON_RT_VISIBLE_CORES"))
        del os.environ["NEURON_RT_VISIBLE_CORES"]
        """,
    )


def test_counting_cards_becomes_counting_devices() -> None:
    head = "import os\nimport torch\n"
    line = 'x = len(os.environ["CUDA_VISIBLE_DEVICES"].split(","))'
    assert port(head, line) == "x = torch.accelerator.device_count()"


@pytest.mark.parametrize(
    "start",
    [
        "import torch.multiprocessing as mp\nmp.spawn(work)\n",
        "import torch\ntorch.distributed.init_process_group('neuron')\n",
        "from torch.distributed.run import main\n",
    ],
)
def test_a_program_that_starts_processes_drops_the_choice_of_cards(start: str) -> None:
    assert port(f"import os\n{start}", 'os.environ["CUDA_VISIBLE_DEVICES"] = "0"; x = 1') == "x = 1"


def test_too_late_behind_the_import_of_torch() -> None:
    head = "import os\nimport torch\nprint(torch)\n"
    assert found(head, 'os.environ["CUDA_LAUNCH_BLOCKING"] = "1"', "NP195") == ["warning unsafe"]
    assert found(head, 'def f(): os.environ["CUDA_LAUNCH_BLOCKING"] = "1"', "NP195") == ["info safe"]


def test_names_decide() -> None:
    assert codes("""
        class os:
            environ = {}
        os.environ["NCCL_DEBUG"] = "INFO"
        print(os.getenv("NCCL_DEBUG"))
    """) == [(4, "NP195")]

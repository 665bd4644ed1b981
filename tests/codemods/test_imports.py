"""Import statements of the old platform."""

from __future__ import annotations

import textwrap

import pytest

from tests.porting import assert_ported, check, codes, ported


def words(source: str) -> list[tuple[int, str, str, str]]:
    return [(item.location.row, item.code, item.severity.word, item.applicability.word) for item in check(source)]


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after", "level"),
    [
        (
            "import torch.cuda\ntorch.cuda.synchronize()\n",
            "import torch\ntorch.accelerator.synchronize()\n",
            "safe",
        ),
        (
            "import torch\nfrom torch import cuda as gpu\ngpu.synchronize()\n",
            "import torch\ntorch.accelerator.synchronize()\n",
            "safe",
        ),
        (
            "from torch.cuda import synchronize as wait  # sync\nwait()\n",
            "from torch.accelerator import synchronize as wait  # sync\nwait()\n",
            "safe",
        ),
        (
            "def f(x):\n    import torch.cuda as tc\n    tc.synchronize()\n",
            "def f(x):\n    import torch\n    torch.accelerator.synchronize()\n",
            "safe",
        ),
        (
            "import torch.cuda\nprint(torch.zeros(1))\n",
            "import torch\nprint(torch.zeros(1))\n",
            "unsafe",
        ),
    ],
)
def test_an_import_follows_its_uses(before: str, after: str, level: str, target: str) -> None:
    assert_ported(before, after, level, target)


def test_names_of_one_statement_go_their_own_ways() -> None:
    assert_ported(
        """
        from torch.cuda import (
            Stream,  # side
            get_device_name,
            synchronize,
        )
        synchronize()
        side = Stream()
        print(get_device_name())
        """,
        """
        from torch import Stream
        from torch.accelerator import synchronize
        from torch.cuda import (
            # side
            get_device_name,
        )
        synchronize()
        side = Stream()
        print(get_device_name())
        """,
    )


def test_a_module_of_autocast_goes() -> None:
    assert_ported(
        """
        import torch
        from torch.cuda import amp
        with amp.autocast():
            scaler = amp.GradScaler()
        """,
        """
        import torch
        with torch.autocast("neuron", dtype=torch.bfloat16):
            scaler = torch.amp.GradScaler("neuron")
        """,
    )


def test_a_star_hides_the_names() -> None:
    source = "from torch.cuda import *\nsynchronize()\n"
    assert words(source)[0] == (1, "NP136", "warning", "manual")
    assert ported(source).startswith("from torch.cuda import *\n")


def test_a_fallback_is_a_note() -> None:
    source = (
        "try:\n    from torch.amp import GradScaler\nexcept ImportError:\n    from torch.cuda.amp import GradScaler\n"
    )
    assert words(source) == [(4, "NP161", "info", "manual")]
    assert ported(source) == source


def test_an_optional_library_is_a_note() -> None:
    source = "try:\n    import triton\nexcept ImportError:\n    triton = None\n"
    assert words(source) == [(2, "NP701", "info", "manual")]
    assert words("import triton\n") == [(1, "NP701", "error", "manual")]


def test_a_dotted_import_of_another_package_is_not_touched() -> None:
    source = """
        import torch
        if fast:
            import fastdist.dataparallel.torch.core  # noqa
            backend = "fast"
        else:
            backend = "nccl"
        torch.distributed.init_process_group(backend)
    """
    after = ported(source)
    assert "    import fastdist.dataparallel.torch.core  # noqa\n" in after
    assert '    backend = "neuron"\n' in after


@pytest.mark.parametrize(
    "source",
    [
        "from mylib.torch.cuda import synchronize\nsynchronize()\n",
        "from .torch import cuda\ncuda.synchronize()\n",
        "import cuda\ncuda.synchronize()\n",
        "import torch.nn\nfrom torch import nn\nnn.Linear(1, 1)\n",
        "import torchcuda\n",
    ],
)
def test_look_alikes(source: str) -> None:
    assert [code for _, code in codes(source) if code != "NP701"] == []
    assert ported(source) == textwrap.dedent(source)

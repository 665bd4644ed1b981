"""Imports of PyTorch/XLA: each goes when nothing needs it."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, check, codes


@pytest.mark.parametrize(
    "line",
    [
        "import torch_xla",
        "import torch_xla.core.xla_model as xm",
        "from torch_xla.core import xla_model as xm",
        "from torch_xla.core.xla_model import mark_step",
        "import torch_xla.distributed.xla_backend",
        "import torch_neuronx.distributed.xla_backend",
        "import torch_xla.no_such_module",
        "import neuronx_distributed as nxd",
        "import libneuronxla",
    ],
)
def test_an_import_that_nothing_reads_goes(line: str) -> None:
    assert_ported(f"import os\n{line}\n\nprint(os)\n", "import os\n\nprint(os)\n", "safe")


@pytest.mark.parametrize(
    "line", ["import torch_neuronx", "from torch_neuronx import nki_op", "from . import torch_xla"]
)
def test_no_import_of_the_old_platform(line: str) -> None:
    assert codes(f"{line}\n") == []


def test_each_import_serves_its_own_names() -> None:
    assert_ported(
        """
        import torch_xla
        import torch_xla.core.xla_model
        import torch_xla.runtime

        torch_xla.core.xla_model.mark_step()
        torch_xla.runtime.a_name_of_tomorrow()
        """,
        """
        import torch_xla
        import torch_xla.runtime

        torch_xla.runtime.a_name_of_tomorrow()
        """,
    )


def test_one_statement_several_imports() -> None:
    assert_ported(
        """
        from torch_xla.core import xla_model as xm, unknown
        xm.mark_step()
        print(unknown)
        """,
        """
        from torch_xla.core import unknown
        print(unknown)
        """,
    )


def test_a_handler_that_gives_up_needs_the_package() -> None:
    assert_ported(
        """
        import sys

        try:
            import torch_xla.core.xla_model as xm
        except ImportError:
            sys.exit("install torch_xla")

        xm.mark_step()
        print("done")
        """,
        """
        print("done")
        """,
        "safe",
    )


def test_an_import_of_an_unknown_name_has_the_rule_for_imports() -> None:
    source = "from torch_xla.core.xla_model import a_name_of_tomorrow as name\n\nprint(name(3))\n"
    assert codes(source) == [(1, "NP203"), (3, "NP200")]
    finding = check(source)[1]
    assert finding.message.startswith("torch_xla.core.xla_model.a_name_of_tomorrow is part of PyTorch/XLA")
    assert (finding.location.column, finding.end_location.column) == (7, 11)


def test_the_whole_name_is_shown() -> None:
    source = "import torch_xla.core.xla_model as xm\n\nprint(xm.Other.thing.of(3))\n"
    finding = check(source)[-1]
    assert (finding.code, finding.location.column, finding.end_location.column) == ("NP200", 7, 24)
    assert "xla_model.Other.thing.of is" in finding.message


def test_installing_the_package_is_warned_of() -> None:
    (finding,) = check("import torch_xla\n")
    assert "USE_TORCH_XLA=0" in finding.message

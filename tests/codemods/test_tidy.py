"""An if whose whole body goes is removed with it."""

from __future__ import annotations

import textwrap

import pytest

from tests.porting import assert_ported, ported

HEAD = "import torch\nx = torch.zeros(1)\ntorch.manual_seed(0)\n"
SEED = "torch.cuda.manual_seed(0)"


@pytest.mark.parametrize(
    "source",
    [
        f"if use:\n    {SEED}\n",
        f"if args.gpu and not use:\n    {SEED}\n",
        f"if torch.cuda.is_available():\n    {SEED}\n",
        f"if torch.cuda.device_count() > 1:\n    {SEED}\n",
        f"if a:\n    if b:\n        {SEED}\n",
        f"if a:\n    {SEED}\nelse:\n    {SEED}\n",
    ],
)
def test_it_goes(source: str) -> None:
    assert ported(HEAD + source, "safe") == HEAD


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"if ask():\n    {SEED}\n", "if ask():\n    pass\n"),
        (f"if (y := use):\n    {SEED}\n", "if (y := use):\n    pass\n"),
        (f"if use:\n    {SEED}\n    y = 1\n", "if use:\n    y = 1\n"),
        (f"if use:\n    {SEED}\nelse:\n    y = 1\n", "if use:\n    pass\nelse:\n    y = 1\n"),
        (f"while use:\n    {SEED}\n", "while use:\n    pass\n"),
        (f"for y in z:\n    {SEED}\n", "for y in z:\n    pass\n"),
    ],
)
def test_what_stays(before: str, after: str) -> None:
    assert ported(HEAD + before, "safe") == HEAD + after


def test_both_branches_of_a_setting() -> None:
    assert_ported(
        """
        import torch
        if exact:
            torch.backends.cudnn.allow_tf32 = False
        else:
            torch.backends.cudnn.allow_tf32 = True
        print(torch.zeros(1))
        """,
        """
        import torch
        print(torch.zeros(1))
        """,
        level="safe",
    )


def test_an_emptied_elif_keeps_the_chain() -> None:
    source = f"if a:\n    y = 1\nelif b:\n    {SEED}\n"
    assert ported(HEAD + source, "safe") == HEAD + textwrap.dedent("if a:\n    y = 1\nelif b:\n    pass\n")


def test_a_branch_that_also_imported_goes() -> None:
    assert_ported(
        """
        def main(flags):
            if flags.profile:
                import torch_xla.debug.profiler as xp, logging
                xp.start_server(1)
            if flags.profile:
                import torch_xla.debug.profiler as xp
                xp.start_server(1)
            return flags
        """,
        """
        def main(flags):
            if flags.profile:
                import logging
            return flags
        """,
    )


def test_a_print_of_the_master_goes_with_what_it_prints() -> None:
    assert_ported(
        """
        import logging
        import torch_xla.core.xla_model as xm
        import torch_xla.debug.metrics as met

        xm.master_print(met.metrics_report())
        logging.info("done")
        """,
        """
        import logging

        logging.info("done")
        """,
    )


def test_a_branch_and_a_try_that_only_did_what_goes() -> None:
    assert_ported(
        """
        import torch
        import torch_xla.core.xla_model as xm
        import torch_xla.debug.metrics as met


        GPU = True
        if GPU:
            import torch.cuda


        def main():
            try:
                print(met.metrics_report())
            except Exception as error:
                print("no metrics", error)
            try:
                xm.mark_step()
            finally:
                print("done")
            return torch.zeros(2, device="cuda")
        """,
        """
        import torch


        GPU = True


        def main():
            try:
                pass
            finally:
                print("done")
            return torch.zeros(2, device="neuron")
        """,
    )

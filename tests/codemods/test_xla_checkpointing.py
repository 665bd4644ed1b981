"""Activation checkpointing."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check

HEAD = "import torch\nimport torch_xla\nfrom torch_xla.distributed.fsdp import checkpoint_module\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "y = torch_xla.utils.checkpoint.checkpoint(f, x)",
            "y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=True)",
        ),
        (
            "y = torch_xla.utils.checkpoint.checkpoint(f, x, use_reentrant=on, preserve_rng_state=False)",
            "y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=on, preserve_rng_state=False)",
        ),
        (
            "y = torch_xla.utils.checkpoint.checkpoint(f, x, **options)",
            "y = torch.utils.checkpoint.checkpoint(f, x, **options)",
        ),
        ("g = torch_xla.utils.checkpoint.checkpoint", "g = torch.utils.checkpoint.checkpoint"),
    ],
)
def test_the_function_of_torch(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert found(HEAD, before, "NP227") == ["error safe"]


def test_an_import_moves_and_its_alias_follows() -> None:
    assert_ported(
        """
        import torch
        from torch_xla.utils.checkpoint import checkpoint

        if new:
            method = checkpoint
        else:
            method = torch.utils.checkpoint.checkpoint
        y = method(f, x)
        """,
        """
        import torch
        from torch.utils.checkpoint import checkpoint

        if new:
            method = checkpoint
        else:
            method = torch.utils.checkpoint.checkpoint
        y = method(f, x)
        """,
        level="safe",
    )


def test_a_patch_goes() -> None:
    assert_ported(
        """
        import torch.utils.checkpoint
        from torch_xla.utils.checkpoint import checkpoint

        torch.utils.checkpoint.checkpoint = checkpoint
        run(torch.ones(1))
        """,
        """
        import torch.utils.checkpoint

        run(torch.ones(1))
        """,
        level="safe",
    )


def test_a_patch_that_would_call_itself_goes() -> None:
    assert_ported(
        """
        import torch
        from torch_xla.utils.checkpoint import checkpoint as old

        def call(*args, **kwargs):
            kwargs["use_reentrant"] = True
            return old(*args, **kwargs)

        torch.utils.checkpoint.checkpoint = call
        run()
        """,
        """
        import torch

        def call(*args, **kwargs):
            kwargs["use_reentrant"] = True
            return torch.utils.checkpoint.checkpoint(*args, **kwargs)

        run()
        """,
        level="safe",
    )


def test_modules_are_wrapped() -> None:
    after = port(HEAD, "m = checkpoint_module(m) if on else m")
    assert after == "m = checkpoint_wrapper(m) if on else m"
    assert found(HEAD, "m = checkpoint_module(m)", "NP227") == ["error unsafe"]
    source = f"{HEAD}checkpoint_wrapper = 1\nm = checkpoint_module(m)\n"
    assert {item.applicability.word for item in check(source) if item.code == "NP227"} == {"manual"}


def test_in_place_is_left_to_a_person() -> None:
    assert found(HEAD, "checkpoint_module(m)", "NP227") == ["error manual"]

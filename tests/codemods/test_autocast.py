"""Autocast."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, codes, ported

HEAD = "import torch\n"
THERE = "torch.accelerator.is_available()"
EITHER = f'"neuron" if {THERE} else "cpu"'
PORTABLE = f'torch.accelerator.current_accelerator().type if {THERE} else "cpu"'


@pytest.mark.parametrize(
    ("before", "after", "portable"),
    [
        (
            "with torch.cuda.amp.autocast(): ...",
            'with torch.autocast("neuron", dtype=torch.bfloat16): ...',
            f"with torch.autocast({PORTABLE}, dtype=torch.bfloat16, enabled={THERE}): ...",
        ),
        (
            "with torch.cuda.amp.autocast(use_amp): ...",
            'with torch.autocast("neuron", enabled=use_amp, dtype=torch.bfloat16): ...',
            f"with torch.autocast({PORTABLE}, enabled=use_amp and {THERE}, dtype=torch.bfloat16): ...",
        ),
        (
            "with torch.cuda.amp.autocast(True): ...",
            'with torch.autocast("neuron", enabled=True, dtype=torch.bfloat16): ...',
            f"with torch.autocast({PORTABLE}, enabled={THERE}, dtype=torch.bfloat16): ...",
        ),
        (
            "with torch.cuda.amp.autocast(dtype=torch.float16, cache_enabled=False): ...",
            'with torch.autocast("neuron", dtype=torch.float16, cache_enabled=False): ...',
            f"with torch.autocast({PORTABLE}, dtype=torch.float16, cache_enabled=False, enabled={THERE}): ...",
        ),
        (
            "with torch.cuda.amp.autocast(enabled=amp), torch.no_grad(): ...",
            'with torch.autocast("neuron", enabled=amp, dtype=torch.bfloat16), torch.no_grad(): ...',
            f"with torch.autocast({PORTABLE}, enabled=amp and {THERE}, dtype=torch.bfloat16), torch.no_grad(): ...",
        ),
        (
            "with torch.autocast('cuda'): ...  # half",
            "with torch.autocast('neuron', dtype=torch.bfloat16): ...  # half",
            f"with torch.autocast({PORTABLE}, dtype=torch.bfloat16, enabled={THERE}): ...  # half",
        ),
        (
            "with torch.autocast('cuda', torch.half): ...",
            "with torch.autocast('neuron', torch.half): ...",
            f"with torch.autocast({PORTABLE}, torch.half, enabled={THERE}): ...",
        ),
        (
            "with torch.autocast(device_type='cuda', dtype=kind, enabled=amp): ...",
            "with torch.autocast(device_type='neuron', dtype=kind, enabled=amp): ...",
            f"with torch.autocast(device_type={PORTABLE}, dtype=kind, enabled=amp and {THERE}): ...",
        ),
    ],
)
def test_unsafe(before: str, after: str, portable: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after
    assert port(HEAD, before, "unsafe", "portable") == portable
    assert found(HEAD, before, "NP160") == ["warning unsafe"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("with torch.cuda.amp.autocast(enabled=False): ...", f"with torch.autocast({EITHER}, enabled=False): ..."),
        ("with torch.cuda.amp.autocast(False): ...", f"with torch.autocast({EITHER}, enabled=False): ..."),
        ("with torch.autocast('cuda', enabled=False): ...", f"with torch.autocast({EITHER}, enabled=False): ..."),
    ],
)
def test_a_region_that_is_off_must_not_raise(before: str, after: str) -> None:
    assert port(HEAD, before) == after
    assert port(HEAD, before, "unsafe", "portable") == after.replace(EITHER, PORTABLE)


def test_a_decorator_runs_on_every_host() -> None:
    assert_ported(
        """
        import torch
        @torch.cuda.amp.autocast()
        def f(): ...
        @torch.autocast("cuda", enabled=False)
        def g(): ...
        """,
        f"""
        import torch
        @torch.autocast({EITHER}, dtype=torch.bfloat16, enabled={THERE})
        def f(): ...
        @torch.autocast({EITHER}, enabled=False)
        def g(): ...
        """,
    )


def test_a_file_that_asks_for_a_device_runs_without_one() -> None:
    source = """
        import torch
        def run(x):
            if torch.cuda.is_available():
                with torch.cuda.amp.autocast():
                    return x
            with torch.cuda.amp.autocast(enabled=x):
                return x
    """
    after = ported(source)
    assert '        with torch.autocast("neuron", dtype=torch.bfloat16):\n' in after
    assert f"    with torch.autocast({EITHER}, enabled=x and {THERE}, dtype=torch.bfloat16):\n" in after


@pytest.mark.parametrize(
    "line",
    [
        "with torch.cuda.amp.autocast(*options): ...",
        "with torch.cuda.amp.autocast(**options): ...",
        "make = torch.cuda.amp.autocast",
        "make = partial(torch.cuda.amp.autocast, enabled=True)",
    ],
)
def test_reported(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP160") == ["warning manual"]


def test_a_bare_decorator_names_no_device() -> None:
    assert codes("import torch\n@torch.cuda.amp.autocast\ndef f(): ...\n") == [(2, "NP160")]
    source = "import torch\n@torch.cuda.amp.autocast\ndef f(): ...\n"
    assert ported(source) == source


@pytest.mark.parametrize(
    "line",
    [
        "with torch.autocast('cpu'): ...",
        "with torch.autocast(device.type): ...",
        "with autocast(): ...",
        "with torch.autocast('neuron', dtype=torch.bfloat16): ...",
        "with torch.autocast('mps'): ...",
    ],
)
def test_look_alikes(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP160") == []


def test_the_import_moves_with_every_use() -> None:
    assert_ported(
        """
        import torch
        from torch.cuda.amp import autocast, GradScaler
        scaler = GradScaler()
        with autocast():
            pass
        """,
        """
        import torch
        from torch.amp import autocast, GradScaler
        scaler = GradScaler("neuron")
        with autocast("neuron", dtype=torch.bfloat16):
            pass
        """,
    )


def test_a_fallback_import_is_left_alone() -> None:
    source = (
        "try:\n    from torch.amp import autocast\nexcept ImportError:\n    from torch.cuda.amp import autocast\n"
        "with autocast():\n    pass\n"
    )
    assert ported(source) == source

"""Switches of cuDNN and of the CUDA math libraries."""

from __future__ import annotations

import textwrap

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, codes, ported

HEAD = (
    "import torch\nimport torch.backends.cudnn as cudnn\nfrom torch.backends import cuda\nprint(torch, cudnn, cuda)\n"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("cudnn.benchmark = True; x = 1", "x = 1"),
        ("torch.backends.cudnn.allow_tf32 = not args.exact; x = 1", "x = 1"),
        ("cudnn.benchmark = cudnn.enabled = True; x = 1", "x = 1"),
        ("cudnn.benchmark = torch.backends.cuda.matmul.allow_tf32 = True; x = 1", "x = 1"),
        ("x = cudnn.benchmark = cudnn.enabled = True", "x = True"),
        ("x = y = cudnn.benchmark = f(1)", "x = y = f(1)"),
        ("cudnn.benchmark, x = True, 1", "x = 1"),
        ("x, cudnn.benchmark, y = 1, True, 2", "x, y = 1, 2"),
        ("cudnn.benchmark, cudnn.enabled = True, False; x = 1", "x = 1"),
        ("cudnn.deterministic = False; x = 1", "x = 1"),
        ("cudnn.benchmark = cudnn.deterministic = False; x = 1", "x = 1"),
        ("cudnn.set_flags(True); x = 1", "x = 1"),
        ("cuda.enable_flash_sdp(False); x = 1", "x = 1"),
        ("cuda.matmul.allow_tf32 = True; x = 1", "x = 1"),
        ("cuda.cufft_plan_cache[0].max_size = 3; x = 1", "x = 1"),
        ("cuda.cufft_plan_cache.clear(); x = 1", "x = 1"),
        ("with cudnn.flags(enabled=False): x = 1", "x = 1"),
        ("with torch.no_grad(), cudnn.flags(enabled=False): x = 1", "with torch.no_grad(): x = 1"),
    ],
)
def test_safe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert port(HEAD, before, "unsafe", "portable") == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("cudnn.benchmark = measure(); x = 1", "x = 1"),
        ("cudnn.deterministic = True", "torch.use_deterministic_algorithms(True)"),
        ("cudnn.deterministic = args.seed is not None", "torch.use_deterministic_algorithms(args.seed is not None)"),
        ("torch.backends.fp32_precision = 'tf32'; x = 1", "x = 1"),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after


@pytest.mark.parametrize(
    ("line", "code", "expected"),
    [
        ("if cudnn.benchmark: x = 1", "NP185", ["info manual"]),
        ("x = f(cudnn.enabled)", "NP185", ["info manual"]),
        ("x = cudnn.version()", "NP185", ["warning manual"]),
        ("x = f(cudnn.flags())", "NP185", ["info manual"]),
        ("with cudnn.flags() as x: pass", "NP185", ["info manual"]),
        ("cudnn.benchmark, x = f()", "NP185", ["info manual"]),
        ("cudnn.benchmark += 1", "NP185", ["info manual"]),
        ("setattr(cudnn, 'benchmark', True)", "NP185", ["info manual"]),
        ("x = cuda.is_built()", "NP186", ["warning manual"]),
        ("x = cuda.matmul.allow_tf32", "NP186", ["info manual"]),
        ("torch.set_float32_matmul_precision('high')", "NP186", ["info manual"]),
        ("x = cuda.preferred_linalg_library('magma')", "NP186", ["error manual"]),
    ],
)
def test_reported(line: str, code: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, code) == expected


def test_portable_code_hears_of_what_raises() -> None:
    assert found(HEAD, "cuda.cufft_plan_cache.clear()", "NP186", "portable") == ["error manual"]
    assert found(HEAD, "cudnn.benchmark = True", "NP185", "portable") == ["info manual"]


def test_determinism_is_asked_for_once() -> None:
    assert_ported(
        """
        import torch
        def seed():
            torch.use_deterministic_algorithms(True)
            torch.backends.cudnn.deterministic = True
        """,
        """
        import torch
        def seed():
            torch.use_deterministic_algorithms(True)
        """,
        level="safe",
    )


def test_only_names_count() -> None:
    assert (
        codes("""
        class Flags: ...
        cudnn = Flags()
        cudnn.benchmark = True
        cudnn.deterministic = True
    """)
        == []
    )


def test_a_saved_value_is_reported_once() -> None:
    assert codes("""
        import torch
        old = torch.backends.cudnn.benchmark
        print(old)
    """) == [(3, "NP185")]


def test_the_import_goes_with_its_last_use() -> None:
    assert_ported(
        """
        import torch
        import torch.backends.cudnn as cudnn
        cudnn.benchmark = True
        print(torch.__version__)
        """,
        """
        import torch
        print(torch.__version__)
        """,
        level="safe",
    )


def test_an_empty_body_gets_pass_and_an_empty_if_goes() -> None:
    assert_ported(
        """
        import torch
        def fast():
            torch.backends.cudnn.benchmark = True
        if args.fast:
            torch.backends.cudnn.benchmark = True
        """,
        """
        def fast():
            pass
        """,
        level="safe",
    )


def test_a_decorator_goes() -> None:
    assert_ported(
        """
        import torch
        @torch.backends.cudnn.flags(enabled=False)
        def f(x):
            return torch.ones(x)
        """,
        """
        import torch
        def f(x):
            return torch.ones(x)
        """,
        level="safe",
    )


def test_a_saved_and_restored_determinism_is_left_to_a_person() -> None:
    source = """
        import torch
        old = torch.backends.cudnn.deterministic
        torch.backends.cudnn.deterministic = True
    """
    assert [line for line, _ in codes(source)] == [3, 4]
    assert ported(source) == textwrap.dedent(source)

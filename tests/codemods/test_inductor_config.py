"""Settings of Inductor."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported

HEAD = "import torch\nimport torch._inductor.config as inductor\nprint(torch, inductor)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("inductor.max_autotune = True; x = 1", "x = 1"),
        ("inductor.triton.cudagraphs = inductor.freezing = False; x = 1", "x = 1"),
        ("x = inductor.max_autotune = True", "x = True"),
        ("with inductor.patch(max_autotune=True): x = 1", "x = 1"),
        ("with inductor.patch(max_autotune=True), torch.no_grad(): x = 1", "with torch.no_grad(): x = 1"),
    ],
)
def test_settings_go(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert port(HEAD, before, "unsafe", "portable") == before


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("print(inductor.max_autotune)", ["info manual"]),
        ("y = torch._inductor.aot_compile(m, x)", ["error manual"]),
        ("torch._dynamo.config.cache_size_limit = 8", []),
        ("config.max_autotune = True", []),
    ],
)
def test_what_stays(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP181") == expected


def test_the_import_goes_with_its_last_use() -> None:
    assert_ported(
        """
        import torch
        import torch._inductor.config
        from torch._inductor import config
        torch._inductor.config.max_autotune = True
        config.freezing = True
        print(torch.__version__)
        """,
        """
        import torch
        print(torch.__version__)
        """,
        level="safe",
    )

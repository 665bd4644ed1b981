"""Numbers of 64 bits that were made to stay float32 under XLA_DOWNCAST_BF16."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = 'import os\nimport torch\nx = torch.ones(1)\ndowncast = os.environ.get("XLA_DOWNCAST_BF16")\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = torch.zeros(1, dtype=torch.double)", "y = torch.zeros(1, dtype=torch.float32)"),
        ("y = x.to(torch.float64)", "y = x.to(torch.float32)"),
        ("y = torch.DoubleTensor([0.0])", "y = torch.FloatTensor([0.0])"),
        ("y = x.double()", "y = x.float()"),
    ],
)
def test_they_are_float32_in_a_file_that_speaks_of_it(before: str, after: str) -> None:
    assert port(HEAD, before) == after
    assert found(HEAD, before, "NP259") == ["warning unsafe"]
    assert found("import torch\nx = torch.ones(1)\n", before, "NP259") == []


@pytest.mark.parametrize("line", ["y = rooms.double(3)", "import numpy as np; y = np.double(1)"])
def test_other_doubles_stay(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP259") == []

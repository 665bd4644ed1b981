"""Notebooks run as one program; lines are counted in their cells, and what only IPython runs is said."""

from __future__ import annotations

import json

from neuron_port.validation.request import Request
from neuron_port.validation.run import validate


def run(tmp_path, *cells: str, kind: str = "code"):
    written = [{"cell_type": "markdown", "metadata": {}, "source": "# Training"}]
    written += [
        {"cell_type": kind, "metadata": {}, "source": cell, "outputs": [], "execution_count": None} for cell in cells
    ]
    file = tmp_path / "train.ipynb"
    file.write_text(json.dumps({"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return validate(Request(script=str(file), device="emulated", timeout=200.0))


def test_cells_run_in_order(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    judgement = run(
        tmp_path,
        "%matplotlib inline\n!pip install --quiet torch\nimport torch",
        '%%time\nx = torch.ones(4,\n    device="neuron")',
        "%%bash\nls",
        "%%writefile helper.py\ndef twice(x):\n    return x + x",
        "from helper import twice\n%time y = twice(x)\ndisplay(y.sum().item())",
    )
    assert judgement.passed, judgement.problems
    seen = [(each.kind, each.file, each.line, each.operation) for each in judgement.observations]
    name = str(tmp_path / "train.ipynb")
    assert ("sync", f"{name}:cell 6", 3, "item") in seen
    assert [each[1:] for each in seen if each[0] == "left-out"] == [
        (f"{name}:cell 2", 1, "%matplotlib inline"),
        (f"{name}:cell 2", 2, "!pip install --quiet torch"),
        (f"{name}:cell 4", 1, "%%bash"),
    ]


def test_a_failure_names_its_cell(tmp_path) -> None:
    judgement = run(tmp_path, "import torch", "\nx = torch.ones(2).cuda()")
    assert (judgement.failure.file, judgement.failure.line) == (f"{tmp_path / 'train.ipynb'}:cell 3", 2)
    assert judgement.problems[0].startswith(f"RuntimeError at {tmp_path / 'train.ipynb'}:cell 3:2: old platform")


def test_what_is_no_notebook(tmp_path) -> None:
    (tmp_path / "train.ipynb").write_text("{}")
    judgement = validate(Request(script=str(tmp_path / "train.ipynb"), device="emulated", timeout=200.0))
    assert judgement.failure.kind == "UnreadableFile"

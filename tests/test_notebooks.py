"""Notebooks: cells as one module, magics, places in cells, and what a fix leaves alone in the JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from neuron_port.findings import Applicability
from tests.porting import ENGINES
from tests.porting_notebooks import cells_of, fixed, found, notebook

PORTED = [
    # Names go from cell to cell.
    (["import torch as th", "x = th.zeros(3)", "x.cuda()"], {3: 'x.to("neuron")'}),
    # Magics stay, whatever the fix does around them.
    (
        [
            "%matplotlib inline\n!pip install -q {package}\nimport torch\n",
            "x = torch.ones(2).cuda()\n!nvidia-smi\n%cd ..",
        ],
        {2: 'x = torch.ones(2).to("neuron")\n!neuron-ls\n%cd ..'},
    ),
    (
        ["import torch\nfiles = !ls *.pt\nx = torch.ones(2).cuda()"],
        {1: 'import torch\nfiles = !ls *.pt\nx = torch.ones(2).to("neuron")'},
    ),
    (
        ["import torch\nif True:\n    !ls \\\n      data\n    torch.ones(2).cuda()\ntorch.ones?"],
        {1: 'import torch\nif True:\n    !ls \\\n      data\n    torch.ones(2).to("neuron")\ntorch.ones?'},
    ),
    (["import torch", "%%time\ntorch.ones(2).cuda()"], {2: '%%time\ntorch.ones(2).to("neuron")'}),
    (["import torch", "%time y = torch.ones(2).cuda()"], {2: '%time y = torch.ones(2).to("neuron")'}),
    (["import torch", "%timeit -n 10 -r3 torch.ones(2).cuda()"], {2: '%timeit -n 10 -r3 torch.ones(2).to("neuron")'}),
    # So do commands without a sign, and the indentation of a whole cell.
    (
        ["pip install torch \\\n  x\nimport torch", "  # a\n  torch.ones(2).cuda()\n  y = 1"],
        {2: '  # a\n  torch.ones(2).to("neuron")\n  y = 1'},
    ),
    # What looks like a magic in a string or an expression is none.
    (
        ['import torch\ntext = """\n!ls\n%cd\n"""\nn = (7\n % 3)\ntorch.ones(2).cuda()\n%cd ..'],
        {1: 'import torch\ntext = """\n!ls\n%cd\n"""\nn = (7\n % 3)\ntorch.ones(2).to("neuron")\n%cd ..'},
    ),
    # A file that a cell writes is a module of its own.
    (
        ["%%writefile train.py\nimport torch\ntorch.ones(2).cuda()\n", "torch.ones(2).cuda()"],
        {1: '%%writefile train.py\nimport torch\ntorch.ones(2).to("neuron")\n'},
    ),
    # An import goes to the other imports, and what is removed leaves no empty lines behind.
    (
        ["!pip install x\n", "import torch\n", "print(1)", "from transformers import AdamW\n", "AdamW(p)\n"],
        {4: "from torch.optim import AdamW\n", 5: "AdamW(p, eps=1e-06, weight_decay=0.0)\n"},
    ),
    (["import torch\ntorch.ones(2)", "\ntorch.backends.cuda.matmul.allow_tf32 = True\n"], {2: ""}),
    # An import that the fix leaves unused goes, but not when a magic or a cell that was not read names it.
    (["import torch\nimport os", "\ntorch.backends.cuda.matmul.allow_tf32 = True\n"], {1: "import os", 2: ""}),
    (
        ["import torch", "torch.backends.cuda.matmul.allow_tf32 = True\n!echo {torch.version}"],
        {2: "!echo {torch.version}"},
    ),
    (["import torch", "torch.backends.cuda.matmul.allow_tf32 = True", "%%prun_all\ntorch.x()"], {2: ""}),
]


@pytest.mark.parametrize(("cells", "changed"), PORTED)
def test_port(cells: list[str], changed: dict[int, str] | None) -> None:
    text = notebook(*cells)
    after = fixed(text)
    if changed is not None:
        wanted = {number: changed.get(number, source) for number, source in enumerate(cells, 1)}
        assert cells_of(after) == wanted
    assert fixed(after) == after


@pytest.mark.parametrize(
    "cell",
    [
        "%%html\n<b>torch.ones(2).cuda()</b>",
        "%%bash\npython -c 'import torch; torch.ones(2).cuda()'",
        "%%javascript\nlet torch = cuda;",
        "%%writefile notes.txt\nimport torch\ntorch.ones(2).cuda()",
    ],
)
def test_cells_in_other_languages_are_no_python(cell: str) -> None:
    assert [item for item in found(notebook("import torch", cell)) if item[0] != "NP0"] == []


def test_places_are_those_of_the_cell() -> None:
    text = notebook("import torch\n", ("markdown", "# Text\n\nimport torch"), "é = 1\nx = torch.ones(2).cuda()\n")
    assert found(text) == [("NP110", 3, 2, 5)]


def test_edits_are_those_of_the_cell() -> None:
    finding = ENGINES["neuron"].check_text(
        notebook("import torch", "!ls\ntorch.ones(2).cuda()"), "a.ipynb", with_edits=True
    )[0]
    (edit,) = finding.fix.edits
    assert (edit.location.row, edit.location.column, edit.content) == (2, 15, 'to("neuron")') or edit.location.row == 2


def test_messages_name_the_cell() -> None:
    text = notebook("import torch\nimport torch_xla.core.xla_model as xm", "\nxm.mark_step()\nx = xm.some_new_thing()")
    messages = [finding.message for finding in ENGINES["neuron"].check_text(text, "a.ipynb") if finding.code == "NP201"]
    assert all("line 3 of cell 2" in message for message in messages) and messages


def test_a_broken_cell_does_not_stop_the_others() -> None:
    text = notebook("import torch", "for x in ...:\nprint(x\n", "torch.ones(2).cuda()")
    assert found(text) == [("NP001", 2, 2, 1), ("NP110", 3, 1, 1)]
    assert cells_of(fixed(text))[3] == 'torch.ones(2).to("neuron")'


def test_suppressions() -> None:
    text = notebook(
        "import torch",
        "torch.ones(2).cuda()  # neuron-port: ignore[NP110] later\n!ls",
        "x = 1  # neuron-port: ignore[NP110]",
    )
    assert found(text) == [("NP002", 3, 1, 8)]
    assert found(notebook("# neuron-port: ignore-file\nimport torch", "torch.ones(2).cuda()")) == []


def test_other_kernels_are_left_alone() -> None:
    for language in ("julia", "R", "c++"):
        assert found(notebook("import torch\ntorch.ones(2).cuda()", language=language)) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"cells": [{"cell_type": "code", "source": "torch.cuda"}', "no valid JSON"),
        ('{"cells": [,], "x": "torch cuda"}', "no valid JSON"),
        ('{"x": "torch cuda"}', "no notebook"),
        ('{"worksheets": [], "x": "torch cuda"}', "format 3"),
        ('["torch cuda"]', "no valid JSON"),
    ],
)
def test_what_is_no_notebook(text: str, message: str) -> None:
    findings = ENGINES["neuron"].check_text(text, "a.ipynb")
    assert [finding.code for finding in findings] == ["NP001"]
    assert message in findings[0].message


def test_a_notebook_without_trigger_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text("{ broken")
    assert ENGINES["neuron"].check(path).findings == ()


FORMS = [
    # One string instead of a list; tabs; no final line end; foreign keys.
    '{"cells":[\n\t{"source":"import torch\\ntorch.ones(2).cuda()","x":1e5,"cell_type":"code","outputs":[{"text":["1\\u00e9"]}]}],"nbformat":4}',
    # Escapes as some servers write them: they stay in lines that stay, and new lines get them too.
    '{"cells": [{"cell_type": "code", "source": ["import torch\\n", "a = 1 \\u003c 2 \\/ 3\\n", "torch.ones(2).cuda() \\u003e 1"]}]}\n',
    '{"cells": [{"cell_type": "code", "source": ["import torch\\n", "# \\u00e9\\n", "torch.ones(2).cuda() # \\u00e9"]}]}',
    '{"cells": [{"cell_type": "code", "source": ["import torch\\n", "torch.ones(2).cuda() # é😀"]}]}',
    '{\r\n"cells": [\r\n{"cell_type": "code",\r\n"source": [\r\n"import torch\\n",\r\n"torch.ones(2).cuda()"\r\n]\r\n}\r\n]}\r\n',
]


@pytest.mark.parametrize("text", FORMS)
def test_only_the_line_changes(text: str) -> None:
    assert fixed(text) == text.replace(".cuda()", '.to(\\"neuron\\")')
    json.loads(fixed(text))


def test_lines_come_and_go() -> None:
    text = '{"cells": [{"cell_type": "code", "source": [\n  "import torch\\n",\n  "torch.cuda.empty_cache()\\n",\n  "torch.cuda.synchronize()"\n ]}]}'
    assert cells_of(fixed(text))[1].startswith("import torch\n")
    one = '{"cells": [{"cell_type": "code", "source": ["import torch; torch.ones(2).cuda()"]}]}'
    assert fixed(one) == one.replace(".cuda()", '.to(\\"neuron\\")')


def test_bytes_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(b"\xef\xbb\xbf" + notebook("import torch", "torch.ones(2).cuda()").encode())
    data = ENGINES["neuron"].fix(path, level=Applicability.SAFE).data
    assert data == path.read_bytes().replace(b".cuda()", b'.to(\\"neuron\\")')


def test_annotated() -> None:
    text = notebook("%matplotlib inline\nimport torch\n", "!ls\ntorch.cuda.set_per_process_memory_fraction(0.5)")
    after = cells_of(ENGINES["neuron"].fix_text(text, "a.ipynb", annotate=True).after)
    assert after[1] == "%matplotlib inline\nimport torch\n"
    assert after[2].startswith("!ls\n# TODO(neuron-port): NP") or after[2] == cells_of(text)[2]


SHELL = [
    ("!torchrun --nproc_per_node=gpu train.py {name}", "!torchrun --nproc_per_node=auto train.py {name}"),
    ("x = 1\nout = !nvidia-smi", "x = 1\nout = !neuron-ls"),
    ("x = 1\n!export NCCL_DEBUG=INFO\ny = 2", "x = 1\ny = 2"),
    ("%env NCCL_DEBUG=INFO\ny = 2", "y = 2"),
    ("%env CUDA_VISIBLE_DEVICES=0", "%env NEURON_RT_VISIBLE_CORES=0"),
    ("%env CUDA_VISIBLE_DEVICES 0", "%env NEURON_RT_VISIBLE_CORES 0"),
    ("if x:\n    %env NCCL_DEBUG=INFO\n", "if x:\n    %env NCCL_DEBUG=INFO\n"),
    ("%%bash\nexport NCCL_DEBUG=INFO\npython train.py --device cuda\n", "%%bash\npython train.py --device neuron\n"),
]


@pytest.mark.parametrize(("before", "after"), SHELL)
def test_what_a_shell_runs(before: str, after: str) -> None:
    text = notebook("print()", before)
    assert cells_of(fixed(text))[2] == after
    assert {cell for _, cell, *_ in found(text)} == {2}
    assert fixed(fixed(text)) == fixed(text)


def test_places_of_what_a_shell_runs() -> None:
    assert found(notebook("a = 1", "é = 1\nif é:\n    !nvidia-smi")) == [("NP196", 2, 3, 6)]

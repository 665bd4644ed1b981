"""Examples in documentation: checked where that is asked for, never changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_port.config import Settings
from neuron_port.discovery import discover
from neuron_port.engine import Engine
from neuron_port.findings import Applicability
from tests.porting import ENGINES, RULES

DOCS = Engine(RULES, Settings(include_docs=True))

MARKDOWN = """\
# Title, torch.cuda

```python
import torch
```

- In a list:

  ```py
  x = torch.zeros(2)
  y = x.cuda()
  ```

```bash
python -c 'import torch; torch.zeros(2).cuda()'
```

~~~ {.python}
this is no Python
~~~

> ```pycon
> >>> torch.zeros(3).cuda()
> tensor([0., 0., 0.])
> >>> for i in range(3):
> ...     torch.zeros(i).cuda()
> ```
"""

CODE = '''\
import torch


def f(x):
    """Move it.

    Examples:
        >>> y = f(torch.zeros(2).cuda())
        >>> for i in range(2):
        ...     y = torch.zeros(2).cuda()  # neuron-port: ignore[NP110]
        tensor(cuda)
        >>> not python
    """
    return x
'''


def places(engine: Engine, text: str, name: str) -> list[tuple[str, int, int]]:
    return [(finding.code, finding.location.row, finding.location.column) for finding in engine.check_text(text, name)]


@pytest.mark.parametrize("engine", [DOCS, ENGINES["neuron"]])
def test_markdown(engine: Engine) -> None:
    assert places(engine, MARKDOWN, "README.md") == [("NP110", 11, 7), ("NP110", 23, 7), ("NP110", 26, 11)]
    assert all(finding.fix is None for finding in engine.check_text(MARKDOWN, "README.md", with_edits=True))
    assert engine.fix_text(MARKDOWN, "README.md", level=Applicability.UNSAFE).after == MARKDOWN


def test_docstrings() -> None:
    assert places(ENGINES["neuron"], CODE, "a.py") == []
    assert places(DOCS, CODE, "a.py") == [("NP110", 8, 19)]
    assert DOCS.fix_text(CODE, "a.py", level=Applicability.UNSAFE).after == CODE


def test_code_is_fixed_beside_examples() -> None:
    text = f"{CODE}\n\nf(torch.zeros(2).cuda())\n"
    assert DOCS.fix_text(text, "a.py").after == f'{CODE}\n\nf(torch.zeros(2).to("neuron"))\n'


def test_a_file_with_examples_alone(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CODE)
    assert [finding.code for finding in DOCS.check(tmp_path / "a.py").findings] == ["NP110"]
    assert ENGINES["neuron"].check(tmp_path / "a.py").findings == ()


def test_markdown_is_found_when_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(MARKDOWN)
    assert list(discover([tmp_path], root=tmp_path)) == []
    assert list(discover([tmp_path], root=tmp_path, docs=True)) == [tmp_path / "a.md"]
    assert list(discover([tmp_path / "a.md"], root=tmp_path)) == [tmp_path / "a.md"]

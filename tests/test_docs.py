"""The committed rule pages say what the rule data says."""

from __future__ import annotations

import runpy
from pathlib import Path

from neuron_port.rules.loader import load_rules

DOCS = Path(__file__).resolve().parent.parent / "docs"


def test_rule_pages_are_up_to_date() -> None:
    pages = runpy.run_path(str(DOCS / "build.py"))["pages"](load_rules())
    present = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "rules").glob("*.md")}
    assert sorted(present) == sorted(pages)
    assert [name for name in pages if pages[name] != present[name]] == []

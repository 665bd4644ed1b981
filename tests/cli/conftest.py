"""Every test of the command line runs in a project of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_project import write_rules


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with four rules and a configuration that selects them; it is the current one."""
    folder = tmp_path / "project"
    write_rules(folder / "rules")
    (folder / "neuron-port.toml").write_text('extend-rules = ["rules"]\nselect = ["TST"]\n')
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR", "NEURON_PORT_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return folder

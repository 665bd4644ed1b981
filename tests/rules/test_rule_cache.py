"""The parsed rule files are kept from one start to the next, as long as the files are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_port.rules import documents
from neuron_port.rules.loader import RuleError, load_rules
from tests.rules.own_rule import OWN_RULE

RULE = f"""{OWN_RULE}
[[map]]
from = "acme.device"
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the parsed rules are kept in."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "neuron-port"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with one rule."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "own.toml").write_text(RULE, encoding="utf-8")
    return folder


def test_second_start_parses_nothing(cache: Path, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_rules([own])
    monkeypatch.setattr(documents, "_parse", None)
    second = load_rules([own])
    assert second.rules == first.rules
    assert second.triggers == first.triggers
    assert second.digest == first.digest


def test_changed_rule_is_read_again_and_takes_the_old_place(cache: Path, own: Path) -> None:
    before = load_rules([own])
    assert len(list(cache.iterdir())) == 1
    (own / "own.toml").write_text(RULE.replace("acme.device", "acme.devices"), encoding="utf-8")
    after = load_rules([own])
    assert after.row("acme.devices") is not None
    assert after.digest != before.digest
    assert len(list(cache.iterdir())) == 1


def test_other_folders_have_their_own_place(cache: Path, own: Path) -> None:
    load_rules()
    load_rules([own])
    assert len(list(cache.iterdir())) == 2


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"stamp": 1}', "not JSON"])
def test_damaged_cache_is_replaced(cache: Path, own: Path, content: str) -> None:
    load_rules([own])
    (file,) = cache.iterdir()
    good = file.read_bytes()
    file.write_text(content, encoding="utf-8")
    assert "ACME001" in load_rules([own]).rules
    assert file.read_bytes() == good


def test_date_in_a_rule_is_not_cached(cache: Path, own: Path) -> None:
    (own / "own.toml").write_text(RULE.replace('"2026-11-30"', "2026-11-30"), encoding="utf-8")
    assert "ACME001" in load_rules([own]).rules
    assert not cache.exists() or list(cache.iterdir()) == []


def test_cache_that_cannot_be_written(tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert "ACME001" in load_rules([own]).rules


def test_mistake_is_told_again(cache: Path, own: Path) -> None:
    (own / "own.toml").write_text("code = ", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(RuleError, match=r"own\.toml"):
            load_rules([own])

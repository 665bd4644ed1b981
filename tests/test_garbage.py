"""The garbage collector rests while files are worked on, and is what it was afterwards."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from neuron_port import runner
from neuron_port.runner import Failure, attempt, garbage_kept, run


def crashed(path: Path, message: str) -> str:
    return message


def test_collector_rests_during_a_run(tmp_path: Path) -> None:
    assert gc.isenabled()
    assert run([tmp_path], lambda path: gc.isenabled(), on_crash=crashed) == [False]
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_collector_is_on_again_after_a_crash() -> None:
    with pytest.raises(KeyError), garbage_kept():
        raise KeyError
    assert gc.isenabled()


def test_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with garbage_kept():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_much_garbage_is_collected_between_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_MOST_GARBAGE", 1000)

    def waste(path: Path) -> None:
        for _ in range(2000):
            cycle: list[object] = []
            cycle.append(cycle)

    with garbage_kept():
        gc.collect()
        assert attempt(waste, tmp_path) is None
        assert gc.get_count()[0] > 1000
        assert not isinstance(attempt(lambda path: None, tmp_path), Failure)
        assert gc.get_count()[0] < 1000

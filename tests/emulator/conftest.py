"""The emulated device for the tests of this folder; they need torch and are left out where it is missing."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

if importlib.util.find_spec("torch") is None:
    collect_ignore_glob = ["test_*.py"]


sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def device():
    """Every test starts with the limits of the release and an empty record."""
    from neuron_port import emulator
    from neuron_port.emulator import state

    emulator.start()
    emulator.log.clear()
    state.several, state.current = False, 0
    yield
    emulator.start()


@pytest.fixture
def allow():
    """``allow("sparse")``: switch limits off for this test."""
    from neuron_port import emulator

    return lambda *names: emulator.start(allow=names)


@pytest.fixture
def refuse():
    """``refuse("copy-size")``: switch limits on for this test."""
    from neuron_port import emulator

    return lambda *names: emulator.start(refuse=names)

"""One process that runs are forked from, with the modules that they need loaded: a run takes a second instead of many."""

from __future__ import annotations

import os
import socket
from multiprocessing import forkserver, get_context
from multiprocessing.context import ForkServerContext
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_loaded: str | None = None


def forks_of(module: str) -> ForkServerContext:
    """A context whose processes are forks of one that has imported ``module``, and nothing that other tests loaded."""
    global _loaded
    if _loaded != module:
        # A process has one such server: the modules of other tests must not come along (the emulated device, for one).
        forkserver._forkserver._stop()
        forkserver.set_forkserver_preload([module])
        # It finds its modules like Python does.
        paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != str(_ROOT)]
        os.environ["PYTHONPATH"] = os.pathsep.join([str(_ROOT), *paths])
        _loaded = module
    return get_context("forkserver")


def torchrun_variables(rank: int, size: int) -> dict[str, str]:
    """What torchrun tells a process, but for the port."""
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_WORLD_SIZE": str(size),
        "GROUP_RANK": "0",
        "MASTER_ADDR": "127.0.0.1",
        "TORCHELASTIC_RUN_ID": "test",
    }


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]

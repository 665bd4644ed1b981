"""Servers of the profiler of PyTorch/XLA."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, codes

HEAD = "import torch\nimport torch_xla.debug.profiler as xp\n"


@pytest.mark.parametrize(
    "line", ["xp.start_server(9012)", "server = xp.start_server(port, only_on_master=False)", "_ = xp.start_server(1)"]
)
def test_a_server_that_nothing_is_done_with_goes(line: str) -> None:
    assert port(HEAD, f"x = 1\n{line}") == "x = 1"
    assert found(HEAD, line, "NP261") == ["error unsafe"]


@pytest.mark.parametrize(
    "line",
    [
        "server = xp.start_server(1); log(server)",
        "server = xp.start_server(1); f = lambda: server",
        "server = xp.start_server(1); del server",
        "self.server = xp.start_server(1)",
        "a = b = xp.start_server(1)",
        "start = xp.start_server",
        "servers = [xp.start_server(1)]",
        "class Profile: server = xp.start_server(1)",
    ],
)
def test_what_a_person_decides(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP261") == ["error manual"]


def test_the_branch_that_held_it_goes_too() -> None:
    assert_ported(
        """
        SERVER = None


        def main(flags):
            global SERVER
            if flags.profile:
                import torch_xla.debug.profiler as xp
                SERVER = xp.start_server(flags.port)
            server = 2
            return server
        """,
        """
        SERVER = None


        def main(flags):
            global SERVER
            server = 2
            return server
        """,
    )


def test_other_servers_stay() -> None:
    assert codes("from jax import profiler as xp\n\nxp.start_server(9012)\n") == []

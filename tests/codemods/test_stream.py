"""CUDA streams."""

from __future__ import annotations

import textwrap

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, ported

HEAD = "import torch\ns = torch.Stream()\n"


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("c = torch.cuda.current_stream(device=d)", "c = torch.accelerator.current_stream(d)"),
        ("torch.cuda.current_stream().wait_stream(s)", "torch.accelerator.current_stream().wait_stream(s)"),
        ("def f(a: torch.cuda.Stream) -> torch.cuda.Stream: ...", "def f(a: torch.Stream) -> torch.Stream: ..."),
        ("a: torch.cuda.Stream", "a: torch.Stream"),
    ],
)
def test_safe(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "safe", target) == after


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("t = torch.cuda.Stream()", "t = torch.Stream()"),
        ("t = torch.cuda.Stream(device, -1)", "t = torch.Stream(device, priority=-1)"),
        ("t = torch.cuda.Stream(priority=-1)", "t = torch.Stream(priority=-1)"),
        ("with torch.cuda.stream(s): ...  # side", "with s: ...  # side"),
        ("with torch.cuda.stream(stream=s): ...", "with s: ..."),
        ("with torch.cuda.stream(s), torch.no_grad(): ...", "with s, torch.no_grad(): ..."),
        ("with torch.cuda.stream(torch.cuda.Stream()): ...", "with torch.Stream(): ..."),
        ("torch.cuda.set_stream(s)", "torch.accelerator.set_stream(s)"),
        ("ok = isinstance(s, torch.cuda.Stream)", "ok = isinstance(s, torch.Stream)"),
    ],
)
def test_unsafe(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "safe", target) == before
    assert port(HEAD, before, "unsafe", target) == after
    assert found(HEAD, before, "NP150", target)[0] == "error unsafe"


@pytest.mark.parametrize(
    "line",
    [
        "with torch.cuda.stream(other): ...",
        "with torch.cuda.stream(None): ...",
        "with torch.cuda.stream(*streams): ...",
        "t = torch.cuda.Stream(stream_ptr=3)",
        "t = torch.cuda.default_stream()",
        "h = s.cuda_stream",
    ],
)
def test_reported(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP150") == ["error manual"]


@pytest.mark.parametrize("line", ["with s: ...", "with stream(s): ...", "t = Stream()", "h = cuda_stream"])
def test_look_alikes(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP150") == []


def test_an_attribute_counts_in_its_own_class() -> None:
    assert_ported(
        """
        import torch
        class Side:
            def __init__(self):
                self.stream = torch.cuda.Stream()
            def run(self):
                with torch.cuda.stream(self.stream):
                    pass
        class Maybe:
            def __init__(self, fast):
                self.stream = torch.cuda.Stream() if fast else None
            def run(self):
                with torch.cuda.stream(self.stream):
                    pass
        """,
        """
        import torch
        class Side:
            def __init__(self):
                self.stream = torch.Stream()
            def run(self):
                with self.stream:
                    pass
        class Maybe:
            def __init__(self, fast):
                self.stream = torch.Stream() if fast else None
            def run(self):
                with torch.cuda.stream(self.stream):
                    pass
        """,
    )


def test_a_name_that_may_be_none_stays() -> None:
    source = """
        import torch
        side = None
        if fast:
            side = torch.Stream()
        with torch.cuda.stream(side):
            pass
    """
    assert ported(source) == textwrap.dedent(source)

"""Cutting the lazy graph, and waiting for it."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, ported

HEAD = "import torch\nimport torch_xla\nimport torch_xla.core.xla_model as xm\nx = 1\n"
SYNC = "torch.accelerator.synchronize()"


@pytest.mark.parametrize(
    "call",
    [
        "xm.mark_step()",
        "torch_xla.sync()",
        "xm.mark_step(False)",
        "torch_xla.sync(wait=False)",
        "xm.mark_step(reset_scope=False)",
        "xm.mark_step(False, False)",
    ],
)
def test_a_cut_goes(call: str) -> None:
    assert ported(f"{HEAD}{call}\n", "safe") == "import torch\nx = 1\n"
    assert found(HEAD, call, "NP220") == ["error safe"]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("xm.mark_step(wait=True)", "NP220"),
        ("torch_xla.sync(True)", "NP220"),
        ("xm.wait_device_ops()", "NP224"),
        ("xm.wait_device_ops([device])", "NP224"),
        ("xm.unlazy(tensors)", "NP224"),
    ],
)
def test_waiting_stays_waiting(call: str, code: str) -> None:
    assert port(HEAD, call, "safe") == SYNC
    assert found(HEAD, call, code) == ["error safe"]
    assert ported(f"{HEAD}{call}\n", "safe", "portable").endswith(f"if torch.accelerator.is_available():\n    {SYNC}\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f = lambda: xm.mark_step()", "f = lambda: None"),
        ("y = xm.mark_step()", "y = None"),
        ("f = lambda: torch_xla.sync(wait=True)", f"f = lambda: {SYNC}"),
        ("x and xm.mark_step()", "x and None"),
    ],
)
def test_inside_an_expression(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after


def test_portable_code_waits_where_it_can() -> None:
    assert port(HEAD, "y = torch_xla.sync(wait=True)", "safe", "portable") == (
        f"y = {SYNC} if torch.accelerator.is_available() else None"
    )
    assert ported(f"{HEAD}if torch.accelerator.is_available():\n    xm.wait_device_ops()\n", "safe", "portable") == (
        f"import torch\nx = 1\nif torch.accelerator.is_available():\n    {SYNC}\n"
    )


def test_whether_it_waits_is_decided_when_it_runs() -> None:
    assert ported(f"{HEAD}xm.mark_step(wait=debug)\n", "safe").endswith(f"if debug:\n    {SYNC}\n")
    line = "y = xm.mark_step(debug)"
    assert port(HEAD, line) == line
    assert found(HEAD, "xm.mark_step(*a)", "NP220") == ["error manual"]


def test_handed_on() -> None:
    nothing = "lambda *args, **kwargs: None"
    assert port(HEAD, "run(on_step=xm.mark_step)") == f"run(on_step={nothing})"
    assert port(HEAD, "run(on_step=xm.mark_step if x else None)") == f"run(on_step=({nothing}) if x else None)"
    assert port(HEAD, "run(xm.wait_device_ops)") == "run(torch.accelerator.synchronize)"
    assert found(HEAD, "run(on_step=xm.mark_step)", "NP220") == ["error unsafe"]


def test_another_name_for_it() -> None:
    assert ported(f"{HEAD}cut = xm.mark_step\ncut()\n", "safe") == "import torch\nx = 1\n"
    assert found(HEAD, "xm.mark_step = print", "NP220") == ["error manual"]


def test_a_block_that_becomes_empty() -> None:
    assert_ported(
        """
        import torch_xla.core.xla_model as xm

        for batch in range(3):
            xm.mark_step()
        if xm.is_master_ordinal():
            xm.mark_step()
        if work():
            xm.mark_step()
        """,
        """
        for batch in range(3):
            pass
        if work():
            pass
        """,
    )


def test_the_private_step_marker_waits_unless_told() -> None:
    line = 'torch_xla._XLAC._xla_step_marker("xla:0", [], wait=False)'
    assert ported(f"{HEAD}{line}\n") == "import torch\nx = 1\n"
    assert port(HEAD, 'torch_xla._XLAC._xla_step_marker("xla:0", [])') == SYNC
    assert found(HEAD, line, "NP220") == ["error unsafe"]


# -- clocks ------------------------------------------------------------------------------------------------------------


def test_the_device_is_waited_for_before_the_clock_is_read() -> None:
    assert_ported(
        """
        import time
        import torch
        import torch_xla.core.xla_model as xm

        def timed(model, batch):
            start = time.perf_counter()
            model(batch)
            xm.mark_step()
            return time.perf_counter() - start
        """,
        """
        import time
        import torch

        def timed(model, batch):
            start = time.perf_counter()
            model(batch)
            torch.accelerator.synchronize()
            return time.perf_counter() - start
        """,
    )


def test_a_time_that_is_measured_over_a_loop() -> None:
    assert_ported(
        """
        import time
        import torch
        import torch_xla.core.xla_model as xm

        def train(loader, model):
            start = time.time()
            for step, batch in enumerate(loader):
                model(batch)
                xm.mark_step()
                if step < 3:
                    start = time.time()
            print(len(loader) / (time.time() - start))
        """,
        """
        import time
        import torch

        def train(loader, model):
            start = time.time()
            for step, batch in enumerate(loader):
                model(batch)
                if step < 3:
                    torch.accelerator.synchronize()
                    start = time.time()
            torch.accelerator.synchronize()
            print(len(loader) / (time.time() - start))
        """,
    )


TIMED = "import time, torch\nimport torch_xla.core.xla_model as xm\nstart = time.time()\n"


def test_what_the_finding_says() -> None:
    (finding,) = [
        item for item in check(f"{TIMED}xm.mark_step()\nprint(time.time() - start)\n") if item.code == "NP220"
    ]
    assert (finding.severity.word, finding.applicability.word) == ("warning", "unsafe")
    assert finding.message == (
        "xm.mark_step cuts a lazy graph; operations are queued on TorchNeuron, so that the clock on line 5 would be read "
        "before they are done: wait with torch.accelerator.synchronize()"
    )


@pytest.mark.parametrize(
    "rest",
    [
        "xm.mark_step()\nnow = time.time()\n",  # no difference
        "xm.mark_step()\nprint(loss.item())\nprint(time.time() - start)\n",  # item() waits
        "xm.mark_step()\nxm.wait_device_ops()\nprint(time.time() - start)\n",
        "print(time.time() - start)\nxm.mark_step()\n",
        "def f():\n    xm.mark_step()\nprint(time.time() - start)\n",
    ],
)
def test_clocks_that_need_no_waiting(rest: str) -> None:
    assert found(TIMED, "", "NP220") == []
    assert [item.applicability.word for item in check(TIMED + rest) if item.code == "NP220"] == ["safe"]


def test_clocks_one_after_the_other_wait_once() -> None:
    after = ported(f"{TIMED}xm.mark_step()\nwork()\nprint(time.time() - start)\nstart = time.time()\n")
    assert after.splitlines()[2:] == ["work()", SYNC, "print(time.time() - start)", "start = time.time()"]


def test_the_last_cut_waits() -> None:
    after = ported(f"{TIMED}xm.mark_step()\nwork()\nxm.mark_step()\nwork()\nprint(time.time() - start)\n")
    assert after.splitlines()[2:] == ["work()", "work()", SYNC, "print(time.time() - start)"]

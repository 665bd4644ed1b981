"""Reports of the metrics of PyTorch/XLA."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, codes

HEAD = """import sys
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
"""


@pytest.mark.parametrize(
    "line",
    [
        "print(met.metrics_report())",
        "print(met.short_metrics_report(), flush=True)",
        "print('Metrics', met.metrics_report(), sep=': ')",
        "print(f'Metrics: {met.metrics_report()}')",
        "print(met.metrics_report(), file=sys.stderr)",
        "print(torch_xla._XLAC._xla_metrics_report())",
        "xm.master_print(met.metrics_report())",
        "xm.master_print(met.metrics_report(), flush=True)",
        "xm.master_print(met.metrics_report(), fd=sys.stderr, local=True)",
    ],
)
def test_a_printed_report_goes(line: str) -> None:
    assert port(HEAD, f"x = 1\n{line}") == "x = 1"
    assert found(HEAD, line, "NP260") == ["warning unsafe"]


@pytest.mark.parametrize(
    "line",
    [
        "report = met.metrics_report()",
        "print(met.metrics_report(), file=log)",
        "print(met.metrics_report(), loss)",
        "print(f'{loss} {met.metrics_report()}')",
        "print(*met.metrics_report())",
        "print(met.metrics_report().splitlines()[0])",
        "logger.info(met.metrics_report())",
        "lines.append(print(met.metrics_report()))",
        "show = met.metrics_report",
        "print(met.metrics_report(), **options)",
        "print = log; print(met.metrics_report())",
    ],
)
def test_what_a_person_decides(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP260") == ["warning manual"]


def test_what_held_only_reports() -> None:
    assert_ported(
        """
        import atexit
        import torch_xla.core.xla_model as xm
        import torch_xla.debug.metrics as met


        def on_exit():
            print(met.metrics_report())


        def train(flags, log):
            if flags.metrics_debug:
                xm.master_print(met.metrics_report())
            if log():
                xm.master_print(met.metrics_report())
            if flags.verbose:
                # what the last epoch did
                print(met.metrics_report())
                print("done")
        """,
        """
        import atexit


        def on_exit():
            pass


        def train(flags, log):
            if log():
                pass
            if flags.verbose:
                # what the last epoch did
                print("done")
        """,
    )


def test_other_reports_stay() -> None:
    assert codes("from sklearn import met\n\nprint(met.metrics_report())\n") == []

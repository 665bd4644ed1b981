"""Strings that name an XLA device: the same judgement as for CUDA, other words, and what is different."""

from __future__ import annotations

import textwrap

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, ported

HEAD = "import os\nimport torch\nimport torch_xla.core.xla_model as xm\nx = torch.zeros(1)\n"
CURRENT = "torch.accelerator.current_accelerator()"


def line_of(source: str) -> list[tuple[int, str, str, str]]:
    return [
        (item.location.row, item.code, item.severity.word, item.applicability.word)
        for item in check(textwrap.dedent(source))
        if item.code.startswith("NP21")
    ]


@pytest.mark.parametrize(
    ("before", "after", "portable"),
    [
        ("x.to('xla', non_blocking=True)", "x.to('neuron', non_blocking=True)", f"x.to({CURRENT}, non_blocking=True)"),
        (
            'y = torch.ones(1, device="xla")',
            'y = torch.ones(1, device="neuron")',
            f"y = torch.ones(1, device={CURRENT})",
        ),
        (
            'torch.set_default_device("xla")',
            'torch.set_default_device("neuron")',
            f"torch.set_default_device({CURRENT})",
        ),
        ('x.to(device="xla:0")', 'x.to(device="neuron")', f"x.to(device={CURRENT})"),
        ('d = torch.device("xla").type', 'd = "neuron"', None),
        ('y = torch.load("p", map_location="xla")', 'y = torch.load("p", map_location="cpu")', None),
    ],
)
def test_what_torch_takes_is_safe(before: str, after: str, portable: str | None) -> None:
    assert port(HEAD, before, "safe") == after
    if portable is not None:
        assert port(HEAD, before, "safe", "portable") == portable
    code = "NP212" if ":0" in before else "NP211"
    assert found(HEAD, before, code) == ["error safe"]


@pytest.mark.parametrize("device", ['"xla:1"', 'f"xla:{i}"', '"xla:%d" % i', '"xla", 1', '"xla", index'])
def test_an_index_is_for_a_person(device: str) -> None:
    line = f"d = torch.device({device})"
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP212") == ["error manual"]


@pytest.mark.parametrize(
    "device", ['f"xla:{rank}"', '"xla", int(os.environ["LOCAL_RANK"])', '"xla:" + str(local_rank)']
)
def test_a_rank_is_this_process(device: str) -> None:
    line = f"d = torch.device({device})"
    assert port(HEAD, line) == 'd = torch.device("neuron")'
    assert found(HEAD, line, "NP212") == ["error unsafe"]


@pytest.mark.parametrize(
    ("before", "after", "portable"),
    [
        ('ok = x.device.type == "xla"', 'ok = x.device.type == "neuron"', 'ok = x.device.type != "cpu"'),
        ('ok = x.device.type != "xla"', 'ok = x.device.type != "neuron"', 'ok = x.device.type == "cpu"'),
        (
            'ok = str(x.device).startswith("xla")',
            'ok = str(x.device).startswith("neuron")',
            'ok = not str(x.device).startswith("cpu")',
        ),
        ('ok = "xla" in str(x.device)', 'ok = "neuron" in str(x.device)', 'ok = "cpu" not in str(x.device)'),
    ],
)
def test_comparisons(before: str, after: str, portable: str | None) -> None:
    assert port(HEAD, before, "safe") == after
    if portable is not None:
        assert port(HEAD, before, "safe", "portable") == portable
    assert found(HEAD, before, "NP214") == ["warning safe"]


def test_an_index_in_a_comparison() -> None:
    assert port(HEAD, 'ok = str(x.device) == "xla:0"') == 'ok = str(x.device).startswith("neuron")'
    assert port(HEAD, 'ok = str(x.device) != "xla:0"') == 'ok = not str(x.device).startswith("neuron")'
    assert found(HEAD, 'ok = str(x.device) == "xla:0"', "NP214") == ["warning unsafe"]
    assert found(HEAD, 'ok = str(x.device) == "xla:1"', "NP214") == ["warning manual"]


def test_a_name_from_outside_keeps_its_old_value() -> None:
    assert_ported(
        """
        import argparse, os
        import torch
        import torch_xla

        parser = argparse.ArgumentParser()
        parser.add_argument("--device", default="xla", choices=["cpu", "xla"])
        args = parser.parse_args()
        device = os.environ.get("DEVICE", "cpu")
        if args.device == "xla" or device != "xla":
            run()
        """,
        """
        import argparse, os
        import torch

        parser = argparse.ArgumentParser()
        parser.add_argument("--device", default="neuron", choices=["cpu", "xla", "neuron"])
        args = parser.parse_args()
        device = os.environ.get("DEVICE", "cpu")
        if args.device in ("xla", "neuron") or device not in ("xla", "neuron"):
            run()
        """,
    )


def test_without_an_import_the_branch_stays_for_others_too() -> None:
    source = 'import torch\ndef f(x):\n    if x.device.type == "xla":\n        return x\n'
    assert line_of(source) == [(3, "NP214", "warning", "unsafe")]
    assert 'x.device.type in ("xla", "neuron")' in ported(source)


def test_a_branch_for_optional_packages_is_left_alone() -> None:
    source = """
        import torch
        try:
            import torch_xla.core.xla_model as xm
        except ImportError:
            xm = None
        if x.device.type == "xla":
            y = x.to("xla")
    """
    assert line_of(source) == [(7, "NP214", "info", "manual"), (8, "NP211", "info", "manual")]
    assert ported(source) == textwrap.dedent(source)


@pytest.mark.parametrize(
    "source",
    [
        'import jax\njax.jit(f, backend="xla")\n',
        'import tensorflow as tf\ncompiler = "xla"\n',
        'print("xla")\n',
        'import torch\nlogger.info("xla")\n',
        'import torch\ntorch.compile(m, backend="openxla")\n',
        'choices = ["cpu", "xla", "neuron"]\n',
        'import jax, torch\nf("xla")\n',
        'import torch\nx = "xla_model"\ny = "xlarge"\n',
    ],
)
def test_the_word_alone_is_no_device(source: str) -> None:
    assert line_of(source) == []


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ('f("xla")', "NP215", ["info manual"]),
        ('t = {"cpu": 1, "xla": 2}', "NP215", ["warning manual"]),
        ('ok = d in ("cpu", "xla")', "NP215", ["info unsafe"]),
        ('re.match("xla:[0-9]", d)', "NP215", []),
        ('m = import_module("re").match("xla:[0-9]", d)', "NP215", []),
    ],
)
def test_lists_tables_and_other_text(line: str, code: str, says: list[str]) -> None:
    assert found(HEAD, line, code) == says


def test_a_pattern() -> None:
    (finding,) = [item for item in check('import re, torch_xla\nre.match("xla:[0-9]", d)\n') if item.code == "NP215"]
    assert finding.message == "a pattern that looks for an XLA device finds none on Neuron"


def test_both_old_names_in_one_list() -> None:
    line = 'p.add_argument("--device", choices=["cpu", "cuda", "xla"])'
    assert port(HEAD, line) == 'p.add_argument("--device", choices=["cpu", "cuda", "xla", "neuron"])'


def test_what_pins_memory() -> None:
    line = 'l = torch.utils.data.DataLoader(d, pin_memory_device="xla")'
    assert port(HEAD, line, "safe") == "l = torch.utils.data.DataLoader(d)"
    assert found(HEAD, line, "NP211") == ["error safe"]


def test_the_branch_for_cuda_stays_beside_the_one_for_xla() -> None:
    source = """
        import os
        import torch

        device = os.environ["DEVICE"]
        x = torch.zeros(1)
        if device == "xla":
            x = x.to("xla")
        if device == "cuda":
            x = x.to("cuda")
            torch.cuda.synchronize()
    """
    after = ported(source)
    assert 'if device in ("xla", "neuron"):\n    x = x.to("neuron")' in after
    assert 'if device == "cuda":\n    x = x.to("cuda")\n    torch.cuda.synchronize()' in after
    alone = source.replace('if device == "xla"', 'if other == "xla"')
    assert 'if device in ("cuda", "neuron"):' in ported(alone)

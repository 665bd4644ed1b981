"""The device of PyTorch/XLA, and the lists of its devices."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, codes, ported

HEAD = "import torch\nimport torch_xla\nimport torch_xla.core.xla_model as xm\nimport torch_xla.runtime as xr\n"


@pytest.mark.parametrize(
    "call",
    [
        "xm.xla_device()",
        "torch_xla.device()",
        'xm.xla_device(devkind="TPU")',
        "xm.xla_device(None)",
        "xm.xla_device(n=None)",
    ],
)
def test_this_process_has_one_device(call: str) -> None:
    assert port(HEAD, f"device = {call}", "safe") == 'device = torch.device("neuron")'
    assert found(HEAD, f"device = {call}", "NP210") == ["error safe"]


def test_portable_code_runs_on_every_host() -> None:
    assert port(HEAD, "device = xm.xla_device()", "safe", "portable") == (
        'device = torch.device(torch.accelerator.current_accelerator() if torch.accelerator.is_available() else "cpu")'
    )


@pytest.mark.parametrize(
    "index", ["0", "xm.get_ordinal()", "xm.get_local_ordinal()", "xr.local_ordinal()", "n=local_rank", "index=0"]
)
def test_an_index_of_its_own_is_dropped_unsafely(index: str) -> None:
    call = "torch_xla.device" if index.startswith("index") else "xm.xla_device"
    assert port(HEAD, f"device = {call}({index})") == 'device = torch.device("neuron")'
    assert found(HEAD, f"device = {call}({index})", "NP212") == ["error unsafe"]


@pytest.mark.parametrize("index", ["1", "n=2", "core", "*cores", "1, 'TPU'"])
def test_another_index_is_for_a_person(index: str) -> None:
    line = f"device = xm.xla_device({index})"
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP212") == ["error manual"]


def test_the_index_is_shown_with_its_call() -> None:
    (finding,) = [item for item in check(f"{HEAD}device = xm.xla_device(1)\n") if item.code == "NP212"]
    assert (finding.location.column, finding.end_location.column) == (10, 26)
    assert finding.message == (
        "xm.xla_device(1) names a core by index, which began at 1 with XRT and at 0 since PJRT: use "
        '"neuron" and torchrun, or torch.device("neuron", i) in a program of one process'
    )


def test_imported_names_are_written_out() -> None:
    assert_ported(
        """
        import torch
        from torch_xla.core.xla_model import xla_device

        net = torch.nn.Linear(2, 2).to(xla_device())
        """,
        """
        import torch

        net = torch.nn.Linear(2, 2).to(torch.device("neuron"))
        """,
        level="safe",
    )


def test_passed_on_without_a_call() -> None:
    assert codes("import torch_xla.core.xla_model as xm\nrun(device_fn=xm.xla_device)\n") == [
        (1, "NP203"),
        (2, "NP210"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "level"),
    [
        ("n = torch_xla.device_count()", "n = torch.accelerator.device_count()", "safe"),
        ("n = len(xm.get_xla_supported_devices())", "n = torch.accelerator.device_count()", "safe"),
        ("n = len(torch_xla.real_devices())", "n = torch.accelerator.device_count()", "safe"),
        (
            "ds = torch_xla.devices()",
            'ds = [torch.device("neuron", i) for i in range(torch.accelerator.device_count())]',
            "unsafe",
        ),
        (
            "ds = xm.get_xla_supported_devices()",
            'ds = [f"neuron:{i}" for i in range(torch.accelerator.device_count())]',
            "unsafe",
        ),
        ("print(xm.xla_real_devices([d])[0])", "print(str(d))", "unsafe"),
        ("print(xm.xla_real_devices([str(d)]))", "print([str(d)])", "unsafe"),
    ],
)
def test_lists_of_devices(before: str, after: str, level: str) -> None:
    assert port(HEAD, before, level) == after


def test_a_portable_list() -> None:
    kind = "torch.accelerator.current_accelerator().type"
    assert port(HEAD, "ds = torch_xla.devices()", target="portable") == (
        f"ds = [torch.device({kind}, i) for i in range(torch.accelerator.device_count())]"
    )
    assert port(HEAD, "ds = xm.get_xla_supported_devices()", target="portable") == (
        f'ds = [{kind} + f":{{i}}" for i in range(torch.accelerator.device_count())]'
    )


@pytest.mark.parametrize(
    "line",
    [
        "ds = xm.get_xla_supported_devices(max_devices=4)",
        "ds = xm.xla_real_devices(devices)",
        "ds = xm.xla_real_devices([a, b])",
        "ds = xm.xla_real_devices([*a])",
        "ds = xm._xla_real_device(d)",
        "ds = xm.xla_replication_devices(d)",
    ],
)
def test_what_a_person_decides(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP210") == ["warning manual"]


def test_len_of_ones_own_is_no_count() -> None:
    after = ported(f"{HEAD}\ndef len(x):\n    return x\n\nn = len(torch_xla.devices())\n")
    assert after.splitlines()[-1].startswith("n = len([torch.device")


def test_the_name_of_the_default_device() -> None:
    line = "d = torch.device(torch_xla._XLAC._xla_get_default_device())"
    assert port(HEAD, line, "safe") == 'd = torch.device("neuron")'
    assert found(HEAD, "torch_xla._XLAC._xla_set_default_device(d)", "NP210") == ["warning unsafe"]

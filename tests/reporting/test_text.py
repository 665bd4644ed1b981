"""The report for people."""

from __future__ import annotations

import pytest
from made_findings import BASE, SOURCE, flag, literal, note, parallel

from neuron_port.findings import Finding
from neuron_port.reporting import render
from neuron_port.reporting.report import Report, View
from neuron_port.reporting.width import text_width

ALL = (note(), literal(), parallel(), flag())


def _lines(finding: Finding) -> list[str]:
    return SOURCE


def _text(report: Report, **view: object) -> str:
    return "".join(f"{line}\n" for line in render("text", report, View(BASE, lines=_lines, **view)))


EXPECTED = """\
lib/data.py (1 note)

lib/data.py:1:1 NP104[cuda-string-undecided] info: It is not clear whether this
    "cuda" names a device.
      1 | import torch
        | ^^^^^^
    more: see neuron-port explain NP104

train.py (2 errors, 1 warning)

train.py:3:23 NP101[cuda-device-literal] error: The device "cuda" does not exist
    on Trainium: name it "neuron".
    evidence: argument of torch.device
      3 | device = torch.device("cuda")
        |                       ^^^^^^
    fix (safe): Write "neuron"

train.py:4:9 NP173[data-parallel] error: DataParallel drives several devices
    from one process, which TorchNeuron does not do: use DistributedDataParallel
    with one process for each core.
      4 | model = torch.nn.DataParallel(
        |         ^^^^^^^^^^^^^^^^^^^^^^
    ... |
      7 | ).to(device)
        | ^
    by hand: see neuron-port explain NP173

train.py:8:1 NP185[cudnn-flag] warning: cuDNN settings have no effect on
    Trainium.
      8 | torch.backends.cudnn.benchmark = True
        | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    fix (unsafe): Remove the statement

Checked 12 files.
  findings   4 in 2 files: 2 errors, 1 warning, 1 note
  fixes      1 safe (neuron-port fix), 1 unsafe (--unsafe-fixes), 1 by hand
  blockers   1 error without a fix
  readiness  94% now, 95% after the safe fixes, 95% after the unsafe ones too
"""


def test_report() -> None:
    assert _text(Report(12, ALL)) == EXPECTED


def test_nothing_found() -> None:
    assert _text(Report(1, ())) == "Checked 1 file: no findings.\n"
    assert _text(Report(0, ())) == "Checked 0 files: no findings.\n"


def test_only_unsafe_fixes() -> None:
    assert _text(Report(1, (flag(),))).splitlines()[-4:] == [
        "  findings   1 in 1 file: 0 errors, 1 warning, 0 notes",
        "  fixes      0 safe (neuron-port fix), 1 unsafe (--unsafe-fixes), 0 by hand",
        "  blockers   0 errors without a fix",
        "  readiness  66% now, 100% after the unsafe fixes",
    ]


def test_without_source_lines() -> None:
    lines = list(render("text", Report(1, (literal(),)), View(BASE)))
    assert lines[2:6] == [
        'train.py:3:23 NP101[cuda-device-literal] error: The device "cuda" does not exist',
        '    on Trainium: name it "neuron".',
        "    evidence: argument of torch.device",
        '    fix (safe): Write "neuron"',
    ]


def test_long_evidence_and_fix_are_wrapped() -> None:
    evidence = "the receiver `model` is an instance of Net, a class of this file that derives from torch.nn.Module"
    lines = _text(Report(1, (literal(evidence=evidence),)), width=60).splitlines()
    assert lines[4:7] == [
        "    evidence: the receiver `model` is an instance of Net, a",
        "        class of this file that derives from torch.nn.Module",
        '      3 | device = torch.device("cuda")',
    ]


def test_a_long_path_stays_whole() -> None:
    path = "/".join(["a-folder-with-a-long-name"] * 4) + "/train.py"
    assert _text(Report(1, (literal(path, message="m", evidence=None),))).splitlines()[:4] == [
        path,
        "(1 error)",
        "",
        f"{path}:3:23",
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 132])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    findings = (*ALL, literal(message="デバイス「cuda」は Trainium に存在しません。 " * 5, evidence="x " * 200))
    assert max(map(text_width, _text(Report(1, findings), width=width).splitlines())) <= width


def test_no_trailing_blanks() -> None:
    assert [line for line in _text(Report(1, ALL)).splitlines() if line != line.rstrip()] == []


def test_no_control_characters() -> None:
    text = _text(Report(1, (literal("/project/\x1b]0;x\x07.py", message="\x1b[2J", evidence="\x9b2J"),)))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\x9b" not in text


def test_colours() -> None:
    assert _text(Report(1, (flag(),)), colour=True) == (
        "\x1b[1mtrain.py (1 warning)\x1b[0m\n"
        "\n"
        "\x1b[1mtrain.py:8:1\x1b[0m \x1b[1;33mNP185[cudnn-flag]\x1b[0m \x1b[1;33mwarning:\x1b[0m cuDNN settings have"
        " no effect on\n"
        "    Trainium.\n"
        "    \x1b[2m  8 |\x1b[0m torch.backends.cudnn.benchmark = True\n"
        "    \x1b[2m    |\x1b[0m \x1b[1;33m^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\x1b[0m\n"
        "    \x1b[1mfix (unsafe):\x1b[0m Remove the statement\n"
        "\n"
        "\x1b[1mChecked 1 file.\x1b[0m\n"
        "  \x1b[1mfindings   \x1b[0m1 in 1 file: 0 errors, 1 warning, 0 notes\n"
        "  \x1b[1mfixes      \x1b[0m0 safe (neuron-port fix), 1 unsafe (--unsafe-fixes), 0 by hand\n"
        "  \x1b[1mblockers   \x1b[0m0 errors without a fix\n"
        "  \x1b[1mreadiness  \x1b[0m66% now, 100% after the unsafe fixes\n"
    )

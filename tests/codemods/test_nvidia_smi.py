"""nvidia-smi as a command."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = "import os\nimport shutil\nimport subprocess\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('os.system("nvidia-smi")', 'os.system("neuron-ls")'),
        ("subprocess.run(['nvidia-smi'])", "subprocess.run(['neuron-ls'])"),
        ('subprocess.run(["nvidia-smi", "-L"], check=True)', 'subprocess.run(["neuron-ls"], check=True)'),
        ('subprocess.call("nvidia-smi -L", shell=True)', 'subprocess.call("neuron-ls", shell=True)'),
        ('print(subprocess.getoutput("nvidia-smi"))', 'print(subprocess.getoutput("neuron-ls"))'),
        (
            'log.info(subprocess.check_output(["nvidia-smi"]).decode())',
            'log.info(subprocess.check_output(["neuron-ls"]).decode())',
        ),
    ],
)
def test_plain_calls(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after
    assert found(HEAD, before, "NP196", "portable") == ["warning manual"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('os.system("nvidia-smi --query-gpu=name --format=csv")', ["warning manual"]),
        ('x = subprocess.check_output(["nvidia-smi"])', ["warning manual"]),
        ('x = subprocess.run(["nvidia-smi"], capture_output=True).stdout.split()', ["warning manual"]),
        ('x = os.popen(f"nvidia-smi -i {gpu}").read()', ["warning manual"]),
        ('subprocess.run(["nvidia-smi", *options])', ["warning manual"]),
        ('x = shutil.which("nvidia-smi")', ["info manual"]),
        ('command = "nvidia-smi -q"', ["info manual"]),
        ('print("nvidia-smi")', []),
        ('raise OSError("nvidia-smi")', []),
        ('subprocess.run(["echo", "nvidia-smi"])', []),
        ('x = "nvidia-smi-like"', []),
    ],
)
def test_reported_or_left(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP196") == expected

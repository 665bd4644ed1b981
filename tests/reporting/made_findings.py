"""Findings by hand, for the tests of the formats."""

from __future__ import annotations

from neuron_port.findings import Applicability, Edit, Finding, Fix, Location, Severity

BASE = "/project"
SOURCE = [
    "import torch\n",
    "\n",
    'device = torch.device("cuda")\n',
    "model = torch.nn.DataParallel(\n",
    "    Net(),\n",
    "    device_ids=[0, 1],\n",
    ").to(device)\n",
    "torch.backends.cudnn.benchmark = True\n",
]


def literal(filename: str = "/project/train.py", row: int = 3, **changes: object) -> Finding:
    """An error with a safe fix."""
    values: dict[str, object] = {
        "code": "NP101",
        "name": "cuda-device-literal",
        "message": 'The device "cuda" does not exist on Trainium: name it "neuron".',
        "filename": filename,
        "location": Location(row, 23),
        "end_location": Location(row, 29),
        "severity": Severity.ERROR,
        "applicability": Applicability.SAFE,
        "fix": Fix(Applicability.SAFE, 'Write "neuron"', (Edit('"neuron"', Location(row, 23), Location(row, 29)),)),
        "evidence": "argument of torch.device",
        "url": "https://example.com/rules/NP101",
    }
    return Finding(**{**values, **changes})


def parallel(filename: str = "/project/train.py") -> Finding:
    """An error that a person must deal with, over four lines."""
    return Finding(
        code="NP173",
        name="data-parallel",
        message="DataParallel drives several devices from one process, which TorchNeuron does not do: use "
        "DistributedDataParallel with one process for each core.",
        filename=filename,
        location=Location(4, 9),
        end_location=Location(7, 2),
        severity=Severity.ERROR,
        applicability=Applicability.MANUAL,
    )


def flag(filename: str = "/project/train.py") -> Finding:
    """A warning with an unsafe fix."""
    return Finding(
        code="NP185",
        name="cudnn-flag",
        message="cuDNN settings have no effect on Trainium.",
        filename=filename,
        location=Location(8, 1),
        end_location=Location(8, 38),
        severity=Severity.WARNING,
        applicability=Applicability.UNSAFE,
        fix=Fix(Applicability.UNSAFE, "Remove the statement"),
    )


def note(filename: str = "/project/lib/data.py") -> Finding:
    """A note without a fix."""
    return Finding(
        code="NP104",
        name="cuda-string-undecided",
        message='It is not clear whether this "cuda" names a device.',
        filename=filename,
        location=Location(1, 1),
        end_location=Location(1, 7),
        severity=Severity.INFO,
        applicability=Applicability.MANUAL,
    )

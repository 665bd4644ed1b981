"""What the files of a project say about each other stands in the evidence of their findings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from neuron_port.engine import Engine
from neuron_port.findings import Finding
from neuron_port.project.connections import connected
from neuron_port.project.uses import Use, UsesOf
from tests.porting import ENGINES

TRAIN = """\
import argparse
import flash_attn
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
args = parser.parse_args()
torch.ones(2).to(args.device)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def findings(files: dict[str, str], jobs: int = 1) -> dict[tuple[str, int, str], str | None]:
    """The evidence of all findings in these files, by file, line and code."""
    engine: Engine = ENGINES["neuron"]
    found: list[Finding] = []
    for name, text in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        found += engine.check(path).findings
    told = connected(found, [Path(name) for name in files], jobs=jobs, base=os.getcwd())
    assert [finding.location for finding in told] == [finding.location for finding in found]
    return {(finding.filename, finding.location.row, finding.code): finding.evidence for finding in told}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_launcher_and_the_option_that_it_sets(project: Path, jobs: int) -> None:
    told = findings({"src/train.py": TRAIN, "run.sh": "torchrun src/train.py --device cuda\n"}, jobs)
    assert told["run.sh", 1, "NP817"] == "src/train.py:6 declares --device with the default 'cuda'"
    assert told["src/train.py", 6, "NP103"] == "default of the option --device; run.sh:1 sets it too"


def test_the_program_that_a_launcher_names_goes_before_others(project: Path) -> None:
    told = findings(
        {
            "src/eval.py": TRAIN,
            "src/train.py": TRAIN,
            "run.sh": "python -m src.train --device cuda\n",
            "eval.sh": "python src/eval.py --device cuda\n",
        }
    )
    assert told["eval.sh", 1, "NP817"] == "src/eval.py:6 declares --device with the default 'cuda'"
    assert told["run.sh", 1, "NP817"] == "src/train.py:6 declares --device with the default 'cuda'"


def test_a_requirement_and_its_imports(project: Path) -> None:
    told = findings({"requirements.txt": "flash-attn\nbitsandbytes\nnvidia-ml-py\n", "model.py": TRAIN})
    assert told["requirements.txt", 1, "NP830"] == "model.py:2 imports flash_attn"
    assert told["requirements.txt", 2, "NP830"] == "no checked Python file imports it"
    assert told["requirements.txt", 3, "NP830"] == "no checked Python file imports it"


def test_without_python_files_nothing_is_said_about_imports(project: Path) -> None:
    assert findings({"requirements.txt": "flash-attn\n"})["requirements.txt", 1, "NP830"] is None


def test_many_places_are_counted(project: Path) -> None:
    files = {f"m{number}.py": "import bitsandbytes\n" for number in range(5)}
    told = findings({"requirements.txt": "bitsandbytes\n", **files})
    assert (
        told["requirements.txt", 1, "NP830"] == "m0.py:1 imports bitsandbytes, m1.py:1 imports bitsandbytes and 3 more"
    )


@pytest.mark.parametrize(
    ("subject", "source", "how"),
    [
        ("option:device", "p.add_argument('-d', '--device')", "declares --device"),
        ("option:model_device", "p.add_argument('--model-device', default='cpu')", "declares --model-device with the default 'cpu'"),
        ("option:device", "@click.option('--device', default='cuda')\ndef main(device): ...", "declares --device with the default 'cuda'"),
        ("option:device", "flags.DEFINE_string('device', 'cuda', 'where')", "declares device with the default 'cuda'"),
        ("option:fp16", "@dataclass\nclass Args:\n    fp16: bool = True\n", "declares Args.fp16 with the default True"),
        ("key:device", "x.to(cfg.train.device)", "reads cfg.train.device"),
        ("key:device", "x.to(self.config['device'])", "reads self.config['device']"),
        ("key:device", "config.get('device', 'cuda')", "reads config.get('device', 'cuda')"),
        ("package:optimum.neuron", "from optimum.neuron import NeuronTrainer", "imports optimum.neuron"),
        ("package:flash_attn", "import os, flash_attn.bert_padding", "imports flash_attn"),
    ],
)  # fmt: skip
def test_what_counts_as_a_use(tmp_path: Path, subject: str, source: str, how: str) -> None:
    file = tmp_path / "a.py"
    file.write_text(f"import os\n{source}\n")
    assert [(use.subject, use.how) for use in UsesOf(frozenset({subject}))(file)] == [(subject, how)]


@pytest.mark.parametrize(
    ("subject", "source"),
    [
        ("key:device", "x = tensor.device"),
        ("key:device", "cfg.device = 'cuda'"),
        ("key:device", "# cfg.device"),
        ("option:device", "p.add_argument('device')"),
        ("option:device", "help = '--device'"),
        ("package:apex", "text = 'import apex'"),
        ("package:apex", "from .apex import amp"),
        ("package:apex", "import apex("),
    ],
)
def test_what_does_not(tmp_path: Path, subject: str, source: str) -> None:
    file = tmp_path / "a.py"
    file.write_text(f"import os\n{source}\n")
    found: tuple[Use, ...] = UsesOf(frozenset({subject}))(file)
    assert found == ()


def test_a_configuration_and_the_code_that_reads_it(project: Path) -> None:
    told = findings({"conf/a.yaml": "train:\n  device: cuda\n", "train.py": "model.to(cfg.train.device)\n"})
    assert told["conf/a.yaml", 2, "NP860"] == "train.py:1 reads cfg.train.device"

"""Ported places against the versions that the project asks for."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from neuron_port.config import Settings
from neuron_port.engine import Engine
from neuron_port.findings import Applicability
from neuron_port.project.files import Project
from neuron_port.rules.loader import load_rules

RULES = load_rules()
PORTED = """\
import torch
from transformers import AutoModelForCausalLM, GenerationConfig
# HF_DEACTIVATE_ASYNC_LOAD=1
model = AutoModelForCausalLM.from_pretrained("x", dtype=torch.bfloat16, device_map="neuron")
model.generate(cache_implementation="static", max_cache_len=512)
"""


def engine(folder: Path) -> Engine:
    return Engine(RULES, Settings(), Project(folder))


def findings(folder: Path, source: str, code: str = "NP485") -> list[tuple[int, int, str]]:
    found = engine(folder).check_text(textwrap.dedent(source), str(folder / "train.py"))
    return [
        (finding.location.row, finding.location.column, finding.message) for finding in found if finding.code == code
    ]


def test_a_pin_that_is_too_old(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("# pins\ntransformers==4.50.0\naccelerate==1.15.0\n")
    assert findings(tmp_path, PORTED) == [
        (
            2,
            26,
            "requirements.txt:2 asks for transformers==4.50.0, but the code in line 5 needs transformers>=5.13; "
            "raise the version there",
        )
    ]


def test_one_finding_for_each_package(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("transformers<5\naccelerate~=1.10.0\n")
    found = findings(tmp_path, PORTED)
    assert [message.partition(",")[0] for _, _, message in found] == [
        "requirements.txt:1 asks for transformers<5",
        "requirements.txt:2 asks for accelerate~=1.10.0",
    ]
    # accelerate is not imported: its finding is where it is needed.
    assert [(row, column) for row, column, _ in found] == [(2, 26), (4, 73)]


@pytest.mark.parametrize(
    "asked",
    ["transformers", "transformers>=4.40", "transformers==5.24.0", "transformers @ https://x/y.whl", "tokenizers==0.1"],
)
def test_room_enough(tmp_path: Path, asked: str) -> None:
    (tmp_path / "requirements.txt").write_text(f"{asked}\n")
    assert findings(tmp_path, PORTED) == []


def test_one_of_several_lines_is_enough(tmp_path: Path) -> None:
    lines = ['transformers==4.50.0; python_version < "3.11"', 'transformers==5.24.0; python_version >= "3.11"']
    (tmp_path / "requirements.txt").write_text("\n".join(lines))
    assert findings(tmp_path, PORTED) == []


def test_every_file_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("transformers==5.24.0\n")
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["transformers==4.1"]\n')
    (tmp_path / "setup.cfg").write_text("[options]\ninstall_requires = transformers==4.2\n")
    ((_, _, message),) = findings(tmp_path, PORTED)
    assert message.startswith("pyproject.toml:2 (and 1 more) asks for transformers==4.1, but ")


def test_no_requirements_no_finding(tmp_path: Path) -> None:
    assert findings(tmp_path, PORTED) == []
    assert [finding for finding in Engine(RULES, Settings()).check_text(PORTED, "train.py")] == []


def test_code_that_is_not_ported_needs_nothing(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("transformers==4.50.0\n")
    source = "from transformers import AutoModel\n\nAutoModel.from_pretrained('x', attn_implementation='sdpa')\n"
    assert findings(tmp_path, source) == []


def test_a_port_carries_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.1.0\n")
    source = """\
    import torch

    torch.cuda.synchronize()
    """
    ((row, column, message),) = findings(tmp_path, source)
    assert (row, column) == (1, 8)
    assert message.startswith("requirements.txt:1 asks for torch==2.1.0, but the port (NP1")
    assert "in line 3 needs torch>=2." in message


def test_a_port_that_is_not_wanted_needs_nothing(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.1.0\n")
    source = "import torch\n\ntorch.cuda.synchronize()  # neuron-port: ignore\n"
    assert findings(tmp_path, source) == []


def test_it_can_be_excused(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("transformers==4.50.0\n")
    source = PORTED.replace("GenerationConfig\n", "GenerationConfig  # neuron-port: ignore[NP485]\n")
    assert engine(tmp_path).check_text(source, str(tmp_path / "train.py")) == ()


def test_it_stays_after_the_fix(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.13.0\ndiffusers==0.30.0\n")
    source = 'from diffusers import FluxPipeline\n\npipe = FluxPipeline.from_pretrained("x", device_map="cuda")\n'
    result = engine(tmp_path).fix_text(source, str(tmp_path / "train.py"), level=Applicability.UNSAFE)
    assert 'device_map="neuron"' in result.after
    assert [finding.code for finding in result.remaining] == ["NP485"]

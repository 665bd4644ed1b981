"""Dependency files: what is found where, and what becomes of it."""

from __future__ import annotations

import configparser
import textwrap

import pytest
import yaml

from neuron_port.findings import Applicability
from tests.porting import ENGINES

ENGINE = ENGINES["neuron"]


def found(name: str, text: str) -> list[tuple[int, int, str, str]]:
    return [
        (finding.location.row, finding.location.column, finding.code, finding.severity.word)
        for finding in ENGINE.check_text(textwrap.dedent(text), name)
    ]


def fixed(name: str, text: str) -> str:
    result = ENGINE.fix_text(textwrap.dedent(text), name, level=Applicability.UNSAFE)
    assert ENGINE.fix_text(result.after, name, level=Applicability.UNSAFE).after == result.after
    return result.after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch==2.5.1+cu124\n", "torch==2.14.0\n"),
        ("torch==2.13.0\n", "torch==2.13.0\n"),
        ("torch==2.13.0+cu130\n", "torch==2.14.0\n"),
        ("torch>=2.1,<2.6  # pinned\n", "torch==2.14.0  # pinned\n"),
        ('torch==2.4 ; python_version < "3.13"\n', 'torch==2.14.0 ; python_version < "3.13"\n'),
        ("torch==2.4; python_version > '3.11'\n", "torch==2.14.0; python_version > '3.11'\n"),
        ("torch==2.15.0\n", "torch==2.14.0\n"),
        ("torch>=2.13\n", "torch>=2.13\n"),
        ("torchvision==0.20.1\n", "torchvision==0.29.*\n"),
        ("torchvision\ntorchvision>=0.15\n", "torchvision\ntorchvision>=0.15\n"),
        ("torchaudio==2.5.1\n", "torchaudio>=2.11\n"),
        ("transformers[torch]>=4.28,<5\n", "transformers[torch]>=5.13\n"),
        ("neuron-cc[tensorflow]\nnumpy\n", "numpy\n"),
        (
            "https://download.pytorch.org/whl/cu121/torch-2.4.0%2Bcu121-cp310-cp310-linux_x86_64.whl\n",
            "torch==2.14.0\n",
        ),
        ("https://x.org/flash_attn-2.8.3+cu12torch2.10-cp312-cp312-linux_x86_64.whl\nnumpy\n", "numpy\n"),
        ("triton==3.0\n    # via torch\n    # via x\nnumpy\n    # via y\n", "numpy\n    # via y\n"),
        ("Torch_XLA==2.9\nnumpy\n", "numpy\n"),
        ("numpy\nflash_attn\n", "numpy\n"),
        ("faiss-gpu==1.7.2\n", "faiss-cpu==1.7.2\n"),
        ("optimum[neuronx]\n", "torch-neuronx==2.14.3.*\ntransformers>=5.23\naccelerate>=1.15\n"),
        ("optimum\n", "optimum\n"),
        ("transformers==5.20\noptimum-neuron\n", "transformers==5.20\ntorch-neuronx==2.14.3.*\naccelerate>=1.15\n"),
        ("git+https://github.com/Dao-AILab/flash-attention\nnumpy\n", "numpy\n"),
        ("transformers==4.40 \\\n    --hash=sha256:00\n", "transformers==4.40 \\\n    --hash=sha256:00\n"),
        ("deepspeed==0.14 \\\n    --hash=sha256:00\nnumpy\n", "numpy\n"),
    ],
)
def test_requirement_files(before, after):
    assert fixed("requirements.txt", before) == after


def test_addresses_of_repositories_are_packages_too():
    text = "-e git+https://github.com/huggingface/optimum-neuron.git@main\n"
    assert found("requirements.txt", text) == [(1, 4, "NP831", "error")]
    assert fixed("requirements.txt", text) == text


def test_hashes_belong_to_the_version():
    text = "numpy\ntransformers==4.40 \\\n    --hash=sha256:00\n"
    assert found("requirements.txt", text) == [(2, 1, "NP834", "warning")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('["numpy", "flash-attn"]', '["numpy"]'),
        ('["flash-attn", "numpy"]', '["numpy"]'),
        ('["flash-attn"]', "[]"),
        ("[\n    'numpy',\n    'flash-attn',  # fast\n]", "[\n    'numpy',\n]"),
        ("[\n    'numpy',\n    'flash-attn'\n]", "[\n    'numpy'\n]"),
        ('[\n  "torch==2.4",\n  "deepspeed"\n]', '[\n  "torch==2.14.0"\n]'),
        (
            '["optimum-neuron"]',
            '["torch-neuronx==2.14.3.*", "transformers>=5.23", "accelerate>=1.15"]',
        ),
    ],
)
def test_lists_of_strings(before, after):
    head = '[project]\nname = "x"\ndependencies = '
    assert fixed("pyproject.toml", f"{head}{before}\n") == f"{head}{after}\n"
    head = "from setuptools import setup\n\nsetup(install_requires="
    assert fixed("setup.py", f"{head}{before})\n") == f"{head}{after})\n"


def test_tables_of_poetry():
    text = '[tool.poetry.dependencies]\npython = "^3.9"\ntorch = {version = "2.4.0", source = "gpu"}\ndeepspeed = "^0.14"\n'
    assert found("pyproject.toml", text) == [(3, 1, "NP832", "error"), (4, 1, "NP830", "warning")]
    assert fixed("pyproject.toml", text) == text.replace('deepspeed = "^0.14"\n', "")


def test_setup_cfg_stays_a_configuration_file():
    text = """\
    [options]
    python_requires = >=3.8, <3.11
    install_requires =
        torch==2.4.0
        triton
        numpy
    [options.extras_require]
    gpu = nvidia-ml-py; rich
    """
    assert found("setup.cfg", text) == [
        (2, 19, "NP835", "warning"),
        (4, 5, "NP832", "error"),
        (5, 5, "NP830", "warning"),
        (8, 7, "NP830", "warning"),
    ]
    parser = configparser.ConfigParser()
    parser.read_string(fixed("setup.cfg", text))
    assert parser["options"]["install_requires"].split() == ["torch==2.14.0", "numpy"]


def test_conda_environments_stay_yaml():
    text = """\
    channels: [conda-forge, nvidia]
    dependencies:
      - python=3.10
      - pytorch=2.1
      - pytorch-cuda=12.1
      - pip:
        - bitsandbytes
    """
    assert found("environment.yml", text) == [
        (1, 25, "NP830", "warning"),
        (3, 5, "NP835", "warning"),
        (4, 5, "NP832", "error"),
        (5, 5, "NP830", "warning"),
        (7, 7, "NP830", "warning"),
    ]
    after = yaml.safe_load(fixed("environment.yml", text))
    assert after["dependencies"] == ["python=3.10", "pytorch=2.1", {"pip": ["bitsandbytes"]}]


@pytest.mark.parametrize(
    ("name", "text", "row", "message"),
    [
        ("pyproject.toml", "[project]\ndependencies = ['torch-xla'\n", 3, "this is no TOML"),
        ("setup.cfg", "install_requires = torch-xla\n", 1, "this is no configuration file"),
        ("environment.yml", "dependencies:\n  - torch-xla\n :\n", 3, "this is no YAML"),
    ],
)
def test_malformed_files(name, text, row, message):
    (finding,) = ENGINE.check_text(text, name)
    assert (finding.code, finding.location.row) == ("NP001", row)
    assert message in finding.message


@pytest.mark.parametrize(
    "text",
    [
        "numpy\n# torch-xla\n",
        "-r torch-xla.txt\n",
        "torchmetrics\ntritonclient\n",
        "",
        "==1.0\n",
        "torch\n",
        "torch @ ./torch-2.14.0.whl\n",
    ],
)
def test_what_is_left_alone(text):
    assert found("requirements.txt", text) == []


def test_requirements_of_setup_cfg_are_found_where_they_stand() -> None:
    text = "[options.extras_require]\na =\n    flash-attn\n    numpy\n[options]\ninstall_requires =\n    flash-attn\n    scipy\n"
    assert [row for row, *_ in found("setup.cfg", text)] == [3, 7]
    assert fixed("setup.cfg", text) == text.replace("    flash-attn\n", "")


def test_lines_of_windows_go_as_a_whole() -> None:
    text = '[project]\r\ndependencies = [\r\n  "flash-attn",\r\n  "numpy",\r\n]\r\n'
    assert fixed("pyproject.toml", text) == '[project]\r\ndependencies = [\r\n  "numpy",\r\n]\r\n'
    text = "flash-attn==2.6 \\\r\n    --hash=sha256:aa\r\nnumpy==1.0 \\\r\n    --hash=sha256:bb\r\n"
    assert fixed("requirements.txt", text) == "numpy==1.0 \\\r\n    --hash=sha256:bb\r\n"


def test_every_form_of_a_table_of_poetry_is_seen() -> None:
    text = (
        '[tool.poetry.dependencies]\nbitsandbytes.version = "0.41"\nflash-attn = {version = "*", optional = true}\n'
        '[tool.poetry.dependencies.nvidia-ml-py]\nversion = "1"\n[tool.poetry.extras]\ngpu = ["flash_attn"]\n'
    )
    assert [row for row, *_ in found("pyproject.toml", text)] == [2, 3, 4]
    assert fixed("pyproject.toml", text) == text  # tables of their own, and what an extra names, are for a person


def test_indexes_of_uv_in_lists_are_seen() -> None:
    text = '[tool.uv]\nextra-index-url = [\n  "https://download.pytorch.org/whl/cu124",\n]\n'
    assert found("pyproject.toml", text) == [(3, 4, "NP833", "warning")]


def test_a_requirement_in_three_quotes_has_no_fix() -> None:
    text = '[project]\ndependencies = ["""flash-attn"""]\n'
    (finding,) = ENGINE.check_text(text, "pyproject.toml")
    assert finding.code == "NP830" and finding.fix is None

"""Options that are named after CUDA: their names stay, and get company with ``--rename-flags``."""

from __future__ import annotations

import textwrap

import pytest

from neuron_port.config import Settings
from neuron_port.engine import Engine
from neuron_port.findings import Applicability
from tests.porting import RULES, check, ported

RENAMING = Engine(RULES, Settings(rename_flags=True))
HEAD = "import argparse\nparser = argparse.ArgumentParser()\n"


def renamed(source: str) -> str:
    result = RENAMING.fix_text(source, "a.py", level=Applicability.SAFE).after
    assert RENAMING.fix_text(result, "a.py", level=Applicability.SAFE).after == result
    return result


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"--no-cuda", action="store_true"', '"--no-accelerator", "--no-cuda", action="store_true", dest="no_cuda"'),
        ("'-g', '--gpu', type=int", "'-g', '--accelerator', '--gpu', type=int, dest='gpu'"),
        ('"--n_gpus"', '"--n_accelerators", "--n_gpus", dest="n_gpus"'),
        ('"--ngpu"', '"--n_accelerators", "--ngpu", dest="ngpu"'),
        ('"-gpu"', '"-accelerator", "-gpu", dest="gpu"'),
        ('"--gpu-ids", dest="ids"', '"--accelerator-ids", "--gpu-ids", dest="ids"'),
        ('"--cuda", **kinds', '"--accelerator", "--cuda", **kinds'),
        ('"--use_cuda", "--use_accelerator"', '"--use_cuda", "--use_accelerator"'),
        ('"--barracuda"', '"--barracuda"'),
        ('"gpu"', '"gpu"'),
    ],
)
def test_argparse(before: str, after: str) -> None:
    assert renamed(f"{HEAD}parser.add_argument({before})\n") == f"{HEAD}parser.add_argument({after})\n"


def test_a_taken_name_is_not_given_twice() -> None:
    text = f'{HEAD}parser.add_argument("--cuda")\nparser.add_argument("--accelerator")\n'
    assert renamed(text) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"--no-cuda", is_flag=True', '"--no-accelerator", "--no-cuda", "no_cuda", is_flag=True'),
        ('"--gpu/--no-gpu"', '"--accelerator/--no-accelerator", "--gpu/--no-gpu", "gpu"'),
        ('"-g", "--gpu"', '"-g", "--accelerator", "--gpu", "gpu"'),
        ('"--gpu", "which"', '"--accelerator", "--gpu", "which"'),
    ],
)
def test_click(before: str, after: str) -> None:
    text = "import click\n\n\n@click.command()\n@click.option({})\ndef main(gpu): ...\n"
    assert renamed(text.format(before)) == text.format(after)


def test_typer() -> None:
    text = "import typer\n\n\ndef main(gpu: bool = typer.Option(False, {})): ...\n"
    assert renamed(text.format('"--gpu"')) == text.format('"--accelerator", "--gpu"')


def test_names_stay_by_default() -> None:
    text = f'{HEAD}parser.add_argument("--no-cuda", action="store_true")\n'
    assert ported(text) == text
    (finding,) = check(text)
    assert (finding.code, finding.message) == (
        "NP108",
        "the option --no-cuda keeps its name, which its callers know; --rename-flags offers --no-accelerator beside it",
    )


def test_help_is_reported() -> None:
    source = f'{HEAD}parser.add_argument("--no-accelerator", "--no-cuda", dest="no_cuda", help="no CUDA here")\n'
    (finding,) = check(source)
    assert finding.message == "the help of --no-cuda speaks of CUDA: say what the option does on Neuron"
    assert source.splitlines()[2][finding.location.column - 1 :].startswith('"no CUDA')


def test_other_classes_with_the_method_are_taken_for_parsers_only_with_options() -> None:
    assert check(textwrap.dedent('import torch\nx.add_argument("gpu")\nx.add_argument(gpu)\n')) == ()

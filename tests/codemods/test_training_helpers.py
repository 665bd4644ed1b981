"""Helpers of optimum-neuron's training code, steps of its training loop, and functions that format samples."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, check, codes, ported

# -- precompilation ----------------------------------------------------------------------------------------------------------

ASKS = "from optimum.neuron.utils.misc import is_precompilation\n\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if is_precompilation():\n    steps = 5\nrun()\n", "run()\n"),
        ("if not is_precompilation():\n    save()\n", "save()\n"),
        ("steps = 5 if is_precompilation() else 100\n", "steps = 100\n"),
        ("if last and not is_precompilation():\n    save()\n", "if last:\n    save()\n"),
        ("warm = is_precompilation()\n", "warm = False\n"),
    ],
)
def test_no_run_is_a_precompilation(before: str, after: str) -> None:
    assert_ported(ASKS + before, after)


def test_question_that_is_handed_on_is_reported() -> None:
    assert codes(f"{ASKS}ask = is_precompilation\nrun(is_precompilation)\n")[-1] == (4, "NP339")


# -- steps of the training loop ----------------------------------------------------------------------------------------------


def test_step_that_the_plain_trainer_never_calls() -> None:
    source = """\
    from optimum.neuron import NeuronTrainer

    class Own(NeuronTrainer):
        def setup_training(self): ...
        def train(self): ...
    """
    (finding,) = [each for each in check(source) if each.code == "NP346"]
    assert (finding.location.row, finding.location.column, finding.severity.word) == (4, 5, "warning")
    assert "override get_train_dataloader" in finding.message


# -- functions that format samples -------------------------------------------------------------------------------------------

TRAINER = "from trl import SFTTrainer\n\n"


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        ("def f(rows):\n    return [a for a in rows]\n", "f"),
        ("def f(rows):\n    out = []\n    return out\n", "f"),
        ("def f(rows, t):\n    return []\n", "lambda rows: f(rows, tok)"),
        ("", "lambda rows: [a for a in rows]"),
    ],
)
def test_list_for_a_batch_is_reported(function: str, argument: str) -> None:
    source = f"{TRAINER}{function}SFTTrainer(m, args=a, formatting_func={argument})\n"
    row = source.count("\n")
    assert (row, "NP469") in codes(source)
    assert ported(source) == source


@pytest.mark.parametrize(
    "source",
    [
        "def f(row):\n    parts = [row]\n    return ''.join(parts)\n",
        "def f(row):\n    def g():\n        return []\n    return g()[0]\n",
        "def f(row):\n    out = []\n    out = join(out)\n    return out\n",
        "from other import f\n",
    ],
)
def test_text_of_a_sample_is_right(source: str) -> None:
    assert "NP469" not in {code for _, code in codes(f"{TRAINER}{source}SFTTrainer(m, args=a, formatting_func=f)\n")}


# -- imports -----------------------------------------------------------------------------------------------------------------


def test_name_of_an_import_inside_a_function_changes_where_it_stands() -> None:
    assert_ported(
        "def train(model, args):\n    from optimum.neuron import NeuronTrainer\n    from peft import LoraConfig\n\n"
        "    return NeuronTrainer(model, args)\n",
        "def train(model, args):\n    from transformers import Trainer\n    from peft import LoraConfig\n\n"
        "    return Trainer(model, args)\n",
    )


def test_names_of_one_statement_go_to_several_packages() -> None:
    assert_ported(
        "def train(model, args):\n    from optimum.neuron import NeuronSFTTrainer, NeuronTrainer\n\n"
        "    return NeuronTrainer(model, args), NeuronSFTTrainer(model, args)\n",
        "def train(model, args):\n    from transformers import Trainer\n    from trl import SFTTrainer\n\n"
        "    return Trainer(model, args), SFTTrainer(model, args)\n",
    )


def test_other_meaning_of_the_new_name_keeps_the_old_one() -> None:
    source = "from optimum.neuron import NeuronTrainer\nfrom own import Trainer\n\nNeuronTrainer(model, Trainer)\n"
    assert ported(source) == source
    assert [finding.applicability.word for finding in check(source) if finding.code == "NP330"] == ["manual", "manual"]

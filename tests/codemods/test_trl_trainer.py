"""TRL's trainers: arguments that moved to the configuration, and how a named model is loaded."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, check, ported


def test_what_moves_is_known_where_the_configuration_is_made() -> None:
    assert_ported(
        """
        from trl import SFTConfig, SFTTrainer

        def main(length, data):
            args = SFTConfig("out")
            text = pick(data)
            SFTTrainer(model, args=args, max_seq_length=length)
        """,
        """
        from trl import SFTConfig, SFTTrainer

        def main(length, data):
            args = SFTConfig("out", max_length=length)
            text = pick(data)
            SFTTrainer(model, args=args)
        """,
    )


@pytest.mark.parametrize("value", ["text", "pick(data)", "data[0]"])
def test_what_is_not_is_set_on_the_variable_that_holds_it(value: str) -> None:
    code = """
        from trl import SFTConfig, SFTTrainer

        def main(data):
            args = SFTConfig("out")
            text = pick(data)
            {}SFTTrainer(model, args=args{})
        """
    field = f"args.dataset_text_field = {value}\n            "
    assert_ported(code.format("", f", dataset_text_field={value}"), code.format(field, ""))


def test_what_is_known_too_late_for_a_call_in_a_call_is_left() -> None:
    source = """
        from trl import SFTConfig, SFTTrainer

        def main(data):
            make = SFTConfig
            SFTTrainer(model, args=arguments(), dataset_text_field=pick(data))
        """
    (finding,) = check(source)
    assert (finding.code, finding.location.row, finding.fix) == ("NP456", 6, None)


def test_defaults_that_differ_are_written_out() -> None:
    assert_ported(
        """
        from transformers import TrainingArguments
        from trl import DPOTrainer
        args = TrainingArguments("out", gradient_checkpointing=True, bf16=True)
        DPOTrainer(model, args=args, beta=0.1)
        """,
        """
        from trl import DPOTrainer, DPOConfig
        args = DPOConfig("out", gradient_checkpointing=True, bf16=True, beta=0.1, learning_rate=5e-05, logging_steps=500)
        DPOTrainer(model, args=args)
        """,
    )


def test_an_argument_that_is_there_already() -> None:
    code = "from trl import SFTConfig, SFTTrainer\nargs = SFTConfig({})\nSFTTrainer(model, args=args{})\n"
    before = code.format("packing=False", ", packing=False")
    assert ported(before) == code.format("packing=False", "")
    before = code.format("packing=False", ", packing=p")
    assert ported(before) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '"out", model_init_kwargs={"device_map": None}'),
        ("model_init_kwargs={}", 'model_init_kwargs={"device_map": None}'),
        ("model_init_kwargs=None", 'model_init_kwargs={"device_map": None}'),
        ('model_init_kwargs=dict(dtype="bfloat16")', 'model_init_kwargs=dict(dtype="bfloat16", device_map=None)'),
        ('model_init_kwargs={"device_map": "auto"}', 'model_init_kwargs={"device_map": None}'),
        ("model_init_kwargs=options()", "model_init_kwargs=options()"),
    ],
)
def test_a_model_that_is_loaded_by_its_name(before: str, after: str) -> None:
    code = 'from trl import SFTConfig, SFTTrainer\nSFTTrainer("org/model", args=SFTConfig({}))\n'
    assert ported(code.format(before or '"out"')) == code.format(after)


def test_a_model_that_is_there_is_left() -> None:
    code = 'from trl import SFTConfig, SFTTrainer\nSFTTrainer(model, args=SFTConfig("out"))\n'
    assert ported(code) == code


def test_a_configuration_from_elsewhere_is_reported() -> None:
    source = """
        from trl import SFTTrainer
        def main(model_args, args):
            SFTTrainer(model_args.model_name_or_path, args=args)
        """
    (finding,) = check(source)
    assert (finding.code, finding.location.row, finding.location.column, finding.fix) == ("NP454", 4, 16, None)

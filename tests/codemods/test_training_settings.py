"""Training arguments of optimum-neuron: defaults, shapes, dictionaries, options, and what is read from them."""

from __future__ import annotations

import dataclasses

import pytest

from tests.porting import RULES, check, codes, ported

SFT = "from optimum.neuron import NeuronSFTConfig\n\n"
SFT_DEFAULTS = (
    "learning_rate=5e-5, gradient_checkpointing=False, bf16=False, logging_steps=500, per_device_train_batch_size=1, "
    "average_tokens_across_devices=False"
)
ALL = f"{SFT_DEFAULTS}, pad_to_multiple_of=1024"


def last(source: str) -> str:
    after = ported(source)
    assert ported(after) == after
    return after.splitlines()[-1]


# -- defaults ----------------------------------------------------------------------------------------------------------------


def test_old_values_are_written_out() -> None:
    assert last(f'{SFT}NeuronSFTConfig("out")\n') == f'SFTConfig("out", {ALL})'


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ("learning_rate=1e-4, bf16=True", ["learning_rate=5e-5", "bf16=False"]),
        ("fp16=True", ["bf16=False"]),
        ("activation_checkpointing=True", ["gradient_checkpointing=False"]),
        ("logging_strategy='no'", ["logging_steps=500"]),
    ],
)
def test_what_is_set_is_left_alone(given: str, missing: list[str]) -> None:
    after = last(f'{SFT}NeuronSFTConfig("out", {given})\n')
    assert not any(text in after for text in missing)
    assert "average_tokens_across_devices=False" in after


def test_dictionary_that_is_in_sight_counts() -> None:
    source = f'{SFT}kw = dict(learning_rate=1e-4, logging_steps=1)\nNeuronSFTConfig("out", **kw)\n'
    assert "learning_rate=5e-5" not in last(source)
    assert "gradient_checkpointing=False" in last(source)


def test_stars_hide_what_is_set() -> None:
    source = f'{SFT}NeuronSFTConfig("out", packing=True, packing_strategy="wrapped", **settings)\n'
    assert last(source) == 'SFTConfig("out", packing=True, packing_strategy="wrapped", **settings)'
    (finding,) = [each for each in check(source) if each.code == "NP334"]
    assert f"where nothing else does, write {SFT_DEFAULTS}" in finding.message


@pytest.mark.parametrize(
    "statement",
    [
        "from optimum.neuron.training_args import NeuronTrainingArguments",
        "from optimum.neuron import NeuronTrainingArguments, Seq2SeqNeuronTrainer",
        "from optimum.neuron.distributed import lazy_load_for_parallelism\nfrom optimum.neuron import NeuronTrainingArguments",
    ],
)
def test_batch_size_is_older_than_the_default_of_one(statement: str) -> None:
    source = f'{statement}\n\nNeuronTrainingArguments("out")\n'
    assert last(source) == 'TrainingArguments("out", average_tokens_across_devices=False)'


def test_old_keyword_dates_the_file() -> None:
    source = 'from optimum.neuron import NeuronTrainingArguments\n\nNeuronTrainingArguments("out", evaluation_strategy="no")\n'
    assert last(source) == 'TrainingArguments("out", eval_strategy="no", average_tokens_across_devices=False)'


def test_orpo_has_defaults_of_its_own() -> None:
    assert last('from optimum.neuron import NeuronORPOConfig\n\nNeuronORPOConfig("out", beta=0.1)\n') == (
        'ORPOConfig("out", beta=0.1, learning_rate=5e-5, gradient_checkpointing=False, bf16=False, logging_steps=500, '
        "max_length=512, average_tokens_across_devices=False)"
    )


# -- parsers -----------------------------------------------------------------------------------------------------------------

PARSER = "from optimum.neuron import NeuronHfArgumentParser, NeuronTrainingArguments\n\n"


def test_parser_is_told_the_old_values() -> None:
    source = f"{PARSER}parser = NeuronHfArgumentParser((Options, NeuronTrainingArguments))\n"
    assert ported(source).splitlines()[-2:] == [
        "parser = HfArgumentParser((Options, TrainingArguments))",
        "parser.set_defaults(per_device_train_batch_size=1, average_tokens_across_devices=False)",
    ]
    (finding,) = [each for each in check(source) if each.code == "NP334"]
    assert (finding.location.row, finding.location.column) == (3, 43)
    assert "--tensor_parallel_size" in finding.message


@pytest.mark.parametrize(
    "line",
    [
        "args = NeuronHfArgumentParser(NeuronTrainingArguments).parse_args_into_dataclasses()[0]",
        "self.parser = NeuronHfArgumentParser(NeuronTrainingArguments)",
    ],
)
def test_parser_without_a_name_is_reported(line: str) -> None:
    assert "set_defaults" not in ported(f"{PARSER}{line}\n")
    assert any("refused natively" in finding.message for finding in check(f"{PARSER}{line}\n"))


def test_class_that_is_handed_on_is_reported() -> None:
    source = f"{SFT}config = build(NeuronSFTConfig, options)\nisinstance(config, NeuronSFTConfig)\n"
    assert [finding.location.row for finding in check(source) if finding.code == "NP334"] == [3]
    assert last(source) == "isinstance(config, SFTConfig)"


# -- shapes ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("packing=True, **a.to_dict()", 'packing=True, packing_strategy="wrapped", **a.to_dict()'),
        ("packing=pack, **a.to_dict()", 'packing=pack, packing_strategy="wrapped", **a.to_dict()'),
        (
            "packing=False, max_length=n, **a.to_dict()",
            "packing=False, max_length=n, pad_to_multiple_of=n, **a.to_dict()",
        ),
        ("max_seq_length=512, **a.to_dict()", "max_length=512, pad_to_multiple_of=512, **a.to_dict()"),
        ("max_length=None, **a.to_dict()", "max_length=None, **a.to_dict()"),
        ("max_length=n, **unknown", "max_length=n, **unknown"),
        ("packing=True, **unknown", "packing=True, **unknown"),
    ],
)
def test_one_shape(before: str, after: str) -> None:
    assert last(f"{SFT}NeuronSFTConfig({before})\n") == f"SFTConfig({after})"


def test_collator_of_the_script_decides_about_shapes() -> None:
    source = (
        "from optimum.neuron import NeuronSFTConfig, NeuronSFTTrainer\n\n"
        "config = NeuronSFTConfig(max_length=512, **a.to_dict())\nNeuronSFTTrainer(m, args=config, data_collator=pad)\n"
    )
    assert "pad_to_multiple_of" not in ported(source)


# -- dictionaries of other settings ------------------------------------------------------------------------------------------


def test_token_is_set_again() -> None:
    source = f'{SFT}config = NeuronSFTConfig(packing=True, **args.to_dict())\nprint("push_to_hub")\n'
    assert ported(source).splitlines()[-2] == "config.hub_token = args.hub_token"
    assert [(row, code) for row, code in codes(source) if code == "NP340"] == [(3, "NP340")]


def test_dictionary_is_followed_through_a_variable() -> None:
    source = f"{SFT}d = args.to_dict()\nself.config = NeuronSFTConfig(packing=True, **d)\nargs.push_to_hub\n"
    assert ported(source).splitlines()[-2] == "self.config.hub_token = args.hub_token"


def test_without_the_hub_it_is_a_note() -> None:
    source = f"{SFT}config = NeuronSFTConfig(packing=True, **args.to_dict())\n"
    (finding,) = [each for each in check(source) if each.code == "NP340"]
    assert finding.severity.word == "info"
    assert "hub_token" not in last(source)


# -- options that are gone ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["True", "False", "None", '""', "args.x", "5"])
def test_option_goes_whatever_its_value(value: str) -> None:
    source = f"from optimum.neuron import NeuronTrainingArguments as A\n\nA('out', async_save={value}, **x)\n"
    assert last(source) == "A('out', **x)"


def test_option_in_a_plain_class_is_what_a_port_left() -> None:
    source = 'from transformers import TrainingArguments\n\nTrainingArguments("out", zero_1=True)\n'
    assert codes(source) == [(3, "NP333")]
    assert last(source) == 'TrainingArguments("out")'


# -- what is read from arguments and trainers --------------------------------------------------------------------------------

READS = {
    "parsed": "args, = NeuronHfArgumentParser(NeuronTrainingArguments).parse_args_into_dataclasses()\n",
    "parsed beside others": (
        "parser = NeuronHfArgumentParser((Options, NeuronTrainingArguments))\n"
        "options, args = parser.parse_args_into_dataclasses()\n"
    ),
    "made": 'args = NeuronTrainingArguments("out")\n',
    "handed in": "def run(args): print(args.zero_1)\nrun(NeuronTrainingArguments('out'))\n",
}


@pytest.mark.parametrize("code", READS.values(), ids=READS)
def test_field_that_is_read_is_reported(code: str) -> None:
    source = PARSER + code + ("" if "args.zero_1" in code else "print(args.zero_1)\n")
    for text in (source, ported(source)):
        (finding,) = [each for each in check(text) if each.code == "NP338"]
        assert "zero_1" in finding.message


def test_field_of_another_object_is_not_meant() -> None:
    source = PARSER + (
        "parser = NeuronHfArgumentParser((Options, NeuronTrainingArguments))\n"
        "options, args = parser.parse_args_into_dataclasses()\nprint(options.zero_1, options.tensor_parallel_size)\n"
    )
    assert [finding for finding in check(source) if finding.code == "NP338"] == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("trainer.synchronize_hub_cache()\nprint(1)", "print(1)"),
        ("print(trainer.tp_size)", "print(trainer.get_tp_size())"),
        ("if trainer.is_logging_process(): print(1)", "if trainer.is_world_process_zero(): print(1)"),
        ("print(trainer.mp_enabled)", "print(trainer.mp_enabled)"),
    ],
)
def test_trainer(before: str, after: str) -> None:
    head = "from optimum.neuron import NeuronTrainer\n\ntrainer = NeuronTrainer(model, args)\n"
    assert last(f"{head}{before}\n") == after


def test_attribute_that_a_subclass_sets_is_its_own() -> None:
    source = """\
    from optimum.neuron import NeuronTrainer

    class Own(NeuronTrainer):
        def setup(self, tp_size):
            self.tp_size = tp_size
            print(self.tp_size, self.dp_size)
    """
    assert [finding.message[:35] for finding in check(source) if finding.code == "NP338"] == [
        "the plain trainer has no dp_size; i"
    ]


def test_field_that_is_set_is_not_read_any_more() -> None:
    source = PARSER + 'args = NeuronTrainingArguments("out")\nargs.zero_1 = True\n'
    (finding,) = [each for each in check(source) if each.code == "NP338"]
    assert finding.severity.word == "warning"
    assert finding.message.startswith("zero_1 is set on an object that does not read it")


# -- the installed classes ---------------------------------------------------------------------------------------------------


def test_defaults_are_those_that_differ() -> None:
    transformers = pytest.importorskip("transformers")
    trl = pytest.importorskip("trl")
    orpo = pytest.importorskip("trl.experimental.orpo")
    options = RULES.rules["NP334"].options
    for name, plain in (
        ("training", transformers.TrainingArguments),
        ("sft", trl.SFTConfig),
        ("orpo", orpo.ORPOConfig),
    ):
        defaults = {field.name: field.default for field in dataclasses.fields(plain)}
        for entry in options[name]:
            assert entry["field"] in defaults
            assert str(defaults[entry["field"]]) != str(eval(entry["value"]))


def test_options_are_no_fields() -> None:
    transformers = pytest.importorskip("transformers")
    fields = {field.name for field in dataclasses.fields(transformers.TrainingArguments)}
    assert {entry["keyword"] for entry in RULES.rules["NP333"].options["training"]} & fields == set()
    trainer = {name for name, kinds in RULES.rules["NP338"].options["values"].items() if "trainer" in kinds}
    assert {name for name in trainer if hasattr(transformers.Trainer, name)} == set()

"""Training configurations: arguments of a call, defaults of a subclass, fields of an instance, dictionaries."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, check, codes, ported

ARGUMENTS = "from transformers import TrainingArguments\n"


def call(arguments: str) -> str:
    return f'{ARGUMENTS}TrainingArguments("out", {arguments})\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("warmup_ratio=0.1", "warmup_steps=0.1"),
        ("warmup_ratio=0.1, warmup_steps=0", "warmup_steps=0.1"),
        ("warmup_ratio=0.1, warmup_steps=50", "warmup_steps=50"),
        ("warmup_ratio=r, warmup_steps=s", "warmup_steps=s or r"),
        ("per_gpu_train_batch_size=g, per_device_train_batch_size=8", "per_device_train_batch_size=g or 8"),
        ("fp16=True, bf16=False", "bf16=True"),
        ("fp16=True, bf16=b", "bf16=True"),
        ("fp16=not b, bf16=b", "bf16=b"),
        ("fp16=f, bf16=b", "bf16=b or f"),
        ('adafactor=True, optim="sgd"', 'optim="adafactor"'),
        ("group_by_length=g", 'train_sampling_strategy="group_by_length" if g else "random"'),
        ("group_by_length=False, logging_dir=None", None),
        ("torch_compile_mode=m", "torch_compile=True, dataloader_drop_last=True"),
    ],
)
def test_one_field_takes_the_place_of_two(before: str, after: str | None) -> None:
    assert ported(call(before)) == (call(after) if after else f'{ARGUMENTS}TrainingArguments("out")\n')


def test_what_two_arguments_would_share_is_left() -> None:
    code = call("dispatch_batches=True, split_batches=s")
    after = ported(code)
    assert after == call('accelerator_config={"dispatch_batches": True}, split_batches=s')
    assert [(finding.code, finding.location.column) for finding in check(after)] == [("NP445", 73)]


def test_a_directory_for_logs_becomes_a_variable() -> None:
    assert_ported(
        """
        from transformers import TrainingArguments

        def arguments(folder):
            return TrainingArguments("out", logging_dir=folder / "logs", logging_steps=5)
        """,
        """
        from transformers import TrainingArguments
        import os

        def arguments(folder):
            os.environ["TENSORBOARD_LOGGING_DIR"] = str(folder / "logs")
            return TrainingArguments("out", logging_steps=5)
        """,
    )


def test_the_defaults_of_a_subclass() -> None:
    assert_ported(
        """
        from dataclasses import dataclass, field
        from transformers import TrainingArguments

        @dataclass
        class Arguments(TrainingArguments):
            optim: str = field(default="paged_adamw_8bit", metadata={"help": "x"})
            tf32: bool = True

        @dataclass
        class More(Arguments):
            use_liger_kernel: bool = True

        More("out", evaluation_strategy="steps")
        """,
        """
        from dataclasses import dataclass, field
        from transformers import TrainingArguments

        @dataclass
        class Arguments(TrainingArguments):
            optim: str = field(default="adamw_torch_fused", metadata={"help": "x"})
            tf32: bool = False

        @dataclass
        class More(Arguments):
            use_liger_kernel: bool = False

        More("out", eval_strategy="steps")
        """,
    )


def test_a_field_of_a_subclass_may_have_the_name_of_one_that_is_gone() -> None:
    source = """
        from transformers import TrainingArguments

        class Arguments(TrainingArguments):
            group_by_length: bool = True

        args = Arguments("out", group_by_length=False)
        print(args.group_by_length)
        """
    (finding,) = check(source)
    assert (finding.location.row, finding.location.column, finding.severity.word) == (5, 5, "warning")
    assert ported(source).count("group_by_length") == 3


def test_fields_of_instances() -> None:
    assert_ported(
        """
        from transformers import HfArgumentParser, TrainingArguments
        from trl import SFTConfig, TrlParser

        def train(args: TrainingArguments, other):
            args.fp16 = True
            args.overwrite_output_dir = True
            other.fp16 = True
            return args.per_gpu_eval_batch_size

        parser = TrlParser(dataclass_types=[Own, SFTConfig])
        own, config = parser.parse_args_and_config()
        config.max_seq_length = min(config.max_seq_length, 1024)
        own.max_seq_length = 3
        single = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()[0]
        print(single.evaluation_strategy)
        """,
        """
        from transformers import HfArgumentParser, TrainingArguments
        from trl import SFTConfig, TrlParser

        def train(args: TrainingArguments, other):
            args.bf16 = True
            other.fp16 = True
            return args.per_device_eval_batch_size

        parser = TrlParser(dataclass_types=[Own, SFTConfig])
        own, config = parser.parse_args_and_config()
        config.max_length = min(config.max_length, 1024)
        own.max_seq_length = 3
        single = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()[0]
        print(single.eval_strategy)
        """,
    )


def test_a_variable_with_several_meanings_is_left() -> None:
    source = """
        from transformers import TrainingArguments
        args = parse()
        args = TrainingArguments("out")
        print(args.no_cuda)
        """
    assert codes(source) == []


def test_a_dictionary_for_the_parser() -> None:
    assert_ported(
        """
        from transformers import HfArgumentParser, TrainingArguments
        settings = {"output_dir": "out", "no_cuda": True, "tf32": True}
        (args,) = HfArgumentParser(TrainingArguments).parse_dict(settings)
        """,
        """
        from transformers import HfArgumentParser, TrainingArguments
        settings = {"output_dir": "out", "use_cpu": True}
        (args,) = HfArgumentParser(TrainingArguments).parse_dict(settings)
        """,
        level="safe",
    )


def test_portable_code_keeps_what_cuda_needs() -> None:
    code = call('fp16=True, tf32=True, optim="adamw_bnb_8bit", evaluation_strategy="steps"')
    after = call('fp16=True, tf32=True, optim="adamw_bnb_8bit", eval_strategy="steps"')
    assert ported(code, target="portable") == after


def test_configurations_are_followed_into_functions() -> None:
    assert_ported(
        """
        from trl import ModelConfig, SFTConfig, TrlParser

        def main(training_args, model_args):
            load(model_args.torch_dtype, model_args.trust_remote_code)
            return training_args.max_seq_length

        def make_parser():
            classes = (SFTConfig, ModelConfig)
            return TrlParser(classes)

        parser = make_parser()
        training, model = parser.parse_args_and_config()
        main(training, model_args=model)
        """,
        """
        from trl import ModelConfig, SFTConfig, TrlParser

        def main(training_args, model_args):
            load(model_args.dtype, training_args.trust_remote_code)
            return training_args.max_length

        def make_parser():
            classes = (SFTConfig, ModelConfig)
            return TrlParser(classes)

        parser = make_parser()
        training, model = parser.parse_args_and_config()
        main(training, model_args=model)
        """,
    )


def test_entries_of_a_dictionary_that_is_an_argument() -> None:
    code = call('gradient_checkpointing_kwargs={"use_reentrant": True}')
    assert ported(code) == call('gradient_checkpointing_kwargs={"use_reentrant": False}')


def test_a_directory_that_nobody_may_have_given() -> None:
    assert ported(call("logging_dir=options.logs")).splitlines()[2:] == [
        "if options.logs is not None:",
        '    os.environ["TENSORBOARD_LOGGING_DIR"] = str(options.logs)',
        'TrainingArguments("out")',
    ]


def test_the_arguments_of_sentence_transformers() -> None:
    assert_ported(
        """\
        from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
        args = SentenceTransformerTrainingArguments("out", fp16=True, warmup_ratio=0.1)
        trainer = SentenceTransformerTrainer(model, args, tokenizer=tokenizer)
        """,
        """\
        from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
        args = SentenceTransformerTrainingArguments("out", bf16=True, warmup_steps=0.1)
        trainer = SentenceTransformerTrainer(model, args, processing_class=tokenizer)
        """,
    )

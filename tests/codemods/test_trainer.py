"""Trainers: the tokenizer's new name, attributes that are gone, and methods that subclasses override."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, check, codes, ported


def test_an_alias_and_a_subclass_of_a_subclass() -> None:
    assert_ported(
        """
        from transformers import Seq2SeqTrainer as HfTrainer
        class First(HfTrainer):
            pass
        class Second(First):
            def show(self):
                return self.tokenizer
        trainer = Second(model=m, tokenizer=t)
        print(trainer.tokenizer)
        """,
        """
        from transformers import Seq2SeqTrainer as HfTrainer
        class First(HfTrainer):
            pass
        class Second(First):
            def show(self):
                return self.processing_class
        trainer = Second(model=m, processing_class=t)
        print(trainer.processing_class)
        """,
        level="safe",
    )


def test_a_constructor_that_takes_the_tokenizer_itself() -> None:
    source = """
        from transformers import Trainer
        class Own(Trainer):
            def __init__(self, model, tokenizer):
                super().__init__(model=model, tokenizer=tokenizer)
        Own(m, tokenizer=t)
        """
    after = ported(source)
    assert "processing_class=tokenizer" in after
    assert "Own(m, tokenizer=t)" in after


def test_attributes_that_are_gone() -> None:
    source = """
        from transformers import Trainer
        class Own(Trainer):
            def training_step(self, model, inputs, num_items_in_batch=None):
                if self.use_apex or self.do_grad_scaling:
                    self.scaler.scale(1)
        """
    assert [(f.location.row, f.location.column, f.code) for f in check(source)] == [
        (5, 12, "NP453"),
        (5, 29, "NP453"),
        (6, 13, "NP453"),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("compute_loss(self, model, inputs)", "compute_loss(self, model, inputs, num_items_in_batch=None)"),
        ("compute_loss(self, model, inputs, *args, **kw)", None),
        ("compute_loss(self, model, inputs, *, num_items_in_batch)", None),
        ("training_step(self, model, batch)", "training_step(self, model, batch, num_items_in_batch=None)"),
        ("training_step(self, model, batch, n)", None),
        ("training_step(self, model, batch, **kw)", "training_step(self, model, batch, num_items_in_batch=None, **kw)"),
        ("log(self, logs: dict) -> None", "log(self, logs: dict, start_time=None) -> None"),
        ("evaluate(self, dataset)", None),
    ],
)
def test_methods_that_are_overridden(before: str, after: str | None) -> None:
    code = "from transformers import Trainer\nclass Own(Trainer):\n    def {}:\n        return 1\n"
    assert ported(code.format(before)) == code.format(after or before)


def test_a_method_is_only_the_trainers_in_its_subclasses() -> None:
    assert codes("from transformers import Trainer\nclass Own:\n    def log(self, logs):\n        pass\n") == []


def test_callbacks_get_the_tokenizer_under_its_new_name() -> None:
    assert_ported(
        """
        from transformers import TrainerCallback
        class Saver(TrainerCallback):
            def on_save(self, args, state, control, **kwargs):
                if "tokenizer" in kwargs:
                    kwargs["tokenizer"].save_pretrained(args.output_dir)
            def save(self, **kwargs):
                return kwargs["tokenizer"]
        """,
        """
        from transformers import TrainerCallback
        class Saver(TrainerCallback):
            def on_save(self, args, state, control, **kwargs):
                if "processing_class" in kwargs:
                    kwargs["processing_class"].save_pretrained(args.output_dir)
            def save(self, **kwargs):
                return kwargs["tokenizer"]
        """,
    )


def test_another_base_class_may_have_the_attribute() -> None:
    source = """
        from transformers import Trainer
        class Own(Mixin, Trainer):
            def show(self):
                return self.tokenizer
        """
    (finding,) = check(source)
    assert (finding.code, finding.fix) == ("NP453", None)


def test_a_configuration_has_no_list_of_fsdp_options() -> None:
    source = """
        from transformers import TrainingArguments
        args = TrainingArguments("out")
        if len(args.fsdp) > 0 or other:
            pass
        """
    assert "if bool(args.fsdp) or other:" in ported(source, "safe")

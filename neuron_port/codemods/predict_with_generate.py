"""Evaluation that generates: ``Seq2SeqTrainer`` calls ``generate`` with what is set on the model.

args = Seq2SeqTrainingArguments("out", predict_with_generate=True)
                                                                     model.generation_config.cache_implementation = "static"
trainer = Seq2SeqTrainer(model=model, args=args)              ->     trainer = Seq2SeqTrainer(model=model, args=args)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import called, node_of, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.static_cache import configured, is_made_here
from neuron_port.edits.operations import InsertStatement
from neuron_port.semantics.module import is_chain, statement


def inspect(site: Site) -> Iterator[Report]:
    """Report the arguments of a training whose evaluation would use a growing cache."""
    target = called(site)
    argument = target.argument("predict_with_generate") if target is not None else None
    if argument is None or (isinstance(value_of(argument), ast.Constant) and not value_of(argument).value):
        return
    config = target.argument("generation_config")
    if config is not None and is_made_here(site, value_of(config)):
        return
    trainers = _trainers(site, target.call)
    models = [model for model in trainers if not configured(site, model)]
    if trainers and not models:
        return
    operations = []
    if config is None and len(models) == 1 and is_chain(models[0]):
        place = statement(models[0])
        text = '{model}.generation_config.cache_implementation = "static"'
        operations = [InsertStatement(place, text, {"model": models[0]})]
    yield site.report(node=node_of(argument), operations=operations)


def _trainers(site: Site, arguments: ast.Call) -> list[ast.expr]:
    """The models of the trainers that these arguments go into."""
    found = []
    for call in site.module.calls_of("Seq2SeqTrainer") or _taking(site, arguments):
        model = next((item.value for item in call.keywords if item.arg == "model"), call.args[0] if call.args else None)
        if model is not None:
            found.append(model)
    return found


def _taking(site: Site, arguments: ast.Call) -> Iterator[ast.Call]:
    """The calls that take the arguments as ``args=``: of a class of the user's."""
    made = arguments.parent
    if isinstance(made, ast.Assign) and len(made.targets) == 1 and isinstance(made.targets[0], ast.Name):
        for binding in site.module.bindings(made.targets[0])[:1]:
            for read in site.module.references(binding):
                if isinstance(read.parent, ast.keyword) and read.parent.arg == "args":
                    yield read.parent.parent

"""The shapes of prompts that are generated from: a multiple bounds how many there are.

inputs = tokenizer(prompts, padding=True, return_tensors="pt")  ->  inputs = tokenizer(prompts, padding=True, return_tensors="pt", pad_to_multiple_of=128)
model.generate(**inputs)                                            model.generate(**inputs)
inputs = tokenizer(prompt, return_tensors="pt")                     reported
model.generate(**inputs, max_length=200)                            reported: the padding would count as well
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.decoding import Decoding, of_call, prompt_call, uses_of_transformers
from neuron_port.codemods.padding_side import side_is_left
from neuron_port.edits.operations import InsertArgument
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.pretrained_names import Decodes
from neuron_port.semantics.receivers import Grade
from neuron_port.semantics.spreads import spreads_of

# What the libraries pad to on Neuron themselves.
MULTIPLE = 128


def inspect(site: Site) -> Iterator[Report]:
    """Report the call of a tokenizer that makes a prompt of any length, and pipelines that pad each batch to its longest."""
    if site.row is not None:
        yield from _pipeline(site)
        return
    for use in uses_of_transformers(site):
        call = prompt_call(site.context, use) if use.model is not None and use.model.grade >= Grade.USAGE else None
        if call is None or f"prompt:{id(call)}" in site.context.memo:
            continue
        site.context.memo.add(f"prompt:{id(call)}")
        given = of_call(site.context, Called(call, spreads=spreads_of(site.module, call)))
        if given.hidden is not None or given.has("pad_to_multiple_of", "tokenizer_kwargs"):
            continue
        padding = given.value("padding")
        if padding is None or (isinstance(padding, ast.Constant) and padding.value is False):
            if "prompt of any length" in site.context.memo:
                continue
            site.context.memo.add("prompt of any length")  # said once in a file
            yield site.report(
                site.rule.options["alone"], node=call, severity=Severity.INFO, applicability=Applicability.MANUAL
            )
        elif isinstance(padding, ast.Constant) and padding.value in (True, "longest"):
            sure = use.model.decodes is Decodes.ENCODER_DECODER or side_is_left(site, use, call)
            message = site.rule.options["padded"]
            if not sure:
                message = f"{message}; {site.rule.options['side']}"
            elif _counts_padding(use):
                message = f"{message}; {site.rule.options['counted']}"
            yield site.report(
                message, node=call, operations=[_insertion(call, use)] if sure and not _counts_padding(use) else []
            )


def _pipeline(site: Site) -> Iterator[Report]:
    for use in uses_of_transformers(site):
        size = use.value("batch_size")
        if size is None or (isinstance(size, ast.Constant) and size.value == 1):
            continue
        if use.hidden is None and not use.has("tokenizer_encode_kwargs", "generate_kwargs"):
            yield site.report(site.rule.options["pipeline"], node=size.parent, applicability=Applicability.MANUAL)


def _counts_padding(use: Decoding) -> bool:
    """Whether the length of the answer is told with that of a decoder's prompt, whose padding counts too."""
    alone = use.has("max_length") and not use.has("max_new_tokens")
    return alone and use.model is not None and use.model.decodes is not Decodes.ENCODER_DECODER


def _insertion(call: ast.Call, use: Decoding) -> InsertArgument:
    chunk = use.value("prefill_chunk_size")
    multiple = chunk.value if isinstance(chunk, ast.Constant) and isinstance(chunk.value, int) else MULTIPLE
    if isinstance(call.func, ast.Attribute) and call.func.attr == "apply_chat_template":
        return InsertArgument(call, f'{{{{"pad_to_multiple_of": {multiple}}}}}', "tokenizer_kwargs")
    return InsertArgument(call, str(multiple), "pad_to_multiple_of")

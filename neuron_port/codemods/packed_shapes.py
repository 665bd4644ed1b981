"""One shape for all batches of an SFT run: optimum-neuron padded to it, TRL has to be told.

NeuronSFTConfig(max_length=2048, packing=True)      ->  SFTConfig(max_length=2048, packing=True, packing_strategy="wrapped")
NeuronSFTConfig(max_length=2048)                    ->  SFTConfig(max_length=2048, pad_to_multiple_of=2048)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.training_sizes import dictionary_of, escaped
from neuron_port.edits.operations import InsertArgument
from neuron_port.findings import Applicability
from neuron_port.semantics.training_settings import calls_of

_PACKED = (
    'packing=True means packing_strategy="bfd" in TRL 1.16: padding-free batches of a new shape in each step, for FlashAttention; '
    '"wrapped" cuts blocks of max_length, one shape for all (a block may begin inside of a sample)'
)
_PADDED = (
    "optimum-neuron padded every sample to max_length, so that one graph was compiled; TRL pads to the next multiple of 128 on "
    "neuron, and to max_length with pad_to_multiple_of={length}"
)
_LENGTHS = ("max_length", "max_seq_length")
# The default of both classes.
_DEFAULT = "1024"


def inspect(site: Site) -> Iterator[Report]:
    """Report a configuration whose batches would get many shapes."""
    target = called(site)
    if target is None:
        return
    packing = target.argument("packing")
    value = value_of(packing) if packing is not None else None
    packed = value is not None and not (isinstance(value, ast.Constant) and not value.value)
    if packed:
        if target.argument("packing_strategy") is None:
            yield _add(site, target, "packing_strategy", '"wrapped"', _PACKED)
    elif target.argument("pad_to_multiple_of") is None and not _collates(site):
        length = _length(target)
        if length is not None:
            yield _add(site, target, "pad_to_multiple_of", length, _PADDED.format(length=length))


def _add(site: Site, target: Called, keyword: str, text: str, message: str) -> Report:
    if _hides(site, target):
        return site.report(f"{message}; stars hide what is set here", applicability=Applicability.MANUAL)
    return site.report(message, operations=[InsertArgument(target.call, escaped(text), keyword)])


def _hides(site: Site, target: Called) -> bool:
    """Whether stars may bring the argument; training arguments of Transformers do not have it."""
    if not target.hidden:
        return False
    starred = any(isinstance(each, ast.Starred) for each in target.call.args)
    unknown = [each.value for each in target.call.keywords if each.arg is None]
    return starred or any(dictionary_of(site.module, value) is None for value in unknown)


def _length(target: Called) -> str | None:
    """The source text of the length that samples are cut to."""
    given = next((found for name in _LENGTHS if (found := target.argument(name)) is not None), None)
    if given is None:
        return None if target.hidden else _DEFAULT
    value = value_of(given)
    if isinstance(value, ast.Constant):
        return str(value.value) if isinstance(value.value, int) else None
    return ast.unparse(value) if isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)) else None


def _collates(site: Site) -> bool:
    """Whether a trainer of the file gets a collator of its own, which then decides about shapes."""
    trainers = calls_of(site.module, ("NeuronSFTTrainer",))
    return any(keyword.arg == "data_collator" for call in trainers for keyword in call.keywords)

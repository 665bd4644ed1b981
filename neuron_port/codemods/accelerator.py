"""Accelerate's Accelerator: its arguments, and the generators that it keeps in step.

Accelerator(mixed_precision="fp16")                    ->  Accelerator(mixed_precision="bf16")
Accelerator(dynamo_backend="inductor")                 ->  Accelerator(dynamo_plugin=TorchDynamoPlugin(backend="neuron", dynamic=False))
Accelerator(rng_types=["cuda", "generator"])           ->  Accelerator(rng_types=["neuron", "generator"])
parser.add_argument("--mixed_precision", default="fp16")                          where Accelerator(mixed_precision=args.mixed_precision)
                                                       ->  parser.add_argument("--mixed_precision", default="bf16")
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import called, claim_strings, value_of
from neuron_port.codemods.argument_table import inspect as by_arguments
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import AddElement, Operation, SetString
from neuron_port.findings import Applicability, Severity


def inspect(site: Site) -> Iterator[Report]:
    """Report an argument of a class of Accelerate."""
    if site.form != "keyword":
        yield from _option(site)  # before the entries, which know nothing of the choices beside a default
        yield from by_arguments(site)
        return
    value = site.node.value
    for item in value.elts if isinstance(value, (ast.List, ast.Tuple, ast.Set)) else ():
        if isinstance(item, ast.Constant) and item.value == "cuda":
            claim_strings(site, item)
            portable = site.context.portable
            yield site.report(
                'rng_types="cuda" keeps CUDA\'s generators in step and stops without CUDA; "neuron" is the type for Neuron\'s',
                node=item,
                applicability=Applicability.MANUAL if portable else Applicability.SAFE,
                operations=() if portable else [SetString(item, "neuron")],
            )


def _option(site: Site) -> Iterator[Report]:
    """The default of the option that ``mixed_precision`` comes from."""
    target = called(site)
    argument = target.argument("mixed_precision") if target is not None else None
    value = value_of(argument) if argument is not None else None
    if not isinstance(value, ast.Attribute):
        return
    for call in site.module.calls_of("add_argument"):
        names = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        if not any(name.lstrip("-").replace("-", "_") == value.attr for name in names):
            continue
        for default in (each.value for each in call.keywords if each.arg == "default"):
            if (
                isinstance(default, ast.Constant)
                and default.value in ("fp16", "fp8")
                and id(default) not in site.context.claimed
            ):
                claim_strings(site, default)
                portable = site.context.portable
                operations: list[Operation] = [SetString(default, "bf16"), *_offered(call)]
                yield site.report(
                    f"this default goes to Accelerator(mixed_precision=...), which refuses {default.value} on Neuron; bf16 is its mixed precision",
                    node=default,
                    severity=Severity.WARNING,
                    applicability=Applicability.MANUAL if portable else Applicability.UNSAFE,
                    operations=() if portable else operations,
                )


def _offered(call: ast.Call) -> list[Operation]:
    """bf16 among the choices of the option."""
    choices = next((each.value for each in call.keywords if each.arg == "choices"), None)
    if not isinstance(choices, (ast.List, ast.Tuple)) or any(
        getattr(each, "value", "") == "bf16" for each in choices.elts
    ):
        return []
    return [AddElement(choices, '"bf16"')]

"""Sizes of images and batches that differ from call to call of a diffusion pipeline.

for width in (512, 768): pipe(prompt, width=width)                      reported: one compilation for each width
pipe(a, height=512); pipe(b, height=768)                                reported at the second size
pipe(prompt, height=args.height, num_inference_steps=steps)             left alone: one size for a run, and steps are no shape
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.generator import is_pipeline
from neuron_port.codemods.method_table import imports
from neuron_port.findings import Applicability
from neuron_port.semantics.module import ancestors, enclosing_function


def inspect(site: Site) -> Iterator[Report]:
    """Report an argument of a pipeline's call that is a shape."""
    call = site.node.parent
    if not (isinstance(call, ast.Call) and imports(site, "diffusers") and is_pipeline(site, call)):
        return
    if _changes_in_loop(site.node) or _differs_from_first(site, call):
        yield site.report(
            f"each new value of {site.node.arg}= is a shape of its own and compiles the model once more; keep to few sizes, and "
            "draw the images of one size after each other",
            applicability=Applicability.MANUAL,
        )


def _changes_in_loop(argument: ast.keyword) -> bool:
    """Whether the value holds a variable of a loop around the call."""
    names = {node.id for node in ast.walk(argument.value) if isinstance(node, ast.Name)}
    for around in ancestors(argument):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        targets: list[ast.expr] = []
        if isinstance(around, (ast.For, ast.AsyncFor)):
            targets = [around.target]
        elif isinstance(around, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            targets = [generator.target for generator in around.generators]
        if any(isinstance(node, ast.Name) and node.id in names for target in targets for node in ast.walk(target)):
            return True
    return False


def _differs_from_first(site: Site, call: ast.Call) -> bool:
    """Whether an earlier call of the same pipeline in the same function has another literal for the argument."""
    if not isinstance(site.node.value, ast.Constant):
        return False
    name = getattr(call.func, "attr", None) or getattr(call.func, "id", "")
    for other in site.module.calls_of(name):
        if other is call:
            return False
        same = ast.dump(other.func) == ast.dump(call.func) and enclosing_function(other) is enclosing_function(call)
        for keyword in other.keywords if same else ():
            if keyword.arg == site.node.arg and isinstance(keyword.value, ast.Constant):
                return keyword.value.value != site.node.value.value
    return False

"""Models with linear attention or a state space, which generate() compiles once they have a static cache. Reported.

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3.5-9B")
model.generate(**inputs, cache_implementation="static")
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.decoding import uses

_LINEAR = re.compile(
    r"(?i)mamba|jamba|zamba|bamba|rwkv|xlstm|recurrent-?gemma|qwen3[._-]?5|qwen3-?next|falcon-?h1|granitemoehybrid|"
    r"granite-4\.0-h|lfm2|nemotron-?h\b|olmo-?hybrid|kimi-?linear|minimax-(?:text|m1)|plamo-?2"
)


def inspect(site: Site) -> Iterator[Report]:
    """Report the use of ``generate`` of such a model, once for each model."""
    for use in uses(site):
        call = use.model.call if use.model is not None else None
        if call is None or use.has("disable_compile") or f"linear:{id(call)}" in site.context.memo:
            continue
        first = call.args[0] if call.args else None
        names = [use.model.name.rpartition(".")[2]]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            names.append(first.value)
        elif isinstance(first, ast.Name) and hasattr(first, "scope"):
            values = [binding.value for binding in site.module.bindings(first)]
            names += [
                value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str)
            ]
        found = next((name for name in names if _LINEAR.search(name)), None)
        if found is not None:
            site.context.memo.add(f"linear:{id(call)}")
            yield site.report(site.rule.options["message"].replace("{model}", found))

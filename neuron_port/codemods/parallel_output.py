"""Programs that became several processes: each of them prints, and writes the same files.

    model = AutoModelForCausalLM.from_pretrained(id, distributed_config=DistributedConfig(tp_size=2))
    print(answer)                                   reported, at DistributedConfig
    if torch.distributed.get_rank() == 0:
        print(answer)                               one process does it

Programs that train are left alone: torchrun started them before, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.neuron_load import literal
from neuron_port.semantics.module import ancestors

_RANK = re.compile(r"(?i)rank|is_(main|master|world_process_zero|first|local_main)")
_WRITERS = ("write_text", "write_bytes", "to_csv", "to_json", "to_parquet", "imsave", "savefig", "savetxt")
_SIZES = ("tp_size", "fsdp_size", "pp_size", "ep_size", "dp_replicate_size")


def inspect(site: Site) -> Iterator[Report]:
    """Report once in a file that every process does what one did."""
    call = site.call
    imports = site.module.found.imports
    if call is None or any((each.qualname or "").endswith(("Trainer", "TrainingArguments")) for each in imports):
        return
    key = f"{site.rule.code}:output"
    shown = sorted((each for each in _outputs(site) if not _is_guarded(each)), key=lambda each: each.lineno)
    if not shown or key in site.context.memo:
        return
    site.context.memo.add(key)
    number = _processes(site, call)
    lines = ", ".join(str(line) for line in dict.fromkeys(each.lineno for each in shown[:3]))
    more = " and more" if len(shown) > 3 else ""
    yield site.report(
        f"torchrun --nproc_per_node={number} starts a process for each core, and all of them run this program: what lines "
        f"{lines}{more} print or write is printed and written by each; let one do it, under if torch.distributed.get_rank() == 0"
    )


def _outputs(site: Site) -> Iterator[ast.Call]:
    module = site.module
    for call in module.calls_of("print"):
        if isinstance(call.func, ast.Name) and not module.bindings(call.func):
            yield call
    for call in module.calls_of("open"):
        mode = Called(call).argument("mode", 0 if isinstance(call.func, ast.Attribute) else 1)
        word = literal(site.context, value_of(mode)) if mode is not None else None
        if isinstance(word, str) and set(word) & set("wax"):
            yield call
    for name in _WRITERS:
        yield from module.calls_of(name)


def _is_guarded(call: ast.Call) -> bool:
    """Whether a condition around a call asks which process this is."""
    return any(
        isinstance(around, (ast.If, ast.IfExp)) and _RANK.search(ast.unparse(around.test)) for around in ancestors(call)
    )


def _processes(site: Site, call: ast.Call) -> str:
    """How many processes the sizes multiply up to."""
    number = 1
    for name in _SIZES:
        size = Called(call).argument(name)
        value = literal(site.context, value_of(size)) if size is not None else 1
        if not isinstance(value, int):
            return "N"
        number *= value
    return str(number)

"""Command-line options whose names or help texts are about CUDA. Callers know the names, so that they stay.

parser.add_argument("--no-cuda", help="disables CUDA")   the help is reported
with --rename-flags, a new name comes in front of the old one, which goes on working and filling the same variable:
parser.add_argument("--no-cuda", action="store_true")
    ->  parser.add_argument("--no-accelerator", "--no-cuda", action="store_true", dest="no_cuda")
@click.option("--gpu/--no-gpu")
    ->  @click.option("--accelerator/--no-accelerator", "--gpu/--no-gpu", "gpu")
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import InsertArgument, Operation

_OLD = re.compile(r"(?<![a-z])(n?)(cuda|gpu)(s?)(?![a-z])", re.IGNORECASE)
_SPOKEN = re.compile(r"\b(CUDA|GPUs?)\b", re.IGNORECASE)


def inspect(site: Site) -> Iterator[Report]:
    """Report an option that is named after CUDA or GPUs, or whose help speaks of them."""
    call = site.call
    if call is None:
        return
    names = [item for item in call.args if _is_option(item)]
    old = next((item for item in names if _OLD.search(item.value)), None)
    if old is None:
        return
    new = _OLD.sub(_renamed, old.value)
    has_both = any(item.value == new for item in names)
    operations = [] if has_both or not site.context.rename_flags else _operations(site, call, old, new)
    if operations:
        yield site.report(
            f"the option {old.value} is named after another platform; {new} comes in front of it, and the old name stays",
            node=old,
            operations=operations,
        )
    spoken = next((keyword.value for keyword in call.keywords if keyword.arg == "help"), None)
    word = _SPOKEN.search(spoken.value) if _is_text(spoken) else None
    hint = "" if has_both or operations else f"; --rename-flags offers {new} beside it"
    if word is not None:
        yield site.report(
            f"the help of {old.value} speaks of {word[0]}: say what the option does on Neuron{hint}", node=spoken
        )
    elif hint:
        yield site.report(f"the option {old.value} keeps its name, which its callers know{hint}", node=old)


def _renamed(match: re.Match[str]) -> str:
    return f"{match[1]}_accelerators" if match[1] else f"accelerator{match[3]}"


def _operations(site: Site, call: ast.Call, old: ast.Constant, new: str) -> list[Operation]:
    """What adds the new name; nothing where the name is taken."""
    if re.search(rf"[\"']{re.escape(new)}[\"'/]", site.module.text):
        return []
    index = call.args.index(old)
    operations: list[Operation] = [InsertArgument(call, _quoted(site, old, new), index=index)]
    if site.qualname.endswith(".Option"):  # typer takes the variable from the parameter
        return operations
    texts = [item.value for item in call.args if _is_text(item)]
    if site.qualname:  # click takes a name without dashes for the variable
        if not any(text.isidentifier() for text in texts):
            name = _quoted(site, old, _variable(texts[0].partition("/")[0] if len(texts) == 1 else _long(texts)))
            operations.append(InsertArgument(call, name, index=len(call.args) + 1))
    elif not any(keyword.arg in ("dest", None) for keyword in call.keywords):
        operations.append(InsertArgument(call, _quoted(site, old, _variable(_long(texts))), keyword="dest"))
    return operations


def _long(texts: list[str]) -> str:
    """The name that the variable is named after: the first with two dashes, else the first."""
    names = [text.partition("/")[0] for text in texts]
    return next((name for name in names if name.startswith("--")), names[0])


def _variable(name: str) -> str:
    return name.lstrip("-").replace("-", "_")


def _quoted(site: Site, old: ast.Constant, text: str) -> str:
    source = ast.get_source_segment(site.module.text, old) or '"'
    quote = "'" if source.startswith("'") else '"'
    return f"{quote}{text}{quote}"


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_option(node: ast.expr) -> bool:
    return _is_text(node) and node.value.startswith("-")

"""Model classes of optimum-neuron: the Transformers class loads the ordinary checkpoint onto the device.

    model = NeuronModelForCausalLM.from_pretrained(id, export=True, batch_size=1, sequence_length=512, auto_cast_type="bf16")
    out = model.generate(**inputs, max_new_tokens=32)
    model.save_pretrained("compiled/")

        ->  model = AutoModelForCausalLM.from_pretrained(id, dtype=torch.bfloat16, device_map="neuron")
            out = model.generate(**inputs, max_new_tokens=32, cache_implementation="static", max_cache_len=512)      (unsafe)

The load is the site; the places where its model is called, decodes, or is saved have findings of their own, and are ported with it
or not at all. A model that was compiled elsewhere is left to a person, who has to say which checkpoint it was made of.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import keyword_of, node_of
from neuron_port.codemods.arguments import Unmappable
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.codemods.neuron_base import as_type
from neuron_port.codemods.neuron_calls import escapes, inputs, outputs, tokens
from neuron_port.codemods.neuron_config import consumed
from neuron_port.codemods.neuron_files import artefacts, members, processors
from neuron_port.codemods.neuron_load import Load, loads
from neuron_port.codemods.neuron_options import CORES, Options, Unportable
from neuron_port.codemods.neuron_text import caches, generates, lengths, sides
from neuron_port.edits.operations import Operation, RemoveStatement, RenameAttribute, Replace, SetKeyword
from neuron_port.findings import Applicability
from neuron_port.semantics.module import statement

_COMPILED = (
    "{old} loads a model that was compiled ahead of time, which TorchNeuron cannot: write {new}.from_pretrained with the original "
    "checkpoint, which neuron_config.json beside the model names as checkpoint_id"
)
_LOADED = "{old} wraps a model that is compiled ahead of time; {new} loads the checkpoint itself"
_ALL_CORES = "; without num_cores or tensor_parallel_size it took all cores of the host, and this takes one"
_ONLY_SAVED = (
    "this compiles a model and saves it, which has no counterpart: what loads the compiled model takes the original checkpoint, and "
    "compiles when it runs"
)
_CONFIGURATION = "get_neuron_config says what to compile a model for, and nothing is compiled ahead of time; its options are carried over to {new}"


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of a model class, with everything that is done with the model it loads."""
    if site.form == "import" or site.row is None:
        yield from by_table(site)
        return
    member = site.node.parent
    call = getattr(member, "parent", None)
    if not isinstance(member, ast.Attribute) or member.value is not site.node:
        yield _named(site)
    elif not isinstance(call, ast.Call) or call.func is not member:
        yield _manual(site, f"{member.attr} of the class is used without a call")
    elif member.attr == "get_neuron_config":
        yield consumed(site, call, _words(site, _CONFIGURATION))
    else:
        load = next((each for each in loads(site.context) if each.call is call), None)
        if load is None:
            yield _manual(site, f"{member.attr} has no counterpart")
        else:
            yield from _loaded(site, load)


def _named(site: Site) -> Report:
    """The class itself: a type, or a value that is passed on."""
    parent = site.node.parent
    if isinstance(parent, ast.ClassDef):
        return _manual(site, f"{parent.name} derives from it, and what it overrides belongs to compiled models")
    return as_type(site) or _manual(site, "the class is passed on, and how it loads a model is not in sight")


def _loaded(site: Site, load: Load) -> Iterator[Report]:
    context = site.context
    if not load.is_known:
        context.claimed.update(id(call.func) for call in load.methods("generate"))
        yield site.report(_words(site, _COMPILED), applicability=Applicability.MANUAL, code="NP313")
        return
    source = load.original or load
    options = Options(site, load, source)
    again = load.is_again
    try:
        renamed = site.rename(site.row.to)
        if renamed is None:
            raise Unportable("its name means something else here")
        dtype = options.dtype
        if load.is_only_saved:
            yield from _only_saved(site, load, options)
            return
        if again:
            operations: list[Operation] = [RemoveStatement(statement(load.call))]
        else:
            operations = [*renamed[0], *options.port().operations, *_loader(site, load)]
    except (Unportable, Unmappable) as reason:
        yield _manual(site, str(reason))
        yield from (report for report in options.done.reports if not report.operations)
        context.claimed.update(id(call.func) for call in load.methods("generate"))
        return
    if again:
        kept = ast.unparse(statement(source.call).targets[0])
        yield site.report(
            f"what was compiled is not read back: {kept} still holds the model",
            code="NP313",
            operations=operations,
            use=(site.binding, None) if site.binding is not None else None,
            follows=(source.name,),
        )
    else:
        follows = [source.name] if source is not load else []
        cores = load.kind == "decoder" and source.option(*CORES) is None
        yield site.report(
            _words(site, _LOADED + (_ALL_CORES if cores else "")) + _handed_on(site, load),
            operations=operations,
            use=renamed[1],
            follows=[*follows, *_made_by(load)],
        )
        for report in options.done.reports:
            report.follows = (site.node,)
            yield report
    yield from inputs(site, load, dtype)
    yield from outputs(site, load, dtype)
    yield from tokens(site, load)
    if generates(load):
        yield from caches(site, load, source, dtype)
    yield from lengths(site, load, source)
    yield from sides(site, load, source)
    yield from artefacts(site, load)
    yield from processors(site, load)
    yield from members(site, load, source)


def _handed_on(site: Site, load: Load) -> str:
    """What is said about a model that leaves the file, where its calls are not in sight; ``generate`` moves its inputs."""
    if generates(load):
        return ""
    holder = next((holder for holder in load.holders if escapes(site, holder)), None)
    return f"; line {holder.lineno} hands it on, and what calls it moves its inputs to model.device" if holder else ""


def _only_saved(site: Site, load: Load, options: Options) -> Iterator[Report]:
    """A model that is compiled, written to a folder and never run: nothing of it remains."""
    place = statement(load.call)
    yield site.report(
        _ONLY_SAVED,
        code="NP313",
        operations=[RemoveStatement(place), *map(RemoveStatement, load.deletions), *options.undefined()],
        use=(site.binding, None) if site.binding is not None else None,
        follows=_made_by(load),
    )
    for report in artefacts(site, load):
        if statement(report.node) is not place:
            yield report
    yield from processors(site, load)


def _loader(site: Site, load: Load) -> Iterator[Operation]:
    """``from_pretrained`` with the name of the checkpoint in front."""
    if load.method == "export":
        yield RenameAttribute(load.call.func, "from_pretrained")
    argument = load.checkpoint
    if isinstance(argument, ast.keyword) and argument.arg != "pretrained_model_name_or_path":
        yield SetKeyword(load.call, argument, None if not load.call.args else "pretrained_model_name_or_path")
    elif keyword_of(argument) not in (None, "pretrained_model_name_or_path"):
        raise Unportable("the name of the checkpoint stands in a dictionary")
    if load.original is not None:
        original = load.original.checkpoint
        value = original.value if isinstance(original, ast.keyword) else node_of(original)
        old = argument.value if isinstance(argument, ast.keyword) else argument
        yield Replace(old, "{original}", {"original": value})


def _made_by(load: Load) -> list[ast.AST]:
    """The class whose ``get_neuron_config`` made the configuration of a load: both go together."""
    config = load.config
    return [config.call.func.value] if config is not None and isinstance(config.call.func, ast.Attribute) else []


def _manual(site: Site, reason: str) -> Report:
    return site.report(f"{_words(site, _LOADED)}; not done by itself: {reason}", applicability=Applicability.MANUAL)


def _words(site: Site, message: str) -> str:
    return message.format(old=site.qualname.rpartition(".")[2], new=site.row.to.rpartition(".")[2])

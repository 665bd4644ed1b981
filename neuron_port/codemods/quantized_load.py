"""Models that are quantized when they are loaded: no kernels for that on Neuron.

from_pretrained(name, load_in_4bit=True)                      ->  from_pretrained(name, dtype=torch.bfloat16, device_map="neuron")   (unsafe)
from_pretrained(name, quantization_config=BitsAndBytesConfig(...))  ->  the same                                    (unsafe)
config = BitsAndBytesConfig(...)                              ->  (removed with its last use)                       (unsafe)
from_pretrained(name, quantization_config=GPTQConfig(...))        reported
from_pretrained("org/model-AWQ")                                  reported
model = prepare_model_for_kbit_training(model)                ->  model.gradient_checkpointing_enable()             (unsafe)
                                                                  model.enable_input_require_grads()
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Argument, Called, called, claim, drop, node_of, source, value_of
from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.codemods.name_table import inspect as by_name
from neuron_port.codemods.pretrained_argument import loaded
from neuron_port.codemods.settings import harmless
from neuron_port.edits.operations import InsertArgument, Operation, RemoveStatement, Replace, ReplaceStatement
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import ancestors, statement
from neuron_port.semantics.spreads import Item
from neuron_port.semantics.values import sources

_FLAGS = ("load_in_4bit", "load_in_8bit")
_BITSANDBYTES = "BitsAndBytesConfig"
_LOADING = ("transformers.", "peft.", "trl.")
_QUANTIZED = re.compile(
    r"(?i)(?:^|[-_/.])(gptq|awq|bnb-?[48]bit|[48]bit|int[48]|w4a16|w8a8|w8a16|fp8|nvfp4|mxfp4|exl2|hqq|aqlm|quip|gguf)(?:$|[-_/.])"
)
_BRANCHES = (ast.If, ast.For, ast.While, ast.Try, ast.Match)


def inspect(site: Site) -> Iterator[Report]:
    """Report a load, a configuration, or the preparation of a quantized model."""
    options = site.row.options if site.row is not None else {}
    if options.get("configuration"):
        yield from _configuration(site)
    elif options.get("preparation"):
        yield from _preparation(site)
    elif site.form != "method" and not options.get("loads"):
        yield from by_name(site)
    else:
        for each, target in loaded(site):
            for report in _loaded(each, target):
                if site.form == "method":
                    report.applicability = min(report.applicability, Applicability.UNSAFE)
                yield report


def _loaded(site: Site, target: Called) -> Iterator[Report]:
    dropped = False
    for name in _FLAGS:
        for argument in target.arguments(name):
            report = _flag(site, target, argument, name, with_type=not dropped)
            dropped = dropped or bool(report.operations)
            yield report
    for argument in target.arguments("quantization_config"):
        report = _config(site, target, argument, with_type=not dropped)
        if report is not None:
            dropped = dropped or bool(report.operations)
            yield report
    yield from _checkpoint(site, target)


def _in_place(site: Site, target: Called) -> list[Operation]:
    """What the quantizer saw to by itself: weights of 16 bits, and a model on the accelerator."""
    operations = _type(site, target)
    given = any(target.argument(name) is not None for name in ("device_map", "device", "distributed_config", "tp_plan"))
    elsewhere = site.row.options.get("dictionaries") or (site.qualname or "").startswith("diffusers.")
    if not target.hidden and not given and not elsewhere:
        operations.append(InsertArgument(target.call, '"neuron"', "device_map"))
    return operations


def _type(site: Site, target: Called) -> list[Operation]:
    """``dtype=torch.bfloat16`` where the call says nothing about the type of the weights (its name, before torch is imported)."""
    if target.hidden or any(target.argument(name) is not None for name in ("dtype", "torch_dtype")):
        return []
    spelling = source(site, "torch.bfloat16", target.call) or Spelling('"bfloat16"')
    return [InsertArgument(target.call, spelling.text, "dtype"), *spelling.operations]


def _flag(site: Site, target: Called, argument: Argument, name: str, *, with_type: bool) -> Report:
    value = value_of(argument)
    is_off = isinstance(value, ast.Constant) and not value.value
    operations: list[Operation] = []
    kept = site.context.portable and not is_off
    if target.editable(site.module, argument) and not _is_conditional(argument) and not kept:
        operations = [drop(target, argument), *(_in_place(site, target) if with_type and not is_off else ())]
        claim(site, value)
    return site.report(
        f"{name}= raises a TypeError in Transformers 5"
        + ("" if is_off else ", and bitsandbytes has no kernels for Neuron; load the weights in bfloat16"),
        node=node_of(argument),
        applicability=Applicability.SAFE if is_off else Applicability.UNSAFE,
        operations=operations,
    )


def _config(site: Site, target: Called, argument: Argument, *, with_type: bool) -> Report | None:
    value = value_of(argument)
    found = [
        each for each in sources(site.module, value) if not (isinstance(each, ast.Constant) and each.value is None)
    ]
    if not found:
        return None
    kinds = {_kind(site, each) for each in found}
    if kinds == {_BITSANDBYTES}:
        operations: list[Operation] = []
        if _is_conditional(argument) and isinstance(value, ast.Call):
            return None  # the configuration is reported where it is made
        if target.editable(site.module, argument) and not _is_conditional(argument) and not site.context.portable:
            operations = [drop(target, argument), *(_in_place(site, target) if with_type else ())]
        if operations or isinstance(value, ast.Call):
            claim(site, value)
        return site.report(
            site.row.message
            or "bitsandbytes has no kernels for Neuron: without an error the quantized model stays on the CPU; load the weights in bfloat16",
            node=node_of(argument),
            applicability=Applicability.UNSAFE,
            operations=operations,
        )
    if None in kinds:
        return site.report(
            "where quantization_config= is not None it asks for a quantized model, and no quantizer has kernels for Neuron: load the weights in bfloat16",
            node=node_of(argument),
            severity=Severity.WARNING,
            applicability=Applicability.MANUAL,
        )
    return None  # the configurations are reported where they are made


def _kind(site: Site, value: ast.expr) -> str | None:
    """The class of a configuration that is made in this file."""
    if isinstance(value, ast.Dict):
        keys = {key.value for key in value.keys if isinstance(key, ast.Constant)}
        return _BITSANDBYTES if keys & {*_FLAGS, "bnb_4bit_quant_type"} else None
    name = (site.module.qualname(value.func) or "") if isinstance(value, ast.Call) else ""
    return (
        name.rpartition(".")[2]
        if name.startswith(("transformers.", "diffusers.", "auto_gptq.", "gptqmodel."))
        else None
    )


def _is_conditional(argument: Argument) -> bool:
    """``if args.load_in_4bit: kwargs["quantization_config"] = ...``: the user chooses."""
    if not isinstance(argument, Item) or isinstance(argument.home, ast.Dict):
        return False
    for around in ancestors(argument.home):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return False
        if isinstance(around, _BRANCHES):
            return True
    return False


def _checkpoint(site: Site, target: Called) -> Iterator[Report]:
    name = target.argument("pretrained_model_name_or_path", 0)
    for value in sources(site.module, value_of(name)) if name is not None else ():
        text = value.value if isinstance(value, ast.Constant) else None
        match = _QUANTIZED.search(text) if isinstance(text, str) and " " not in text else None
        if match is None:
            continue
        kind = match[1].lower()
        advice = (
            "is dequantized to bfloat16 when it is loaded, which takes its memory"
            if kind in ("fp8", "mxfp4", "gguf")
            else "needs kernels that Neuron does not have; load the checkpoint that it was made from, in bfloat16"
        )
        yield site.report(
            f"by its name this checkpoint is quantized ({match[1]}), and {advice}",
            node=value,
            severity=Severity.WARNING,
            applicability=Applicability.MANUAL,
        )


# -- configurations ------------------------------------------------------------------------------------------------------


def _configuration(site: Site) -> Iterator[Report]:
    """A configuration goes with the arguments that it is passed as."""
    call = site.call
    if call is None:
        return
    whole = call.parent
    reads = _reads(site, whole) if isinstance(whole, (ast.Assign, ast.AnnAssign)) and whole.value is call else None
    operations: list[Operation] = []
    passed = [read for read in reads or () if read is not None]
    if reads is not None and None not in reads and not site.context.portable:
        operations = [RemoveStatement(whole)] if harmless([*call.args, *(item.value for item in call.keywords)]) else []
    yield site.report(
        node=call,
        applicability=Applicability.UNSAFE,
        operations=operations,
        use=(site.binding, None) if site.binding and operations else None,
        follows=passed,
    )


def _reads(site: Site, whole: ast.Assign | ast.AnnAssign) -> list[ast.keyword | None] | None:
    """The ``quantization_config=`` arguments that read the variable, ``None`` among them for any other read."""
    targets = whole.targets if isinstance(whole, ast.Assign) else [whole.target]
    if len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return None
    owner = targets[0].scope.owner(targets[0].id)
    bindings = owner.bindings.get(targets[0].id, [])
    own = next((binding for binding in bindings if binding.node is targets[0]), None)
    if own is None or owner is not targets[0].scope or (owner is site.module.scope and site.module.exports(own.name)):
        return None
    if len(bindings) != 1:
        return None
    return [_argument_of(site, read) for read in site.module.references(own)]


def _argument_of(site: Site, read: ast.Name) -> ast.keyword | None:
    """The argument of a load that is nothing but this variable, or ``None`` in its place."""
    around: ast.AST = read.parent
    while isinstance(around, ast.IfExp) and isinstance(around.orelse, ast.Constant):
        around = around.parent
    if not isinstance(around, ast.keyword) or around.arg != "quantization_config":
        return None
    name = site.module.qualname(around.parent.func) or "" if isinstance(around.parent, ast.Call) else ""
    return around if name.startswith(_LOADING) and name.endswith(".from_pretrained") else None


# -- preparation ----------------------------------------------------------------------------------------------------------


def _preparation(site: Site) -> Iterator[Report]:
    call = site.call
    if call is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    target = called(site)
    model = target.argument("model", 0)
    whole = statement(call)
    name = value_of(model) if model is not None else None
    target_of = whole.targets[0] if isinstance(whole, ast.Assign) and len(whole.targets) == 1 else None
    alone = isinstance(whole, ast.Expr) or (
        target_of is not None and ast.unparse(target_of) == ast.unparse(name or call)
    )
    operations: list[Operation] = []
    if isinstance(name, (ast.Name, ast.Attribute)) and not target.hidden and not site.context.portable:
        if alone and whole.value is call:
            operations = _checkpointed(target, whole, name)
        else:
            operations = [Replace(call, "{model}", {"model": name})]
    yield site.report(
        node=call,
        applicability=Applicability.UNSAFE,
        operations=operations,
        use=(site.binding, None) if site.binding and operations else None,
    )


def _checkpointed(target: Called, whole: ast.stmt, model: ast.expr) -> list[Operation]:
    """What the function does besides the casts: it turns on gradient checkpointing."""
    flag, options = (
        target.argument("use_gradient_checkpointing", 1),
        target.argument("gradient_checkpointing_kwargs", 2),
    )
    wanted = value_of(flag) if flag is not None else None
    if isinstance(wanted, ast.Constant) and not wanted.value:
        return [RemoveStatement(whole)]
    holes: dict[str, ast.expr] = {"model": model}
    first, second = "gradient_checkpointing_enable", "enable_input_require_grads"
    there = _called_beside(whole, model)
    lines = [f"{{model}}.{name}()" for name in (first, second) if name not in there or (options and name == first)]
    if not lines:
        return [RemoveStatement(whole)]
    text = "\n".join(lines)
    if options is not None:
        holes["options"] = value_of(options)
        text = text.replace(f"{first}()", f"{first}(gradient_checkpointing_kwargs={{options}})", 1)
    if wanted is not None and not isinstance(wanted, ast.Constant):
        holes["wanted"] = wanted
        text = "if {wanted}:\n    " + text.replace("\n", "\n    ")
    return [ReplaceStatement(whole, text, holes)]


def _called_beside(whole: ast.stmt, model: ast.expr) -> set[str]:
    """The methods of the model that are called next to a statement, as statements of their own."""
    block = next(block for _, block in ast.iter_fields(whole.parent) if isinstance(block, list) and whole in block)
    found = set()
    for step in (-1, 1):
        place = block.index(whole) + step
        while 0 <= place < len(block) and isinstance(block[place], ast.Expr):
            call = block[place].value
            method = call.func if isinstance(call, ast.Call) else None
            if not isinstance(method, ast.Attribute) or ast.unparse(method.value) != ast.unparse(model):
                break
            found.add(method.attr)
            place += step
    return found

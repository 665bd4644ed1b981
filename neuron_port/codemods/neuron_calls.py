"""The calls of a model that took and gave CPU tensors: inputs move to its device, results back where they are used.

logits = model(**inputs).logits      ->  with torch.inference_mode():
                                             logits = model(**inputs.to(model.device)).logits.cpu()
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.neuron_load import Load
from neuron_port.codemods.traced_calls import grad_mode
from neuron_port.edits.operations import DropArgument, GuardStatement, Operation, Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.flow import Flow
from neuron_port.semantics.module import ancestors, enclosing_function, statement
from neuron_port.semantics.scopes import BindingKind

INPUTS, OUTPUTS = "NP308", "NP309"
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Assert)
_DISPLAYS = (ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
# Arguments of a model that are no tensors.
_PLAIN = frozenset(
    {"return_dict", "output_attentions", "output_hidden_states", "use_cache", "interpolate_pos_encoding"}
)
# What only the old inference backend takes.
_PRIVATE = frozenset({"seq_ids", "sampling_params", "start_ids", "cache_ids"})
# The tensors of what a model returns.
_FIELDS = frozenset(
    "logits last_hidden_state pooler_output start_logits end_logits pred_boxes embeddings text_embeds image_embeds "
    "logits_per_image logits_per_text encoder_last_hidden_state sequences scores loss".split()
)
# Those that are tuples of tensors.
_TUPLES = frozenset({"hidden_states", "attentions", "encoder_hidden_states", "decoder_hidden_states"})
# What is read from a tensor without a copy to the host, or copies it anyway.
_STAYS = frozenset("shape size dim ndim device dtype cpu item tolist numel to".split())
_INPUT = (
    "a model on the device takes inputs on the device, which optimum-neuron moved itself, and computes gradients unless it runs "
    "in inference mode"
)
_OUTPUT = "optimum-neuron returned CPU tensors; what the model returns now is on the device, where numpy and CPU tensors cannot use it"
_WHOLE = (
    "optimum-neuron returned CPU tensors; what the model returns now is on the device, and is handed on as a whole to code that "
    "may not expect it there"
)


def inputs(site: Site, load: Load, dtype: str | None) -> Iterator[Report]:
    """One report for each call of the model, with the operations that move what it is given."""
    for call in calls(load):
        if is_told(site, call, INPUTS):
            continue
        operations = list(_moved(site, load, call, dtype)) + list(_without_gradients(site, call))
        if operations:
            yield site.report(
                _INPUT,
                node=call,
                code=INPUTS,
                applicability=Applicability.UNSAFE,
                operations=operations,
                follows=(load.name,),
            )


def outputs(site: Site, load: Load, dtype: str | None) -> Iterator[Report]:
    """One report for each place where a result of the model is read."""
    context = site.context
    half = ".float()" if dtype is not None and not dtype.endswith("float32") else ""
    for call in calls(load):
        detached = "" if _is_wrappable(call) or grad_mode(site.module, call) is not None else ".detach()"
        template = f"{{x}}{detached}{half}.cpu()"
        holders = Flow(context.module, context.processes.function).holders(call)
        if is_told(site, call, OUTPUTS):
            continue
        escaped = next((holder for holder in holders if escapes(site, holder)), None)
        if escaped is not None:
            yield _whole(site, load, call)
            continue
        for holder in holders:
            read = _read(holder)
            if read is not None and not _stays(read) and not is_told(site, read, OUTPUTS):
                yield site.report(
                    _OUTPUT,
                    node=read,
                    code=OUTPUTS,
                    applicability=Applicability.UNSAFE,
                    operations=[Replace(read, template, {"x": read})],
                    follows=(load.name,),
                )


def tokens(site: Site, load: Load) -> Iterator[Report]:
    """One report for each place where tokens that the model decoded become an array."""
    context = site.context
    for call in load.methods("generate"):
        for holder in Flow(context.module, context.processes.function).holders(call):
            if _becomes_array(site, holder) and not is_told(site, holder, OUTPUTS):
                yield site.report(
                    _OUTPUT,
                    node=holder,
                    code=OUTPUTS,
                    applicability=Applicability.UNSAFE,
                    operations=[Replace(holder, "{x}.cpu()", {"x": holder})],
                    follows=(load.name,),
                )


def _becomes_array(site: Site, holder: ast.expr) -> bool:
    """``tokens.numpy()``, ``tokens[0].numpy()``, ``np.array(tokens)``, with nothing on the way that copies to the host."""
    top: ast.AST = holder
    while isinstance(top.parent, ast.Subscript) and top.parent.value is top:
        top = top.parent
    parent = top.parent
    if isinstance(parent, ast.Attribute):
        return parent.attr == "numpy"
    return isinstance(parent, ast.Call) and (site.module.qualname(parent.func) or "").startswith("numpy.")


def _whole(site: Site, load: Load, call: ast.Call) -> Report:
    """The report about a result that is handed on as a whole: all of it goes to the CPU where it is made."""
    helper = site.helper("to_device")
    operations: list[Operation] = []
    if helper is not None:
        operations = [Replace(call, f'{helper.text}({{x}}, "cpu")', {"x": call}), *helper.operations]
    return site.report(
        _WHOLE,
        node=call,
        code=OUTPUTS,
        applicability=Applicability.UNSAFE,
        operations=operations,
        follows=(load.name,),
    )


def calls(load: Load) -> list[ast.Call]:
    """The calls of the model itself."""
    return [
        holder.parent for holder in load.holders if isinstance(holder.parent, ast.Call) and holder.parent.func is holder
    ]


def floating_inputs(load: Load, dtype: str | None) -> bool:
    """Whether the model takes images or sound, which have to be cast as its weights are."""
    return load.kind in ("image", "audio", "speech", "vision-text") and dtype not in (None, "torch.float32")


def encoding(site: Site, value: ast.expr) -> ast.Call | None:
    """The call of a tokenizer or processor that made a value; one with ``return_tensors`` is, whatever it is called."""
    origin = site.context.pretrained.origin(value)
    if origin.kind == "encoding" and origin.call is not None:
        return origin.call
    made = value
    if isinstance(value, ast.Name) and hasattr(value, "scope"):
        bindings = site.module.bindings(value)
        made = bindings[0].value if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN else value
    named = isinstance(made, ast.Call) and any(word.arg == "return_tensors" for word in made.keywords)
    chat = named and isinstance(made.func, ast.Attribute) and made.func.attr in ("apply_chat_template", "encode")
    return made if named and not chat else None


def moved_encoding(site: Site, value: ast.expr, device: str, dtype: str = "") -> str:
    """The template that moves what ``**`` spreads; one that is read again later is copied, since its ``to`` moves it."""
    if encoding(site, value) is None:
        return f"{{{{name: tensor.to({device}) for name, tensor in {{x}}.items()}}}}"
    copied = ".copy()" if _is_read_again(site, value) else ""
    return f"{{x}}{copied}.to({device}{dtype})"


def _moved(site: Site, load: Load, call: ast.Call, dtype: str | None) -> Iterator[Operation]:
    model = {"model": call.func}
    device = "{model}.device"
    typed = ", {model}.dtype" if floating_inputs(load, dtype) else ""
    for argument in call.args:
        value = argument.value if isinstance(argument, ast.Starred) else argument
        if isinstance(argument, ast.Starred):
            yield Replace(value, f"(tensor.to({device}) for tensor in {{x}})", {"x": value, **model})
        elif _is_tensor(value):
            yield Replace(value, f"{{x}}.to({device}{typed})", {"x": value, **model})
    for word in call.keywords:
        if word.arg in _PRIVATE:
            yield DropArgument(call, word)
        elif word.arg is None:
            yield Replace(word.value, moved_encoding(site, word.value, device, typed), {"x": word.value, **model})
        elif word.arg not in _PLAIN and _is_tensor(word.value):
            cast = typed if word.arg in ("pixel_values", "input_values", "input_features") else ""
            yield Replace(word.value, f"{{x}}.to({device}{cast})", {"x": word.value, **model})


def _is_tensor(value: ast.expr) -> bool:
    """Whether a value can be a tensor that is not on the device yet."""
    if isinstance(value, (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Lambda, ast.Compare)):
        return False
    return not (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "to"
        and "device" in ast.unparse(value.args[0] if value.args else value)
    )


def _is_read_again(site: Site, value: ast.expr) -> bool:
    """Whether an encoding is read elsewhere too, in a way that cares where its tensors are."""
    if not isinstance(value, ast.Name):
        return not isinstance(value, ast.Call)
    for binding in site.module.bindings(value)[:1]:
        for read in site.module.references(binding):
            if read is not value and not _is_measured(read) and not _is_input(site, read):
                return True
    return False


def _is_input(site: Site, read: ast.expr) -> bool:
    """Whether a read, or a tensor taken from it, is passed to a model, which wants it on the device as well."""
    top = read
    while isinstance(top.parent, (ast.Attribute, ast.Subscript)) and top.parent.value is top:
        top = top.parent
    call = top.parent.parent if isinstance(top.parent, ast.keyword) else top.parent
    if not isinstance(call, ast.Call) or call.func is top:
        return False
    function = call.func
    decodes = isinstance(function, ast.Attribute) and function.attr == "generate"
    return site.context.pretrained.origin(function.value if decodes else function).is_model


def _is_measured(read: ast.expr) -> bool:
    """``inputs["input_ids"].shape``, ``len(inputs)``: no matter where it is."""
    top = read
    while isinstance(top.parent, (ast.Attribute, ast.Subscript)) and top.parent.value is top:
        top = top.parent
        if isinstance(top, ast.Attribute) and top.attr == "shape":
            return True
    parent = top.parent
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in ("len", "print")


def is_told(site: Site, node: ast.AST, code: str) -> bool:
    """Whether another load of the same name has said so already."""
    key = f"{code}:{node.lineno}:{node.col_offset}:{node.end_col_offset}"
    known = key in site.context.memo
    site.context.memo.add(key)
    return known


def _without_gradients(site: Site, call: ast.Call) -> Iterator[Operation]:
    """``with torch.inference_mode():`` around the statement, where nothing around it says so."""
    mode = site.spell("torch.inference_mode", call)
    if mode is not None and _is_wrappable(call) and grad_mode(site.module, call) is None:
        yield GuardStatement(statement(call), f"{mode.text}()", "with")
        yield from mode.operations


def _is_wrappable(call: ast.Call) -> bool:
    """Whether a call runs where its statement does, and nothing else runs while the statement waits."""
    for around in ancestors(call):
        if isinstance(around, ast.stmt):
            return isinstance(around, _SIMPLE)
        if isinstance(around, (ast.Lambda, ast.GeneratorExp, ast.Yield, ast.YieldFrom)):
            return False
    return False


def _read(holder: ast.expr) -> ast.expr | None:
    """``outputs.logits``, ``outputs[0]``, ``outputs["logits"]``: one tensor of what a model returned."""
    parent = holder.parent
    if isinstance(parent, ast.Attribute) and parent.attr in _FIELDS and isinstance(parent.ctx, ast.Load):
        return parent
    if isinstance(parent, ast.Attribute) and parent.attr in _TUPLES:
        holder, parent = parent, parent.parent
    if isinstance(parent, ast.Subscript) and parent.value is holder and isinstance(parent.ctx, ast.Load):
        return parent if isinstance(parent.slice, (ast.Constant, ast.UnaryOp)) else None
    return None


def _stays(read: ast.expr) -> bool:
    """Whether a tensor ends where it does not matter that it is on the device: ``.shape``, ``.argmax().item()``, ``.cpu()``."""
    top: ast.AST = read
    while True:
        parent = top.parent
        if isinstance(parent, ast.Attribute) and parent.attr in ("numpy", *_STAYS):
            return parent.attr != "numpy"
        goes_on = isinstance(parent, (ast.Attribute, ast.Subscript)) and parent.value is top
        if not goes_on and not (isinstance(parent, ast.Call) and parent.func is top):
            return False
        top = parent


def escapes(site: Site, holder: ast.expr) -> bool:
    """Whether a value is handed on as a whole, to something that may not expect it on the device."""
    parent = holder.parent
    if isinstance(parent, _DISPLAYS):
        return True
    if isinstance(parent, ast.Assign):
        return any(isinstance(target, ast.Subscript) for target in parent.targets)
    if isinstance(parent, (ast.Return, ast.Yield)):
        around = enclosing_function(holder)
        calls = site.module.calls_of(around.name) if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
        return not any(site.context.processes.function(call.func) is around for call in calls)
    if isinstance(parent, ast.keyword):
        parent = parent.parent
    if not isinstance(parent, ast.Call) or parent.func is holder:
        return False
    name = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
    return (
        not name.startswith("print")
        and name not in ("type", "len", "isinstance", "pipeline")
        and site.context.processes.function(parent.func) is None
    )

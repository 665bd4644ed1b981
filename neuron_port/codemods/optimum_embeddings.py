"""Sentence Transformers that optimum-neuron compiled ahead of time.

    model = NeuronModelForSentenceTransformers.from_pretrained(name, export=True, batch_size=2, sequence_length=32)
    inputs = tokenizer(texts, return_tensors="pt")
    vectors = model(**inputs)["sentence_embedding"]

    model = SentenceTransformer(name, device="neuron")
    model.max_seq_length = 32
    vectors = model.encode(texts, batch_size=2, convert_to_tensor=True, processing_kwargs={...}).cpu()

Where the texts are not in sight, or other fields are read, the model is called with what the tokenizer returns:

    outputs = model(dict(inputs.to(model.device)))
    tokens = outputs["token_embeddings"].detach().cpu()

The class, its arguments and every call of the model change together.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Sequence

from neuron_port.codemods.argument_table import Called, claim_strings, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.compiled_artefact import looks_compiled
from neuron_port.codemods.exported import (
    Export,
    Unsure,
    escaped,
    forgotten,
    literal,
    made_by,
    same_path,
    saved_by,
    used,
    visible,
    word,
)
from neuron_port.codemods.name_table import rewrite
from neuron_port.edits.operations import (
    InsertArgument,
    InsertStatement,
    Operation,
    RemoveStatement,
    Rename,
    Replace,
)
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import Module, statement
from neuron_port.semantics.scopes import BindingKind
from neuron_port.semantics.spreads import spreads_of

_LOADED = "from_pretrained"
_CLASS = "SentenceTransformer"
_TYPES = {"bf16": '"bfloat16"', "fp16": '"float16"'}
_EXACT = '"float32"'
_VECTOR = "sentence_embedding"
_FIELDS = frozenset({_VECTOR, "token_embeddings"})
_FINISHING = frozenset({"save_pretrained", "push_to_hub"})
_IMAGES = ("image_batch_size", "text_batch_size", "num_channels", "height", "width")
_ARTEFACTS = frozenset({"neuron_config", "preprocessors", "model_save_dir"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a class of optimum-neuron's for embeddings, and what is loaded with it."""
    method = site.node.parent
    name = method.attr if isinstance(method, ast.Attribute) and method.value is site.node else None
    call = method.parent if name == _LOADED and isinstance(method.parent, ast.Call) else None
    if call is None or call.func is not method:
        if name is not None or site.form == "call" or isinstance(site.node.parent, ast.ClassDef):
            yield site.report(applicability=Applicability.MANUAL)
        else:
            yield rewrite(site)
        return
    port = _Port(site, call)
    spelling = site.imported("sentence_transformers", _CLASS)
    try:
        if spelling is None:
            raise Unsure(f"the name {_CLASS} means something else here")
        operations = port.operations()
    except Unsure as reason:
        yield site.report(f"{site.row.message}; {reason}", applicability=Applicability.MANUAL)
        return
    if not port.goes:
        operations = [Rename(call.func, spelling.text), *spelling.operations, *operations]
    yield site.report(
        operations=operations,
        use=(site.binding, None) if site.binding else None,
        follows=port.follows,
    )
    yield from port.notes


class _Port:
    """One call that loads a model, with the calls of what it returns."""

    def __init__(self, site: Site, call: ast.Call) -> None:
        self.site, self.call, self.module = site, call, site.module
        self.notes: list[Report] = []
        self.follows: tuple[ast.expr, ...] = ()
        self.goes = False
        self._cast = ""

    def operations(self) -> list[Operation]:
        """Everything that changes together.

        Raises:
            Unsure: something cannot be read.
        """
        export = Export(self.site, self.call)
        origin = export if export.is_export else self._saved(export)
        operations: list[Operation] = []
        if origin is not export:
            if origin.source is None or not visible(self.module, origin.source, self.call):
                raise Unsure("the checkpoint that the saved model was made of is not in sight here")
            operations.append(Replace(export.source, escaped(origin.text(origin.source))))
        if any(origin.look(name) is not None for name in _IMAGES):
            raise Unsure(
                "it is a CLIP model: encode() of Sentence Transformers takes the texts and the images one after the other"
            )
        self._known(export)
        calls, attributes = used(self.site.context, [self.call])
        if not calls and origin is export and attributes and all(node.attr in _FINISHING for node in attributes):
            return self._only_saved(export, attributes)
        operations += self._arguments(export, origin)
        length = origin.look("sequence_length")
        target = self.call.parent
        if length is not None:
            if not isinstance(target, ast.Assign) or len(target.targets) != 1:
                raise Unsure("it gets no name, so that max_seq_length cannot be set")
            text = f"{ast.unparse(target.targets[0])}.max_seq_length = {escaped(origin.text(length))}"
            operations.append(InsertStatement(statement(self.call), text, after=True))
        for place in calls:
            operations += self._called(place, origin)
        operations += self._methods(attributes, origin)
        return operations

    # -- what is loaded ---------------------------------------------------------------------------------------------

    def _saved(self, export: Export) -> Export:
        found = saved_by(self.site, export, self._loads)
        if found is not None:
            return found
        name = word(self.module, export.source)
        if name is not None and looks_compiled(name):
            raise Unsure(
                f"{name!r} looks like a compiled artefact, which TorchNeuron cannot load: load the original checkpoint, "
                "which its model card or neuron_config.json (checkpoint_id) names"
            )
        raise Unsure(
            "without export=True it loads compiled artefacts, which TorchNeuron cannot load: pass the original checkpoint to "
            'SentenceTransformer(..., device="neuron"), and call encode() with the texts'
        )

    def _loads(self, call: ast.Call) -> bool:
        name = self.module.qualname(call.func) or ""
        found = self.site.context.row(name.removesuffix(f".{_LOADED}")) if name.endswith(f".{_LOADED}") else None
        return found is not None and found[0] is self.site.rule

    def _known(self, export: Export) -> None:
        options = self.site.rule.options
        known = {*options["drop"], *options["keep"], *options["rename"], *_IMAGES}
        unknown = [name for name in export.names if name not in known]
        if unknown:
            raise Unsure(f"what {unknown[0]}= means for SentenceTransformer is not known")

    def _only_saved(self, export: Export, attributes: list[ast.Attribute]) -> list[Operation]:
        """The export goes where the file loads what it saved: that load takes the original checkpoint."""
        paths = [node.parent.args[0] for node in attributes if isinstance(node.parent, ast.Call) and node.parent.args]
        for other in self.module.calls_of(_LOADED):
            if other is self.call or not self._loads(other) or not other.args or other.lineno < self.call.lineno:
                continue
            if any(same_path(self.module, path, other.args[0]) for path in paths) and self._is_ported(other):
                self.follows, self.goes = (other.func.value,), True
                self._artefacts(attributes)
                return [*forgotten(self.module, statement(self.call)), *export.dead()]
        raise Unsure("it only compiles and saves, which TorchNeuron has no use for: drop the script")

    def _is_ported(self, call: ast.Call) -> bool:
        """Whether another load of this file can be ported."""
        try:
            _Port(dataclasses.replace(self.site, node=call.func.value, binding=None), call).operations()
        except Unsure:
            return False
        return True

    def _arguments(self, export: Export, origin: Export) -> list[Operation]:
        cast, kind, given = (origin.look(name) for name in ("auto_cast", "auto_cast_type", "torch_dtype"))
        dtype = _EXACT  # the weights were loaded in it, and Transformers 5 would take the type of the checkpoint
        if given is not None:
            dtype = origin.text(given)
        elif cast is not None:
            mode, name = word(self.module, cast), "bf16" if kind is None else word(self.module, kind)
            if mode is None or name is None:
                raise Unsure("what auto_cast and auto_cast_type are is not in sight: pass model_kwargs")
            dtype = _TYPES.get(name, _EXACT) if mode != "none" else _EXACT
        self._cast = ".float()" if dtype != _EXACT else ""
        for name in (*self.site.rule.options["drop"], "torch_dtype"):
            export.take(name)
        operations = export.operations(self.site.rule.options["rename"])
        device = self.site.device(text=True, node=self.call)
        if device is None:
            raise Unsure("the name torch means something else here")
        operations += [InsertArgument(self.call, escaped(device.text), "device"), *device.operations]
        operations.append(InsertArgument(self.call, f'{{{{"dtype": {escaped(dtype)}}}}}', "model_kwargs"))
        return operations

    # -- encode -----------------------------------------------------------------------------------------------------

    def _methods(self, attributes: list[ast.Attribute], origin: Export) -> list[Operation]:
        operations: list[Operation] = []
        for node in attributes:
            call = node.parent if isinstance(node.parent, ast.Call) and node.parent.func is node else None
            if node.attr == "encode" and call is not None:
                operations += self._encode(call, origin)
            elif node.attr == "tokenize" and call is not None:
                self._note(node, "tokenize() is deprecated in Sentence Transformers 6; preprocess() takes its place")
        self._artefacts(attributes)
        return operations

    def _encode(self, call: ast.Call, origin: Export) -> list[Operation]:
        """``encode`` of optimum-neuron gave tensors on the CPU, in batches of the compiled size."""
        target = Called(call, spreads=spreads_of(self.module, call))
        if target.hidden or len(call.args) > 3:
            raise Unsure(f"what encode() is called with, on line {call.lineno}, is not in sight")
        operations = [InsertArgument(call, text, name) for name, text in self._settings(call, origin, target)]
        if target.argument("convert_to_numpy") is None and target.argument("output_value") is None:
            if target.argument("convert_to_tensor") is None:
                operations.append(InsertArgument(call, "True", "convert_to_tensor"))
            operations.append(Replace(call, f"{{call}}{self._cast}.cpu()", {"call": call}))
        return operations

    def _settings(self, place: ast.AST, origin: Export, target: Called | None = None) -> Iterator[tuple[str, str]]:
        """The arguments that keep the compiled shapes."""
        for name, keyword in (("batch_size", "batch_size"), ("sequence_length", "processing_kwargs")):
            value = origin.look(name)
            if value is None or (target is not None and target.argument(keyword) is not None):
                continue
            if name == "sequence_length":
                yield keyword, '{{"text": {{"padding": "max_length"}}}}'
            elif visible(self.module, value, place):
                yield keyword, escaped(origin.text(value))
            else:
                raise Unsure(f"batch_size is not in sight where the model is called, on line {place.lineno}")

    # -- calls of the model -------------------------------------------------------------------------------------------

    def _called(self, place: ast.Call, origin: Export) -> list[Operation]:
        if place.args or len(place.keywords) != 1 or place.keywords[0].arg is not None:
            raise Unsure(f"the call on line {place.lineno} is not model(**inputs): call encode() with the texts")
        given = place.keywords[0].value
        reads = self._fields(place)
        made = made_by(self.module, given)
        texts = _texts(self.module, made)
        alone = isinstance(given, ast.Call) or (
            isinstance(given, ast.Name) and len(_all_reads(self.module, given)) == 1
        )
        if texts is not None and alone and reads and all(name == _VECTOR for _, name in reads):
            return self._by_texts(place, texts, given, made, reads, origin)
        return self._by_inputs(place, given, made, reads, origin)

    def _fields(self, place: ast.Call) -> list[tuple[ast.expr, str]]:
        """Where the fields of the result are read."""
        around = place.parent
        if not isinstance(around, ast.Assign):
            field = _field(place)
            if field is None:
                raise Unsure(f"what becomes of the result on line {place.lineno} is not in sight")
            return [(around, field)]
        target = around.targets[0] if len(around.targets) == 1 else None
        if not isinstance(target, ast.Name):
            raise Unsure(f"what becomes of the result on line {place.lineno} is not in sight")
        found = []
        for read in _all_reads(self.module, target):
            if made_by(self.module, read) is not place:
                continue
            field = _field(read)
            if field is None:
                raise Unsure(f"line {read.lineno} passes the whole result on")
            found.append((read.parent, field))
        return found

    def _by_texts(
        self,
        place: ast.Call,
        texts: str,
        given: ast.expr,
        made: ast.Call,
        reads: list[tuple[ast.expr, str]],
        origin: Export,
    ) -> list[Operation]:
        settings = ", ".join(f"{name}={text}" for name, text in self._settings(place, origin))
        settings = f", {settings}" if settings else ""
        text = f"{{model}}.encode({escaped(texts)}{settings}, convert_to_tensor=True){self._cast}.cpu()"
        around = place.parent
        if not isinstance(around, ast.Assign):
            return [*self._unused(given, made), Replace(around, text, {"model": place.func})]
        operations: list[Operation] = [Replace(place, text, {"model": place.func})]
        operations += [Replace(read, ast.unparse(read.value)) for read, _ in reads]
        return [*operations, *self._unused(given, made)]

    def _unused(self, given: ast.expr, made: ast.Call) -> list[Operation]:
        """The tokenizer's call goes where its result has a name of its own."""
        whole = made.parent
        return [RemoveStatement(whole)] if isinstance(given, ast.Name) and isinstance(whole, ast.Assign) else []

    def _by_inputs(
        self,
        place: ast.Call,
        given: ast.expr,
        made: ast.expr,
        reads: list[tuple[ast.expr, str]],
        origin: Export,
    ) -> list[Operation]:
        if self.site.context.pretrained.origin(given).kind != "encoding":
            raise Unsure(
                f"what the model is called with on line {place.lineno} is not in sight: call encode() with the texts"
            )
        operations: list[Operation] = [
            Replace(place, "{model}(dict({given}.to({model}.device)))", {"model": place.func, "given": given})
        ]
        for read, name in reads:
            text = f'{{value}}["{name}"].detach(){self._cast}.cpu()'
            operations.append(Replace(read, text, {"value": read.value}))
        length = origin.look("sequence_length")
        # Vectors of tokens would get the padded length.
        if length is not None and isinstance(made, ast.Call) and all(name == _VECTOR for _, name in reads):
            operations += self._padded(made, origin.text(length), length)
        return operations

    def _padded(self, call: ast.Call, text: str, length: ast.expr) -> list[Operation]:
        """One length for all texts: each length compiles."""
        if not visible(self.module, length, call):
            return []
        operations: list[Operation] = []
        target = Called(call)
        for name, value in (("padding", '"max_length"'), ("truncation", "True"), ("max_length", escaped(text))):
            passed = target.argument(name)
            if passed is None:
                operations.append(InsertArgument(call, value, name))
            elif name == "padding" and word(self.module, value_of(passed)) != "max_length":
                operations.append(Replace(value_of(passed), value))
        return operations

    # -- artefacts ------------------------------------------------------------------------------------------------------

    def _artefacts(self, attributes: list[ast.Attribute]) -> None:
        for node in attributes:
            call = node.parent if isinstance(node.parent, ast.Call) and node.parent.func is node else None
            if node.attr in _FINISHING:
                whole = call.parent if call is not None and isinstance(call.parent, ast.Expr) else None
                if whole is not None:
                    claim_strings(self.site, call)
                self._note(
                    node,
                    f"{node.attr}() kept the compiled artefacts, and TorchNeuron has none; on a SentenceTransformer it writes "
                    "the weights again: drop it",
                    [RemoveStatement(whole)] if whole is not None else (),
                )
            elif node.attr in _ARTEFACTS:
                self._note(
                    node,
                    f".{node.attr} tells how the model was compiled, and a SentenceTransformer has no such attribute: use the "
                    "value that the program passes",
                    severity=Severity.ERROR,
                )

    def _note(
        self,
        node: ast.AST,
        message: str,
        operations: Sequence[Operation] = (),
        severity: Severity = Severity.WARNING,
    ) -> None:
        level = Applicability.UNSAFE if operations else Applicability.MANUAL
        report = self.site.report(message, node=node, severity=severity, applicability=level, operations=operations)
        report.origin = node
        self.notes.append(report)


def _field(value: ast.expr) -> str | None:
    """The field of a model's result that is read: ``value["x"]`` or ``value.x``."""
    parent = value.parent
    if isinstance(parent, ast.Subscript) and parent.value is value and isinstance(parent.slice, ast.Constant):
        return parent.slice.value if parent.slice.value in _FIELDS else None
    if isinstance(parent, ast.Attribute) and parent.attr in _FIELDS:
        return parent.attr
    return None


def _all_reads(module: Module, name: ast.Name) -> list[ast.Name]:
    bindings = module.bindings(name)
    return module.references(bindings[0]) if bindings else []


def _texts(module: Module, made: ast.expr) -> str | None:
    """The list of texts that a tokenizer is called with, as source; ``None`` where it is not sure to be one."""
    if not isinstance(made, ast.Call):
        return None
    passed = Called(made).argument("text", 0)
    value = value_of(passed) if passed is not None else None
    others = {keyword.arg for keyword in made.keywords} - {
        "text", "padding", "truncation", "max_length", "return_tensors", "add_special_tokens", "return_token_type_ids"
    }  # fmt: skip
    if value is None or others or len(made.args) > 1:
        return None
    text = ast.get_source_segment(module.text, value) or ast.unparse(value)
    known = literal(module, value)
    if isinstance(known, ast.Constant) and isinstance(known.value, str):
        return f"[{text}]"
    return text if isinstance(known, (ast.List, ast.Tuple)) or _is_list(module, value) else None


def _is_list(module: Module, value: ast.expr) -> bool:
    if isinstance(value, ast.ListComp):
        return True
    bindings = module.bindings(value) if isinstance(value, ast.Name) else []
    annotated = [binding.annotation for binding in bindings if binding.kind is BindingKind.PARAMETER]
    return len(bindings) == 1 and bool(annotated) and ast.unparse(annotated[0] or value).lower().startswith("list")

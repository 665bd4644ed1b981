"""``pipeline()`` of optimum-neuron, which compiled its model: the one of Transformers, on the device.

    p = pipeline("text-classification", model=name, export=True, input_shapes={"batch_size": 1, "sequence_length": 64})
    p("good")

    p = pipeline("text-classification", model=name, device="neuron")
    p("good", padding="max_length", truncation=True, max_length=64)

Where the task can be told how to pad, every call pads to the compiled length. Tasks that Transformers 5 no longer has
are for a person.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.compiled_artefact import looks_compiled
from neuron_port.codemods.exported import (
    Export,
    Unsure,
    escaped,
    literal,
    number,
    unread,
    used,
    visible,
    word,
)
from neuron_port.edits.operations import InsertArgument, Operation, SetKeyword
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.literals import is_true

# The parameters behind task and model stand in another order in Transformers.
_POSITIONS = (
    "task",
    "model",
    "tokenizer",
    "feature_extractor",
    "image_processor",
    "use_fast",
    "export",
    "input_shapes",
)
_GONE = ("export", "input_shapes", "compiler_args", "num_cores", "tensor_parallel_size", "sequence_length")
_REMOVED = {
    "question-answering": "call AutoModelForQuestionAnswering with the tokenizer's result and take the best span of its logits",
    "summarization": "call generate() of AutoModelForSeq2SeqLM",
    "text2text-generation": "call generate() of AutoModelForSeq2SeqLM",
    "translation": "call generate() of AutoModelForSeq2SeqLM",
}
# The models that optimum-neuron took where none was named; Transformers has others.
_DEFAULTS = {
    "feature-extraction": "distilbert-base-cased",
    "fill-mask": "bert-base-cased",
    "text-classification": "distilbert-base-uncased-finetuned-sst-2-english",
    "token-classification": "dbmdz/bert-large-cased-finetuned-conll03-english",
    "text-generation": "Qwen/Qwen2.5-0.5B-Instruct",
    "image-classification": "microsoft/beit-base-patch16-224-pt22k-ft22k",
    "image-segmentation": "apple/deeplabv3-mobilevit-small",
    "automatic-speech-recognition": "facebook/wav2vec2-large-960h-lv60-self",
    "audio-classification": "facebook/wav2vec2-large-960h-lv60-self",
}
_ALIASES = {"ner": "token-classification", "sentiment-analysis": "text-classification"}
_PADDED = frozenset({"text-classification", "fill-mask", "feature-extraction", "token-classification"})
_DTYPES = {"bf16": "torch.bfloat16", "fp16": "torch.float16"}
_EXACT = "torch.float32"
_LENGTH = 128  # what optimum-neuron compiled for where no shapes were given


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of optimum-neuron's ``pipeline``."""
    if site.call is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    port = _Port(site, site.call)
    try:
        operations = port.operations()
    except Unsure as reason:
        yield site.report(f"{site.row.message}; {reason}", applicability=Applicability.MANUAL)
        return
    renamed = site.rename("transformers.pipeline")
    if renamed is None:
        yield site.report(f"{site.row.message}; the name means something else here", applicability=Applicability.MANUAL)
        return
    yield site.report(operations=[*renamed[0], *operations], use=renamed[1])
    yield from port.notes


class _Port:
    """One call of ``pipeline``, with the calls of what it returns."""

    def __init__(self, site: Site, call: ast.Call) -> None:
        self.site, self.call, self.module = site, call, site.module
        self.notes: list[Report] = []

    def operations(self) -> list[Operation]:
        """Everything that changes together.

        Raises:
            Unsure: something cannot be read.
        """
        export = Export(self.site, self.call)
        given = self._given(export)
        task = word(self.module, given.get("task"))
        known = _ALIASES.get(task, task)
        removed = next((advice for name, advice in _REMOVED.items() if (task or "").startswith(name)), None)
        if removed is not None:
            raise Unsure(f'Transformers 5 has no pipeline for "{task}" any more: {removed}')
        compiled = self._compiled(given, known)
        operations: list[Operation] = []
        for index, argument in enumerate(self.call.args[2:], 2):
            operations.append(SetKeyword(self.call, argument, _POSITIONS[index]))
        length, batch = self._shapes(export, compiled)
        operations += self._model(given, known, task)
        for name in _GONE:
            operations += unread(self.module, export.take(name))
        operations += self._dtype(given, known)
        operations += export.operations({"use_auth_token": "token", "torch_dtype": "dtype"})
        operations += self._device(export)
        if batch is not None and "batch_size" not in given:
            operations.append(InsertArgument(self.call, escaped(batch), "batch_size"))
        for place in used(self.site.context, [self.call])[0]:
            operations += self._padded(place, known, length)
        return operations

    def _given(self, export: Export) -> dict[str, ast.expr]:
        """The arguments by name."""
        if len(self.call.args) > len(_POSITIONS) or len(self.call.args) > 5:
            raise Unsure("it is called with options of the compiler by position")
        given = dict(zip(_POSITIONS, self.call.args))
        given.update({name: value for name in export.names if (value := export.look(name)) is not None})
        return given

    def _compiled(self, given: dict[str, ast.expr], task: str | None) -> ast.Call | None:
        """The call that loads the model, where it is passed as an object.

        Raises:
            Unsure: the pipeline loads a model that was compiled elsewhere.
        """
        cores = next((given[name] for name in ("num_cores", "tensor_parallel_size") if name in given), None)
        if cores is not None and number(self.module, cores) != 1:
            raise Unsure(
                "several cores need several processes on TorchNeuron: load the model with "
                f"distributed_config=DistributedConfig(tp_size={ast.unparse(cores)}), pass it as model=, and start the program "
                f"with torchrun --nproc_per_node={ast.unparse(cores)}"
            )
        model = given.get("model")
        if model is None or is_true(given.get("export")):
            return None
        found = self.site.context.pretrained.origin(model)
        if found.is_model:
            return found.call
        name = word(self.module, model)
        if name is not None and not looks_compiled(name):
            raise Unsure(f"without export=True it loads {name!r} as a compiled artefact: pass the original checkpoint")
        raise Unsure(
            "without export=True it loads compiled artefacts, which TorchNeuron cannot load: pass the original checkpoint"
        )

    def _shapes(self, export: Export, compiled: ast.Call | None) -> tuple[ast.expr | str | None, str | None]:
        """The compiled length, and the batch size where it is not one."""
        if compiled is not None:
            try:
                loaded = Export(self.site, compiled)
            except Unsure:
                return None, None
            length, batch = loaded.look("sequence_length"), loaded.look("batch_size")
        else:
            shapes = literal(self.module, export.look("input_shapes"))
            entries = {}
            if isinstance(shapes, ast.Dict):
                entries = {
                    key.value: value for key, value in zip(shapes.keys, shapes.values) if isinstance(key, ast.Constant)
                }
            elif export.look("input_shapes") is not None:
                raise Unsure("input_shapes is not in sight: pass the length where the pipeline is called")
            length = entries.get("sequence_length", export.look("sequence_length"))
            batch = entries.get("batch_size")
            if not entries and length is None and is_true(export.look("export")):
                length = str(_LENGTH)
        if isinstance(length, ast.expr) and not visible(self.module, length, self.call):
            length = None
        many = batch is not None and number(self.module, batch) != 1 and visible(self.module, batch, self.call)
        return length, export.text(batch) if many else None

    def _model(self, given: dict[str, ast.expr], known: str | None, task: str | None) -> list[Operation]:
        if "model" in given:
            return []
        default = _DEFAULTS.get(known or "")
        if default is None:
            raise Unsure(f"which model optimum-neuron took for the task {task or ''} is not known: name it")
        return [InsertArgument(self.call, f'"{default}"', "model")]

    def _dtype(self, given: dict[str, ast.expr], task: str | None) -> list[Operation]:
        """The type that the weights were loaded in, or that the compiler cast to; Transformers 5 takes the checkpoint's."""
        if "torch_dtype" in given or "dtype" in given or not is_true(given.get("export")):
            return []
        options = literal(self.module, given.get("compiler_args"))
        if "compiler_args" in given and not isinstance(options, ast.Dict):
            raise Unsure("compiler_args is not in sight: pass the dtype")
        found = {
            key.value: word(self.module, value)
            for key, value in zip(getattr(options, "keys", ()), getattr(options, "values", ()))
            if isinstance(key, ast.Constant)
        }
        cast = found.get("auto_cast") not in (None, "none")
        if task == "text-generation" and not cast:
            return []
        name = _DTYPES.get(found.get("auto_cast_type", "bf16") or "", _EXACT) if cast else _EXACT
        spelled = self.site.spell(name, self.call)
        if spelled is None:
            raise Unsure("the name torch means something else here, or is imported only later")
        return [InsertArgument(self.call, spelled.text, "dtype"), *spelled.operations]

    def _device(self, export: Export) -> list[Operation]:
        if export.look("device") is not None or export.look("device_map") is not None:
            return []
        device = self.site.device(text=True, node=self.call)
        if device is None:
            raise Unsure("the name torch means something else here")
        return [InsertArgument(self.call, escaped(device.text), "device"), *device.operations]

    def _padded(self, place: ast.Call, task: str | None, length: ast.expr | str | None) -> list[Operation]:
        """The arguments that pad to the compiled length."""
        if length is None or task not in (*_PADDED, "text-generation"):
            return []
        if isinstance(length, ast.expr) and not visible(self.module, length, place):
            raise Unsure(f"the compiled length is not in sight where the pipeline is called, on line {place.lineno}")
        text = length if isinstance(length, str) else ast.get_source_segment(self.module.text, length)
        passed = {keyword.arg for keyword in place.keywords}
        if None in passed:
            raise Unsure(f"line {place.lineno} hides what the pipeline is called with")
        if task == "token-classification":
            self._note(
                place,
                "the pipeline for token-classification cannot pad, so that each length compiles again; for one shape call the "
                f"tokenizer with padding to {text} and the model yourself",
            )
            return []
        if task == "text-generation":
            wanted = {"cache_implementation": '"static"', "max_cache_len": escaped(str(text))}
        elif task == "text-classification":
            wanted = {"padding": '"max_length"', "truncation": "True", "max_length": escaped(str(text))}
        else:
            keyword = "tokenizer_kwargs" if task == "fill-mask" else "tokenize_kwargs"
            inner = f'"padding": "max_length", "truncation": True, "max_length": {escaped(str(text))}'
            wanted = {keyword: f"{{{{{inner}}}}}"}
        return [InsertArgument(place, value, name) for name, value in wanted.items() if name not in passed]

    def _note(self, node: ast.AST, message: str) -> None:
        report = self.site.report(message, node=node, severity=Severity.WARNING, applicability=Applicability.MANUAL)
        report.origin = node
        self.notes.append(report)

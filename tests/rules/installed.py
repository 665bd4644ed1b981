"""What the installed Hugging Face libraries have: names, and the keywords that their functions take."""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable

LIBRARIES = (
    "accelerate",
    "datasets",
    "diffusers",
    "evaluate",
    "huggingface_hub",
    "peft",
    "safetensors",
    "sentence_transformers",
    "tokenizers",
    "torch",
    "transformers",
    "trl",
)
# "inputs_ids (`torch.Tensor`, *optional*):" and "low_cpu_mem_usage: bool" of documentation strings.
_DOCUMENTED = re.compile(r"^[ \t]*-?[ \t]*\**`{0,2}(\w+)`{0,2}[ \t]*(?:\(|:[ \t]*`?\w)", re.MULTILINE)
# A function that hands its **kwargs on: the rest of its name -> what gets them. Read in the library's code.
_FORWARDED = {
    "peft.AutoPeft*.from_pretrained": ("transformers.PreTrainedModel.from_pretrained",),
    "sentence_transformers.CrossEncoder.predict": (
        "sentence_transformers.base.modules.transformer.Transformer.preprocess",
    ),
    "transformers.AutoModel*.from_config": ("transformers.PreTrainedModel._from_config",),
    "transformers.AutoModel*.from_pretrained": ("transformers.PreTrainedModel.from_pretrained",),
    "transformers.PreTrainedModel.from_pretrained": ("transformers.modeling_utils.PreTrainedModel.__init__",),
    "transformers.GenerationMixin.generate": ("transformers.GenerationConfig",),
    "transformers.AutoTokenizer.from_pretrained": (
        "transformers.PreTrainedTokenizerBase",
        "transformers.PreTrainedTokenizerFast",
    ),
    "transformers.pipeline": ("transformers.Pipeline", "transformers.GenerationConfig"),
    "diffusers.*.compile_repeated_blocks": ("torch.compile",),
    "diffusers.*.load_lora_weights": ("diffusers.StableDiffusionXLPipeline.lora_state_dict",),
    "sentence_transformers.SentenceTransformer.encode": (
        "sentence_transformers.base.modules.transformer.Transformer.preprocess",
    ),
    "torch.nn.Module.compile": ("torch.compile",),
}
# A name that stands for any class of a package -> one of them.
_ANY = {
    "transformers.*": "transformers.PreTrainedModel",
    "diffusers.*": "diffusers.DiffusionPipeline",
}
# Classes whose methods are found by their name alone.
_METHOD_OWNERS = (
    "transformers.AutoModel",
    "transformers.PreTrainedModel",
    "transformers.GenerationMixin",
    "transformers.GenerationConfig",
    "transformers.PreTrainedTokenizerBase",
    "transformers.ProcessorMixin",
    "transformers.BatchEncoding",
    "transformers.Trainer",
    "transformers.Pipeline",
    "diffusers.DiffusionPipeline",
    "diffusers.StableDiffusionPipeline",
    "diffusers.StableDiffusionXLPipeline",
    "diffusers.FluxPipeline",
    "diffusers.ModelMixin",
    "diffusers.AutoencoderKL",
    "diffusers.UNet2DConditionModel",
    "diffusers.FluxTransformer2DModel",
    "diffusers.SchedulerMixin",
    "accelerate.Accelerator",
    "accelerate.PartialState",
    "peft.PeftModel",
    "sentence_transformers.SentenceTransformer",
    "sentence_transformers.CrossEncoder",
    "datasets.Dataset",
    "torch.nn.Module",
    "torch.Tensor",
)
# What a rule about a keyword of any call may be about.
_COMMON = (
    "accelerate.Accelerator",
    "accelerate.PartialState",
    "accelerate.FullyShardedDataParallelPlugin",
    "accelerate.InitProcessGroupKwargs",
    "accelerate.utils.TorchDynamoPlugin",
    "diffusers.DiffusionPipeline.from_pretrained",
    "diffusers.StableDiffusionXLPipeline.__call__",
    "diffusers.UNet2DConditionModel.from_pretrained",
    "peft.LoraConfig",
    "sentence_transformers.SentenceTransformer",
    "sentence_transformers.SentenceTransformerTrainingArguments",
    "transformers.AutoModelForCausalLM.from_pretrained",
    "transformers.AutoTokenizer.from_pretrained",
    "transformers.CompileConfig",
    "transformers.DataCollatorForSeq2Seq",
    "transformers.GenerationMixin.generate",
    "transformers.PreTrainedTokenizerBase.__call__",
    "transformers.PreTrainedTokenizerBase.apply_chat_template",
    "transformers.Seq2SeqTrainer",
    "transformers.Seq2SeqTrainingArguments",
    "transformers.distributed.DistributedConfig",
    "transformers.pipeline",
    "trl.DPOConfig",
    "trl.GRPOConfig",
    "trl.KTOConfig",
    "trl.ModelConfig",
    "trl.RLOOConfig",
    "trl.RewardConfig",
    "trl.SFTConfig",
    "trl.SFTTrainer",
)


@functools.cache
def find(qualname: str) -> object | None:
    """The object of this qualified name in the installed libraries, ``None`` when there is none."""
    qualname = next(
        (name + qualname[len(any_) :] for any_, name in _ANY.items() if qualname.startswith(any_)), qualname
    )
    root, *parts = qualname.split(".")
    try:
        value: object | None = importlib.import_module(root)
    except ImportError:
        return None
    for part in parts:
        # An attribute comes first: a class may have the name of the module that holds it.
        found = _member(value, part)
        value = _submodule(value, part) if found is None else found
        if value is None:
            return None
    return value


def _submodule(value: object, name: str) -> object | None:
    if not inspect.ismodule(value):
        return None
    try:
        return importlib.import_module(f"{value.__name__}.{name}")
    except ImportError:
        return None


def _member(value: object, name: str) -> object | None:
    try:
        found = getattr(value, name)
    except (AttributeError, ImportError, RuntimeError):
        if dataclasses.is_dataclass(value) and name in {item.name for item in dataclasses.fields(value)}:
            return name
        return None
    return name if found is None else found


def exists(qualname: str) -> bool:
    """Whether the installed libraries have this name."""
    return find(qualname) is not None


@functools.cache
def keywords(qualname: str) -> frozenset[str] | None:
    """The keywords that a function or class takes, ``None`` when it does not say.

    A ``**kwargs`` takes what the function's own code reads from it, what its documentation lists, and what the
    functions take that get the rest (``_FORWARDED``).
    """
    target = find(qualname)
    if not callable(target):
        return None
    found: set[str] = set()
    is_open = False
    for function in _signatures(target):
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            return None
        found |= {item.name for item in parameters if item.kind in (item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)}
        if any(item.kind is item.VAR_KEYWORD for item in parameters):
            is_open = True
            found |= _read_from_kwargs(function) | set(_DOCUMENTED.findall(_documentation(target, function)))
    if is_open:
        for pattern, takers in _FORWARDED.items():
            if _same(target, qualname, pattern):
                for taker in takers:
                    found |= keywords(taker) or set()
        if target is find("transformers.pipeline"):
            found |= _pipeline_keywords()
        owner = getattr(target, "__self__", None)
        if inspect.isclass(owner) and hasattr(owner, "_optional_components"):
            # Parts of a diffusion pipeline may be passed when it is loaded.
            found |= set(inspect.signature(owner.__init__).parameters)
    return frozenset(found)


@functools.cache
def _pipeline_keywords() -> frozenset[str]:
    """What the pipelines of Transformers sort their keywords by."""
    library = importlib.import_module("transformers")
    classes = [getattr(library, name) for name in dir(library) if name.endswith("Pipeline")]
    return frozenset(
        name for cls in classes for name in inspect.signature(cls._sanitize_parameters).parameters if name != "self"
    )


def _signatures(target: object) -> list[Callable[..., object]]:
    """What is called: the constructor of a class and, where it hands arguments on, those of its bases."""
    if not inspect.isclass(target):
        return [inspect.unwrap(target)]
    found = [cls.__dict__["__init__"] for cls in target.__mro__ if "__init__" in cls.__dict__ and cls is not object]
    return found or [target]


def _documentation(target: object, function: object) -> str:
    return "\n".join(filter(None, (getattr(target, "__doc__", ""), getattr(function, "__doc__", ""))))


def _read_from_kwargs(function: Callable[..., object]) -> set[str]:
    """Literal keys that the function pops, gets or tests in its ``**kwargs``."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return set()
    definition = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), None)
    name = definition.args.kwarg.arg if definition is not None and definition.args.kwarg else None
    found: set[str] = set()
    for node in ast.walk(tree):
        key: ast.AST | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is(node.func.value, name):
            key = node.args[0] if node.func.attr in ("pop", "get", "setdefault") and node.args else None
        elif isinstance(node, ast.Subscript) and _is(node.value, name):
            key = node.slice
        elif isinstance(node, ast.Compare) and any(_is(item, name) for item in node.comparators):
            key = node.left
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            found.add(key.value)
    return found


def _is(node: ast.AST, name: str | None) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _same(target: object, qualname: str, pattern: str) -> bool:
    if pattern.endswith(qualname.rpartition(".")[2]) and "*" in pattern:
        head, _, rest = pattern.partition("*")
        if qualname.startswith(head) and qualname.endswith(rest):
            return True
    other = find(pattern) if "*" not in pattern else None
    # Bound class methods are made anew at each look.
    return other is not None and getattr(other, "__func__", other) == getattr(target, "__func__", target)


@functools.cache
def method_keywords(method: str) -> frozenset[str] | None:
    """The keywords that methods of this name take, over all classes that are looked at; ``None`` when there is none."""
    found: set[str] = set()
    is_known = False
    for owner in _METHOD_OWNERS:
        taken = keywords(f"{owner}.{method}")
        if taken is not None:
            is_known = True
            found |= taken
    return frozenset(found) if is_known else None


@functools.cache
def common_keywords() -> frozenset[str]:
    """The keywords of the functions that scripts call most, for rules about a keyword of any call."""
    return frozenset().union(*(keywords(name) or () for name in _COMMON))

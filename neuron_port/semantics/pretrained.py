"""Which expressions of a module are models, tokenizers and pipelines of Transformers, or what a tokenizer returns.

    model = AutoModelForCausalLM.from_pretrained(name).to(device)       a model, made by a loader
    def evaluate(model: PreTrainedModel): ...                           annotated
    self.model, self.tokenizer = load(name)                             what a function of this file returns
    model, optimizer = accelerator.prepare(model, optimizer)            what went in
    def run(model): model.generate(ids, pad_token_id=0)                 only the call tells

``Pretrained.origin`` answers for any expression, ``Pretrained.generates`` for the receiver of a ``generate`` call, where the
arguments tell as well. A class with its own ``generate``, and one of another package, is ``other``.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.module import Module, enclosing_class, enclosing_function
from neuron_port.semantics.nearest import nearest
from neuron_port.semantics.pretrained_names import (
    LOADERS,
    PACKAGES,
    Decodes,
    decodes,
    is_model,
    is_processor,
    looks_like_model,
)
from neuron_port.semantics.receivers import Grade
from neuron_port.semantics.scopes import Binding, BindingKind

_MAX_DEPTH = 14
# Of one question: functions that call each other lead everywhere.
_MOST_STEPS = 400
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# Methods that return the model, or the inputs, that they are called on.
_SAME = frozenset(
    "to cuda cpu half float bfloat16 double eval train requires_grad_ neuron xpu merge_and_unload unload get_base_model "
    "to_bettertransformer reverse_bettertransformer pin_memory with_format".split()
)
# Functions whose result stands for their first argument.
_WRAPPERS = frozenset(
    {
        "torch.compile",
        "torch.nn.DataParallel",
        "torch.nn.parallel.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
        "torch.distributed.fsdp.FullyShardedDataParallel",
        "copy.copy",
        "copy.deepcopy",
        "accelerate.dispatch_model",
        "accelerate.load_checkpoint_and_dispatch",
        "peft.get_peft_model",
        "peft.inject_adapter_in_model",
        "peft.prepare_model_for_kbit_training",
        "peft.prepare_model_for_int8_training",
        "trl.create_reference_model",
        "trl.models.create_reference_model",
        "trl.models.utils.unwrap_model_for_generation",
        "trl.models.unwrap_model_for_generation",
        "deepspeed.init_inference",
        "optimum.bettertransformer.BetterTransformer.transform",
        "intel_extension_for_pytorch.optimize",
        "torch.quantization.quantize_dynamic",
    }
)
_WRAPPING_METHODS = frozenset({"unwrap_model", "prepare_model", "unwrap_model_for_generation"})
_ENCODERS = frozenset(
    "apply_chat_template encode encode_plus batch_encode_plus pad prepare_for_model build_inputs_with_special_tokens "
    "prepare_seq2seq_batch".split()
)
# Arguments that only Transformers' generate takes.
_TELLING = frozenset(
    "input_ids attention_mask pad_token_id eos_token_id bos_token_id generation_config logits_processor stopping_criteria "
    "num_beams output_scores return_dict_in_generate inputs_embeds pixel_values input_features decoder_input_ids "
    "forced_bos_token_id past_key_values use_cache no_repeat_ngram_size num_return_sequences output_hidden_states synced_gpus "
    "decoder_start_token_id prefix_allowed_tokens_fn assistant_model cache_implementation".split()
)
# Arguments that it shares with clients of servers.
_USUAL = frozenset(
    "max_new_tokens min_new_tokens do_sample max_length min_length streamer temperature top_p top_k repetition_penalty "
    "early_stopping length_penalty".split()
)


# Arguments that only other packages' generate takes.
_FOREIGN = frozenset(
    "sampling_params use_tqdm lora_request prompt_token_ids request_id max_tokens stop n prompts prompt messages "
    "params prng_key".split()  # jax
)


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where a value comes from.

    ``kind`` is ``model``, ``processor``, ``pipeline``, ``encoding`` (what a processor returns), ``other`` (surely none of
    them) or ``unknown``; ``name`` the qualified name of what made it; ``call`` the call that did; ``decodes`` is about models.
    """

    kind: str
    grade: Grade
    text: str
    name: str = ""
    call: ast.Call | None = None
    decodes: Decodes = Decodes.UNKNOWN

    @property
    def is_model(self) -> bool:
        """Whether it is a model, by whatever evidence."""
        return self.kind == "model"


_UNKNOWN = Origin("unknown", Grade.NOTHING, "nothing says what it is")


class Pretrained:
    """Answers for one module; answers are remembered."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._known: dict[int, Origin] = {}
        self._open: set[int] = set()
        self._imports: bool | None = None
        self._left = _MOST_STEPS
        self._return_statements: dict[int, list[ast.Return]] = {}

    @property
    def in_use(self) -> bool:
        """Whether the file imports one of the packages with such models."""
        if self._imports is None:
            roots = {(binding.qualname or "").partition(".")[0] for binding in self.module.found.imports}
            roots |= {name.partition(".")[0] for _, name in self.module.found.stars}
            self._imports = bool(roots & PACKAGES)
        return self._imports

    @cached_property
    def _jax(self) -> bool:
        """Whether the models of the file are JAX's."""
        return any(
            (binding.qualname or "").partition(".")[0] in ("jax", "flax")
            or (binding.qualname or "").startswith("transformers.Flax")
            for binding in self.module.found.imports
        )

    def origin(self, node: ast.expr) -> Origin:
        """Where the value of ``node`` comes from, as far as this file says."""
        known = self._known.get(id(node))
        if known is None:
            self._left = _MOST_STEPS
            known = self._known[id(node)] = self._value(node, 0)
        return known

    def generates(self, call: ast.Call) -> Origin:
        """Where the receiver of ``receiver.generate(...)`` comes from; its name and the arguments are weak evidence too."""
        spread = [item.value for item in call.keywords if item.arg is None]
        return self.decoder(call.func.value, {item.arg for item in call.keywords if item.arg}, call.args, spread)

    def decoder(
        self, receiver: ast.expr, given: Collection[str], positional: Sequence[ast.expr], spread: Iterable[ast.expr]
    ) -> Origin:
        """The same for a ``generate`` that is given arguments of the names ``given``, by position and through ``**``."""
        found = self.origin(receiver)
        if found.kind == "model" and found.decodes is not Decodes.NOTHING:
            return found
        if found.kind != "unknown" or not self.in_use:
            return found if found.kind != "model" else replace(found, kind="other")
        name = _last_name(receiver)
        if (
            self._jax
            or _FOREIGN.intersection(given)
            or (len(positional) > 1 and "config" not in ast.unparse(positional[1]))
        ):
            return found
        telling = sorted(_TELLING.intersection(given))
        if telling:
            return Origin("model", Grade.USAGE, f"generate() is called with {telling[0]}")
        named = "model" in name.lower()
        if named or name.lower() in ("llm", "lm"):
            if _USUAL.intersection(given) or any(
                self.origin(item).kind == "encoding" for item in (*positional, *spread)
            ):
                return Origin("model", Grade.USAGE, f"it is called {name} and decodes tokens")
        if named:
            return Origin("model", Grade.FILE, f"it is called {name} in a file that imports Transformers")
        return found

    # -- values -----------------------------------------------------------------------------------------------------

    def _value(self, node: ast.expr, depth: int) -> Origin:
        known = self._known.get(id(node))
        if known is not None:
            return known
        if depth > _MAX_DEPTH or id(node) in self._open or not self._left:
            return _UNKNOWN
        self._left -= 1
        self._open.add(id(node))
        try:
            found = self._found(node, depth + 1)
        finally:
            self._open.discard(id(node))
        if found.kind != "unknown":  # no answer may be due to what is being looked at already
            self._known[id(node)] = found
        return found

    def _found(self, node: ast.expr, depth: int) -> Origin:
        if isinstance(node, ast.Name):
            return self._name(node, depth)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, depth)
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, depth)
        if isinstance(node, (ast.NamedExpr, ast.Await)):
            return self._value(node.value, depth)
        if isinstance(node, ast.DictComp):
            # {name: tensor.to(device) for name, tensor in inputs.items()}
            source = node.generators[0].iter
            is_items = isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute)
            return self._value(source.func.value, depth) if is_items else _UNKNOWN
        if isinstance(node, ast.IfExp):
            return self._agreed([self._value(node.body, depth), self._value(node.orelse, depth)])
        if isinstance(node, ast.BoolOp):
            return self._agreed([self._value(value, depth) for value in node.values])
        if isinstance(node, (ast.Constant, ast.List, ast.Tuple, ast.JoinedStr, ast.Lambda)):
            return Origin("other", Grade.CONSTRUCTOR, "a literal")
        return _UNKNOWN

    @staticmethod
    def _agreed(found: list[Origin]) -> Origin:
        """One answer for a value that comes from one of several places."""
        told = [origin for origin in found if origin.kind != "unknown" and origin.text != "a literal"]
        kinds = {origin.kind for origin in told}
        if len(kinds) != 1:
            return _UNKNOWN
        best = max(told, key=lambda origin: origin.grade)
        if len({origin.decodes for origin in told}) > 1:
            best = replace(best, decodes=Decodes.UNKNOWN)
        if len({origin.call for origin in told}) > 1:
            best = replace(best, call=None)
        return best

    def _name(self, node: ast.Name, depth: int) -> Origin:
        if not hasattr(node, "scope"):
            return _UNKNOWN
        if node.id == "self":
            around = enclosing_class(node)
            return self._instance(around, depth) if around is not None else _UNKNOWN
        bindings = self.module.bindings(node)
        last = nearest(bindings, node)
        if last is not None:
            found = self._binding(last, depth)
            if found.kind != "unknown":
                return found
        return self._agreed([self._binding(binding, depth) for binding in bindings])

    def _binding(self, binding: Binding, depth: int) -> Origin:
        kind, value = binding.kind, binding.value
        if id(binding) in self._open:
            return _UNKNOWN
        self._open.add(id(binding))
        try:
            if binding.annotation is not None and kind is not BindingKind.FUNCTION:
                declared = self._annotation(binding.annotation)
                if declared.kind != "unknown":
                    return declared
            if kind in (BindingKind.ASSIGN, BindingKind.WITH) and value is not None:
                return self._value(value, depth)
            if kind is BindingKind.UNPACK and value is not None:
                return self._element(value, _index(binding.node), depth)
            if kind is BindingKind.PARAMETER:
                return self._parameter(binding, depth)
            return _UNKNOWN
        finally:
            self._open.discard(id(binding))

    def _subscript(self, node: ast.Subscript, depth: int) -> Origin:
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            found = self._element(node.value, node.slice.value, depth)
            if found.kind != "unknown":
                return found
        inner = self._value(node.value, depth)
        return inner if inner.kind == "encoding" else _UNKNOWN

    def _element(self, value: ast.expr, index: int | None, depth: int) -> Origin:
        """One element of what a call returns as a tuple."""
        if index is None or not isinstance(value, ast.Call):
            return _UNKNOWN
        function = value.func
        name = self.module.qualname(function) or ""
        if name == "deepspeed.initialize" and index == 0:
            model = _argument(value, "model", 1)
            return self._value(model, depth) if model is not None else _UNKNOWN
        if isinstance(function, ast.Attribute) and function.attr == "prepare":
            passed = value.args
            if index < len(passed) and not any(isinstance(item, ast.Starred) for item in passed):
                return self._value(passed[index], depth)
            return _UNKNOWN
        return self._returned(function, index, depth)

    def _returned(self, function: ast.expr, index: int | None, depth: int) -> Origin:
        """What a function of this file returns, or one element of the tuple that it returns."""
        found = []
        for definition in self._definitions(function):
            for node in self._returns(definition):
                value = node.value
                if index is not None:
                    if isinstance(value, ast.Tuple) and index < len(value.elts):
                        value = value.elts[index]
                    elif isinstance(value, ast.Call):
                        found.append(self._element(value, index, depth))
                        continue
                    else:
                        return _UNKNOWN
                found.append(self._value(value, depth))
        return self._agreed(found)

    def _returns(self, function: ast.AST) -> list[ast.Return]:
        """The ``return value`` statements of a function itself."""
        known = self._return_statements.get(id(function))
        if known is None:
            known = self._return_statements[id(function)] = [
                node
                for node in ast.walk(function)
                if isinstance(node, ast.Return) and node.value is not None and enclosing_function(node) is function
            ]
        return known

    def _definitions(self, function: ast.expr) -> list[ast.AST]:
        """The functions of this file that a call may run."""
        if isinstance(function, ast.Name) and hasattr(function, "scope"):
            return [item.node for item in self.module.bindings(function) if isinstance(item.node, _FUNCTIONS)]
        if isinstance(function, ast.Attribute):
            around = self._class_of(function.value)
            own = around.inner.bindings.get(function.attr, ()) if around is not None else ()
            return [item.node for item in own if isinstance(item.node, _FUNCTIONS)]
        return []

    def _class_of(self, node: ast.expr) -> ast.ClassDef | None:
        """The class of this file that a value is an instance of."""
        if isinstance(node, ast.Name) and hasattr(node, "scope"):
            if node.id in ("self", "cls"):
                return enclosing_class(node)
            for binding in self.module.bindings(node):
                if isinstance(binding.node, ast.ClassDef):
                    return binding.node
                if isinstance(binding.value, ast.Call) and binding.kind in (BindingKind.ASSIGN, BindingKind.WITH):
                    made = binding.value.func
                    if isinstance(made, ast.Name) and made.id != node.id:
                        return self._class_of(made)
        return None

    # -- parameters -------------------------------------------------------------------------------------------------

    def _parameter(self, binding: Binding, depth: int) -> Origin:
        function = binding.scope.node
        if not isinstance(function, _FUNCTIONS):
            return _UNKNOWN
        positions = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
        around = function.parent if isinstance(function.parent, ast.ClassDef) else None
        shift = 1 if around is not None and positions[:1] in (["self"], ["cls"]) else 0
        called = around.name if around is not None and function.name == "__init__" else function.name
        index = positions.index(binding.name) - shift if binding.name in positions else None
        found = []
        for call in self.module.calls_of(called):
            if around is None and not self._calls(call, function):
                continue
            passed = _argument(call, binding.name, index)
            if passed is not None:
                found.append(self._value(passed, depth))
        agreed = self._agreed(found)
        return replace(agreed, grade=min(agreed.grade, Grade.FLOW))

    def _calls(self, call: ast.Call, function: ast.AST) -> bool:
        name = call.func
        return (
            isinstance(name, ast.Name)
            and hasattr(name, "scope")
            and any(item.node is function for item in self.module.bindings(name))
        )

    def _annotation(self, node: ast.expr) -> Origin:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                parsed = ast.parse(node.value, mode="eval").body
            except SyntaxError:
                return _UNKNOWN
            names = [item for item in ast.walk(parsed) if isinstance(item, (ast.Name, ast.Attribute))]
            for item in names:
                text = item.attr if isinstance(item, ast.Attribute) else item.id
                name = next((found.qualname for found in self.module.found.imports if found.name == text), None)
                declared = self._declared(name or "")
                if declared.kind != "unknown":
                    return declared
            return _UNKNOWN
        if isinstance(node, ast.Subscript):
            return self._annotation(node.slice)
        if isinstance(node, ast.Tuple):
            return self._agreed([self._annotation(item) for item in node.elts])
        if isinstance(node, ast.BinOp):
            return self._agreed([self._annotation(node.left), self._annotation(node.right)])
        if isinstance(node, ast.Name) and hasattr(node, "scope"):
            for binding in self.module.bindings(node):
                if isinstance(binding.node, ast.ClassDef):
                    return self._instance(binding.node, 0)
        return self._declared(self.module.qualname(node) or "")

    @staticmethod
    def _declared(name: str) -> Origin:
        last = name.rpartition(".")[2]
        text = f"annotated as {last}"
        if is_model(name):
            return Origin("model", Grade.ANNOTATION, text, name, decodes=decodes(last))
        if name.partition(".")[0] in PACKAGES:
            if is_processor(last):
                return Origin("processor", Grade.ANNOTATION, text, name)
            if last in ("BatchEncoding", "BatchFeature"):
                return Origin("encoding", Grade.ANNOTATION, text, name)
            if last.endswith("Pipeline"):
                return Origin("pipeline", Grade.ANNOTATION, text, name)
        elif last[:1].isupper() and name.partition(".")[0] not in ("typing", "torch", ""):
            if looks_like_model(last):
                return Origin("model", Grade.ANNOTATION, text, name, decodes=decodes(last))
            return Origin("other", Grade.ANNOTATION, text, name)
        return _UNKNOWN

    # -- classes of this file -----------------------------------------------------------------------------------------

    def _instance(self, node: ast.ClassDef, depth: int) -> Origin:
        """An instance of a class of this file: a model when its bases are, and something else when it says so itself."""
        if any(isinstance(item, _FUNCTIONS) and item.name == "generate" for item in node.body):
            return Origin("other", Grade.CONSTRUCTOR, f"{node.name} has a generate() of its own")
        for base in self._bases(node, depth):
            name = self.module.qualname(base) or ""
            last = name.rpartition(".")[2]
            if is_model(name) or looks_like_model(last):
                return Origin("model", Grade.CONSTRUCTOR, f"{node.name} is a {last}", name, decodes=decodes(last))
        if not node.bases:
            return Origin("other", Grade.CONSTRUCTOR, f"{node.name} is a class of this file")
        return _UNKNOWN

    def _bases(self, node: ast.ClassDef, depth: int) -> Iterator[ast.expr]:
        for base in node.bases:
            yield base
            own = self._class_of(base) if isinstance(base, ast.Name) else None
            if own is not None and own is not node and depth < _MAX_DEPTH:
                yield from self._bases(own, depth + 1)

    # -- attributes ---------------------------------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute, depth: int) -> Origin:
        stored = self._stored(node, depth)
        if stored is not None:
            return stored
        inner = self._value(node.value, depth)
        if inner.kind == "model" and node.attr in ("module", "base_model", "pretrained_model", "_orig_mod"):
            return inner
        if inner.kind == "model" and node.attr in ("model", "language_model", "decoder", "llm"):
            return replace(inner, grade=min(inner.grade, Grade.FLOW), decodes=Decodes.UNKNOWN)
        if inner.kind == "encoding":
            return inner
        if inner.kind == "pipeline" and inner.call is not None:
            if node.attr == "model":
                return self._of_pipeline(inner.call, depth)
            if node.attr in ("tokenizer", "processor", "feature_extractor", "image_processor"):
                return Origin("processor", Grade.FLOW, f"the {node.attr} of a pipeline", call=inner.call)
        if inner.kind == "processor" and node.attr in ("tokenizer", "image_processor", "feature_extractor"):
            return inner
        if inner.kind == "trainer" and node.attr in ("model", "model_wrapped") and inner.call is not None:
            model = _argument(inner.call, "model", 0)
            if model is not None:
                return self._value(model, depth)
        return _UNKNOWN

    def _stored(self, node: ast.Attribute, depth: int) -> Origin | None:
        """What is assigned to this attribute in the file, in the same class if it is one of ``self``."""
        declared = [
            annotation
            for target, annotation in self.module.found.declared.get(node.attr, ())
            if self._same_place(target, node)
        ]
        for annotation in declared:
            found = self._annotation(annotation)
            if found.kind != "unknown":
                return found
        stores = [
            (target, value)
            for target, value in self.module.found.stores.get(node.attr, ())
            if value is not None and self._same_place(target, node)
        ]
        if not stores:
            return None
        found = []
        for target, value in stores:
            if isinstance(target.parent, (ast.Tuple, ast.List)) and not _is_paired(target, value):
                found.append(self._element(value, _index(target), depth))
            else:
                found.append(self._value(value, depth))
        return self._agreed(found)

    def _same_place(self, target: ast.Attribute, node: ast.Attribute) -> bool:
        if same_chain(target, node):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                return enclosing_class(target) is enclosing_class(node) or self._derives(node, target)
            return True
        # agent.model, where the class of agent assigns self.model
        if isinstance(target.value, ast.Name) and target.value.id == "self":
            around = self._class_of(node.value)
            return around is not None and enclosing_class(target) is around
        return False

    def _derives(self, node: ast.expr, target: ast.expr) -> bool:
        own, other = enclosing_class(node), enclosing_class(target)
        if own is None or other is None:
            return False
        return any(isinstance(base, ast.Name) and self._class_of(base) is other for base in self._bases(own, 0))

    def _of_pipeline(self, call: ast.Call, depth: int) -> Origin:
        model = _argument(call, "model", 1)
        if model is not None:
            found = self._value(model, depth)
            if found.kind == "model":
                return found
        return Origin("model", Grade.FLOW, "the model of a pipeline", call=call)

    # -- calls --------------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, depth: int) -> Origin:
        function = node.func
        name = self.module.qualname(function)
        if name is not None:
            made = self._made(node, name, depth)
            if made is not None:
                return made
        if isinstance(function, ast.Name) and hasattr(function, "scope"):
            around = self._class_of(function)
            if around is not None:
                return replace(self._instance(around, depth), call=node)
        if isinstance(function, ast.Attribute):
            method = self._method(node, function, depth)
            if method is not None:
                return method
        if self._value(function, depth).kind == "processor":
            return Origin("encoding", Grade.FLOW, "what a tokenizer returns", call=node)
        returned = self._returned(function, None, depth)
        if returned.kind == "unknown":
            for definition in self._definitions(function):
                if definition.returns is not None:
                    return self._annotation(definition.returns)
        return returned

    def _method(self, node: ast.Call, function: ast.Attribute, depth: int) -> Origin | None:
        attribute = function.attr
        if attribute in _SAME:
            return self._value(function.value, depth)
        if attribute in _WRAPPING_METHODS and node.args:
            return self._value(node.args[0], depth)
        if attribute == "prepare" and len(node.args) == 1:
            return self._value(node.args[0], depth)
        if attribute in LOADERS:
            around = self._class_of(function.value)
            if around is not None:
                return replace(self._instance(around, depth), call=node)
        if attribute in _ENCODERS and self._value(function.value, depth).kind == "processor":
            return Origin("encoding", Grade.FLOW, f"what {attribute}() returns", call=node)
        return None

    def _made(self, node: ast.Call, name: str, depth: int) -> Origin | None:
        """What a call of an imported name makes; ``None``: the name does not tell."""
        if name in _WRAPPERS:
            return self._wrapped(node, name, depth)
        owner, _, last = name.rpartition(".")
        if last in LOADERS:
            name, last = owner, owner.rpartition(".")[2]
        elif last == "from_options":
            return None
        root = name.partition(".")[0]
        text = f"made by {last}"
        if name == "transformers.pipeline" or (root in PACKAGES and last == "pipeline") or name.endswith("Pipeline"):
            return Origin("pipeline" if root in PACKAGES else "other", Grade.CONSTRUCTOR, text, name, node)
        if root == "peft" and last.startswith("Peft") and node.args:
            base = self._value(node.args[0], depth)
            if base.kind == "model":
                return replace(base, text=text, call=node)
        if is_model(name):
            return Origin("model", Grade.CONSTRUCTOR, text, name, node, decodes(last))
        if root in PACKAGES:
            if is_processor(last):
                return Origin("processor", Grade.CONSTRUCTOR, text, name, node)
            if last.endswith("Trainer"):
                return Origin("trainer", Grade.CONSTRUCTOR, text, name, node)
        if last[:1].isupper() and root not in ("torch", "builtins"):
            if root not in PACKAGES and looks_like_model(last):
                return Origin("model", Grade.FLOW, text, name, node, decodes(last))
            return Origin("other", Grade.CONSTRUCTOR, text, name, node)
        return None

    def _wrapped(self, node: ast.Call, name: str, depth: int) -> Origin:
        model = node.args[0] if node.args else _argument(node, "model", None)
        if model is None:
            return _UNKNOWN
        found = self._value(model, depth)
        if found.kind == "unknown" and name.startswith(("peft.", "trl.")):
            return Origin("model", Grade.CONSTRUCTOR, f"made by {name.rpartition('.')[2]}", name, node)
        return found


def _index(target: ast.AST) -> int | None:
    """The place of a target in the tuple that is unpacked."""
    around = getattr(target, "parent", None)
    if isinstance(around, (ast.Tuple, ast.List)) and not any(isinstance(item, ast.Starred) for item in around.elts):
        return around.elts.index(target)
    return None


def _is_paired(target: ast.Attribute, value: ast.expr) -> bool:
    """``self.a, self.b = f(), g()``: the value is that of the target, and no tuple to be unpacked."""
    statement = target.parent.parent
    return isinstance(getattr(statement, "value", None), (ast.Tuple, ast.List)) and value in statement.value.elts


def _argument(call: ast.Call, keyword: str, position: int | None) -> ast.expr | None:
    for item in call.keywords:
        if item.arg == keyword:
            return item.value
    if position is None or not 0 <= position < len(call.args):
        return None
    return None if any(isinstance(item, ast.Starred) for item in call.args[: position + 1]) else call.args[position]


def _last_name(node: ast.expr) -> str:
    while isinstance(node, ast.Call):
        node = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")

"""Pipelines of diffusers that optimum-neuron compiled ahead of time.

    shapes = {"height": 512, "width": 512, "batch_size": 1}       (removed)
    pipe = NeuronStableDiffusionPipeline.from_pretrained(
        name, export=True, auto_cast="matmul", auto_cast_type="bf16", **shapes)
    image = pipe(prompt).images[0]

    pipe = StableDiffusionPipeline.from_pretrained(name, dtype=torch.bfloat16).to("neuron")
    pipe.unet.compile_repeated_blocks(backend="neuron", dynamic=False)
    image = pipe(prompt, height=512, width=512).images[0]

The class, the arguments, the compiled modules and every call of the pipeline change together: diffusers ignores keywords
that it does not know, so that a size which stayed behind would be lost without a word. What is saved goes; what loads it
again in the file loads the original checkpoint, with the same sizes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from neuron_port.codemods.argument_table import Called, claim_strings
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.compiled_artefact import looks_compiled
from neuron_port.codemods.diffusion_parts import Adapters, Parts
from neuron_port.codemods.exported import (
    Export,
    Unsure,
    escaped,
    forgotten,
    made_by,
    number,
    same_path,
    saved_by,
    used,
    visible,
    word,
)
from neuron_port.codemods.name_table import rewrite
from neuron_port.edits.operations import (
    InsertArgument,
    InsertComment,
    InsertStatement,
    Operation,
    RemoveStatement,
    Replace,
)
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import statement
from neuron_port.semantics.spreads import spreads_of

_LOADED = "from_pretrained"
_DTYPES = {"bf16": "torch.bfloat16", "bfloat16": "torch.bfloat16", "fp16": "torch.float16", "float16": "torch.float16"}
_EXACT = ("tf32", "fp32", "float32")
_ARTEFACTS = frozenset({"neuron_config", "neuron_configs", "num_images_per_prompt", "data_parallel_mode", "configs"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a pipeline class of optimum-neuron, and what is loaded with it."""
    call = _loading(site.node)
    if call is None:
        yield _named(site)
        return
    port = _Port(site, call)
    try:
        operations = port.operations()
    except Unsure as reason:
        yield site.report(f"{site.row.message}; {reason}", applicability=Applicability.MANUAL)
        return
    if port.replaced_by is not None:
        yield site.report(
            f"{site.row.message}; here it only compiles and saves what line {port.replaced_by.lineno} loads, which takes the "
            "original checkpoint then: it goes",
            operations=operations,
            use=(site.binding, None) if site.binding else None,
            follows=(port.replaced_by,),
        )
        yield from port.notes
        return
    renamed = site.rename(site.row.to)
    if renamed is None:
        yield site.report(f"{site.row.message}; the name means something else here", applicability=Applicability.MANUAL)
        return
    yield site.report(operations=[*renamed[0], *operations], use=renamed[1])
    yield from port.notes


def _loading(node: ast.expr) -> ast.Call | None:
    """``X.from_pretrained(...)`` around the class."""
    method = node.parent
    if isinstance(method, ast.Attribute) and method.value is node and method.attr == _LOADED:
        call = method.parent
        return call if isinstance(call, ast.Call) and call.func is method else None
    return None


def _named(site: Site) -> Report:
    """The class in an annotation or a question; a class that derives from it, or a call of it, is for a person."""
    parent = site.node.parent
    if site.form == "call" or (isinstance(parent, ast.ClassDef) and site.node in parent.bases):
        return site.report(applicability=Applicability.MANUAL)
    if isinstance(parent, ast.Attribute):
        return site.report(
            f"{site.row.message}; .{parent.attr} is for a person", node=parent, applicability=Applicability.MANUAL
        )
    return rewrite(site)


class _Port:
    """One call that loads a pipeline, with the calls of what it returns."""

    def __init__(self, site: Site, call: ast.Call) -> None:
        self.site, self.call, self.module = site, call, site.module
        self.notes: list[Report] = []
        self.dtype: str | None = None
        self.replaced_by: ast.expr | None = None

    def operations(self) -> list[Operation]:
        """Everything that changes together.

        Raises:
            Unsure: something cannot be read.
        """
        operations: list[Operation] = []
        export = Export(self.site, self.call)
        origin, size = export, export
        if not export.is_export:
            origin = self._saved_by(export)
            size = origin
            if self._again(origin, self.call):
                operations.append(Replace(export.source, escaped(origin.text(origin.source))))
        self._unknown(export)
        calls, attributes = used(self.site.context, [self.call])
        if not calls and export.is_export and _is_finishing(attributes):
            self.replaced_by = self._reload(attributes)
            whole = statement(self.call)
            if self.replaced_by is not None and isinstance(whole, ast.Assign):
                self._artefacts(attributes)
                return [*forgotten(self.module, whole), *export.dead()]
            self.replaced_by = None
        moved = self._moved(size)
        self._fits(moved, calls, attributes, origin is export)
        for name in (*self._options("call"), *self._options("drop")):
            export.take(name)
        operations += self._dtype(export, origin)
        parts = Parts(self.site, export)
        adapters = Adapters(self.site, export)
        operations += parts.arguments(self.dtype)
        operations += self._parallel(export, origin, parts)
        operations += export.operations({"torch_dtype": "dtype", **self._options("rename")})
        operations += self._placed(adapters, parts)
        for place in calls if moved else ():
            operations += self._called(place, moved)
        self._artefacts(attributes)
        return operations

    def _options(self, name: str) -> dict[str, str] | list[str]:
        return self.site.rule.options[name]

    # -- what is loaded ---------------------------------------------------------------------------------------------

    def _saved_by(self, export: Export) -> Export:
        """The export in this file whose saved pipeline is loaded."""
        found = saved_by(self.site, export, self._loads)
        if found is not None:
            return found
        name = word(self.module, export.source)
        if name is not None and looks_compiled(name):
            raise Unsure(
                f"{name!r} looks like a compiled artefact, which TorchNeuron cannot load: load the original checkpoint, "
                "which its model card or model_index.json names"
            )
        reason = "without export=True it loads compiled artefacts, which TorchNeuron cannot load"
        plain = self.module.calls_to(f"{self.site.row.to}.{_LOADED}")
        if plain:
            raise Unsure(
                f"{reason}; line {plain[0].lineno} loads the original checkpoint with the class of diffusers: let that branch "
                "serve Neuron as well"
            )
        raise Unsure(f"{reason}: load the original checkpoint, and pass height and width where the pipeline is called")

    def _loads(self, call: ast.Call) -> bool:
        name = self.module.qualname(call.func) or ""
        return name.startswith("optimum.") and name.endswith(f"Pipeline.{_LOADED}")

    def _again(self, origin: Export, place: ast.AST) -> bool:
        """Whether the original checkpoint can be loaded where the saved pipeline was."""
        loaded = any(origin.look(name) is not None for name in _MERGED)
        return not loaded and origin.source is not None and visible(self.module, origin.source, place)

    def _unknown(self, export: Export) -> None:
        """Drop what neither library knows."""
        known = {*self._options("call"), *self._options("drop"), *self._options("keep"), *self._options("rename")}
        for name in export.names:
            if name not in known and name not in self._options("parts"):
                place = export.look(name)
                self._note(
                    place if place is not None else self.call,
                    f"{name}= had no effect, and diffusers would ignore it too: take it out, or pass what was meant to the call",
                )
                export.take(name)

    # -- what moves to the calls --------------------------------------------------------------------------------------

    def _moved(self, export: Export) -> dict[str, ast.expr]:
        """The values that every call of the pipeline gets, by the keyword there."""
        row = self.site.row.options
        found: dict[str, ast.expr] = {}
        for name, keyword in self._options("call").items():
            value = export.look(name)
            if value is None or (name == "sequence_length" and not row.get("max_sequence_length")):
                continue
            found[keyword] = value
        return found

    def _fits(self, moved: dict[str, ast.expr], calls: list[ast.Call], attributes: list, exported: bool) -> None:
        """Whether all that moves can be written where the pipeline is called."""
        if moved and not calls:
            if exported and _is_finishing(attributes) and any(self._loaded(_call_of(each)) for each in attributes):
                return  # what loads it again calls it with the sizes
            if exported and _is_finishing(attributes):
                raise Unsure("it only compiles and saves, which TorchNeuron has no use for: drop the script")
            raise Unsure(
                f"it is not called in this file: pass {_list(moved)} where it is, since diffusers ignores them here"
            )
        for place in calls:
            if moved and Called(place, spreads=spreads_of(self.module, place)).hidden:
                raise Unsure(f"line {place.lineno} hides what the pipeline is called with")
            for keyword, value in moved.items():
                if not visible(self.module, value, place):
                    raise Unsure(f"{keyword} is not in sight where the pipeline is called, on line {place.lineno}")

    def _called(self, place: ast.Call, moved: dict[str, ast.expr]) -> list[Operation]:
        row = self.site.row.options
        passed = Export(self.site, place)
        operations: list[Operation] = []
        for keyword, value in moved.items():
            if keyword in ("height", "width") and not row.get("sized", True):
                continue
            own = passed.look(keyword)
            if own is not None:
                if ast.dump(own) != ast.dump(value):
                    self._differs(keyword, own, value)
            elif len(place.args) <= row.get("size_at", 99) or keyword not in ("height", "width"):
                operations.append(InsertArgument(place, escaped(_text(self.module, value)), keyword))
        if not row.get("sized", True) and {"height", "width"} <= set(moved):
            operations += self._resized(place, passed, moved)
        if row.get("binned") and "height" in moved and passed.look("use_resolution_binning") is None:
            operations.append(InsertArgument(place, "False", "use_resolution_binning"))
        return operations

    def _differs(self, keyword: str, own: ast.expr, value: ast.expr) -> None:
        self._note(
            own,
            f"{keyword} was fixed to {ast.unparse(value)} when the pipeline was compiled, whatever the call said; on "
            "TorchNeuron the call decides, and each size compiles once",
        )

    def _resized(self, place: ast.Call, passed: Export, moved: dict[str, ast.expr]) -> list[Operation]:
        """The image that the size is taken from, where the call has no height and width."""
        at = self.site.row.options.get("image_at", 1)
        image = passed.look("image") or next(iter(place.args[at : at + 1]), None)
        if image is None:
            return []
        size = f"({_text(self.module, moved['width'])}, {_text(self.module, moved['height'])})"
        made = made_by(self.module, image)
        kind = _image(self.module, made)
        if kind == "latent" or (isinstance(made, ast.Call) and _method(made) == "resize"):
            return []
        if kind == "image":
            return [Replace(image, f"{{image}}.resize({escaped(size)})", {"image": image})]
        text = f"TODO(neuron-port): NP361 give it an image of {size}: optimum-neuron resized it to the compiled size"
        return [InsertComment(statement(place), text)]

    # -- precision, devices, compilation ------------------------------------------------------------------------------

    def _dtype(self, export: Export, origin: Export) -> list[Operation]:
        """optimum-neuron cast matrix products to bfloat16 unless it was told otherwise."""
        cast, kind = export.take("auto_cast"), export.take("auto_cast_type")
        if export is not origin:
            cast, kind = origin.look("auto_cast"), origin.look("auto_cast_type")
        mode = "matmul" if cast is None and "auto_cast" not in origin.names else word(self.module, cast)
        name = "bf16" if kind is None else word(self.module, kind)
        if (mode is None and cast is not None) or (kind is not None and name is None):
            raise Unsure("what auto_cast and auto_cast_type are is not in sight: pass the dtype")
        for given in ("dtype", "torch_dtype"):
            if export.look(given) is not None:
                self.dtype = export.text(export.look(given))
                return []
            if origin.look(given) is not None:
                return self._kept(origin, origin.look(given))
        if mode in (None, "none") or name in _EXACT:
            return []
        if name not in _DTYPES:
            raise Unsure(f"auto_cast_type={name!r} has no counterpart")
        spelled = self.site.spell(_DTYPES[name], self.call)
        if spelled is None:
            raise Unsure("the name torch means something else here, or is imported only later")
        self.dtype = spelled.text
        return [InsertArgument(self.call, spelled.text, "dtype"), *spelled.operations]

    def _kept(self, origin: Export, value: ast.expr) -> list[Operation]:
        """The type that the pipeline was exported in, where it is loaded again."""
        name = self.module.qualname(value) or ""
        spelled = self.site.spell(name, self.call) if name.startswith("torch.") else None
        if spelled is None and not visible(self.module, value, self.call):
            raise Unsure(f"the dtype that it was exported in, {ast.unparse(value)}, is not in sight here: pass it")
        self.dtype = spelled.text if spelled is not None else origin.text(value)
        return [
            InsertArgument(self.call, escaped(self.dtype), "dtype"),
            *(spelled.operations if spelled is not None else ()),
        ]

    def _parallel(self, export: Export, origin: Export, parts: Parts) -> list[Operation]:
        mode = export.take("data_parallel_mode")
        devices = export.take("device_ids")
        operations: list[Operation] = []
        if (mode is not None and word(self.module, mode) != "none") or devices is not None:
            self._note(
                mode if mode is not None else devices,
                "optimum-neuron drove several cores from one process (data_parallel_mode, device_ids); on TorchNeuron each "
                "process has one core: start one for each with torchrun --nproc_per_node=N and split the prompts by rank",
            )
            text = "TODO(neuron-port): NP361 this used several cores: start a process for each, and split the prompts by rank"
            operations.append(InsertComment(statement(self.call), text))
        size = export.take("tensor_parallel_size") or origin.look("tensor_parallel_size")
        if size is None or number(self.module, size) == 1:
            return operations
        transformer = self.site.row.options.get("transformer")
        if transformer is None:
            raise Unsure("its model has no plan for tensor parallelism in diffusers: only Flux and QwenImage have one")
        if origin.source is None or not visible(self.module, size, self.call):
            raise Unsure(f"it was exported for {ast.unparse(size)} cores, which is not in sight here")
        count = export.text(size)
        self._note(
            size if origin is export else self.call,
            f"tensor_parallel_size={count} used the cores of one process; on TorchNeuron each process has one: start the "
            f"program with torchrun --nproc_per_node={count}, and print and save on rank 0 only",
        )
        return [*operations, *parts.sharded(transformer, origin.text(origin.source), count, self.dtype)]

    def _placed(self, adapters: Adapters, parts: Parts) -> list[Operation]:
        """``.to("neuron")``, and what is compiled, behind the statement that keeps the pipeline."""
        device = self.site.device(text=True, node=self.call)
        if device is None:
            raise Unsure("the name torch means something else here")
        target = _target(self.call)
        operations: list[Operation] = list(device.operations)
        backend = "" if self.site.context.portable else 'backend="neuron", '
        lines: list[str] = []
        loads = adapters.statements()
        if target is None:
            if loads or parts.after:
                raise Unsure("what it returns gets no name, and adapters are loaded into it")
            return [*operations, Replace(self.call, f"{{call}}.to({device.text})", {"call": self.call})]
        name = ast.unparse(target)
        lines += [line.format(pipe=name) for line in (*parts.after, *loads)]
        if loads:
            lines.append(f"{name}.to({escaped(device.text)})")
        else:
            operations.append(Replace(self.call, f"{{call}}.to({device.text})", {"call": self.call}))
        for module in self.site.row.options["compiled"]:
            how = "compile_repeated_blocks" if module in ("unet", "flux") else "compile"
            lines.append(f"{name}.{'transformer' if module == 'flux' else module}.{how}({backend}dynamic=False)")
        operations.append(InsertStatement(statement(self.call), "\n".join(lines), after=True))
        return [*operations, *parts.required, *adapters.required]

    # -- what is saved --------------------------------------------------------------------------------------------------

    def _artefacts(self, attributes: list[ast.Attribute]) -> None:
        for node in attributes:
            call = _call_of(node)
            if node.attr == "push_to_hub" or (node.attr == "save_pretrained" and not self._loaded(call)):
                whole = call.parent if call is not None and isinstance(call.parent, ast.Expr) else None
                if whole is not None:
                    claim_strings(self.site, call)
                self._note(
                    node,
                    f"{node.attr}() kept the compiled artefacts, and TorchNeuron has none; on a pipeline of diffusers it "
                    "writes the weights again: drop it",
                    operations=[RemoveStatement(whole)] if whole is not None else (),
                )
            elif node.attr in _ARTEFACTS:
                self._note(
                    node,
                    f".{node.attr} tells how the pipeline was compiled, and diffusers has no such attribute: use the value "
                    "that the program passes",
                    Severity.ERROR,
                )
            elif node.attr == "replace_weights":
                self._note(
                    node,
                    "replace_weights() fills compiled programs with weights; load_state_dict() fills a module of the pipeline",
                    Severity.ERROR,
                )

    def _reload(self, attributes: list[ast.Attribute]) -> ast.expr | None:
        """The class that loads again what is saved, from the original checkpoint."""
        paths = [node.parent.args[0] for node in attributes if isinstance(node.parent, ast.Call) and node.parent.args]
        for call in self.module.calls_of(_LOADED):
            if call is not self.call and self._loads(call) and call.args and call.lineno > self.call.lineno:
                again = self._again(Export(self.site, self.call), call)
                if again and any(same_path(self.module, path, call.args[0]) for path in paths):
                    return call.func.value if self._is_ported(call) else None
        return None

    def _is_ported(self, call: ast.Call) -> bool:
        """Whether another load of this file can be ported."""
        cls = call.func.value
        name = self.module.qualname(cls) or ""
        found = self.site.context.row(name)
        if found is None or found[0] is not self.site.rule:
            return False
        try:
            _Port(replace(self.site, node=cls, row=found[1], qualname=name, binding=None), call).operations()
        except Unsure:
            return False
        return True

    def _loaded(self, save: ast.Call | None) -> bool:
        """Whether the file still loads what is saved."""
        path = save.args[0] if save is not None and save.args else None
        return path is not None and any(
            self._loads(call)
            and call.args
            and call is not self.call
            and same_path(self.module, path, call.args[0])
            and not self._again(Export(self.site, self.call), call)
            for call in self.module.calls_of(_LOADED)
        )

    def _note(
        self,
        node: ast.AST,
        message: str,
        severity: Severity = Severity.WARNING,
        operations: Sequence[Operation] = (),
    ) -> None:
        level = Applicability.UNSAFE if operations else Applicability.MANUAL
        report = self.site.report(
            message, node=node, code="NP361", severity=severity, applicability=level, operations=operations
        )
        report.origin = node
        self.notes.append(report)


# What is merged into the weights of the pipeline that is saved.
_MERGED = ("unet_id", "submodels", "controlnet_ids", "lora_model_ids", "ip_adapter_id", "ip_adapter_ids")
_FINISHING = frozenset({"save_pretrained", "push_to_hub"})


def _is_finishing(attributes: list[ast.Attribute]) -> bool:
    """Whether a pipeline is only saved."""
    return bool(attributes) and all(node.attr in _FINISHING for node in attributes)


def _call_of(node: ast.Attribute) -> ast.Call | None:
    """The call of a method."""
    return node.parent if isinstance(node.parent, ast.Call) and node.parent.func is node else None


def _target(call: ast.Call) -> ast.expr | None:
    """The one name that keeps what a call returns."""
    parent = call.parent
    if isinstance(parent, ast.Assign) and parent.value is call and len(parent.targets) == 1:
        target = parent.targets[0]
        return target if isinstance(target, (ast.Name, ast.Attribute)) else None
    return None


def _list(moved: dict[str, ast.expr]) -> str:
    given = [f"{keyword}={ast.unparse(value)}" for keyword, value in moved.items()]
    return given[0] if len(given) == 1 else f"{', '.join(given[:-1])} and {given[-1]}"


def _text(module, value: ast.expr) -> str:
    return ast.get_source_segment(module.text, value) or ast.unparse(value)


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _image(module, value: ast.expr) -> str | None:
    """Whether a value is an image of PIL, or the latents of another pipeline."""
    if isinstance(value, ast.Subscript) and any(
        isinstance(node, ast.Constant) and node.value is None for node in ast.walk(value.slice)
    ):
        return "latent"
    for node in ast.walk(value):
        if isinstance(node, ast.keyword) and node.arg == "output_type":
            return "latent"
        if isinstance(node, ast.Call):
            name = module.qualname(node.func) or ""
            if _method(node) in ("load_image", "convert") or name in ("PIL.Image.open", "PIL.Image.fromarray"):
                return "image"
    return None

"""The parts that optimum-neuron loaded into a diffusion pipeline before it compiled it, as diffusers loads them.

unet_id="a/b"                      ->  unet=UNet2DConditionModel.from_pretrained("a/b")
controlnet_ids="a/b"               ->  controlnet=ControlNetModel.from_pretrained("a/b")
lora_model_ids=.., lora_weight_names=..     pipe.load_lora_weights(.., weight_name=..); pipe.fuse_lora()
ip_adapter_id=.., ip_adapter_scale=..       pipe.load_ip_adapter(..); pipe.set_ip_adapter_scale(..)
tensor_parallel_size=8             ->  transformer=FluxTransformer2DModel.from_pretrained(.., parallel_config=..)
"""

from __future__ import annotations

import ast

from neuron_port.codemods.argument_table import spell_closest
from neuron_port.codemods.base import Site
from neuron_port.codemods.exported import Export, Unsure, escaped, literal, word
from neuron_port.edits.operations import InsertArgument, InsertStatement, Operation, RequireImport
from neuron_port.semantics.module import outside_loops

_LCM = ("lcm", "latent-consistency")


class Parts:
    """Models that are loaded by themselves and passed to the pipeline.

    ``after`` holds lines for behind the pipeline, with ``{pipe}`` for its name; ``required`` the imports they need.
    """

    def __init__(self, site: Site, export: Export) -> None:
        self._site, self._export = site, export
        self.after: list[str] = []
        self.required: list[Operation] = []
        self._taken = {name: export.take(name) for name in ("unet_id", "submodels", "controlnet_ids")}

    def arguments(self, dtype: str | None) -> list[Operation]:
        """Pass the parts as modules.

        Raises:
            Unsure: which ones they are is not in sight.
        """
        operations: list[Operation] = []
        unet = self._taken["unet_id"] or self._of_submodels()
        if unet is not None:
            operations += self._loaded("unet", "UNet2DConditionModel", self._export.text(unet), dtype)
            name = (word(self._site.module, unet) or "").lower()
            if any(part in name for part in _LCM):
                scheduler = self._class("LCMScheduler")
                self.after.append(f"{{pipe}}.scheduler = {scheduler}.from_config({{pipe}}.scheduler.config)")
        controlnets = self._taken["controlnet_ids"]
        if controlnets is not None:
            operations += self._controlnets(controlnets, dtype)
        return operations

    def sharded(self, transformer: str, source: str, count: str, dtype: str | None) -> list[Operation]:
        """Split the transformer over the processes; the process group has to be there first."""
        site, export = self._site, self._export
        config = self._class("TensorParallelConfig")
        name = self._class(transformer)
        given = [f"dtype={dtype}"] if dtype else []
        text = ", ".join([source, 'subfolder="transformer"', *given, f"parallel_config={config}(tp_degree={count})"])
        operations: list[Operation] = [
            InsertArgument(export.call, escaped(f"{name}.from_pretrained({text})"), "transformer"),
            *self.required,
        ]
        if not site.context.processes.grouped(export.call):
            group = spell_closest(site, "torch.distributed.init_process_group", export.call)
            if group is None:
                raise Unsure("the name torch means something else here")
            backend = "" if site.context.portable else '"neuron"'
            operations += [InsertStatement(outside_loops(export.call), f"{group.text}({backend})"), *group.operations]
        return operations

    def _of_submodels(self) -> ast.expr | None:
        found = self._taken["submodels"]
        if found is None:
            return None
        known = literal(self._site.module, found)
        keys = [key.value if isinstance(key, ast.Constant) else None for key in getattr(known, "keys", [None])]
        if not isinstance(known, ast.Dict) or keys != ["unet"]:
            raise Unsure("submodels= holds more than a UNet: load the modules and pass them by their names")
        return known.values[0]

    def _controlnets(self, value: ast.expr, dtype: str | None) -> list[Operation]:
        known = literal(self._site.module, value)
        given = f", dtype={dtype}" if dtype else ""
        name = self._class("ControlNetModel")
        if isinstance(known, (ast.List, ast.Tuple)):
            if isinstance(value, ast.Name):
                text = f"[{name}.from_pretrained(each{given}) for each in {value.id}]"
            else:
                loads = (f"{name}.from_pretrained({self._export.text(each)}{given})" for each in known.elts)
                text = f"[{', '.join(loads)}]"
        elif isinstance(known, ast.Constant):
            text = f"{name}.from_pretrained({self._export.text(value)}{given})"
        else:
            raise Unsure("whether controlnet_ids= is one or several is not in sight")
        return [InsertArgument(self._export.call, escaped(text), "controlnet"), *self.required]

    def _loaded(self, keyword: str, name: str, source: str, dtype: str | None) -> list[Operation]:
        given = f", dtype={dtype}" if dtype else ""
        text = f"{self._class(name)}.from_pretrained({source}{given})"
        return [InsertArgument(self._export.call, escaped(text), keyword), *self.required]

    def _class(self, name: str) -> str:
        spelling = self._site.imported("diffusers", name)
        if spelling is None:
            raise Unsure(f"the name {name} means something else here")
        self.required += [each for each in spelling.operations if isinstance(each, RequireImport)]
        return spelling.text


class Adapters:
    """LoRA and IP-Adapter weights, which were merged into the compiled program.

    Raises:
        Unsure: which ones they are is not in sight.
    """

    def __init__(self, site: Site, export: Export) -> None:
        self._module, self._export = site.module, export
        self.required: list[Operation] = []
        names = ("lora_model_ids", "lora_weight_names", "lora_adapter_names", "lora_scales")
        self._lora = [export.take(name) for name in names]
        self._image = [
            export.take(f"ip_adapter_{name}") or export.take(f"ip_adapter_{name}s")
            for name in ("id", "subfolder", "weight_name", "scale")
        ]
        for name in ("lora_args", "ip_adapter_args"):
            if export.take(name) is not None:
                raise Unsure(f"{name}= is an object of optimum-neuron: load the adapter into the pipeline")

    def statements(self) -> list[str]:
        """The lines behind the pipeline, with ``{pipe}`` for its name; before it is moved and compiled."""
        return [*self._loras(), *self._image_prompts()]

    def _loras(self) -> list[str]:
        models, weights, names, scales = self._lora
        if models is None:
            return []
        if weights is None:
            raise Unsure("lora_model_ids= was ignored without lora_weight_names=: name the file of the weights")
        many = [self._several(value) for value in (models, weights, names, scales)]
        count = len(many[0])
        if any(each and len(each) != count for each in many):
            raise Unsure("the lists of LoRA models, weights, names and scales differ in length")
        lines = []
        for index in range(count):
            given = [many[0][index], f"weight_name={many[1][index]}"]
            if many[2]:
                given.append(f"adapter_name={many[2][index]}")
            lines.append(f"{{pipe}}.load_lora_weights({escaped(', '.join(given))})")
        if count > 1 and many[3]:
            listed, weighed = ", ".join(many[2]), ", ".join(many[3])
            lines.append(f"{{pipe}}.set_adapters([{escaped(listed)}], adapter_weights=[{escaped(weighed)}])")
        scale = f"lora_scale={escaped(many[3][0])}" if count == 1 and many[3] else ""
        return [*lines, f"{{pipe}}.fuse_lora({scale})"]

    def _several(self, value: ast.expr | None) -> list[str]:
        """The elements of a list, or the one value."""
        if value is None:
            return []
        known = literal(self._module, value)
        if isinstance(known, (ast.List, ast.Tuple)):
            return [self._export.text(each) for each in known.elts]
        if isinstance(known, ast.Constant):
            return [self._export.text(value)]
        raise Unsure("whether there is one LoRA adapter or several is not in sight")

    def _image_prompts(self) -> list[str]:
        model, subfolder, weight, scale = self._image
        if model is None:
            return []
        given = [self._export.text(model)]
        given += [f"subfolder={self._export.text(subfolder)}"] if subfolder is not None else []
        given += [f"weight_name={self._export.text(weight)}"] if weight is not None else []
        lines = [f"{{pipe}}.load_ip_adapter({escaped(', '.join(given))})"]
        if scale is not None:
            lines.append(f"{{pipe}}.set_ip_adapter_scale({escaped(self._export.text(scale))})")
        return lines

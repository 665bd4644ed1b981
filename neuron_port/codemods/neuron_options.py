"""The options of an optimum-neuron model: dropped, renamed, or carried over into what Transformers calls them.

    from_pretrained(id, export=True, auto_cast_type="bf16", num_cores=1)   ->  from_pretrained(id, dtype=torch.bfloat16, device_map="neuron")
    from_pretrained(id, export=True, num_cores=2)                          ->  from_pretrained(id, distributed_config=DistributedConfig(tp_size=2))

Options that a local dictionary brings, or a neuron_config made in the file, count like arguments of the call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from neuron_port.codemods.argument_table import (
    Argument,
    claim,
    drop,
    keyword_of,
    node_of,
    rename,
    spell_closest,
    value_of,
)
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.neuron_load import Load, Value, literal, loads
from neuron_port.edits.operations import (
    DropArgument,
    InsertArgument,
    InsertStatement,
    Operation,
    RemoveStatement,
    SetKeyword,
)
from neuron_port.findings import Applicability
from neuron_port.semantics.literals import is_none
from neuron_port.semantics.module import outside_loops, statement
from neuron_port.semantics.scopes import BindingKind
from neuron_port.semantics.spreads import Spread

OPTIONS, PARALLEL = "NP306", "NP307"
CORES = ("num_cores", "tensor_parallel_size", "tp_degree")
_TYPES = ("auto_cast_type", "auto_cast", "torch_dtype")
# Kinds whose exporter casts unless it is told not to.
_CASTS = ("seq2seq", "speech")
_DECODERS = ("decoder", "vision-text")
# A type that the running program chooses by a word.
_CHOSEN = "torch.dtype"


class Unportable(Exception):
    """A load that a person has to port; the text says why."""


@dataclass(slots=True)
class Ported:
    """What becomes of the options of one load: reports about them, and the operations that add what takes their place."""

    reports: list[Report] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)


class Options:
    """Ports the options of ``load``; ``source`` is the load that exported the model, often the same one.

    ``done`` holds what was ported until something had no counterpart.
    """

    def __init__(self, site: Site, load: Load, source: Load, *, trial: bool = False) -> None:
        self.site = site
        self.load = load
        self.source = source
        self.trial = trial
        self.done = Ported()
        self.gone: list[Argument] = []
        self.choice: ast.expr | None = None

    def port(self) -> Ported:
        """Port all of them.

        Raises:
            Unportable: an option has no counterpart.
        """
        load = self.load
        if load.target.hidden:
            raise Unportable(
                "a star brings arguments that are not in sight, and each option of the exporter raises TypeError"
            )
        said = load.config_argument
        if said is not None and load.config is None and not is_none(value_of(said)):
            raise Unportable("it is not in sight what the neuron_config says")
        self._shared()
        self._listed()
        self._positional()
        revision = self.source.option("checkpoint_revision")
        if revision is not None and self.load.target.argument("revision") is None:
            self._insert("revision", "{value}", {"value": revision.value})
        self._dtype()
        self._cores()
        self._emptied()
        return self.done

    def _left(self, *names: str) -> list[Argument]:
        """The arguments of these names that are still there."""
        found = [each for name in names for each in self.load.target.arguments(name)]
        return [each for each in found if not any(each is gone for gone in self.gone)]

    def _shared(self) -> None:
        """A dictionary that other code reads as well stays, and this call loses its star."""
        entries = self.site.context.rules[OPTIONS].options["entries"]
        dropped = {entry["option"] for entry in entries if "rename" not in entry and "manual" not in entry}
        stars = [word for word in self.load.call.keywords if word.arg is None]
        for star, spread in zip(stars, self.load.target.spreads):
            if spread.private and len(spread.readers) == 1:
                continue
            names = [keyword_of(each) for each in spread.entries]
            if not all(name in dropped or name in (*_TYPES, *CORES) for name in names):
                raise Unportable(
                    f"{ast.unparse(star.value)} is used elsewhere too, and brings more than options of the exporter"
                )
            self.gone += spread.entries
            self.done.reports.append(
                self.site.report(
                    f"from_pretrained of Transformers refuses the options that this brings: {', '.join(names)}; what they "
                    "mean is carried over where it has a counterpart",
                    node=star.value,
                    code=OPTIONS,
                    applicability=Applicability.UNSAFE,
                    operations=[DropArgument(self.load.call, star), *self._unread(star.value, spread)],
                )
            )

    def _unread(self, value: ast.expr, spread: Spread) -> Iterator[Operation]:
        """The statement that makes a dictionary goes where every call that reads it loses its star."""
        readers = [each for each in loads(self.site.context) if any(each.call is call for call in spread.readers)]
        if len(readers) == len(spread.readers) and all(each.is_known and self._ports(each) for each in readers):
            yield from self._undefined(value, spread)

    def _ports(self, load: Load) -> bool:
        """Whether another load can be ported: nothing that this finds out is kept."""
        if load.call is self.load.call or self.trial:
            return True
        memo = set(self.site.context.memo)
        try:
            Options(self.site, load, load.original or load, trial=True).port()
        except Unportable:
            return False
        finally:
            self.site.context.memo.intersection_update(memo)
        return True

    def _listed(self) -> None:
        """The options that are dropped or renamed, by the table of NP306."""
        rule = self.site.context.rules[OPTIONS]
        kind = self.load.kind
        for entry in rule.options["entries"]:
            if kind not in entry.get("kinds", (kind,)):
                continue
            for argument in self._left(entry["option"]):
                if entry.get("manual") and literal(self.site.context, value_of(argument)) != 1:
                    raise Unportable(f"{entry['option']}=: {entry['message']}")
                if "rename" in entry and self.load.target.argument(entry["rename"]) is None:
                    self._report(argument, entry["message"], [rename(self.load.target, argument, entry["rename"])])
                else:
                    self._drop(argument, entry["message"])
            said = self.source.option(entry["option"]) if entry.get("manual") else None
            if said is not None and literal(self.site.context, said.value) != 1:
                raise Unportable(f"{entry['option']}=: {entry['message']}")

    def _positional(self) -> None:
        """What follows the name of the checkpoint: the configurations of ``export``, whose order changed in 0.4.0."""
        call = self.load.call
        if len(call.args) > 1 and self.load.method == "from_pretrained":
            raise Unportable("an argument behind the name of the checkpoint is passed by position")
        if len(call.args) > 3:
            raise Unportable("more than the checkpoint and its configurations are passed by position")
        for argument in call.args[1:]:
            if argument is self.load.config_argument:
                self.done.operations.append(DropArgument(call, argument))
                self.gone.append(argument)
            elif self._is_config(argument):
                self.done.operations.append(SetKeyword(call, argument, "config"))
            else:
                raise Unportable(
                    "the order of the positional arguments of export() changed in 0.4.0, and it cannot be seen which one is "
                    "the neuron_config"
                )

    def _is_config(self, argument: ast.expr) -> bool:
        bindings = self.site.module.bindings(argument) if isinstance(argument, ast.Name) else []
        values = [binding.value for binding in bindings] or [argument]
        return all(
            isinstance(value, ast.Call)
            and (self.site.module.qualname(value.func) or "").startswith("transformers.")
            and "Config" in (self.site.module.qualname(value.func) or "")
            for value in values
        )

    # -- data types ---------------------------------------------------------------------------------------------------

    @cached_property
    def _said(self) -> tuple[str | Value | None, str]:
        """The data type that the options mean, as source or as an option, and what is said about it."""
        found = {name: self.source.option(name) for name in _TYPES}
        return self._cast_of_decoder(found) if self.load.kind in _DECODERS else self._cast_of_traced(found)

    @property
    def dtype(self) -> str | None:
        """Source for the data type of the weights; ``None`` where it is that of the checkpoint."""
        said, _ = self._said
        return ast.unparse(said.value) if isinstance(said, Value) else said

    def _dtype(self) -> None:
        said, message = self._said
        for argument in self._left(*_TYPES):
            self._drop(argument, message)
        if said is None or self.load.target.argument("dtype") is not None:
            return
        if said == _CHOSEN:
            self._chosen()
        elif isinstance(said, str):
            self._insert("dtype", said)
        else:
            self._insert("dtype", "{value}", {"value": said.value})

    def _cast_of_decoder(self, found: dict[str, Value | None]) -> tuple[str | Value | None, str]:
        said = found["auto_cast_type"] or found["torch_dtype"]
        kind = self._type(said) if said is not None else None
        message = (
            "the exporter cast the weights to this type; from_pretrained takes it as dtype, and uses that of the checkpoint "
            "where none is said"
        )
        if kind == "torch.float16":
            message += "; bfloat16 is the better choice on Trainium, which computes in it"
        return kind, message

    def _cast_of_traced(self, found: dict[str, Value | None]) -> tuple[str | Value | None, str]:
        cast, kind = found["auto_cast"], found["auto_cast_type"]
        word = literal(self.site.context, cast.value) if cast is not None else None
        known = cast is None or isinstance(cast.value, ast.Constant) or word is not None
        casts = (word not in (None, "none")) if cast is not None else self.load.kind in _CASTS
        if not known:
            raise Unportable("auto_cast decides on the data type, and its value is not in sight")
        if not casts:
            if found["torch_dtype"] is not None:
                return self._type(found["torch_dtype"]), "from_pretrained takes the data type as dtype"
            return "torch.float32", (
                "the exporter left the weights in float32 unless auto_cast was said, and without it auto_cast_type did "
                "nothing; from_pretrained would take the type of the checkpoint"
            )
        said = self._type(kind) if kind is not None else "torch.bfloat16"
        return said, (
            "the compiler cast float32 weights while it computed; dtype loads them in that type, which is close and not "
            "identical, so compare results"
        )

    def _type(self, said: Value) -> str | Value:
        """Source for a data type; the option itself where it is a value that from_pretrained takes."""
        word = literal(self.site.context, said.value)
        types = self.site.context.rules[OPTIONS].options["dtypes"]
        if isinstance(word, str):
            if word not in types:
                raise Unportable(f"{word!r} is no data type that is known")
            return types[word]
        if isinstance(said.value, ast.Constant) and said.value.value is None:
            return "torch.float32"
        if (self.site.module.qualname(said.value) or "").startswith("torch."):
            return said
        if keyword_of(said.argument) == "torch_dtype":
            return said
        self.choice = said.value
        return _CHOSEN

    def _chosen(self) -> None:
        """A word that only the running program knows picks the type out of a table."""
        torch = self.site.spell("torch", self.load.call)
        if torch is None:
            raise Unportable("the name torch means something else here")
        types = ", ".join(
            f'"{word}": {torch.text}.{name}'
            for word, name in (
                ("fp32", "float32"),
                ("f32", "float32"),
                ("bf16", "bfloat16"),
                ("fp16", "float16"),
                ("f16", "float16"),
            )
        )
        self.done.operations += [
            InsertArgument(self.load.call, f"{{{{{types}}}}}[{{word}}]", "dtype", holes={"word": self.choice}),
            *torch.operations,
        ]

    # -- cores --------------------------------------------------------------------------------------------------------

    def _cores(self) -> None:
        said = self.source.option(*CORES)
        number = literal(self.site.context, said.value) if said is not None else None
        if said is not None and number not in (1, None):
            self._refuse_without_plan(said)
        several = said is not None and not isinstance(number, str) and number != 1 and not is_none(said.value)
        own = next(iter(self._left(*CORES)), None)
        if not several:
            if own is not None:
                self._drop(own, "a model on one core needs no word about cores", code=PARALLEL)
            device = self.site.device(text=False, node=self.load.call)
            if device is None:
                raise Unportable("the name torch means something else here")
            if self.load.target.argument("device_map") is None:
                self._insert("device_map", device.text)
                self.done.operations += device.operations
            return
        config = self.site.imported("transformers.distributed", "DistributedConfig")
        init = spell_closest(self.site, "torch.distributed.init_process_group", self.load.call)
        if config is None or init is None:
            raise Unportable("a name that its port needs means something else here")
        before: list[Operation] = [*config.operations]
        if not self.site.context.processes.has_group and not self._inits_earlier():
            backend = "" if self.site.context.portable else '"neuron"'
            before += [InsertStatement(outside_loops(self.load.call), f"{init.text}({backend})"), *init.operations]
        before.append(
            InsertArgument(
                self.load.call,
                f"{config.text}(tp_size={{size}})",
                "distributed_config",
                holes={"size": said.value},
            )
        )
        size = number if number is not None else "N"
        message = (
            f"one process drove all cores; now each core has a process: start the program with torchrun --nproc_per_node={size}, "
            "let only rank 0 print and save, and choose a size that divides the number of key and value heads"
        )
        node = own or self.load.config_argument or self.load.call
        if own is not None:
            before.append(drop(self.load.target, own, self.gone))
            self._went(own)
        report = self.site.report(
            message,
            node=node if isinstance(node, ast.Call) else node_of(node),
            code=PARALLEL,
            applicability=Applicability.UNSAFE,
            operations=before,
        )
        self.done.reports.append(report)

    def _inits_earlier(self) -> bool:
        """Whether another load of the file gets the process group first: one is made for all of them."""
        key = f"{PARALLEL}:group"
        known = key in self.site.context.memo
        self.site.context.memo.add(key)
        return known

    def _refuse_without_plan(self, said: Value) -> None:
        options = self.site.context.rules[PARALLEL].options
        name = literal(self.site.context, value_of(self.source.checkpoint)) if self.source.checkpoint else None
        planless = self.load.kind not in _DECODERS
        if isinstance(name, str) and re.search(options["without_plan"], name.rpartition("/")[2]):
            planless = True
        if planless:
            number = literal(self.site.context, said.value)
            self.done.reports.append(
                self.site.report(
                    options["no_plan"], node=node_of(said.argument), code=PARALLEL, applicability=Applicability.MANUAL
                )
            )
            raise Unportable(f"its tensor parallel size of {number} has no counterpart for this model")

    # -- writing ------------------------------------------------------------------------------------------------------

    def _insert(self, keyword: str, template: str, holes: dict[str, ast.expr] | None = None) -> None:
        if template.startswith("torch."):
            spelling = self.site.spell(template, self.load.call)
            if spelling is None:
                raise Unportable("the name torch means something else here")
            template = spelling.text
            self.done.operations += spelling.operations
        self.done.operations.append(InsertArgument(self.load.call, template, keyword, holes=holes or {}))

    def _report(self, argument: Argument, message: str, operations: list[Operation], code: str = OPTIONS) -> None:
        self.done.reports.append(
            self.site.report(
                message, node=node_of(argument), code=code, applicability=Applicability.UNSAFE, operations=operations
            )
        )

    def _drop(self, argument: Argument, message: str, code: str = OPTIONS) -> None:
        claim(self.site, value_of(argument))
        self._report(argument, message, [drop(self.load.target, argument, self.gone)], code)
        self._went(argument)

    def _went(self, argument: Argument) -> None:
        self.gone.append(argument)

    def _emptied(self) -> None:
        """A dictionary that brought nothing but options goes with them."""
        stars = [word for word in self.load.call.keywords if word.arg is None]
        for star, spread in zip(stars, self.load.target.spreads):
            left = [each for each in spread.entries if not any(each is gone for gone in self.gone)]
            if left or not spread.entries or not spread.private or len(spread.readers) != 1:
                continue
            self.done.operations.append(DropArgument(self.load.call, star))
            self.done.operations += self._undefined(star.value, spread)

    def undefined(self) -> Iterator[Operation]:
        """The statements that make dictionaries which nothing but the load reads."""
        stars = [word for word in self.load.call.keywords if word.arg is None]
        for star, spread in zip(stars, self.load.target.spreads):
            if len(spread.readers) == 1:
                yield from self._undefined(star.value, spread)

    def _undefined(self, value: ast.expr, spread: Spread) -> Iterator[Operation]:
        """The statement that makes a dictionary goes when only calls of this kind read it."""
        if not isinstance(value, ast.Name) or not spread.private:
            return
        for binding in self.site.module.bindings(value):
            place = statement(binding.node)
            if binding.kind is BindingKind.ASSIGN and isinstance(place, ast.Assign) and len(place.targets) == 1:
                yield RemoveStatement(place)

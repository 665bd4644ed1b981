"""Strings that name a CUDA device, judged by what uses them.

x.to("cuda")                                   ->  x.to("neuron")
torch.device("cuda:0")                         ->  torch.device("neuron")
torch.load(path, map_location="cuda")          ->  torch.load(path, map_location="cpu")
parser.add_argument("--device", default="cuda", choices=["cpu", "cuda"])
    ->  parser.add_argument("--device", default="neuron", choices=["cpu", "cuda", "neuron"])
if device.type == "cuda":                      ->  if device.type == "neuron":
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.codemods.cuda_code import cuda_code
from neuron_port.codemods.device_spelling import DeviceString, device_string, held, is_rank, quoted, respell
from neuron_port.edits.operations import AddElement, DropArgument, Operation, Replace, SetString, SetStringPrefix
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import Role, Use, literal_text, option_name
from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.module import ancestors, enclosing_class, enclosing_function
from neuron_port.semantics.scopes import BindingKind


_QUERIES = frozenset(
    "torch.is_autocast_enabled torch.get_autocast_dtype torch.set_autocast_dtype torch.set_autocast_enabled".split()
)
# Words that a list of devices is made of.
_DEVICES = frozenset(
    "cpu cuda mps xpu npu hpu mlu musa sdaa meta xla tpu ipu hip rocm vulkan mtia maia lazy privateuseone auto gpu neuron".split()
)


def inspect(site: Site) -> Iterator[Report]:
    """Report a string literal that names a CUDA device."""
    string = device_string(site.node)
    if string is None:
        yield from _pattern(site)
        return
    if _beside_neuron(site.node):
        return
    use = site.context.devices.use(site.node)
    handler = _HANDLERS.get(use.role)
    if handler is not None:
        yield from handler(site, string, use)


def _pattern(site: Site) -> Iterator[Report]:
    """``re.match("cuda:[0-9]", device)``."""
    node = site.node
    call = node.parent
    if isinstance(node, ast.Constant) and node.value.startswith("cuda:") and isinstance(call, ast.Call):
        if (site.module.qualname(call.func) or "").startswith("re."):
            yield site.report(
                "a pattern that looks for CUDA devices finds none on Neuron",
                code="NP104",
                applicability=Applicability.MANUAL,
            )


def _beside_neuron(node: ast.expr) -> bool:
    """``("cuda", "neuron")``: the list has grown already."""
    listed = node.parent
    return isinstance(listed, (ast.Tuple, ast.List, ast.Set)) and any(
        isinstance(item, ast.Constant) and item.value == "neuron" for item in listed.elts
    )


def _device(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    for report in _literal(site, string, use):
        if _uncertain(site, string, use):
            report.applicability = min(report.applicability, Applicability.UNSAFE)
        yield report


def _uncertain(site: Site, string: DeviceString, use: Use) -> bool:
    """A branch of code for several backends, where "cuda" may mean just that; a scaler or region that would be switched on."""
    if isinstance(use.place, ast.Call):
        name = site.module.qualname(use.place.func) or ""
        if name.endswith(("GradScaler", "autocast")):
            return True
    owner = next((node for node in ancestors(string.literal) if isinstance(node, (ast.If, ast.IfExp))), None)
    return owner is not None and site.context.guards.several_backends(owner)


def _literal(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    if _of_unported_call(site, string):
        yield site.report(
            f"the device {ast.unparse(string.built)} belongs to a torch.cuda call that has no port",
            code="NP101" if string.plain else "NP102",
            node=string.built,
            applicability=Applicability.MANUAL,
            evidence=use.evidence,
        )
        return
    kind = _type_of_device(site, use)
    if kind is not None:
        spelling = site.device(text=True, node=kind, or_cpu=site.context.portable)
        yield site.report(
            "the type of a CUDA device is asked for only to have its name",
            code="NP101",
            node=kind,
            applicability=Applicability.SAFE,
            operations=[Replace(kind, spelling.text), *spelling.operations] if spelling is not None else [],
            evidence=use.evidence,
        )
        return
    if _compared_device(site, use) is not None:
        yield _device_comparison(site, string, use)
        return
    index = _separate_index(site, string, use)
    if index is not None:
        yield _indexed(site, string, use, index)
        return
    applicability = Applicability.SAFE if use.sure else Applicability.UNSAFE
    code = "NP101" if string.plain else "NP102"
    shown = ast.unparse(string.built)
    evidence = use.evidence
    operations, indexed = respell(site.module, string)
    if site.context.portable:
        yield site.report(
            f"the device {shown} is named; use the current accelerator",
            code=code,
            node=string.built,
            applicability=Applicability.UNSAFE if indexed else applicability,
            operations=_portable_index(site, string, use)
            if indexed or string.expression is not None
            else _portable(site, string, use),
            evidence=evidence,
        )
        return
    if indexed:
        yield site.report(
            f'the device {shown} names an index; "neuron:<index>" only works in a program of one process, since a rank '
            'owns no other core than its own: prefer "neuron" and torchrun',
            code="NP102",
            node=string.built,
            severity=Severity.WARNING if string.index is None else None,
            applicability=Applicability.UNSAFE,
            operations=operations,
            evidence=evidence,
        )
        return
    survivor = _survivor(site, string, use) or _asked_type(site, string, use)
    if survivor is not None:
        operations = (Replace(string.literal, survivor.text), *survivor.operations)
    reason = "" if string.plain else ", without an index since a rank owns only its own core"
    yield site.report(
        f'the device {shown} does not exist on a Neuron host; use "neuron"{reason}',
        code=code,
        node=string.built,
        applicability=applicability,
        operations=operations,
        evidence=evidence,
    )


def _portable_index(site: Site, string: DeviceString, use: Use) -> tuple[Operation, ...]:
    """``f"cuda:{i}"`` -> ``torch.device(torch.accelerator.current_accelerator().type, i)``, or its text."""
    torch = site.spell("torch", string.literal)
    device = site.device(text=True, node=string.literal)
    if torch is None or device is None:
        return ()
    needed = (*torch.operations, *device.operations)
    holes = {"index": string.expression} if string.expression is not None else {}
    if holes and not is_rank(site.module, string.expression):
        # torch.device() wants an integer, and this may be text.
        return (Replace(string.built, f'{device.text} + ":" + str({{index}})', holes), *needed)
    text = f"{torch.text}.device({device.text}, {'{index}' if holes else string.index})"
    call = use.place
    whole = isinstance(call, ast.Call) and call.args == [string.built] and site.module.qualname(call.func) == "torch.device"
    if use.wants_text and not whole:
        text = f"str({text})"
    return (Replace(call if whole else string.built, text, holes), *needed)


def _survivor(site: Site, string: DeviceString, use: Use) -> Spelling | None:
    """For a name that is stored before anybody asks for the device: ``device = "cuda"; if not available: device = "cpu"``.

    A torch without the backend does not even know the name neuron, so that a run on the CPU must not meet it.
    """
    stored = string.literal.parent
    if not string.plain or not site.context.asks or not isinstance(stored, ast.Assign) or stored.value is not string.literal:
        return None
    if use.role is not Role.DEVICE or site.context.guards.available(string.literal):
        return None
    return site.device(text=True, node=string.literal, or_cpu=True)


def _asked_type(site: Site, string: DeviceString, use: Use) -> Spelling | None:
    """``torch.is_autocast_enabled("cuda")`` answers on every host; with a type that torch does not know it raises."""
    call = use.place
    name = site.module.qualname(call.func) if isinstance(call, ast.Call) else None
    if name not in _QUERIES or not string.plain or site.context.guards.available(call):
        return None
    return site.device(text=True, node=string.literal, or_cpu=True)


def _separate_index(site: Site, string: DeviceString, use: Use) -> ast.expr | ast.keyword | None:
    """The second argument of ``torch.device("cuda", index)``."""
    call = use.place
    if not string.plain or not isinstance(call, ast.Call) or site.module.qualname(call.func) != "torch.device":
        return None
    if len(call.args) == 2 and call.args[0] is string.literal:
        return call.args[1]
    return next((keyword for keyword in call.keywords if keyword.arg == "index"), None)


def _indexed(site: Site, string: DeviceString, use: Use, index: ast.expr | ast.keyword) -> Report:
    call = use.place
    value = index.value if isinstance(index, ast.keyword) else index
    operations: list[Operation]
    own = is_rank(site.module, value) or (isinstance(value, ast.Constant) and value.value is None)
    if site.context.portable and not isinstance(value, ast.Constant):
        # On a GPU host the index is what tells the ranks apart; on Neuron it is the local rank, which is right as well.
        spelling = site.device(text=True, node=call)
        operations = [Replace(string.literal, spelling.text), *spelling.operations] if spelling is not None else []
    elif site.context.portable:
        spelling = site.device(text=True, node=call, or_cpu=own and not site.context.guards.available(call))
        operations = [Replace(string.literal, spelling.text), *spelling.operations] if spelling is not None else []
        if own:
            operations.append(DropArgument(call, index))
    else:
        operations = [SetStringPrefix(string.literal, "cuda", "neuron")]
        if own:
            operations.append(DropArgument(call, index))
    if own:
        message = 'a device with this process\'s index: a rank owns one core, so use the bare name "neuron"'
    else:
        message = 'a device is chosen by index, which only works in a program of one process: prefer "neuron" and torchrun'
    return site.report(
        message,
        code="NP102",
        node=call,
        applicability=Applicability.SAFE if own else Applicability.UNSAFE,
        operations=operations,
        evidence=use.evidence,
    )


def _of_unported_call(site: Site, string: DeviceString) -> bool:
    """``torch.cuda.get_device_properties("cuda:0")``: the argument stays as long as the call does."""
    for around in ancestors(string.literal):
        if isinstance(around, ast.stmt):
            return False
        if isinstance(around, ast.Call):
            qualname = site.module.qualname(around.func) or ""
            if qualname.startswith("torch.cuda."):
                found = site.context.row(qualname)
                return found is not None and found[1].action == "flag"
    return False


def _type_of_device(site: Site, use: Use) -> ast.Attribute | None:
    """``torch.device("cuda").type``."""
    call = use.place
    if isinstance(call, ast.Call) and site.module.qualname(call.func) == "torch.device":
        parent = call.parent
        if isinstance(parent, ast.Attribute) and parent.attr == "type":
            return parent
    return None


def _compared_device(site: Site, use: Use) -> ast.Compare | None:
    """``x.device == torch.device("cuda:0")``."""
    call = use.place
    if isinstance(call, ast.Call) and site.module.qualname(call.func) == "torch.device":
        parent = call.parent
        if isinstance(parent, ast.Compare) and len(parent.ops) == 1 and isinstance(parent.ops[0], (ast.Eq, ast.NotEq)):
            return parent
    return None


def _device_comparison(site: Site, string: DeviceString, use: Use) -> Report:
    compare = use.place.parent
    other = compare.comparators[0] if compare.left is use.place else compare.left
    sign = "==" if isinstance(compare.ops[0], ast.Eq) else "!="
    if site.context.portable:
        test = f'{{other}}.type {"in" if sign == "==" else "not in"} ("cuda", "neuron")'
    else:
        test = f'{{other}}.type {sign} "neuron"'
    return site.report(
        "a device with an index never equals one without, and a tensor's device has one: compare the types",
        code="NP107",
        node=compare,
        applicability=Applicability.UNSAFE,
        operations=[Replace(compare, test, {"other": other})],
        evidence=use.evidence,
        region=site.context.guards.region(compare)[0],
    )


def _portable(site: Site, string: DeviceString, use: Use) -> tuple[Operation, ...]:
    """The string becomes the current accelerator, or its type where text is wanted.

    A call of torch with a CUDA device did not work without CUDA. Every other place did: a value that is stored, a
    ``torch.device`` object, a decorator, a function out of sight. There the CPU stands in where no accelerator is.
    """
    place = string.literal
    call = use.place
    name = site.module.qualname(call.func) if isinstance(call, ast.Call) else None
    direct = isinstance(string.built.parent, (ast.Call, ast.keyword))
    survives = not direct or not use.sure or name == "torch.device" or name in _QUERIES or _in_decorator(place)
    unsure = survives and not site.context.guards.available(place)
    whole = name == "torch.device" and not unsure and len(call.args) == 1 and not call.keywords
    text = use.wants_text or not use.sure or (name == "torch.device" and not whole) or unsure
    spelling = site.device(text=text and not whole, node=place, or_cpu=unsure)
    if spelling is None:
        return ()
    return (Replace(call if whole else string.built, spelling.text), *spelling.operations)


def _in_decorator(node: ast.expr) -> bool:
    around = next(ancestor for ancestor in ancestors(node) if isinstance(ancestor, ast.stmt))
    return isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def _map_location(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    place = use.outer if isinstance(use.outer, (ast.Dict, ast.Call)) else string.built
    if id(place) in site.context.claimed:
        return
    site.context.claimed.add(id(place))
    if place is string.literal:
        operation: Operation = SetString(place, "cpu")
    else:
        operation = Replace(place, quoted(site.module, string.literal, "cpu"))
    yield site.report(
        'tensors are loaded straight onto a CUDA device; load with map_location="cpu" and move the module afterwards',
        code="NP105",
        node=place,
        operations=[operation],
        evidence=use.evidence,
    )


def _option(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    message = f"{use.evidence} is a CUDA device: what calls it without a value asks for a device that is not there"
    parsed = use.evidence.startswith("default of the option")
    if site.context.portable:
        yield site.report(
            f"{message}; take None and choose the current accelerator when it is read",
            code="NP103",
            node=string.built,
            applicability=Applicability.MANUAL,
            evidence=use.evidence,
        )
        return
    operations, _ = respell(site.module, string)
    yield site.report(
        f'{message}; use "neuron"',
        code="NP103",
        node=string.built,
        applicability=Applicability.SAFE if parsed else Applicability.UNSAFE,
        operations=operations,
        evidence=use.evidence,
    )


def _choices(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    listed = use.place
    if all(around is not listed for around in ancestors(string.literal)):
        yield from _unknown(site, string, use)  # it gets there through a variable
        return
    if isinstance(listed, (ast.List, ast.Tuple, ast.Set)):
        known = {item.value for item in listed.elts if isinstance(item, ast.Constant)}
        if "neuron" in known or id(listed) in site.context.claimed:
            return
        if not all(isinstance(word, str) and word.partition(":")[0] in _DEVICES for word in known):
            yield from _unknown(site, string, use)
            return
        site.context.claimed.add(id(listed))
        operations = [AddElement(listed, quoted(site.module, string.literal, "neuron"))]
    else:
        operations = []
    option = use.evidence.startswith("choices of the option")
    yield site.report(
        f'a closed list of devices has no "neuron" ({use.evidence}): add it, the others stay',
        code="NP106",
        node=string.literal,
        severity=Severity.ERROR if option and use.sure else Severity.WARNING if use.sure else Severity.INFO,
        applicability=Applicability.SAFE if option and use.sure else Applicability.UNSAFE,
        operations=operations,
        evidence=use.evidence,
    )


def _key(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    table = use.place
    if all(around is not table for around in ancestors(string.literal)):
        yield from _unknown(site, string, use)
        return
    keys = {key.value for key in table.keys if isinstance(key, ast.Constant)} if isinstance(table, ast.Dict) else set()
    if "neuron" in keys:
        return
    by_device = "cpu" in keys or bool(keys & {"mps", "xpu", "npu"})
    entry = _twin_of_value(site, table) if by_device else None
    if entry is not None:
        yield site.report(
            'a table has an entry for "cuda" and none for "neuron": add one, and keep the key for old callers',
            code="NP106",
            severity=Severity.WARNING,
            applicability=Applicability.UNSAFE,
            operations=[AddElement(table, f"{quoted(site.module, string.literal, 'neuron')}: {entry.text}"), *entry.operations],
            evidence=use.evidence,
        )
        return
    if by_device:
        message = 'a table has an entry for "cuda" and none for "neuron": add one, and keep the key for old callers'
    else:
        message = (
            'the key "cuda" may be part of a file format or an interface and is kept; check what writes and reads it'
        )
    yield site.report(
        message,
        code="NP106",
        severity=Severity.WARNING if by_device else Severity.INFO,
        applicability=Applicability.MANUAL,
        evidence=use.evidence,
    )


def _twin_of_value(site: Site, table: ast.Dict) -> Spelling | None:
    """What the value under the key stands for on Neuron, when it is a name with a twin: ``torch.cuda.synchronize``."""
    value = next(value for key, value in zip(table.keys, table.values) if key is site.node)
    qualname = site.module.qualname(value)
    found = site.context.row(qualname) if qualname is not None else None
    return site.spell(found[1].to) if found is not None and found[1].to else None


def _enum(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    around = enclosing_class(site.node)
    members = {
        node.value.value
        for node in (around.body if around else ())
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }
    if "neuron" in members:
        return
    yield site.report(
        'an enumeration of devices has no "neuron" member: add one, and keep the old value for its readers',
        code="NP106",
        severity=Severity.INFO,
        applicability=Applicability.MANUAL,
        evidence=use.evidence,
    )


def _module(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    yield site.report(
        f"torch.cuda is reached by name ({use.evidence}); use torch.accelerator or torch.get_device_module(device)",
        code="NP136",
        node=use.place,
        severity=Severity.INFO if use.evidence.startswith("hasattr") else Severity.WARNING,
        applicability=Applicability.MANUAL,
        evidence=use.evidence,
    )


def _compare(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    place = use.place
    if all(around is not place for around in ancestors(string.literal)):
        yield from _unknown(site, string, use)  # it gets there through a variable
        return
    if id(place) in site.context.claimed:
        return
    site.context.claimed.add(id(place))
    region, _, _ = site.context.guards.region(place) if isinstance(place, ast.expr) else ([], None, True)
    message = 'a test for the device "cuda" is never true on Neuron, so the branch behind it is skipped without a word'
    if not use.sure:
        yield site.report(
            'something is compared with "cuda"; if it is a device, the test is never true on Neuron',
            code="NP107",
            node=place if isinstance(place, ast.expr) else site.node,
            severity=Severity.INFO,
            applicability=Applicability.MANUAL,
            evidence=use.evidence,
        )
        return
    foreign = cuda_code([place, *region])
    if foreign is not None:
        yield site.report(
            f"the branch calls {foreign}, which looks like CUDA-only code, and is never taken on Neuron; it is left alone",
            code="NP122",
            node=place,
            applicability=Applicability.MANUAL,
            evidence=use.evidence,
        )
        return
    sources, known = _sources(site, place, string)
    if site.context.portable or _parametrized(place, string):
        operations = _widened(place, string)
    elif (sources and known) or string.plain:
        operations = respell(site.module, string)[0]
    else:
        operations = (SetStringPrefix(string.literal, "cuda", "neuron"),)  # a tensor's device has an index
    yield site.report(
        message,
        code="NP107",
        node=place,
        applicability=Applicability.SAFE if sources and known else Applicability.UNSAFE,
        operations=operations,
        evidence=f"follows the device chosen on line {sources[0].lineno}" if sources and known else use.evidence,
        region=[*region, *site.context.guards.flag_region(place)],
        follows=sources,
    )


def _parametrized(place: ast.AST, string: DeviceString) -> bool:
    """Whether the compared name runs over a list of a test's parameters, which keeps its ``"cuda"``."""
    if not isinstance(place, ast.Compare) or not string.plain:
        return False
    other = place.comparators[0] if place.left is string.literal else place.left
    function = enclosing_function(place)
    if not isinstance(other, ast.Name) or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    return any("parametrize" in ast.unparse(decorator) for decorator in function.decorator_list)


def _option_default(site: Site, name: str) -> list[ast.expr]:
    """The default of the command-line option that ``args.<name>`` reads."""
    found = []
    for literal in site.module.found.strings:
        use = site.context.devices.use(literal)
        if use.role is Role.OPTION and isinstance(use.place, ast.keyword) and device_string(literal) is not None:
            option = option_name(use.place.parent)
            if option is not None and option.lstrip("-").replace("-", "_") == name:
                found.append(literal)
    return found


def _sources(site: Site, place: ast.AST, string: DeviceString) -> tuple[list[ast.expr], bool]:
    """The device strings of this file that the compared variable can hold, and whether they are all that it can hold."""
    if not isinstance(place, ast.Compare) or len(place.ops) != 1:
        return [], False
    other = place.comparators[0] if place.left is string.literal else place.left
    if isinstance(other, ast.Attribute) and other.attr == "type":
        other = other.value
    if isinstance(other, ast.Name):
        values = [binding.value if binding.kind is BindingKind.ASSIGN else None for binding in site.module.bindings(other)]
    elif isinstance(other, ast.Attribute):
        options = _option_default(site, other.attr)
        if options:
            return options, True
        stores = site.module.found.stores.get(other.attr, ())
        values = [value for target, value in stores if same_chain(target, other)]
    else:
        return [], False
    literals = [held(value) if value is not None else [] for value in values]
    found = [literal for group in literals for literal in group if device_string(literal) is not None]
    return found, bool(literals) and all(literals)


def _widened(place: ast.AST, string: DeviceString) -> tuple[Operation, ...]:
    """Portable code keeps the CUDA branch and lets neuron take it too."""
    if not string.plain:
        return ()
    if isinstance(place, ast.Call):
        alone = string.literal in place.args
        tail = literal_text(string.literal).removeprefix("cuda")
        pair = f'("cuda{tail}", "neuron{tail}")'
        return (Replace(string.literal, pair),) if alone and place.func.attr == "startswith" else ()
    if not isinstance(place, ast.Compare) or len(place.ops) != 1:
        return ()
    other = place.comparators[0] if place.left is string.literal else place.left
    operator = place.ops[0]
    if isinstance(operator, ast.Eq):
        return (Replace(place, '{other} in ("cuda", "neuron")', {"other": other}),)
    if isinstance(operator, ast.NotEq):
        return (Replace(place, '{other} not in ("cuda", "neuron")', {"other": other}),)
    if isinstance(operator, ast.In) and place.left is string.literal:
        tail = literal_text(string.literal).removeprefix("cuda")
        pair = f'("cuda{tail}", "neuron{tail}")'
        return (Replace(place, f"any(name in {{other}} for name in {pair})", {"other": other}),)
    return ()


def _unknown(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    yield site.report(
        f"the string {ast.unparse(string.literal)} may name a device: {use.evidence}",
        code="NP104",
        applicability=Applicability.MANUAL,
        evidence=use.evidence,
    )


_HANDLERS = {
    Role.UNKNOWN: _unknown,
    Role.KEY: _key,
    Role.ENUM: _enum,
    Role.CHOICES: _choices,
    Role.COMPARE: _compare,
    Role.MODULE: _module,
    Role.BACKEND: _unknown,
    Role.FRAMEWORK: _unknown,
    Role.OPTION: _option,
    Role.DEVICE: _device,
    Role.MAP_LOCATION: _map_location,
}

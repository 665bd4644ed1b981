"""Comparisons with a device of the old platform.

if device.type == "cuda":                  ->  if device.type == "neuron":       | device.type in ("cuda", "neuron")
if str(device).startswith("cuda"):         ->  if str(device).startswith("neuron"):
if x.device == torch.device("cuda:0"):     ->  if x.device.type == "neuron":
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import lineage
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.cuda_code import cuda_code
from neuron_port.codemods.device_spelling import DeviceString, device_string, held, respell
from neuron_port.codemods.device_undecided import undecided
from neuron_port.codemods.device_words import words
from neuron_port.edits.operations import Operation, Replace, SetStringPrefix
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import Role, Use, literal_text, option_name
from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.module import ancestors, enclosing_function
from neuron_port.semantics.scopes import BindingKind


def compare(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    """Report a comparison with a device string."""
    place = use.place
    if all(around is not place for around in ancestors(string.literal)):
        yield from undecided(site, string, use)  # it gets there through a variable
        return
    if id(place) in site.context.claimed:
        return
    site.context.claimed.add(id(place))
    region, _, _ = site.context.guards.region(place) if isinstance(place, ast.expr) else ([], None, True)
    named = words(site)
    code = named.codes["compare"]
    message = f'a test for the device "{string.device}" is never true on Neuron, so the branch behind it is skipped without a word'
    if not use.sure:
        yield site.report(
            f'something is compared with "{string.device}"; if it is a device, the test is never true on Neuron',
            code=code,
            node=place if isinstance(place, ast.expr) else site.node,
            severity=Severity.INFO,
            applicability=Applicability.MANUAL,
            evidence=use.evidence,
        )
        return
    foreign = cuda_code([place, *region]) if named.cuda else None
    if foreign is not None:
        yield site.report(
            f"the branch calls {foreign}, which looks like CUDA-only code, and is never taken on Neuron; it is left alone",
            code="NP122",
            node=place,
            applicability=Applicability.MANUAL,
            evidence=use.evidence,
            region=region,
        )
        return
    rival = _rival(site, place, string) if named.cuda else None
    if rival is not None:
        yield site.report(
            f"this is the branch for CUDA, and the one that line {rival.lineno} asks for is taken on Neuron; it is left alone",
            code="NP122",
            node=place,
            applicability=Applicability.MANUAL,
            evidence=use.evidence,
            region=region,
        )
        return
    sources, known = _sources(site, place, string)
    outside = _from_option(site, sources) or (not sources and _from_environment(site, place, string))
    needed = not named.cuda and lineage.standing(site.context) is lineage.Standing.NEEDED
    outside = outside or (not named.cuda and not needed and not sources)  # the branch of another platform, too
    if not named.numbered and not string.plain and not sources:
        operations = _without_index(place, string)
        needed = False
    elif site.context.portable and needed and not outside:
        operations = _elsewhere(place, string)
    elif site.context.portable or _parametrized(place, string) or outside:
        operations = _widened(place, string)
    elif (sources and known) or string.plain:
        operations = respell(site.module, string)[0]
    else:
        operations = (SetStringPrefix(string.literal, string.device, "neuron"),)  # a tensor's device has an index
    yield site.report(
        message,
        code=code,
        node=place,
        applicability=Applicability.SAFE if (sources and known) or (needed and not outside) else Applicability.UNSAFE,
        operations=operations,
        evidence=f"follows the device chosen on line {sources[0].lineno}" if sources and known else use.evidence,
        region=[*region, *site.context.guards.flag_region(place)],
        follows=sources,
    )


def _parametrized(place: ast.AST, string: DeviceString) -> bool:
    """Whether the compared name runs over a list of a test's parameters, which keeps the old name."""
    if not isinstance(place, ast.Compare) or not string.plain:
        return False
    other = place.comparators[0] if place.left is string.literal else place.left
    function = enclosing_function(place)
    if not isinstance(other, ast.Name) or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    return any("parametrize" in ast.unparse(decorator) for decorator in function.decorator_list)


def _from_option(site: Site, sources: list[ast.expr]) -> bool:
    """Whether the value comes from the command line, where old launch lines still have the old name."""
    return any(site.context.devices.use(literal).role in (Role.OPTION, Role.CHOICES) for literal in sources)


def _option_default(site: Site, name: str, device: str) -> list[ast.expr]:
    """The default and the choices of the command-line option that ``args.<name>`` reads."""
    found = []
    for literal in site.module.found.strings:
        use = site.context.devices.use(literal)
        keyword = use.place if use.role is Role.OPTION else getattr(use.place, "parent", None)
        listed = use.role is Role.CHOICES and isinstance(keyword, ast.keyword)
        if (
            (use.role is Role.OPTION or listed)
            and isinstance(keyword, ast.keyword)
            and device_string(literal, device) is not None
        ):
            option = option_name(keyword.parent)
            if option is not None and option.lstrip("-").replace("-", "_") == name:
                found.append(literal)
    return found


def _sources(site: Site, place: ast.AST, string: DeviceString) -> tuple[list[ast.expr], bool]:
    """The device strings of this file that the compared variable can hold, and whether they are all that it can hold."""
    if not isinstance(place, ast.Compare) or len(place.ops) != 1:
        return [], False
    other = place.comparators[0] if place.left is string.literal else place.left
    of_device = isinstance(other, ast.Attribute) and other.attr == "type"
    if of_device:
        other = other.value
    if isinstance(other, ast.Name):
        values = [
            binding.value if binding.kind is BindingKind.ASSIGN else None for binding in site.module.bindings(other)
        ]
    elif isinstance(other, ast.Attribute):
        # An option is text: x.device.type is asked of something else.
        options = [] if of_device else _option_default(site, other.attr, string.device)
        if options:
            return options, True
        stores = site.module.found.stores.get(other.attr, ())
        values = [value for target, value in stores if same_chain(target, other)]
    else:
        return [], False
    literals = [held(value) if value is not None else [] for value in values]
    found = [literal for group in literals for literal in group if device_string(literal, string.device) is not None]
    return found, bool(literals) and all(literals)


def _from_environment(site: Site, place: ast.AST, string: DeviceString) -> bool:
    """Whether the value is read from a variable of the environment, which is set elsewhere."""
    other = _other(place, string)
    bindings = site.module.bindings(other) if isinstance(other, ast.Name) else []
    values = [binding.value for binding in bindings]
    return bool(values) and all(_reads_environment(site, value) for value in values)


def _reads_environment(site: Site, value: ast.expr | None) -> bool:
    read = value.func if isinstance(value, ast.Call) else value.value if isinstance(value, ast.Subscript) else None
    return read is not None and (site.module.qualname(read) or "").startswith(("os.environ", "os.getenv"))


def _other(place: ast.AST, string: DeviceString) -> ast.expr | None:
    """What the string is compared with."""
    if not isinstance(place, ast.Compare) or len(place.ops) != 1:
        return None
    return place.comparators[0] if place.left is string.literal else place.left


def _rival(site: Site, place: ast.AST, string: DeviceString) -> ast.Compare | None:
    """Where the same value is compared with "xla" or "neuron": the branch behind that test is the one for Neuron."""
    other = _other(place, string)
    if other is None or not isinstance(place.ops[0], ast.Eq):
        return None
    for literal in site.module.found.strings:
        if literal_text(literal) in ("xla", "neuron"):
            listed = isinstance(literal.parent, (ast.Tuple, ast.List, ast.Set))
            compare = literal.parent.parent if listed else literal.parent
            if isinstance(compare, ast.Compare) and len(compare.ops) == 1 and _for_neuron(compare, listed=listed):
                beside = compare.left if compare.left is not literal else compare.comparators[0]
                if _same(other, beside):
                    return compare
    return None


def _for_neuron(compare: ast.Compare, *, listed: bool) -> bool:
    """Whether a comparison with one or several names chooses what CUDA has a branch of its own for."""
    if not isinstance(compare.ops[0], ast.In if listed else ast.Eq):
        return False
    return not any(isinstance(node, ast.Constant) and node.value == "cuda" for node in ast.walk(compare))


def _same(left: ast.expr, right: ast.expr) -> bool:
    """Whether two expressions are spelled alike, and a name in them is the same variable."""
    if ast.dump(left) != ast.dump(right):
        return False
    names = [
        (node, twin) for node, twin in zip(ast.walk(left), ast.walk(right), strict=True) if isinstance(node, ast.Name)
    ]
    return all(node.scope.lookup(node.id) == twin.scope.lookup(twin.id) for node, twin in names)


def _without_index(place: ast.AST, string: DeviceString) -> tuple[Operation, ...]:
    """``str(x.device) == "xla:0"``: the index of a process's own core is its rank now."""
    other = _other(place, string)
    is_text = isinstance(other, ast.Call) and isinstance(other.func, ast.Name) and other.func.id == "str"
    signs = {ast.Eq: "", ast.NotEq: "not "}
    sign = signs.get(type(place.ops[0])) if is_text and string.index == 0 else None
    return (Replace(place, f'{sign}{{other}}.startswith("neuron")', {"other": other}),) if sign is not None else ()


def _elsewhere(place: ast.AST, string: DeviceString) -> tuple[Operation, ...]:
    """Portable code that no longer runs on the old platform: every device but the CPU is an accelerator."""
    other = _other(place, string)
    if isinstance(place, ast.Call):
        if place.func.attr == "startswith" and string.literal in place.args:
            test = 'not {other}.startswith("cpu")'
            return (Replace(place, test, {"other": place.func.value}),)
        return ()
    signs = {ast.Eq: '{other} != "cpu"', ast.NotEq: '{other} == "cpu"'}
    if isinstance(place.ops[0] if other is not None else None, ast.In) and place.left is string.literal:
        return (Replace(place, '"cpu" not in {other}', {"other": other}),)
    test = signs.get(type(place.ops[0])) if other is not None and string.plain else None
    return (Replace(place, test, {"other": other}),) if test is not None else ()


def _widened(place: ast.AST, string: DeviceString) -> tuple[Operation, ...]:
    """Portable code keeps the branch and lets neuron take it too."""
    device = string.device
    if not string.plain:
        return ()
    if isinstance(place, ast.Call):
        alone = string.literal in place.args
        tail = literal_text(string.literal).removeprefix(device)
        pair = f'("{device}{tail}", "neuron{tail}")'
        return (Replace(string.literal, pair),) if alone and place.func.attr == "startswith" else ()
    if not isinstance(place, ast.Compare) or len(place.ops) != 1:
        return ()
    other = place.comparators[0] if place.left is string.literal else place.left
    operator = place.ops[0]
    if isinstance(operator, ast.Eq):
        return (Replace(place, f'{{other}} in ("{device}", "neuron")', {"other": other}),)
    if isinstance(operator, ast.NotEq):
        return (Replace(place, f'{{other}} not in ("{device}", "neuron")', {"other": other}),)
    if isinstance(operator, ast.In) and place.left is string.literal:
        tail = literal_text(string.literal).removeprefix(device)
        pair = f'("{device}{tail}", "neuron{tail}")'
        return (Replace(place, f"any(name in {{other}} for name in {pair})", {"other": other}),)
    return ()


def compared_device(site: Site, use: Use) -> ast.Compare | None:
    """``x.device == torch.device("cuda:0")``."""
    call = use.place
    if isinstance(call, ast.Call) and site.module.qualname(call.func) == "torch.device":
        parent = call.parent
        if isinstance(parent, ast.Compare) and len(parent.ops) == 1 and isinstance(parent.ops[0], (ast.Eq, ast.NotEq)):
            return parent
    return None


def device_comparison(site: Site, string: DeviceString, use: Use) -> Report:
    """Report a comparison of devices."""
    compare = use.place.parent
    other = compare.comparators[0] if compare.left is use.place else compare.left
    sign = "==" if isinstance(compare.ops[0], ast.Eq) else "!="
    if site.context.portable:
        test = f'{{other}}.type {"in" if sign == "==" else "not in"} ("{string.device}", "neuron")'
    else:
        test = f'{{other}}.type {sign} "neuron"'
    return site.report(
        "a device with an index never equals one without, and a tensor's device has one: compare the types",
        code=words(site).codes["compare"],
        node=compare,
        applicability=Applicability.UNSAFE,
        operations=[Replace(compare, test, {"other": other})],
        evidence=use.evidence,
        region=site.context.guards.region(compare)[0],
    )

"""Carries the arguments of a call over to a new signature.

    (device, priority) -> (device, /, *, priority)      torch.cuda.Stream(d, -1) -> torch.Stream(d, priority=-1)

Parameters are matched by name; ``new=old`` on the right renames one. ``/`` makes what stands before it positional,
``*`` makes what follows keyword-only, as in a ``def``.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from neuron_port.edits.operations import DropArgument, Operation, SetKeyword


class Unmappable(Exception):
    """An argument has no place in the new signature; the text says which and why."""


@dataclass(frozen=True, slots=True)
class Signature:
    """An old and a new parameter list: ``new`` maps each old name to its new name and whether it is positional or keyword-only."""

    old: tuple[str, ...]
    new: dict[str, tuple[str, str]]
    order: tuple[str, ...]


@cache
def signature(text: str) -> Signature:
    """Parse ``(old) -> (new)``.

    Raises:
        ValueError: the text is not two parameter lists.
    """
    left, arrow, right = text.partition("->")
    if not arrow:
        raise ValueError(f"{text!r} is not of the form '(old) -> (new)'")
    old = tuple(name.strip() for name in left.strip().strip("()").split(",") if name.strip())
    new: dict[str, tuple[str, str]] = {}
    order: list[str] = []
    kind = "any"
    for part in (part.strip() for part in right.strip().strip("()").split(",")):
        if part == "/":
            new = {key: (name, "positional") for key, (name, _) in new.items()}
        elif part == "*":
            kind = "keyword"
        elif part:
            name, _, source = part.partition("=")
            source = (source or name).strip()
            if source not in old:
                raise ValueError(f"{text!r}: {source!r} is not an old parameter")
            new[source] = (name.strip(), kind)
            order.append(source)
    return Signature(old, new, tuple(order))


def passed(call: ast.Call, old: tuple[str, ...]) -> dict[str, ast.expr | ast.keyword]:
    """The arguments of ``call`` by old parameter name.

    Raises:
        Unmappable: stars hide which argument is which, or an argument has no parameter.
    """
    found: dict[str, ast.expr | ast.keyword] = {}
    for index, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            raise Unmappable("a starred argument hides which parameter is set")
        if index >= len(old):
            raise Unmappable("the call has more arguments than the function has parameters")
        found[old[index]] = argument
    for keyword in call.keywords:
        if keyword.arg is None:
            raise Unmappable("a ** argument hides which parameter is set")
        if keyword.arg not in old:
            raise Unmappable(f"the parameter {keyword.arg}= is not known")
        found[keyword.arg] = keyword
    return found


def carry(call: ast.Call, text: str, *, drop: Collection[str] = (), shift: int = 0) -> list[Operation]:
    """Operations that turn the arguments of ``call`` from the old into the new signature.

    Args:
        text: the signature map.
        drop: old parameters that may go without a word when the new function lacks them.
        shift: how many arguments the caller puts in front.

    Raises:
        Unmappable: an argument cannot be carried over.
    """
    mapping = signature(text)
    arguments = passed(call, mapping.old)
    operations: list[Operation] = []
    position = shift
    in_place = True
    for old in mapping.order:
        argument = arguments.get(old)
        if argument is None:
            in_place = False
            continue
        name, kind = mapping.new[old]
        keyword = isinstance(argument, ast.keyword)
        if kind == "positional":
            if keyword:
                if not in_place:
                    raise Unmappable(f"{name} is positional-only and an earlier argument is missing")
                operations.append(SetKeyword(call, argument, None))
            elif not in_place or call.args.index(argument) + shift != position:
                raise Unmappable(f"the position of {name} changes")
        elif (not keyword and (kind == "keyword" or not in_place or call.args.index(argument) + shift != position)) or (
            keyword and argument.arg != name
        ):
            operations.append(SetKeyword(call, argument, name))
        position += 1
    for old, argument in arguments.items():
        if old not in mapping.new:
            if old not in drop:
                raise Unmappable(f"{old} has no counterpart")
            operations.append(DropArgument(call, argument))
    return operations

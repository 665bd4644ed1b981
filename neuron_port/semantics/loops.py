"""What the target of a loop runs over."""

from __future__ import annotations

import ast

from neuron_port.semantics.scopes import Binding


def counts(binding: Binding) -> bool:
    """``i`` of ``for i, x in enumerate(xs)``."""
    around, iterable = binding.node.parent, binding.value
    return (
        isinstance(iterable, ast.Call)
        and isinstance(iterable.func, ast.Name)
        and iterable.func.id == "enumerate"
        and isinstance(around, ast.Tuple)
        and around.elts[0] is binding.node
        and not isinstance(around.parent, ast.Tuple)
    )


def iterated(binding: Binding) -> ast.expr:
    """What a loop's target runs over; the argument of its place where that is ``zip``, within ``enumerate`` too."""
    target, iterable = binding.node, binding.value
    around = target.parent
    if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and isinstance(around, ast.Tuple):
        if iterable.func.id == "enumerate" and isinstance(around.parent, ast.Tuple) and iterable.args:
            iterable = iterable.args[0]
        if isinstance(iterable, ast.Call) and getattr(iterable.func, "id", "") == "zip":
            index = around.elts.index(target)
            if index < len(iterable.args) and not any(isinstance(item, ast.Starred) for item in iterable.args):
                return iterable.args[index]
    return iterable


def container_of(binding: Binding) -> ast.expr | None:
    """The container whose elements a loop's target takes whole; ``None`` where it takes a part of each, or their numbers.

    ``xs`` for the ``x`` of ``for x in xs``, ``for i, x in enumerate(xs)``, ``for y, x in zip(ys, xs)`` and ``for key, x in
    xs.items()``; nothing for the ``x`` of ``for x, y in xs``.
    """
    node, places = binding.node, []
    while isinstance(node.parent, (ast.Tuple, ast.List)):
        places.append(node.parent.elts.index(node))
        node = node.parent
    iterable = binding.value
    for place in reversed(places):
        if not isinstance(iterable, ast.Call) or any(isinstance(item, ast.Starred) for item in iterable.args):
            return None
        name = getattr(iterable.func, "id", "")
        if name == "enumerate" and place == 1 and iterable.args:
            iterable = iterable.args[0]
        elif name == "zip" and place < len(iterable.args):
            iterable = iterable.args[place]
        elif isinstance(iterable.func, ast.Attribute) and iterable.func.attr == "items" and place == 1:
            iterable = iterable.func.value
        else:
            return None
    return iterable

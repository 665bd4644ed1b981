"""Whether an expression is one of the literals ``True``, ``False`` and ``None``; a missing one is none of them."""

from __future__ import annotations

import ast


def is_true(value: ast.expr | None) -> bool:
    """Whether a value is the literal ``True``."""
    return isinstance(value, ast.Constant) and value.value is True


def is_false(value: ast.expr | None) -> bool:
    """Whether a value is the literal ``False``."""
    return isinstance(value, ast.Constant) and value.value is False


def is_none(value: ast.expr | None) -> bool:
    """Whether a value is the literal ``None``."""
    return isinstance(value, ast.Constant) and value.value is None

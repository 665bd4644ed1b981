"""Calls that look like somebody's own CUDA code: ``median_filter_cuda(x)``, ``from .triton_ops import f``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

_WORDS = re.compile(r"(?:^|_)(cuda|triton|nvcc|cudnn|apex|cupy|cutlass|flash_attn|tensorrt)(?:_|$)", re.IGNORECASE)
# Names with the word that ask or move, and are no kernels.
_PLAIN = re.compile(
    r"(use|is|has|no|with|on|to|have|want)_?(cuda|gpu)\w*|cuda(_is)?_available|cuda|is_cuda\w*|\w*_available",
    re.IGNORECASE,
)


def cuda_code(nodes: Iterable[ast.AST]) -> str | None:
    """The first function called, or module imported, inside ``nodes`` whose name says CUDA; names of torch do not count."""
    for top in nodes:
        chosen = [top.id] if isinstance(top, ast.Name) else [top.attr] if isinstance(top, ast.Attribute) else []
        for name in chosen:
            if _WORDS.search(name) and not _PLAIN.fullmatch(name):
                return name
        for node in ast.walk(top):
            for name in _names(node):
                if _WORDS.search(name) and not _PLAIN.fullmatch(name):
                    return name
    return None


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").split(".")
    if isinstance(node, ast.Import):
        return [part for alias in node.names for part in alias.name.split(".") if not alias.name.startswith("torch.")]
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Name):
            return [function.id]
        if isinstance(function, ast.Attribute):
            return [function.attr]
    return []

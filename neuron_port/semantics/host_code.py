"""Does code prepare data on the host: a dataset's items, a collate function, a tokenizer's or processor's work, a test?

class Pairs(Dataset): def __getitem__(self, i): ...     the workers of a data loader run it, on CPU tensors
def collate(items): ...
class TextProcessor: ...
"""

from __future__ import annotations

import ast

from neuron_port.semantics.module import ancestors

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CLASSES = (
    "Dataset",
    "Sampler",
    "Collator",
    "CollatorForLanguageModeling",
    "Processor",
    "ProcessorFast",
    "Tokenizer",
    "Extractor",
    "DataModule",
    "Transform",
    "Augment",
    "Augmentation",
    "TestCase",
)


def prepares_data(node: ast.AST) -> bool:
    """Whether ``node`` stands in such code, by the names of the functions and classes around it and their bases."""
    for around in ancestors(node):
        if isinstance(around, _FUNCTIONS):
            name = around.name.lower()
            if name in ("__getitem__", "__getitems__") or "collate" in name or name.startswith("test_"):
                return True
        elif isinstance(around, ast.ClassDef):
            names = [around.name, *(getattr(base, "attr", getattr(base, "id", "")) for base in around.bases)]
            if any(name.endswith(_CLASSES) or "Collat" in name or name.startswith("Test") for name in names):
                return True
    return False

"""Runs a ported program where there is no Neuron device: ``python run_on_cpu.py SCRIPT ARGS``.

The text "neuron" is read as "cpu", as "gloo" where a process group is made and as "eager" where code is compiled;
torch.accelerator.synchronize does nothing. Nothing else of the program changes.
"""

from __future__ import annotations

import ast
import sys
import types
from pathlib import Path

import torch

BACKENDS = {"init_process_group": "gloo", "new_group": "gloo", "compile": "eager"}


class OnTheCpu(ast.NodeTransformer):
    _word = "cpu"

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        self._word, outer = BACKENDS.get(function, "cpu"), self._word
        self.generic_visit(node)
        self._word = outer
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.copy_location(ast.Constant(self._word), node) if node.value == "neuron" else node


def run(script: Path) -> None:
    """Runs the program as the main module."""
    tree = OnTheCpu().visit(ast.parse(script.read_text(encoding="utf-8"), str(script)))
    torch.accelerator.synchronize = lambda *args, **kwargs: None
    module = types.ModuleType("__main__")
    module.__file__ = str(script)
    sys.modules["__main__"] = module
    exec(compile(ast.fix_missing_locations(tree), str(script), "exec"), vars(module))


if __name__ == "__main__":
    sys.argv.pop(0)
    run(Path(sys.argv[0]))

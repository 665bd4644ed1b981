"""Random operations on real modules: the new text says what the same operations make of the tree."""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import random
import re
import tokenize

import pytest
from oracle import Oracle, choose, dump

from neuron_port.edits.operations import RenameAttribute
from neuron_port.edits.writer import WriteError, Writer

MODULES = ["asyncio.queues", "contextlib", "json.decoder", "textwrap"]


def source(module):
    return inspect.getsource(importlib.import_module(module))


def scattered(text, rng):
    """Put comments, line ends and blanks behind tokens in brackets."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    parts, position, depth, inside = [], 0, 0, 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        inside += (name == "FSTRING_START") - (name == "FSTRING_END")
        if token.type == tokenize.OP and not inside:
            depth += (token.string in "([{") - (token.string in ")]}")
        if depth and not inside and token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER, tokenize.STRING):
            end = starts[token.end[0] - 1] + token.end[1]
            parts.append(text[position:end])
            position = end
            if rng.random() < 0.1:
                parts.append(rng.choice([f"  # c{end}, x\n  ", f"\n # c{end}\n", "\n", "\n      ", "\n\n", " \\\n  "]))
    return "".join(parts) + text[position:]


def possible(code, rng):
    """Return random operations that can be carried out alone: not every string can stand in every f-string."""
    writer, found = Writer(code.text, code.tree), []
    for operation in choose(code.tree, 30, rng):
        with contextlib.suppress(WriteError):
            writer.edits([operation])
            found.append(operation)
    return found


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("module", MODULES)
def test_the_text_says_what_the_tree_says(write, module, seed):
    rng = random.Random(f"{module} {seed}")
    text = source(module)
    if seed % 2:
        text = scattered(text, rng)
    if seed % 3 == 0:
        text = text.replace("\n", "\r\n")
    expected = []

    def make(code):
        operations = possible(code, rng)
        assert len(operations) > 20
        expected.append(Oracle(code.tree, operations).expected())
        return operations

    assert dump(ast.parse(write(text, make))) == expected[0]


@pytest.mark.parametrize("module", MODULES)
def test_operations_alone_and_together(module):
    """Edits that do not touch each other are the same alone and together."""
    text = source(module)
    tree = ast.parse(text)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)]
    operations = [RenameAttribute(node, "other") for node in names if not isinstance(node.value, ast.Attribute)]
    writer = Writer(text, tree)
    alone = {edit for operation in operations for edit in writer.edits([operation])}
    together = set(writer.edits(operations))
    assert len(alone & together) > len(operations) // 2
    assert dump(ast.parse(writer.apply(operations))) == Oracle(tree, operations).expected()

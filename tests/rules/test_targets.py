"""No rule points at nothing: every name and keyword that a port writes is there in the installed libraries.

Looked at are the rows and entries of the rules themselves, and what the ports in the fixtures hold that the code before
does not, so that what a codemod writes is covered as well. Runs where the libraries are installed (``pip install .[dev]``).
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from neuron_port.codemods.argument_table import entries_of
from neuron_port.rules.loader import load_rules, shipped_folder
from neuron_port.rules.model import Row, Rule
from neuron_port.semantics.module import Module, Watch
from tests.rules import installed

for library in ("torch", "transformers", "accelerate", "diffusers", "peft", "sentence_transformers", "trl"):
    pytest.importorskip(library)

FAMILIES = ("optimum", "huggingface")
RULES = [rule for rule in load_rules().rules.values() if rule.family in FAMILIES]
EVERY_RULE = list(load_rules().rules.values())
BY_CODE = {rule.code: rule for rule in EVERY_RULE}
_PLACEHOLDER = re.compile(r"\{\w+\}")
# A port of one of these reads the number of processes and the like: names of other packages are not looked at.
_ROOTS = frozenset(installed.LIBRARIES)


def code(value: object) -> str | None:
    """A test id."""
    return value.code if isinstance(value, Rule) else None


# -- rules ---------------------------------------------------------------------------------------------------------------


def entries(rule: Rule) -> Iterator[tuple[Row | None, Mapping[str, Any]]]:
    """Every entry about an argument with the row that it is for."""
    used: set[str] = set()
    for row in rule.rows:
        named = row.options.get("arguments", ())
        used.update(part for part in ([named] if isinstance(named, str) else named) if isinstance(part, str))
        yield from ((row, entry) for entry in entries_of(rule, row, BY_CODE))
    for name, table in rule.options.items():
        if name not in used and isinstance(table, list):
            yield from ((None, entry) for entry in table if isinstance(entry, dict) and "keyword" in entry)


def names_in(text: str) -> set[str]:
    """Qualified names of the libraries in source text of a rule."""
    try:
        tree = ast.parse(_PLACEHOLDER.sub("x", text), mode="eval")
    except SyntaxError:
        return set()
    chains = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return {chain for chain in chains if chain.partition(".")[0] in _ROOTS and re.fullmatch(r"[\w.]+", chain)}


def texts(row: Row | None, entry: Mapping[str, Any]) -> Iterator[str]:
    """Source text that an entry writes."""
    for key in ("new", "portable"):
        if isinstance(entry.get(key), str):
            yield entry[key]
    yield from map(str, entry.get("also", {}).values())


@pytest.mark.parametrize("rule", EVERY_RULE, ids=code)
def test_names_of_rows(rule: Rule) -> None:
    wanted = {name for row in rule.rows for name in (row.to, row.import_to) if name and "{" not in name}
    wanted = {name for name in wanted if name.partition(".")[0] in _ROOTS and not name.startswith("torch.neuron.")}
    assert {name for name in wanted if not installed.exists(name)} == set()


@pytest.mark.parametrize("rule", RULES, ids=code)
def test_names_in_texts(rule: Rule) -> None:
    written = {text for row, entry in entries(rule) for text in texts(row, entry)}
    written |= {
        text for row in rule.rows for text in (*row.options.get("add", {}).values(), row.options.get("first"))
    } - {None}
    missing = {name for text in written for name in names_in(text) if not installed.exists(name)}
    assert missing == set()


@pytest.mark.parametrize("rule", RULES, ids=code)
def test_keywords_of_entries(rule: Rule) -> None:
    problems = []
    for row, entry in entries(rule):
        taken = taken_by(row)
        for keyword in written_keywords(entry):
            if taken is not None and keyword not in taken:
                problems.append((row.source if row else "", keyword))
    for row in rule.rows:
        taken = taken_by(row)
        for keyword in row.options.get("add", {}):
            if taken is not None and keyword not in taken:
                problems.append((row.source, keyword))
    assert problems == []


def written_keywords(entry: Mapping[str, Any]) -> set[str]:
    """The keywords that an entry leaves in the call or puts there."""
    found = set(entry.get("also", {}))
    if "rename" in entry:
        found.add(entry["rename"])
    elif entry.get("new") or (entry.get("portable") and isinstance(entry["portable"], str)):
        found.add(entry["keyword"])
    return found


def taken_by(row: Row | None) -> frozenset[str] | None:
    """The keywords that what the row ends up calling takes; ``None`` when nobody can tell."""
    if row is None:
        return None
    for name in (row.to, row.source):
        kind, colon, word = (name or "").partition(":")
        if colon:
            return installed.method_keywords(word) if kind == "method" else installed.common_keywords()
        if name and name.partition(".")[0] in _ROOTS:
            return installed.keywords(name)
    return None


# -- ports ---------------------------------------------------------------------------------------------------------------

FIXTURES = shipped_folder("fixtures")


def ports() -> Iterator[tuple[Path, Path]]:
    """The code before with each port of it."""
    codes = {rule.code for rule in RULES}
    folders = [folder for folder in sorted(FIXTURES.iterdir()) if folder.name in codes]
    scripts = FIXTURES / "scripts"
    folders += sorted(folder for folder in scripts.iterdir() if folder.is_dir()) if scripts.is_dir() else []
    for folder in folders:
        before = folder / "before.py"
        if before.is_file():
            yield from ((before, after) for after in sorted(folder.glob("after*.py")))


def parsed(path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    return Module(text, ast.parse(text), Watch(roots=_ROOTS))


def library_names(module: Module) -> dict[str, ast.AST]:
    """Qualified names of the libraries that the module imports or writes."""
    found: dict[str, ast.AST] = {}
    for binding in module.found.imports:
        if binding.qualname:
            found[binding.qualname] = binding.node
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            for name in module.qualnames(node):
                found[name] = node
    return {name: node for name, node in found.items() if name.partition(".")[0] in _ROOTS}


def calls(module: Module) -> Counter[tuple[str, str]]:
    """Each keyword with the qualified name, or the method behind a dot, that gets it."""
    found: Counter[tuple[str, str]] = Counter()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            function = node.func
            names = [name for name in module.qualnames(function) if name.partition(".")[0] in _ROOTS]
            if not names and isinstance(function, ast.Attribute):
                names = [f".{function.attr}"]
            found.update((name, keyword.arg) for name in names for keyword in node.keywords if keyword.arg)
    return found


def keyword_counts(module: Module) -> Counter[str]:
    """How often each keyword is passed to anything."""
    return Counter(node.arg for node in ast.walk(module.tree) if isinstance(node, ast.keyword) and node.arg)


@pytest.mark.parametrize(("before", "after"), list(ports()), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_port_uses_what_is_there(before: Path, after: Path) -> None:
    old, new = parsed(before), parsed(after)
    names = set(library_names(new)) - set(library_names(old))
    assert {name for name in names if not name.startswith("torch.neuron") and not installed.exists(name)} == set()
    problems = []
    written = keyword_counts(new) - keyword_counts(old)
    for name, keyword in calls(new) - calls(old):
        if keyword not in written:
            continue  # it was there before, and a finding may say that it has no place any more
        taken = installed.method_keywords(name[1:]) if name.startswith(".") else installed.keywords(name)
        if taken is not None and keyword not in taken:
            problems.append((name, keyword))
    assert problems == []


# -- the look into the libraries -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "taken", "unknown"),
    [
        (
            "transformers.AutoModelForCausalLM.from_pretrained",
            {"dtype", "device_map", "distributed_config"},
            "load_in_4bit",
        ),
        ("transformers.*.from_pretrained", {"dtype", "attn_implementation"}, "use_flash_attention_2"),
        ("transformers.pipeline", {"device", "device_map", "cache_implementation"}, "devices"),
        ("transformers.GenerationConfig", {"max_cache_len", "prefill_chunk_size"}, "max_cache_length"),
        ("transformers.TrainingArguments", {"bf16", "eval_strategy"}, "evaluation_strategy"),
        ("trl.SFTConfig", {"packing_strategy", "max_length"}, "max_seq_length"),
        ("diffusers.StableDiffusionPipeline.from_pretrained", {"dtype"}, "height"),
        ("diffusers.FluxTransformer2DModel.compile_repeated_blocks", {"backend", "dynamic"}, "target"),
        ("sentence_transformers.SentenceTransformer.encode", {"batch_size", "processing_kwargs"}, "sequence_length"),
    ],
)
def test_keywords_are_found(name: str, taken: set[str], unknown: str) -> None:
    found = installed.keywords(name)
    assert found is not None
    assert taken - found == set()
    assert unknown not in found


def test_names_are_found() -> None:
    assert installed.exists("transformers.distributed.DistributedConfig")
    assert installed.exists("accelerate.DistributedType.MULTI_NEURON")
    assert installed.exists("trl.SFTConfig.max_length")
    assert not installed.exists("transformers.AutoModelForVision2Seq")
    assert not installed.exists("transformers.TrainingArguments.no_cuda")
    assert not installed.exists("a_package_of_tomorrow.Name")
    assert installed.method_keywords("a_method_of_tomorrow") is None

"""The CUDA rule files: every name of torch.cuda has a row, and the rows say only what the schema and torch know."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from neuron_port.codemods.arguments import signature
from neuron_port.findings import Applicability, Confidence, Severity
from neuron_port.rules.loader import RuleSet, load_rules, shipped_folder
from neuron_port.rules.model import Row, Rule

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

HERE = Path(__file__).parent
FOLDER = shipped_folder("rules") / "cuda"
FILES = sorted(FOLDER.glob("*.toml"))
FORMS = {"call", "attribute", "decorator", "context", "except", "annotation", "import", "assign", "string"}
LAST_RESORT = "torch.cuda.*"

# The public functions of torch.accelerator in torch 2.13, and the other public names that rows may rewrite to.
ACCELERATOR = {
    "current_device_index", "current_stream", "device_count", "device_index", "empty_cache", "get_memory_info",
    "is_available", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
    "reset_accumulated_memory_stats", "reset_peak_memory_stats", "set_device_index", "set_stream", "synchronize",
    "_get_device_index", "_utils._get_device_index",
}  # fmt: skip
GENERIC = {
    "torch.AcceleratorError", "torch.Event", "torch.Generator", "torch.GradScaler", "torch.OutOfMemoryError",
    "torch.Stream", "torch.amp", "torch.amp.GradScaler", "torch.amp.autocast", "torch.amp.autocast_mode.autocast",
    "torch.amp.custom_bwd", "torch.amp.custom_fwd", "torch.amp.grad_scaler.GradScaler", "torch.amp.grad_scaler.OptState",
    "torch.autocast", "torch.get_autocast_dtype", "torch.is_autocast_enabled",
    "torch.profiler.record_function", "torch.set_autocast_dtype", "torch.set_autocast_enabled",
    "torch.set_default_device", "torch.tensor",
}  # fmt: skip
NEURON = {
    "get_rng_state", "get_rng_state_all", "initial_seed", "is_bf16_supported", "set_rng_state", "set_rng_state_all",
}  # fmt: skip


@pytest.fixture(scope="module")
def rules() -> RuleSet:
    """The shipped rules."""
    return load_rules()


def names(*kinds: str) -> list[str]:
    """The frozen names of the given kinds."""
    lines = (HERE / "torch_cuda_names.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines if not line.startswith("#")]
    return [name for name, kind in pairs if kind in kinds]


def cuda_rules(rules: RuleSet) -> list[Rule]:
    """The rules about torch.cuda itself: NP110 to NP163."""
    return [rule for rule in rules.rules.values() if "NP110" <= rule.code <= "NP163"]


def cuda_rows(rules: RuleSet) -> list[tuple[Rule, Row]]:
    """The rows of those rules."""
    return [(rule, row) for rule in cuda_rules(rules) for row in rule.rows]


def test_the_frozen_list_is_complete() -> None:
    assert len(names("listed")) == 232
    assert len(names("found")) == 30
    assert len(names("private")) == 34
    assert len(names("other")) == 15
    assert len(set(names("listed", "found", "private", "other"))) == 311


def test_every_listed_name_has_its_own_row(rules: RuleSet) -> None:
    assert [name for name in names("listed", "private", "other") if name not in rules.names] == []


def test_every_other_public_name_has_a_row_or_a_prefix(rules: RuleSet) -> None:
    by_prefix = {name: rules.row(name)[1].source for name in names("found") if name not in rules.names}
    assert by_prefix == {
        "torch.cuda.DEVICE_REQUIREMENT": LAST_RESORT,
        "torch.cuda.PYTORCH_RELEASES_CODE_CC": LAST_RESORT,
        "torch.cuda.green_contexts.SUPPORTED": "torch.cuda.green_contexts.*",
        "torch.cuda.memory.is_initialized": LAST_RESORT,
        "torch.cuda.nccl.SUM": "torch.cuda.nccl.*",
        "torch.cuda.profiler.DEFAULT_FLAGS": LAST_RESORT,
        "torch.cuda.random.current_device": LAST_RESORT,
        "torch.cuda.random.device_count": LAST_RESORT,
        "torch.cuda.random.is_initialized": LAST_RESORT,
    }


def test_no_name_stands_in_two_rows() -> None:
    seen: dict[str, str] = {}
    for path in FILES:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        for row in document.get("map", ()):
            assert row["from"] not in seen, f"{row['from']} stands in {seen[row['from']]} and {path.name}"
            seen[row["from"]] = path.name


def test_an_unknown_name_falls_to_the_last_resort(rules: RuleSet) -> None:
    rule, row = rules.row("torch.cuda.some_name_of_tomorrow")
    assert (rule.code, row.source) == ("NP134", LAST_RESORT)
    assert (row.severity, row.confidence, row.action) == (Severity.WARNING, Confidence.INFERRED, "flag")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_says_everything_that_a_reader_needs(path: Path) -> None:
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    assert path.stem == document["name"]
    assert document["family"] == "cuda"
    assert document["sources"], "a rule names its sources"
    for source in document["sources"]:
        assert source.get("text") or source.get("url")
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(source["checked"]))
    for key in ("summary", "why", "fix"):
        assert document[key].strip()
    assert "\n" not in document["summary"]


def test_why_and_fix_are_short_paragraphs(rules: RuleSet) -> None:
    for rule in cuda_rules(rules):
        for text in (rule.why, rule.fix):
            assert 2 <= len(text.splitlines()) <= 7, rule.code
            assert max(map(len, text.splitlines())) <= 126, rule.code
        assert len(rule.summary) <= 80, rule.code


def test_rows_use_known_words(rules: RuleSet) -> None:
    known = {
        "add", "alone", "alt", "annotation", "cuda_only", "drop", "dtype", "first", "guard", "guard_value", "every_host",
        "requires_torch", "targets",
    }  # fmt: skip
    for _, row in cuda_rows(rules):
        assert set(row.options) <= known, row.source
        assert set(row.forms) <= FORMS, row.source
        assert row.options.get("targets", ["neuron"]) == ["neuron"], row.source
        assert re.fullmatch(r"2\.\d+", row.options.get("requires_torch", "2.0")), row.source


def test_signature_maps_parse(rules: RuleSet) -> None:
    maps = {row.call for _, row in cuda_rows(rules) if row.call}
    assert len(maps) == 15
    for text in maps:
        signature(text)


def test_messages_are_one_sentence_that_can_be_continued(rules: RuleSet) -> None:
    for _, row in cuda_rows(rules):
        if row.message is None:
            assert row.action == "rewrite", row.source
        else:
            assert "\n" not in row.message and not row.message.endswith((".", ";")), row.source
            assert len(row.message) <= 230, row.source


def test_doubtful_rows_are_neither_errors_nor_safe(rules: RuleSet) -> None:
    for _, row in cuda_rows(rules):
        if row.confidence < Confidence.DOCUMENTED:
            assert row.severity <= Severity.WARNING, row.source
            assert row.applicability <= Applicability.UNSAFE, row.source


def test_rewrites_go_to_names_that_torch_has(rules: RuleSet) -> None:
    allowed = (
        GENERIC
        | {f"torch.accelerator.{name}" for name in ACCELERATOR}
        | {f"torch.neuron.{name}" for name in NEURON}
        | {
            f"{module}.ProfilerActivity.PrivateUse1"
            for module in ("torch.profiler", "torch.autograd", "torch.autograd.profiler", "torch._C._profiler")
        }
    )
    assert {row.to for _, row in cuda_rows(rules) if row.to} == allowed


def test_neuron_spellings_are_for_the_neuron_target(rules: RuleSet) -> None:
    for _, row in cuda_rows(rules):
        if (row.to or "").startswith("torch.neuron."):
            assert row.options["targets"] == ["neuron"], row.source


@pytest.mark.parametrize(
    ("name", "code", "to", "call", "applicability", "severity"),
    [
        ("torch.cuda.synchronize", "NP130", "torch.accelerator.synchronize", "(device) -> (device, /)", "safe", "error"),
        ("torch.cuda.current_device", "NP130", "torch.accelerator.current_device_index", "() -> ()", "safe", "error"),
        ("torch.cuda.set_device", "NP131", "torch.accelerator.set_device_index", "(device) -> (device, /)", "safe", "error"),
        ("torch.cuda.mem_get_info", "NP140", "torch.accelerator.get_memory_info", "(device) -> (device, /)", "unsafe", "error"),
        ("torch.cuda.memory_cached", "NP140", "torch.accelerator.memory_reserved", "(device) -> (device, /)", "unsafe", "warning"),
        ("torch.cuda.memory.empty_cache", "NP141", "torch.accelerator.empty_cache", "() -> ()", "unsafe", "info"),
        ("torch.cuda.Stream", "NP150", "torch.Stream", "(device, priority) -> (device, *, priority)", "unsafe", "error"),
        ("torch.cuda.random.set_rng_state", "NP146", "torch.neuron.set_rng_state", None, "unsafe", "warning"),
        ("torch.cuda.nvtx.range", "NP153", "torch.profiler.record_function", None, "safe", "error"),
        ("torch.cuda.get_device_capability", "NP133", None, None, "manual", "error"),
        ("torch.cuda.tunable.enable", "NP135", None, None, "safe", "error"),
    ],
)  # fmt: skip
def test_rows_hold_the_decided_values(
    rules: RuleSet, name: str, code: str, to: str | None, call: str | None, applicability: str, severity: str
) -> None:
    rule, row = rules.row(name)
    assert (rule.code, row.to, row.call, row.applicability.word, row.severity.word) == (
        code,
        to,
        call,
        applicability,
        severity,
    )

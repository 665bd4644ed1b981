"""The rule files as data: what every one of them must hold, and what the library tables promise."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from neuron_port.codemods.arguments import signature
from neuron_port.prefilter import Prefilter
from neuron_port.rules.loader import RuleSet, load_rules, shipped_folder

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

FOLDER = shipped_folder("rules")
FILES = sorted(FOLDER.rglob("*.toml"))
LIBRARIES = sorted((FOLDER / "libraries").glob("*.toml"))
SEVERITIES = {"info", "warning", "error"}
APPLICABILITIES = {"manual", "unsafe", "safe"}
CONFIDENCES = {"inferred", "prerelease", "documented", "verified"}
FORMS = {
    "call", "attribute", "decorator", "context", "except", "annotation", "import", "assign", "string", "keyword", "method",
}  # fmt: skip
DOUBTFUL = {"inferred", "prerelease"}
# Keys of an entry under `arguments`; see the comments in nccl-backend.toml and framework-device.toml.
ENTRY = {
    "keyword", "position", "methods", "old", "keep", "contains", "drop_elements", "calls", "several", "absent", "parts", "new",
    "portable", "missing", "remove", "rename", "both", "default", "before", "mentioned", "imports", "when", "unless", "whole", "also", "code",
    "names", "follow", "spared_by", "needs", "inside", "beside",
    "severity", "applicability", "confidence", "message", "requires",
}  # fmt: skip
FAMILIES = {
    "core": "NP0",
    "cuda": "NP1",
    "xla": "NP2",
    "optimum": "NP3",
    "huggingface": "NP4",
    "unsupported": "NP5",
    "shapes": "NP6",
    "libraries": "NP7",
    "project": "NP8",
    "mistakes": "NP9",
}


def document(path: Path) -> dict[str, Any]:
    """A rule file as plain data."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def name(path: Path) -> str:
    """A test id."""
    return path.stem


def entries(rule: dict[str, Any]) -> list[dict[str, Any]]:
    """Every entry about an argument in a rule file."""
    found = [
        entry for row in rule.get("map", []) if isinstance(row.get("arguments"), list) for entry in row["arguments"]
    ]
    found = [entry for entry in found if isinstance(entry, dict)]
    for value in rule.get("options", {}).values():
        if isinstance(value, list):
            found += [entry for entry in value if isinstance(entry, dict)]
    return found


@pytest.fixture(scope="module")
def rules() -> RuleSet:
    """The shipped rules."""
    return load_rules()


def test_codes_and_names_are_unique() -> None:
    documents = [document(path) for path in FILES]
    for key in ("code", "name"):
        counts = Counter(rule[key] for rule in documents)
        assert [value for value, count in counts.items() if count > 1] == []


def test_no_row_stands_twice() -> None:
    # Rules about the arguments of one call have a row each; the loader refuses any other name that two rules are about.
    counts = Counter((path.stem, row["from"]) for path in FILES for row in document(path).get("map", []))
    assert [source for source, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("path", FILES, ids=name)
def test_rule_file(path: Path) -> None:
    rule = document(path)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule["name"])
    assert path.stem == rule["name"]
    assert rule["family"] == path.parent.name
    assert rule["code"].startswith(FAMILIES[rule["family"]])
    for key in ("summary", "why", "fix"):
        assert rule[key].strip(), key
    assert "\n" not in rule["summary"]
    assert not rule["summary"].endswith(".")
    assert rule["sources"]
    for source in rule["sources"]:
        assert source.get("text") or source.get("url")
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", source["checked"])


@pytest.mark.parametrize("path", FILES, ids=name)
def test_words_and_confidence(path: Path) -> None:
    rule = document(path)
    for place in [rule, *rule.get("map", []), *entries(rule)]:
        where = place.get("from") or place.get("keyword") or rule["code"]
        assert place.get("severity", "info") in SEVERITIES, where
        assert place.get("applicability", "manual") in APPLICABILITIES, where
        assert place.get("confidence", "verified") in CONFIDENCES, where
        if place.get("confidence", rule["confidence"]) in DOUBTFUL:
            assert place.get("severity") != "error", where
            assert place.get("applicability") != "safe", where


@pytest.mark.parametrize("path", FILES, ids=name)
def test_rows(path: Path, rules: RuleSet) -> None:
    rule = document(path)
    for row in rule.get("map", []):
        assert set(row.get("forms", [])) <= FORMS, row["from"]
        assert not row["from"].endswith("."), row["from"]
        if "call" in row:
            signature(row["call"])
        if "message" in row:
            assert row["message"].strip() == row["message"] and not row["message"].endswith("."), row["from"]
        named = row.get("arguments")
        for part in [named] if isinstance(named, str) else named or []:
            code, dot, part = part.rpartition(".") if isinstance(part, str) else ("", "", None)
            if dot or isinstance(named, str):
                listed = rules.rules[code].options if dot else rule.get("options", {})
                assert part in listed, row["from"]


@pytest.mark.parametrize("path", FILES, ids=name)
def test_entries(path: Path) -> None:
    rule = document(path)
    for entry in entries(rule):
        if "keyword" not in entry:
            continue
        assert set(entry) <= ENTRY, entry
        assert entry["message"].strip(), entry
        fires = [
            key
            for key in ("old", "names", "missing", "contains", "calls", "several", "rename", "remove", "inside")
            if entry.get(key)
        ]
        assert fires, entry
        if entry.get("applicability", rule["applicability"]) == "safe":
            assert any(key in entry for key in ("new", "rename", "remove", "parts")), entry


@pytest.mark.parametrize("path", LIBRARIES, ids=name)
def test_library_rows_say_what_to_use(path: Path) -> None:
    rule = document(path)
    assert rule["fix"].strip().partition("\n")[0].endswith("."), "the first line of a fix is shown with the finding"
    for row in rule["map"]:
        assert row.get("message") or row.get("arguments"), row["from"]
        assert row.get("forms") or rule.get("codemod"), f"{row['from']} would fire at each use"


@pytest.mark.parametrize(
    ("qualname", "code"),
    [
        ("triton", "NP701"),
        ("triton.language", "NP701"),
        ("numba.cuda", "NP701"),
        ("cuda.bindings.driver", "NP701"),
        ("pycuda.driver", "NP701"),
        ("cupy", "NP701"),
        ("flash_attn", "NP702"),
        ("flash_attn.bert_padding.unpad_input", "NP702"),
        ("xformers.ops", "NP702"),
        ("bitsandbytes", "NP703"),
        ("awq", "NP703"),
        ("apex", "NP704"),
        ("apex.optimizers.FusedAdam", "NP704"),
        ("amp_C", "NP704"),
        ("deepspeed", "NP705"),
        ("transformer_engine.pytorch", "NP705"),
        ("horovod.torch", "NP705"),
        ("pynvml", "NP706"),
        ("tensorrt", "NP707"),
        ("vllm", "NP707"),
        ("nvidia.dali.fn", "NP708"),
        ("torch_scatter", "NP709"),
        ("mmcv.ops.nms", "NP709"),
        ("lightning.pytorch.Trainer", "NP710"),
        ("ultralytics.YOLO", "NP711"),
        ("torch.distributed.init_process_group", "NP170"),
        ("torch.nn.DataParallel", "NP173"),
        ("torch.distributed.ProcessGroupNCCL.Options", "NP178"),
        ("torch._inductor.config.triton.cudagraphs", "NP181"),
        ("torch.backends.cudnn.benchmark", "NP185"),
        ("torch.backends.cuda.cufft_plan_cache.clear", "NP186"),
        ("torch.nn.attention.sdpa_kernel", "NP187"),
        ("torch.utils.cpp_extension.CUDAExtension", "NP190"),
        ("torch.version.cuda", "NP192"),
    ],
)
def test_name_belongs_to(rules: RuleSet, qualname: str, code: str) -> None:
    found = rules.row(qualname)
    assert found is not None
    assert found[0].code == code


@pytest.mark.parametrize(
    "qualname",
    [
        "numba.njit",
        "numba.jit",
        "cuda",
        "cuda.helpers",
        "nvidia",
        "tritonclient.http",
        "decord.cpu",
        "torchvision.ops.box_iou",
        "mmcv",
        "cv2",
    ],
)
def test_name_belongs_to_nobody(rules: RuleSet, qualname: str) -> None:
    assert rules.row(qualname) is None


def test_defaults_that_differ_are_written_out(rules: RuleSet) -> None:
    _, row = rules.row("apex.optimizers.FusedAdam")
    assert (row.to, row.options["add"]) == ("torch.optim.AdamW", {"weight_decay": "0.0"})
    _, row = rules.row("apex.normalization.FusedRMSNorm")
    assert (row.to, row.options["add"]) == ("torch.nn.RMSNorm", {"eps": "1e-05"})
    _, row = rules.row("deepspeed.ops.adam.DeepSpeedCPUAdam")
    assert (row.to, row.options["add"]) == ("torch.optim.AdamW", {"weight_decay": "0.0"})


def test_ordinary_files_are_not_wanted(rules: RuleSet) -> None:
    prefilter = Prefilter(rules.triggers)
    ordinary = (
        "import numpy as np\nimport torch\nimport torch.nn.functional as F\nimport torchvision\n"
        "from transformers import AutoModel\nfrom .modeling_flash_attention_utils import is_flash_attn_available\n"
        "modalities, common, gathered, dalliance = np.gather, 1, 2, 3\n"
        "device_id, provider = 0, F.scatter\n"
    )
    assert not prefilter.wants(ordinary.encode())
    assert prefilter.wants(b"import os, apex\n")
    assert prefilter.wants(b"from nvidia.dali import fn\n")
    assert prefilter.wants(b"import os\nos.environ['NCCL_DEBUG'] = 'INFO'\n")

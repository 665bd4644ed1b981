"""The prefilter lets nothing through that would have a finding, and keeps most other files from being parsed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_port.codemods.argument_table import entries_of
from neuron_port.config import Settings
from neuron_port.engine import Engine
from neuron_port.prefilter import Prefilter, trigger_error
from neuron_port.rules.loader import RuleError, load_rules, shipped_folder
from neuron_port.rules.model import Row, Rule
from tests.rules.own_rule import OWN_RULE

RULES = load_rules()
ENGINE = Engine(RULES, Settings())
PREFILTER = Prefilter(RULES.triggers)
FIXTURES = shipped_folder("fixtures")
# What a call may be given so that a rule about its arguments has something to say.
ARGUMENTS = (
    "",
    "x",
    '"cuda"',
    'device="cuda"',
    "[0]",
    'm, "CUDA"',
    "m, device_ids=[0]",
    "m, device_id=0",
    "device=device",
)


def wants(source: str, *triggers: str) -> bool:
    return Prefilter(triggers).wants(source.encode())


# -- no finding is lost -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", sorted(FIXTURES.rglob("before.py")), ids=lambda file: file.parent.name)
def test_fixture_is_wanted(file: Path) -> None:
    assert PREFILTER.wants(file.read_bytes())


def spellings(qualname: str) -> Iterator[tuple[str, str]]:
    """An import, and what the qualified name is called after it."""
    root, *rest = qualname.split(".")
    yield f"import {root}", qualname
    if rest:
        parent, _, last = qualname.rpartition(".")
        grandparent, _, module = parent.rpartition(".")
        yield f"from {parent} import {last}", last
        yield f"from {parent} import {last} as other", "other"
        yield f"import os, {parent} as other", f"other.{last}"
        if grandparent:
            yield f"from {grandparent} import first, {module} as other", f"other.{last}"


def arguments(rule: Rule, row: Row) -> Iterator[str]:
    yield from ARGUMENTS
    for entry in entries_of(rule, row, RULES.rules):
        for old in (*entry.get("old", ()), *([name] for name in entry.get("contains", ()))):
            yield f"x, {entry['keyword']}={'x' if old == '*' else old!r}"
            if isinstance(old, (str, int)):
                yield f"x, {entry['keyword']} = None if x else {old!r}"


@pytest.mark.parametrize("rule", RULES.rules.values(), ids=lambda rule: rule.code)
def test_no_row_is_lost(rule: Rule) -> None:
    lost = []
    for row in rule.rows:
        qualname = row.source.replace(".*.", ".Name.").replace(".*", ".name").replace("*", "Model")
        if ":" in qualname or "cuda" in qualname.split("."):
            continue  # no name, or one that holds the word which is looked for first of all
        star = [(f"from {row.source.removesuffix('.*')} import *", "x")] if row.source.endswith(".*") else []
        for statement, name in (*spellings(qualname), *star):
            uses = [f"{name}({given})" for given in arguments(rule, row)]
            for use in (*uses, name, f"{name} = True", f"with {name}():\n    pass"):
                source = f"{statement}\n\n{use}\n"
                if not PREFILTER.wants(source.encode()) and ENGINE.check_text(source, "code.py"):
                    lost.append(source)
    assert lost == []


@pytest.mark.parametrize(
    "source",
    [
        "class Net:\n    def cuda(self):\n        return self.to('x')\n",
        "if x.is_cuda:\n    pass\n",
        "model = model.compile(\n    mode='reduce-overhead',\n)\n",
        "import os\nos.environ.setdefault('NCCL_DEBUG', 'INFO')\n",
        "env = {'CUDA_VISIBLE_DEVICES': ''}\n",
        "AutoModel.from_pretrained(x, attn_implementation = 'flash_attention_2' if fast else 'sdpa')\n",
        "pipe.enable_model_cpu_offload()\n",
        "from transformers import pipeline\npipeline('fill-mask', device=0 if x else -1)\n",
        "from transformers import pipeline\npipeline('fill-mask', device=-1 if x == 'cpu' else 0)\n",
        "import torch as th\ny.to(x.get_device ())\nth.compile(f)\n",
        "start.elapsed_time(end)\n",
        "if 'out of memory' in str(error):\n    pass\n",
    ],
)
def test_what_has_no_name_is_wanted(source: str) -> None:
    assert PREFILTER.wants(source.encode())


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nfrom torch import nn\n\nmodel = nn.Linear(3, 4).to(device)\n",
        "from transformers import AutoTokenizer\ntokenizer = AutoTokenizer.from_pretrained('gpt2')\n",
        "import re\nPATTERN = re.compile('a')\n",
        "from accelerate.utils import gather_object\ngather_object(x)\n",
        "import torchvision\nmodel = torchvision.models.resnet18()\n",
        "def f(attn_implementation='sdpa', provider=None, tree_method='hist'):\n    pass\n",
        '"""Moves it to cuda.\n\n>>> x.cuda()\n"""\n# import apex\nx = 1  # cuda\n',
    ],
)
def test_ordinary_code_is_not_wanted(source: str) -> None:
    assert not PREFILTER.wants(source.encode())


# -- triggers -----------------------------------------------------------------------------------------------------------


def test_word() -> None:
    assert wants("x.cuda()", "cuda")
    assert wants("'cuda'", "cuda")
    assert not wants("x.cpu()", "cuda")


def test_words_that_must_all_be_there() -> None:
    assert wants("# spawn\ndevice_count()\nspawn()\n", "device_count & spawn")
    assert not wants("device_count()\n# spawn\n", "device_count & spawn")
    assert not wants("spawn()\n", "device_count & spawn")


def test_pattern() -> None:
    trigger = r"compile & /\.compile\b(?<!\bre\.compile)/"
    assert wants("model.compile()", trigger)
    assert wants("core.compile()", trigger)
    assert not wants("re.compile('a')", trigger)
    assert not wants("compile('a')", trigger)


@pytest.mark.parametrize(
    "statement",
    [
        "import apex",
        "import\tapex.amp as amp",
        "from apex import amp",
        "from apex.optimizers import (\n    FusedAdam,\n)",
        "    import apex",
        "import os; import apex",
        "import os, sys, apex",
        "import apex, transformers",
        "import apex, os",
        "try: import apex\nexcept ImportError: pass",
        "x = 1\r\nimport apex\r\n",
        "# old\rimport apex\r",
    ],
)
def test_import(statement: str) -> None:
    assert wants(statement, "import apex", "import transformers & pipeline")


@pytest.mark.parametrize(
    "source",
    [
        "import apex_tools",
        "from .apex import amp",
        "from tools import apex",
        "import tools.apex",
        "# import apex",
        '"""\nimport apex\n"""',
        "x = 'import apex'",
        "apex.amp",
    ],
)
def test_no_import(source: str) -> None:
    assert not wants(source, "import apex")


def test_import_with_words() -> None:
    trigger = "import torchvision & ops & nms"
    assert wants("import torchvision\ntorchvision.ops.nms(x)", trigger)
    assert wants("from torchvision.ops import nms", trigger)
    assert not wants("import torchvision\ntorchvision.ops.roi_align(x)", trigger)
    assert not wants("tools.ops.nms(x)", trigger)


@pytest.mark.parametrize(
    "source",
    [
        '"""\ncuda\n"""\n',
        "'''\ncuda\n'''\n",
        'r"""\n\\""" cuda\n"""\n',
        "def f():\n    x = 1  # don't use cuda\n",
        "# it's cuda\n",
        '"""It\'s\ncuda"""\n',
        "x = '\\'#'\n# cuda",
        'x = """\n""" + """\ncuda"""\n',
    ],
)
def test_text_is_no_code(source: str) -> None:
    assert not wants(source, "cuda")


@pytest.mark.parametrize(
    "source",
    [
        '"""One line: cuda."""',
        'x = f"""\n{cuda}\n"""',
        'x = Rf"""\n{cuda}\n"""',
        'x = fr"""\n{cuda}\n"""',
        "x = '#'; cuda",
        "x = '''\n'''; cuda",
        "x = f\"{d['#']}\"; cuda",
        'x = \'"""\'\ncuda = \'"""\'',
        "x = 'a\\\nb'; cuda",
        '"""never closed\ncuda',
    ],
)
def test_code_is_found(source: str) -> None:
    assert wants(source, "cuda")


def test_suppression_is_wanted_in_a_comment() -> None:
    assert wants("x = 1  # neuron-port: ignore\n", "cuda")


# -- mistakes in triggers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trigger", "mistake"),
    [
        ("to", "a word of less than 3 letters stands in nearly every file"),
        ("device & to", "a word of less than 3 letters stands in nearly every file"),
        ("", "a word of less than 3 letters stands in nearly every file"),
        ("cuda & import apex", "an import stands in the first place"),
        ("/cuda/", "a regular expression stands in the last place, with a word in front of it"),
        ("cuda & /a/ & b12", "a regular expression stands in the last place, with a word in front of it"),
        ("cuda & /(/", "the regular expression is wrong (missing ), unterminated subpattern at position 0)"),
    ],
)
def test_mistake(trigger: str, mistake: str) -> None:
    assert trigger_error(trigger) == mistake


@pytest.mark.parametrize(
    "trigger", ["cuda", "import k2", "env & NCCL_", "compile & /[.]compile/", "import a & b12 & /c/"]
)
def test_no_mistake(trigger: str) -> None:
    assert trigger_error(trigger) is None


def test_rule_with_a_short_trigger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(OWN_RULE + 'triggers = ["to"]\n', encoding="utf-8")
    with pytest.raises(RuleError, match="ACME001: trigger 'to': a word of less than 3 letters"):
        load_rules([tmp_path])


def test_triggers_of_an_own_rule(tmp_path: Path) -> None:
    rows = "".join(
        f'[[map]]\nfrom = "{name}"\n'
        for name in ("acme.device.pick", "acme.*", "torch.nn.Softmax2d", "torch.special.*")
    )
    (tmp_path / "own.toml").write_text(OWN_RULE + 'methods = ["to_gpu"]\n' + rows, encoding="utf-8")
    own = set(load_rules([tmp_path]).triggers) - set(RULES.triggers)
    assert own == {"import acme & device & pick", "import acme", "torch & Softmax2d", "torch & special", "to_gpu"}


@pytest.mark.parametrize(
    "data",
    [
        b"it's " + b"a" * 5000 + b" cuda",
        b'"' + b"a " * 5000 + b"\ncuda",
        b'"""' + b"cuda " * 5000,
        b'"' + b"\\" * 5001 + b"cuda",
        bytes(range(256)) * 20 + b"\ncuda",
        (b"don't " * 20 + b"\n") * 200 + b"cuda",
    ],
)
def test_quotes_that_are_never_closed_are_read_once(data: bytes) -> None:
    # With a pattern that can cut a text up in several ways this does not come back.
    assert Prefilter(["cuda"]).wants(data)

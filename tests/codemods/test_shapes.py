"""Masks, sizes and shapes that change: exact places, severities and texts."""

from __future__ import annotations

import textwrap

import pytest

from neuron_port.findings import Severity
from tests.porting import assert_ported, check, ported

HEAD = "import torch\nfrom torch import nn\n\n\n"


def found(source: str, *rules: str) -> list[tuple[str, int, int, str]]:
    """Code, line, column and severity of the findings of some rules."""
    return [
        (finding.code, finding.location.row, finding.location.column, finding.severity.word)
        for finding in check(source)
        if finding.code in rules
    ]


def forward(*lines: str, parameters: str = "x, y, mask") -> str:
    """A module whose forward holds these lines; the first one is line 7."""
    body = "\n".join(f"        {line}" for line in lines)
    return f"{HEAD}class Net(nn.Module):\n    def forward(self, {parameters}):\n{body}\n"


# -- masks as indices ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("return x[x > 0]", 16),
        ("return x[torch.isnan(x)]", 16),
        ("return x[:, y.bool()]", 16),
        ("return x[mask != 0].mean()", 16),
        ("return y + x[~(x > 0)]", 20),
    ],
)
def test_a_mask_picks(line: str, column: int) -> None:
    assert found(forward(line), "NP604") == [("NP604", 7, column, "warning")]


@pytest.mark.parametrize(
    "line", ["return x[mask]", "return x[y.argsort()]", "return x[0]", "return x[:, None]", "return x[x.shape[0] > 3]"]
)
def test_no_mask(line: str) -> None:
    assert found(forward(line), "NP604") == []


def test_the_evidence_is_said() -> None:
    (finding,) = check(forward("return x[x > 0]"))
    assert finding.evidence == "the mask: an input of Net.forward; it runs in Net.forward"


def test_elsewhere_it_is_a_note() -> None:
    source = "import torch\ndef f(x: torch.Tensor):\n    return x[x > 0]\n"
    assert found(source, "NP604") == [("NP604", 3, 12, "info")]


@pytest.mark.parametrize("name", ["collate_fn", "test_masks", "__getitem__"])
def test_the_host_is_left_alone(name: str) -> None:
    assert found(f"import torch\ndef {name}(x: torch.Tensor):\n    return x[x > 0]\n", "NP604") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x[x < 0] = 0", "x.masked_fill_(x < 0, 0)"),
        ("x[(x < 0) | (y > x)] = -1.5", "x.masked_fill_((x < 0) | (y > x), -1.5)"),
        ('x[torch.isnan(x)] = float("-inf")', 'x.masked_fill_(torch.isnan(x), float("-inf"))'),
        ("x[x.isnan()] = torch.finfo(x.dtype).min", "x.masked_fill_(x.isnan(), torch.finfo(x.dtype).min)"),
        ("self.b[torch.isinf(self.b)] = 0", "self.b.masked_fill_(torch.isinf(self.b), 0)"),
        ("x[torch.logical_not(x > 0)] = 1", "x.masked_fill_(torch.logical_not(x > 0), 1)"),
    ],
)
def test_a_number_goes_in_at_once(before: str, after: str) -> None:
    assert_ported(forward(before), forward(after), level="safe")


@pytest.mark.parametrize(
    "lines",
    [
        ("x[y > 0] = 0",),  # y may have fewer dimensions
        ("z = x + y", "z[y > 0] = 0"),  # and z more than y
        ("z = x @ y", "z[x > 0] = 0"),
        ("m = x > 0", "x = x.unsqueeze(0)", "x[m] = 0"),
        ("m = (x > 0).any(-1)", "x[m] = 0"),
        ("x[x[0] > 0] = 0",),
        ("x[x > 0] = y",),
        ("x[x > 0] += 1",),
        ("x[x > 0, 0] = 1",),
    ],
)
def test_what_is_not_sure_stays(lines: tuple[str, ...]) -> None:
    source = forward(*lines)
    assert ported(source, "unsafe") == source
    assert [code for code, *_ in found(source, "NP605")] == ["NP605"]


def test_copies_have_the_shape_of_the_original() -> None:
    lines = ("labels = x.clone()", "labels[x == 3] = -100", "return labels")
    after = ("labels = x.clone()", "labels.masked_fill_(x == 3, -100)", "return labels")
    assert_ported(forward(*lines), forward(*after), level="safe")


def test_numbers_beyond_float16_are_unsafe() -> None:
    source = forward("x[x < 0] = -1e9")
    assert ported(source, "safe") == source
    assert_ported(source, forward("x.masked_fill_(x < 0, -1e9)"))


# -- sizes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("return torch.nonzero(x)", 16),
        ("return torch.where(x > 0)", 16),
        ("return x.nonzero(as_tuple=True)", 16),
        ("return y.masked_select(mask)", 16),
        ("return torch.repeat_interleave(x, y.long())", 16),
        ("return x.repeat_interleave(y.long(), dim=0)", 16),
        ("return x.split(y.tolist())", 16),
        ("return torch.tensor_split(x, y.long())", 16),
    ],
)
def test_sizes_that_depend_on_data(line: str, column: int) -> None:
    assert found(forward(line), "NP603") == [("NP603", 7, column, "warning")]


@pytest.mark.parametrize(
    "line",
    [
        "return torch.where(x > 0, x, y)",
        "return torch.repeat_interleave(x, 3)",
        "return x.repeat_interleave(n, dim=0)",
        "return torch.repeat_interleave(x, y.long(), output_size=4)",
        "return x.split(4)",
        "return x.split([1, 2])",
        "return torch.unique(x.cpu())",
        "return names.unique()",
    ],
)
def test_sizes_that_do_not(line: str) -> None:
    assert found(forward(line, parameters="x, y, n: int, names: list"), "NP603") == []


def test_sizes_read_from_tensors() -> None:
    source = forward("n = int(y.max().item())", "x = x[:, :n]", "return torch.zeros(n + 1, 2)", "")
    assert found(source, "NP606") == [("NP606", 8, 13, "warning"), ("NP606", 9, 16, "warning")]
    assert found(forward("n = x.shape[1] // 2", "return x[:, :n], torch.zeros(n)"), "NP606") == []


# -- loops ----------------------------------------------------------------------------------------------------------------


def test_caches_grow() -> None:
    lines = (
        "k, v = self.kv(x)",
        "if layer_past is not None:",
        "    k = torch.cat([layer_past[0], k], dim=2)",
        "return k",
    )
    assert found(forward(*lines, parameters="x, layer_past=None"), "NP607") == [("NP607", 9, 17, "warning")]


def test_a_cache_is_what_was_assigned_before() -> None:
    lines = ("k = torch.cat([k, self.bias_k])", "if static:", "    k = past_key", "return k")
    assert found(forward(*lines, parameters="x, k, past_key=None, static=False"), "NP607") == []
    lines = ("k = x.view(n, -1)", "k = torch.cat([k, x])", "if static:", "    k = past_key", "return k")
    assert found(forward(*lines, parameters="x, n, past_key=None, static=False"), "NP607") == []


@pytest.mark.parametrize("piece", ["past_values", "x", "feat_cache[0][:, -1:]", "padding"])
def test_other_concatenations(piece: str) -> None:
    source = forward(f"return torch.cat([{piece}, y])", parameters="x, y, past_values, feat_cache, padding")
    assert found(source, "NP607") == []


def test_moving_places_are_said_once_in_a_loop() -> None:
    lines = ("out = torch.zeros_like(x)", "for i in range(n):", "    out[:, i] = 1", "    out[i, :] = 2")
    assert found(forward(*lines, parameters="x, n"), "NP608") == [("NP608", 9, 13, "info")]


# -- batches --------------------------------------------------------------------------------------------------------------

LOOP = """
    from torch.utils.data import DataLoader
    def train(model, data):
        loader = DataLoader({arguments})
        for x in {iterated}:
            model(x).backward()
    """


@pytest.mark.parametrize("iterated", ["loader", "enumerate(loader)", "tqdm(enumerate(loader))"])
def test_the_last_batch_is_dropped(iterated: str) -> None:
    before = LOOP.format(arguments="data, 32", iterated=iterated)
    assert_ported(before, LOOP.format(arguments="data, 32, drop_last=True", iterated=iterated))
    assert found(before, "NP609") == [("NP609", 4, 14, "warning")]


@pytest.mark.parametrize(
    "arguments", ["data", "data, 1", "data, 32, drop_last=flag", "data, batch_sampler=s", "data, **kw"]
)
def test_other_loaders(arguments: str) -> None:
    assert found(LOOP.format(arguments=arguments, iterated="loader"), "NP609") == []


# -- compilation ----------------------------------------------------------------------------------------------------------


def test_one_setting_for_a_file() -> None:
    assert_ported(
        """
        import torch as th

        def prepare(a, b):
            # Both of them.
            a = th.compile(a, backend="neuron")
            return a, th.compile(b, backend="neuron")
        """,
        """
        import torch as th

        def prepare(a, b):
            th._dynamo.config.automatic_dynamic_shapes = False
            # Both of them.
            a = th.compile(a, backend="neuron")
            return a, th.compile(b, backend="neuron")
        """,
        level="safe",
    )


@pytest.mark.parametrize("made", ["nn.Linear(8, 8)", "Net()", "AutoModel.from_pretrained(name)"])
def test_modules_that_compile_themselves(made: str) -> None:
    head = f"import torch\nfrom torch import nn\nfrom transformers import AutoModel\nclass Net(nn.Module): ...\nm = {made}\n"
    setting = "torch._dynamo.config.automatic_dynamic_shapes = False\n"
    call = 'm.compile(backend="neuron")\n'
    assert_ported(head + call + call, head + setting + call + call, level="safe")
    assert found(head + call, "NP602") == [("NP602", 6, 1, "warning")]


def test_the_setting_stands_in_front_of_a_loop_over_layers() -> None:
    head = "import torch\ndef f(model, fast):\n    if fast:\n"
    loop = '        for layer in model.layers:\n            layer.compile(backend="neuron")\n'
    setting = "        torch._dynamo.config.automatic_dynamic_shapes = False\n"
    assert_ported(head + loop, head + setting + loop)


def test_a_module_by_its_arguments_alone_is_unsafe() -> None:
    source = 'import torch\ndef f(m):\n    m.compile(backend="neuron")\n'
    assert found(source, "NP602") == [("NP602", 3, 5, "warning")]
    assert ported(source, "safe") == source
    assert "automatic_dynamic_shapes = False" in ported(source, "unsafe")


@pytest.mark.parametrize(
    "line",
    [
        "m.compile()",
        'm.compile(optimizer="adam")',
        'm.compile("adam")',
        "m.compile(**options)",
        're.compile("a")',
        'nn.Linear(8, 8).compile(backend="aot_eager")',
        "nn.Linear(8, 8).compile(dynamic=False)",
        "nn.Linear(8, 8).compile(disable=True)",
        "keras.Model().compile()",
    ],
)
def test_what_compiles_no_module(line: str) -> None:
    source = f"import re\nimport keras\nimport torch\nfrom torch import nn\ndef f(m, options):\n    {line}\n"
    assert found(source, "NP602") == []


def test_portable_code_keeps_dynamic_shapes() -> None:
    source = "import torch\nm = torch.compile(m)\n"
    assert ported(source, "unsafe", "portable") == source
    (finding,) = (item for item in check(source, "portable") if item.code == "NP602")
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    "source",
    [
        'm = torch.compile(m, backend="neuron", dynamic=False)',
        "torch._dynamo.config.automatic_dynamic_shapes = False\nm = torch.compile(m)",
        'm = torch.compile(m, backend="aot_eager")',
        "m = torch.compile(m, **options)",
    ],
)
def test_decided_already(source: str) -> None:
    assert found(f"import torch\n{source}\n", "NP602") == []


def test_compiled_functions_without_results() -> None:
    source = textwrap.dedent(
        """\
        import torch
        opt = torch.optim.SGD([], lr=1)
        step = torch.compile(opt.step, dynamic=False)
        @torch.compile(dynamic=False)
        def f(x):
            x.add_(1)
        @torch.compile(dynamic=False)
        def g(x):
            return x
        """
    )
    assert found(source, "NP611") == [("NP611", 3, 8, "warning"), ("NP611", 4, 2, "warning")]

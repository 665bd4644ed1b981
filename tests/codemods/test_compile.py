"""torch.compile in its forms."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, codes

HEAD = "import re\nfrom functools import partial\nimport torch\nfrom torch import nn\nm = nn.Linear(1, 1)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("c = torch.compile(m)", 'c = torch.compile(m, backend="neuron")'),
        ("c = torch.compile()(m)", 'c = torch.compile(backend="neuron")(m)'),
        ("c = torch.compile(m, fullgraph=True)", 'c = torch.compile(m, fullgraph=True, backend="neuron")'),
        ('c = torch.compile(m, mode="max-autotune")', 'c = torch.compile(m, backend="neuron")'),
        ('c = torch.compile(m, mode="default")', 'c = torch.compile(m, mode="default", backend="neuron")'),
        ("c = torch.compile(m, backend='inductor')", "c = torch.compile(m, backend='neuron')"),
        ('c = torch.compile(m, backend="cudagraphs")', 'c = torch.compile(m, backend="neuron")'),
        ('c = torch.compile(m, backend="openxla")', 'c = torch.compile(m, backend="neuron", dynamic=False)'),
        (
            'c = torch.compile(m, dynamic=False, backend="openxla_eval")',
            'c = torch.compile(m, dynamic=False, backend="neuron")',
        ),
        (
            'p = partial(torch.compile, backend="neuronx")',
            'p = partial(torch.compile, backend="neuron", dynamic=False)',
        ),
        ('m.compile(backend="openxla")', 'm.compile(backend="neuron", dynamic=False)'),
        (
            'c = torch.compile(m, backend="openxla" if fast else "eager")',
            'c = torch.compile(m, backend="neuron" if fast else "eager", dynamic=False)',
        ),
        ('torch.compiler.set_default_backend("openxla")', 'torch.compiler.set_default_backend("neuron")'),
        (
            'c = torch.compile(m, backend="inductor" if fast else "eager")',
            'c = torch.compile(m, backend="neuron" if fast else "eager")',
        ),
        (
            'c = torch.compile(m, mode="max-autotune" if fast else None)',
            'c = torch.compile(m, backend="neuron")',
        ),
        (
            'c = torch.compile(m, mode="max-autotune" if fast else "default")',
            'c = torch.compile(m, mode=None if fast else "default", backend="neuron")',
        ),
        ('c = torch.compile(m, options={"max_autotune": True})', 'c = torch.compile(m, backend="neuron")'),
        ("p = partial(torch.compile, fullgraph=True)", 'p = partial(torch.compile, fullgraph=True, backend="neuron")'),
        ("m.compile()", 'm.compile(backend="neuron")'),
        ('m.compile(mode="reduce-overhead")', 'm.compile(backend="neuron")'),
        ('torch.compiler.set_default_backend("inductor")', 'torch.compiler.set_default_backend("neuron")'),
    ],
)
def test_safe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("c = torch.compile(m, dynamic=True)", 'c = torch.compile(m, dynamic=False, backend="neuron")'),
        ('x.compile(mode="max-autotune")', 'x.compile(backend="neuron")'),
        (
            "torch._dynamo.config.automatic_dynamic_shapes = True",
            "torch._dynamo.config.automatic_dynamic_shapes = False",
        ),
        (
            'c = torch.compile(m, backend="aot_torchxla_trace_once")',
            'c = torch.compile(m, backend="neuron", dynamic=False)',
        ),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before) == after


@pytest.mark.parametrize(
    "line",
    [
        'c = torch.compile(m, backend="neuron")',
        'c = torch.compile(m, backend="eager")',
        'c = torch.compile(m, backend="aot_eager", dynamic=False)',
        "c = torch.compile(m, backend=backend)",
        'c = torch.compile(m, disable=True, mode="max-autotune")',
        'c = torch.compile(m, backend="neuron", options={"model_name": "lm"})',
        "c = torch.compile(m, **options)",
        "c = torch.compile",
        'c = re.compile("max-autotune")',
        'model.compile(optimizer="adam", loss="mse")',
        'template.compile("text")',
        "thing.compile()",
        'torch.compiler.set_default_backend("neuron")',
        "torch._dynamo.config.automatic_dynamic_shapes = False",
        "shapes = torch._dynamo.config.automatic_dynamic_shapes",
    ],
)
def test_left_alone(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP180") == []


def test_backends_of_the_xla_lineage_are_one_finding() -> None:
    line = 'c = torch.compile(m, backend="openxla")'
    assert found(HEAD, line, "NP270") == ["error safe"]
    assert found(HEAD, line, "NP180") == []
    assert found(HEAD, 'c = torch.compile(m, backend="torchxla_trivial")', "NP270") == ["warning unsafe"]


def test_portable_code_names_no_backend_of_one_platform() -> None:
    before = 'import torch\nc = torch.compile(f, backend="openxla", fullgraph=True)\n'
    after = "import torch\nc = torch.compile(f, fullgraph=True, dynamic=False)\n"
    assert_ported(before, after, "safe", "portable")


def test_options_of_both_kinds_are_left_to_a_person() -> None:
    line = 'c = torch.compile(m, backend="neuron", options={"model_name": "lm", "epilogue_fusion": True})'
    assert found(HEAD, line, "NP180") == ["warning manual"]
    assert found(HEAD, 'c = torch.compile(m, backend="neuron", options=options)', "NP180") == ["warning manual"]


def test_decorators() -> None:
    assert_ported(
        """
        import torch
        from torch import compile

        torch._dynamo.config.automatic_dynamic_shapes = False

        @torch.compile
        def f(x): return x

        @compile
        def g(x): return x

        @torch.compile(mode="max-autotune", dynamic=False)
        def h(x): return x
        """,
        """
        import torch
        from torch import compile

        torch._dynamo.config.automatic_dynamic_shapes = False

        @torch.compile(backend="neuron")
        def f(x): return x

        @compile(backend="neuron")
        def g(x): return x

        @torch.compile(dynamic=False, backend="neuron")
        def h(x): return x
        """,
        level="safe",
    )


def test_a_variable_that_is_torch_compile() -> None:
    assert port("import torch\njit = torch.compile\n", "c = jit(m)", "safe") == 'c = jit(m, backend="neuron")'
    assert codes("from mine import compile\ncompile(m, mode='max-autotune')\n") == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("c = torch.compile(m)", []),
        ("@torch.compile\ndef f(x): ...", []),
        ('c = torch.compile(m, mode="max-autotune")', ["info manual"]),
        ('c = torch.compile(m, backend="inductor")', ["error manual"]),
        ("c = torch.compile(m, dynamic=True)", ["error manual"]),
    ],
)
def test_portable_code_keeps_its_arguments(line: str, expected: list[str]) -> None:
    assert port(HEAD, line, "unsafe", "portable") == line.splitlines()[-1]
    assert found(HEAD, line, "NP180", "portable") == expected

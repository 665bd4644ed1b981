"""What conditions say about the accelerator, and what they guard."""

from __future__ import annotations

import ast

import pytest

from neuron_port.semantics.guards import Guards
from tests.semantics.build import module


def marked(source: str) -> tuple[Guards, ast.AST]:
    """The guards of a source text and the call ``here()`` in it."""
    model = module(source)
    call = next(
        node for node in ast.walk(model.tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "here"
    )
    return Guards(model), call


@pytest.mark.parametrize(
    "source",
    [
        "if torch.cuda.is_available():\n    here()",
        "if torch.accelerator.is_available():\n    here()",
        "if not torch.cuda.is_available():\n    pass\nelse:\n    here()",
        "if torch.cuda.is_available() and other:\n    here()",
        "if not torch.cuda.is_available():\n    raise SystemExit\nhere()",
        "use = torch.cuda.is_available()\nif use:\n    here()",
        "use = not args.no_cuda and torch.cuda.is_available()\nif use:\n    here()",
        "args.cuda = torch.cuda.is_available()\nif args.cuda:\n    here()",
        "if device.type == 'cuda':\n    here()",
        "if torch.cuda.device_count() > 1:\n    here()",
        "x = here() if torch.cuda.is_available() else None",
        "torch.cuda.is_available() and here()",
        "while torch.cuda.is_available():\n    here()",
        "assert torch.cuda.is_available()\nhere()",
    ],
)
def test_available(source: str) -> None:
    guards, call = marked("import torch\n" + source)
    assert guards.available(call)


@pytest.mark.parametrize(
    "source",
    [
        "here()",
        "if torch.cuda.is_available():\n    pass\nelse:\n    here()",
        "if torch.cuda.is_available() or other:\n    here()",
        "if other:\n    here()",
        "if not torch.cuda.is_available():\n    print()\nhere()",
        "use = torch.cuda.is_available() or force\nif use:\n    here()",
        "torch.cuda.is_available() or here()",
    ],
)
def test_not_available(source: str) -> None:
    guards, call = marked("import torch\n" + source)
    assert not guards.available(call)


def region(source: str) -> list[str]:
    model = module("import torch\n" + source)
    call = next(
        node
        for node in ast.walk(model.tree)
        if isinstance(node, ast.Call) and model.qualname(node.func) == "torch.cuda.is_available"
    )
    guards = Guards(model)
    return [ast.unparse(node) for node in (*guards.region(call)[0], *guards.flag_region(call))]


@pytest.mark.parametrize(
    ("source", "guarded"),
    [
        ("if torch.cuda.is_available():\n    a()\n    b()\nelse:\n    c()", ["a()", "b()"]),
        ("if not torch.cuda.is_available():\n    a()\nelse:\n    b()", ["b()"]),
        ("if not torch.cuda.is_available():\n    exit()\na()\nb()", ["a()", "b()"]),
        ("x = a if torch.cuda.is_available() else b", ["a"]),
        ("x = a if not torch.cuda.is_available() else b", ["b"]),
        ("if torch.cuda.is_available() and a():\n    b()", ["a()", "b()"]),
        ("if torch.cuda.is_available() or a():\n    b()", []),
        ("use = torch.cuda.is_available()\nif use:\n    a()\nif use and x:\n    b()", ["a()", "x", "b()"]),
        (
            "class A:\n    def f(self):\n        self.gpu = torch.cuda.is_available()\n    def g(self):\n        if self.gpu:\n            a()",
            ["a()"],
        ),
        ("print(torch.cuda.is_available())", []),
    ],
)
def test_region(source: str, guarded: list[str]) -> None:
    assert region(source) == guarded


def first_import(source: str, name: str) -> tuple[Guards, ast.AST]:
    model = module(source)
    return Guards(model), next(binding.node for binding in model.found.imports if binding.qualname == name)


def test_a_fallback_for_older_torch() -> None:
    source = "try:\n    from torch.amp import autocast\nexcept ImportError:\n    from torch.cuda.amp import autocast"
    assert Guards.fallback(*first_import(source, "torch.cuda.amp.autocast"))
    guards, call = marked("import torch\nif hasattr(torch, 'accelerator'):\n    pass\nelse:\n    here()")
    assert guards.fallback(call)
    guards, call = marked("import torch\nx = 1 if torch.__version__ >= '2.4' else here()")
    assert guards.fallback(call)


def test_no_fallback() -> None:
    source = "try:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    autocast = None"
    assert not Guards.fallback(*first_import(source, "torch.cuda.amp.autocast"))
    guards, call = marked("import torch\nif torch.__version__ >= '2.4':\n    here()")
    assert not guards.fallback(call)
    guards, call = marked("import torch\nif torch.__version__.startswith('2.0'):\n    pass\nelse:\n    here()")
    assert not guards.fallback(call)
    guards, call = marked("if optimizer_step_done_at_least_once < 2:\n    here()")
    assert not guards.fallback(call)


def test_optional_import() -> None:
    assert Guards.optional_import(*first_import("try:\n    import apex\nexcept ImportError:\n    apex = None", "apex"))
    assert not Guards.optional_import(*first_import("import apex", "apex"))
    assert not Guards.optional_import(*first_import("try:\n    import apex\nexcept OSError:\n    pass", "apex"))


@pytest.mark.parametrize(
    ("source", "several"),
    [
        ("if torch.cuda.is_available():\n    pass\nelif torch.backends.mps.is_available():\n    pass", True),
        ("if is_xpu():\n    pass\nelif torch.cuda.is_available():\n    pass", True),
        ("x = 1 if torch.cuda.is_available() else 2 if torch.xpu.is_available() else 3", True),
        ("if torch.cuda.is_available():\n    pass\nelse:\n    pass", False),
    ],
)
def test_several_backends(source: str, several: bool) -> None:
    model = module("import torch\n" + source)
    owners = [node for node in ast.walk(model.tree) if isinstance(node, (ast.If, ast.IfExp))]
    assert Guards(model).several_backends(owners[-1]) is several


@pytest.mark.parametrize(
    "source",
    [
        "if x.device.type == 'mps':\n    here()",
        "if device == 'cpu':\n    here()",
        "if str(device) == 'cpu' and small:\n    here()",
        "if torch.device(name_of_device).type == 'cpu':\n    here()",
        "if device.type != 'xpu':\n    pass\nelse:\n    here()",
        "if device.type != 'cpu':\n    raise ValueError\nhere()",
        "y = here() if x.is_cpu else x",
        "if a.is_sparse and not b.is_sparse:\n    here()",
        "if is_torch_xpu_available():\n    here()",
        "if x.is_cuda and torch.cuda.get_device_capability(0) >= (8, 9):\n    here()",
    ],
)
def test_elsewhere(source: str) -> None:
    guards, call = marked(f"import torch\n{source}")
    assert guards.elsewhere(call)


@pytest.mark.parametrize(
    "source",
    [
        "here()",
        "if device.type != 'mps':\n    here()",
        "if device == 'cuda':\n    here()",
        "if device.type == 'neuron':\n    here()",
        "if not is_torch_xpu_available():\n    here()",
        "if device.type == 'cpu':\n    pass\nelse:\n    here()",
        "if mode == 'cpu':\n    here()",
        "if not x.is_sparse:\n    here()",
        "if x.is_cuda:\n    here()",
        "if kind(device) == 'meta' or small:\n    here()",
    ],
)
def test_not_elsewhere(source: str) -> None:
    guards, call = marked(f"import torch\n{source}")
    assert not guards.elsewhere(call)

"""Strings that name a CUDA device, judged by what uses them."""

from __future__ import annotations

import textwrap

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, ported

HEAD = "import os\nimport torch\nx = torch.zeros(1)\n"
CURRENT = "torch.accelerator.current_accelerator()"
EITHER = f'{CURRENT}.type if torch.accelerator.is_available() else "cpu"'


def words(source: str, target: str = "neuron") -> list[tuple[int, str, str, str]]:
    return [
        (item.location.row, item.code, item.severity.word, item.applicability.word) for item in check(source, target)
    ]


def unchanged(source: str, level: str = "unsafe", target: str = "neuron") -> bool:
    return ported(source, level, target) == textwrap.dedent(source)


@pytest.mark.parametrize(
    ("before", "after", "portable"),
    [
        ("x.to('cuda', non_blocking=True)", "x.to('neuron', non_blocking=True)", f"x.to({CURRENT}, non_blocking=True)"),
        (
            'y = torch.ones(1, device="cuda")  # there',
            'y = torch.ones(1, device="neuron")  # there',
            f"y = torch.ones(1, device={CURRENT})  # there",
        ),
        (
            'y = torch.ones(1, device=u"cuda")',
            'y = torch.ones(1, device=u"neuron")',
            f"y = torch.ones(1, device={CURRENT})",
        ),
        (
            'y = torch.ones(1, device="""cuda""")',
            'y = torch.ones(1, device="""neuron""")',
            f"y = torch.ones(1, device={CURRENT})",
        ),
        (
            'y = torch.ones(1, device=("cuda"))',
            'y = torch.ones(1, device=("neuron"))',
            f"y = torch.ones(1, device=({CURRENT}))",
        ),
        (
            'd = torch.device("cuda")',
            'd = torch.device("neuron")',
            f'd = torch.device({CURRENT}.type if torch.accelerator.is_available() else "cpu")',
        ),
        ('d = torch.device(type="cuda")', 'd = torch.device(type="neuron")', f"d = torch.device(type={CURRENT}.type)"),
        (
            'torch.set_default_device("cuda")',
            'torch.set_default_device("neuron")',
            f"torch.set_default_device({CURRENT})",
        ),
        (
            'torch.get_autocast_dtype("cuda")',
            'torch.get_autocast_dtype("neuron" if torch.accelerator.is_available() else "cpu")',
            f'torch.get_autocast_dtype({CURRENT}.type if torch.accelerator.is_available() else "cpu")',
        ),
    ],
)
def test_what_torch_takes_is_safe(before: str, after: str, portable: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert port(HEAD, before, "safe", "portable") == portable
    assert found(HEAD, before, "NP101") == ["error safe"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('m = Auto.from_pretrained("a", device_map="cuda")', 'm = Auto.from_pretrained("a", device_map="neuron")'),
        (
            'm = Auto.from_pretrained("a", device_map={"": "cuda"})',
            'm = Auto.from_pretrained("a", device_map={"": "neuron"})',
        ),
    ],
)
def test_device_maps_are_safe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('p = pipeline("a", device="cuda")', 'p = pipeline("a", device="neuron")'),
        ('config["device"] = "cuda"', 'config["device"] = "neuron"'),
        ('config = {"device": "cuda"}', 'config = {"device": "neuron"}'),
        ('self.device = "cuda"', 'self.device = "neuron"'),
        ('device = "cuda"', 'device = "neuron"'),
    ],
)
def test_what_is_named_like_a_device_is_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after
    assert found(HEAD, before, "NP101") == ["error unsafe"]


@pytest.mark.parametrize(
    ("before", "portable"),
    [
        (
            'config = {"device": "cuda"}',
            f'config = {{"device": {CURRENT}.type if torch.accelerator.is_available() else "cpu"}}',
        ),
        ('device = "cuda"', f'device = {CURRENT}.type if torch.accelerator.is_available() else "cpu"'),
    ],
)
def test_a_stored_device_exists_on_every_host(before: str, portable: str) -> None:
    assert port(HEAD, before, "unsafe", "portable") == portable


def test_a_decorator_runs_on_every_host() -> None:
    assert_ported(
        'import torch\n@torch.amp.custom_bwd(device_type="cuda")\ndef f(): ...\n',
        f"import torch\n@torch.amp.custom_bwd(device_type={EITHER})\ndef f(): ...\n",
        target="portable",
    )


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("s = torch.load('a', map_location='cuda')", "s = torch.load('a', map_location='cpu')"),
        ("s = torch.load('a', 'cuda:1')", "s = torch.load('a', 'cpu')"),
        ("s = torch.load('a', map_location=f'cuda:{rank}')", "s = torch.load('a', map_location='cpu')"),
        ("s = torch.load('a', map_location=torch.device('cuda', rank))", "s = torch.load('a', map_location='cpu')"),
        ("s = torch.load('a', map_location={'cuda:0': 'cuda:1'})", "s = torch.load('a', map_location='cpu')"),
        (
            "s = torch.load('a', map_location={'cuda:%d' % 0: 'cuda:%d' % rank})",
            "s = torch.load('a', map_location='cpu')",
        ),
        ("s = torch.load('a', **{'map_location': 'cuda'})", "s = torch.load('a', **{'map_location': 'cpu'})"),
    ],
)
def test_what_is_loaded_goes_to_the_cpu(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "safe", target) == after
    assert found(HEAD, before, "NP105", target) == ["error safe"]


@pytest.mark.parametrize(
    "line",
    [
        'print("cuda")',
        'log.info("cuda")',
        'raise ValueError("cuda")',
        'path = "cuda/kernels.cu"',
        'name = "cuda-fast"',
        'y = "cudart"',
        'os.path.join("csrc", "cuda")',
        '"cuda"',
        'x.to("neuron")',
        'd = torch.device("cpu")',
        'ok = device in ("cuda", "neuron")',
    ],
)
def test_text_is_no_device(line: str) -> None:
    assert port(HEAD, line) == line
    assert check(f"{HEAD}{line}\n") == ()


def test_a_name_that_is_loaded_onto_and_moved_to_is_a_device() -> None:
    assert_ported(
        """
        import torch
        place = f"cuda:{rank}"
        model.to(place)
        torch.load("a", map_location=place)
        only = f"cuda:{rank}"
        torch.load("a", map_location=only)
        """,
        """
        import torch
        place = "neuron"
        model.to(place)
        torch.load("a", map_location=place)
        only = "cpu"
        torch.load("a", map_location=only)
        """,
        level="safe",
    )


def test_an_attribute_is_followed_to_its_reads() -> None:
    assert_ported(
        """
        import torch
        class Net:
            def __init__(self):
                self.place = "cuda:0"
            def run(self):
                return torch.zeros(2).to(self.place)
        """,
        """
        import torch
        class Net:
            def __init__(self):
                self.place = "neuron"
            def run(self):
                return torch.zeros(2).to(self.place)
        """,
        level="safe",
    )


def test_arguments_and_returned_values_are_followed() -> None:
    assert_ported(
        """
        import torch
        def place():
            return "cuda"
        def make(where):
            return torch.zeros(1).to(where)
        make("cuda")
        make(where="cuda:0")
        torch.zeros(1, device=place())
        """,
        """
        import torch
        def place():
            return "neuron"
        def make(where):
            return torch.zeros(1).to(where)
        make("neuron")
        make(where="neuron")
        torch.zeros(1, device=place())
        """,
        level="safe",
    )


@pytest.mark.parametrize(
    ("before", "after", "portable"),
    [
        (
            "if x.device.type == 'cuda': y = 1",
            "if x.device.type == 'neuron': y = 1",
            'if x.device.type in ("cuda", "neuron"): y = 1',
        ),
        (
            "if x.device.type != 'cuda': y = 1",
            "if x.device.type != 'neuron': y = 1",
            'if x.device.type not in ("cuda", "neuron"): y = 1',
        ),
        (
            "if 'cuda' in str(x.device): y = 1",
            "if 'neuron' in str(x.device): y = 1",
            'if any(name in str(x.device) for name in ("cuda", "neuron")): y = 1',
        ),
        (
            "if 'cuda:' in str(x.device): y = 1",
            "if 'neuron:' in str(x.device): y = 1",
            'if any(name in str(x.device) for name in ("cuda:", "neuron:")): y = 1',
        ),
        (
            "if device.startswith('cuda:'): y = 1",
            "if device.startswith('neuron:'): y = 1",
            'if device.startswith(("cuda:", "neuron:")): y = 1',
        ),
        (
            "y = int(device.replace('cuda:', ''))",
            "y = int(device.replace('neuron:', ''))",
            "y = int(device.replace('cuda:', ''))",
        ),
        ("y = device.lstrip('cuda:')", "y = device.lstrip('neuron:')", "y = device.lstrip('cuda:')"),
        ("y = device.split('cuda:')", "y = device.split('neuron:')", "y = device.split('cuda:')"),
        (
            "if str(x.device) == 'cuda:0': y = 1",
            "if str(x.device) == 'neuron:0': y = 1",
            "if str(x.device) == 'cuda:0': y = 1",
        ),
        (
            "if x.device == torch.device('cuda:0'): y = 1",
            'if x.device.type == "neuron": y = 1',
            'if x.device.type in ("cuda", "neuron"): y = 1',
        ),
        (
            "if x.device != torch.device('cuda'): y = 1",
            'if x.device.type != "neuron": y = 1',
            'if x.device.type not in ("cuda", "neuron"): y = 1',
        ),
        (
            "if torch.device('cuda') == x.device: y = 1",
            'if x.device.type == "neuron": y = 1',
            'if x.device.type in ("cuda", "neuron"): y = 1',
        ),
    ],
)
def test_comparisons_are_unsafe(before: str, after: str, portable: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after
    assert port(HEAD, before, "unsafe", "portable") == portable
    assert found(HEAD, before, "NP107") == ["warning unsafe"]


@pytest.mark.parametrize(
    ("line", "code", "expected"),
    [
        ("if name == 'cuda': y = 1", "NP107", ["info manual"]),
        ("if kind.startswith('cuda'): y = 1", "NP107", ["info manual"]),
        ("import re; re.match(r'cuda:(\\d+)', device)", "NP104", ["info manual"]),
        ("module.__doc__ = 'cuda'", "NP104", ["info manual"]),
        ("y = getattr(torch, 'cuda')", "NP136", ["warning manual"]),
        ("y = hasattr(torch, 'cuda')", "NP136", ["info manual"]),
        ("def f(*, backend='cuda'): ...", "NP104", ["info manual"]),
        ("p = torch.cuda.get_device_properties('cuda:0')", "NP102", ["error manual"]),
    ],
)
def test_reported(line: str, code: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, code) == expected


def test_a_comparison_is_as_safe_as_the_choice_it_follows() -> None:
    source = """
        import torch
        device = "cuda" if torch.cuda.is_available() else "cpu"
        if device == "cuda":
            torch.cuda.synchronize()
    """
    assert [item[3] for item in words(source)] == ["safe", "safe", "safe"]
    assert_ported(
        source,
        """
        import torch
        device = "neuron" if torch.accelerator.is_available() else "cpu"
        if device == "neuron":
            torch.accelerator.synchronize()
    """,
        level="safe",
    )


def test_both_sides_of_a_choice_by_name_move() -> None:
    source = """
        import torch
        def f(device):
            kind = "cuda" if device.startswith("cuda") else "cpu"
            with torch.autocast(kind): ...
    """
    assert unchanged(source, "safe")
    assert 'kind = "neuron" if device.startswith("neuron") else "cpu"' in ported(source)


def test_an_option_and_the_tests_of_its_value_have_one_level() -> None:
    source = """
        import argparse
        import torch
        parser = argparse.ArgumentParser()
        parser.add_argument("--device", default="cuda", choices=["cpu", "cuda"])
        args = parser.parse_args()
        if args.device == "cuda" and not torch.cuda.is_available():
            args.device = "cpu"
    """
    assert words(source) == [
        (5, "NP103", "error", "safe"),
        (5, "NP106", "error", "safe"),
        (7, "NP107", "warning", "safe"),
        (7, "NP120", "warning", "safe"),
    ]
    after = ported(source, "safe")
    assert 'default="neuron", choices=["cpu", "cuda", "neuron"]' in after
    # Old launch lines still say --device cuda.
    assert 'if args.device in ("cuda", "neuron") and not torch.accelerator.is_available():' in after
    assert 'default="cuda", choices=["cpu", "cuda", "neuron"]' in ported(source, target="portable")


def test_a_device_that_is_only_named_survives_a_host_without_one() -> None:
    source = """
        import torch
        def get(device="auto"):
            if device == "auto":
                device = "cuda"
            device = torch.device(device)
            if device.type == torch.device("cuda").type and not torch.cuda.is_available():
                return torch.device("cpu")
            return device
    """
    after = ported(source, "safe")
    assert '        device = "neuron" if torch.accelerator.is_available() else "cpu"\n' in after
    assert '    if device.type == "neuron" and not torch.accelerator.is_available():\n' in after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(device='cuda'): ...", "def f(device='neuron'): ..."),
        ("def f(*, device: str = 'cuda:0'): ...", "def f(*, device: str = 'neuron'): ..."),
        ("y = config.get('device', 'cuda')", "y = config.get('device', 'neuron')"),
        ("y = os.environ.get('DEVICE', 'cuda')", "y = os.environ.get('DEVICE', 'neuron')"),
        ("class A: device = 'cuda'", "class A: device = 'neuron'"),
    ],
)
def test_defaults_stay_in_portable_code(before: str, after: str) -> None:
    assert port(HEAD, before) == after
    assert port(HEAD, before, "unsafe", "portable") == before
    assert found(HEAD, before, "NP103") == ["error unsafe"]
    assert found(HEAD, before, "NP103", "portable") == ["error manual"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            "if device not in {'cpu', 'cuda'}: y = 1",
            "if device not in {'cpu', 'cuda', 'neuron'}: y = 1",
            ["warning unsafe"],
        ),
        (
            "if device in ('cuda:0', 'cuda:1'): y = 1",
            "if device in ('cuda:0', 'cuda:1', 'neuron'): y = 1",
            ["warning unsafe"],
        ),
        (
            "def f(kind: Literal['cpu', 'cuda']): ...",
            "def f(kind: Literal['cpu', 'cuda', 'neuron']): ...",
            ["info unsafe"],
        ),
        ("KNOWN = ('cpu', 'cuda')", "KNOWN = ('cpu', 'cuda', 'neuron')", ["info unsafe"]),
        ("for device in ['cpu', 'cuda']: y = 1", "for device in ['cpu', 'cuda', 'neuron']: y = 1", ["info unsafe"]),
    ],
)
def test_lists_grow(before: str, after: str, expected: list[str]) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after
    assert found(HEAD, before, "NP106") == expected


@pytest.mark.parametrize(
    ("line", "code", "expected"),
    [
        ("f([('cpu', 'cuda'), ('cuda', 'cpu')])", "NP104", ["info manual", "info manual"]),
        ("SIZES = {'cuda': 8, 'cpu': 1}", "NP106", ["warning manual"]),
        ("config = {'cuda': True}", "NP106", ["info manual"]),
    ],
)
def test_rows_and_keys_stay(line: str, code: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, code) == expected


def test_a_table_of_functions_gets_an_entry() -> None:
    line = 'SYNC = {"cuda": torch.cuda.synchronize, "cpu": lambda: None}'
    assert port(HEAD, line) == line[:-1] + ', "neuron": torch.accelerator.synchronize}'
    assert found(HEAD, line, "NP106") == ["warning unsafe"]
    assert found(HEAD, line, "NP130") == ["info manual"]


def test_an_enumeration_is_reported_even_through_a_base_of_its_own() -> None:
    source = """
        import enum
        class BaseEnum(str, enum.Enum):
            pass
        class Kind(BaseEnum):
            CPU = "cpu"
            CUDA = "cuda"
        class Known(enum.Enum):
            CUDA = "cuda"
            NEURON = "neuron"
    """
    assert words(source) == [(7, "NP106", "info", "manual")]
    assert unchanged(source)


def test_a_parametrized_list_and_its_test_keep_the_old_case() -> None:
    assert_ported(
        """
        import pytest
        import torch
        @pytest.mark.parametrize("device", ["cpu", "cuda"])
        def test_one(device):
            if device == "cuda" and not torch.cuda.is_available():
                pytest.skip("no device")
        """,
        """
        import pytest
        import torch
        @pytest.mark.parametrize("device", ["cpu", "cuda", "neuron"])
        def test_one(device):
            if device in ("cuda", "neuron") and not torch.accelerator.is_available():
                pytest.skip("no device")
        """,
    )


def test_a_case_of_a_match_statement_is_reported() -> None:
    source = """
        import torch
        match device.type:
            case "cuda":
                pass
    """
    assert words(source) == [(4, "NP107", "info", "manual")]


def test_a_branch_with_foreign_cuda_code_is_never_taken() -> None:
    source = """
        import torch
        def bias(x, impl):
            if x.device.type == "cuda" and ready():
                return _bias_cuda(x)
            return x
    """
    assert words(source) == [(4, "NP122", "info", "manual")]
    assert unchanged(source)


def test_a_choice_for_another_backend_is_unsafe() -> None:
    source = """
        import torch
        kind = "cuda" if is_torch_xla_available(check_is_gpu=True) else device.type
        with torch.autocast(kind): ...
    """
    assert words(source) == [(3, "NP101", "error", "unsafe")]


def test_torch_from_a_star_import() -> None:
    assert_ported(
        """
        from .setup import *
        x = torch.zeros(1).cuda()
        torch.cuda.synchronize()
        """,
        """
        from .setup import *
        x = torch.zeros(1).to("neuron")
        torch.accelerator.synchronize()
        """,
        level="safe",
    )

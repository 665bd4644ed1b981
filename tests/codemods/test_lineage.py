"""A file leaves PyTorch/XLA as a whole, or a person is told what keeps it."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, check, codes, ported

BLOCKED = """
    import torch
    import torch_xla.core.xla_model as xm

    device = xm.xla_device()
    print(xm.xla_device_kind(device))
    xm.mark_step()
"""


def found(source: str, code: str):
    return [finding for finding in check(source) if finding.code == code]


def test_what_blocks_is_named_on_the_import() -> None:
    (finding,) = found(BLOCKED, "NP201")
    assert (finding.location.row, finding.location.column) == (3, 8)
    assert "NP213 on line 6 needs a person" in finding.message


def test_safe_fixes_leave_a_blocked_file_alone() -> None:
    assert ported(BLOCKED, "safe") == ported(BLOCKED, "safe").replace("neuron", "")
    assert "xm.mark_step()" in ported(BLOCKED, "safe")


def test_unsafe_fixes_port_what_they_can_and_the_mix_is_reported() -> None:
    after = ported(BLOCKED)
    assert 'device = torch.device("neuron")' in after
    assert "mark_step" not in after
    assert [code for _, code in codes(after) if code in ("NP201", "NP202")] == ["NP202"]


def test_a_file_that_can_leave_is_not_reported_as_a_whole() -> None:
    source = "import torch_xla.core.xla_model as xm\nimport torch\n\nx = torch.ones(2, device=xm.xla_device())\n"
    assert found(source, "NP201") == []
    assert_ported(source, 'import torch\n\nx = torch.ones(2, device=torch.device("neuron"))\n', "safe")


def test_nothing_can_be_ported_so_the_findings_themselves_say_it() -> None:
    assert found("import torch_xla.core.xla_model as xm\n\nprint(xm.xla_device_kind())\n", "NP201") == []


def test_code_behind_an_optional_import_is_another_platforms() -> None:
    source = """
        try:
            import torch_xla.core.xla_model as xm
        except ImportError:
            xm = None

        if xm is not None:
            xm.mark_step()
    """
    assert ported(source) == ported(source, "safe")
    assert "xm.mark_step()" in ported(source)
    assert {finding.severity.word for finding in found(source, "NP220")} == {"info"}


def test_an_import_that_a_test_guards_is_optional() -> None:
    source = """
        from transformers.utils import is_torch_xla_available

        if is_torch_xla_available():
            import torch_xla.core.xla_model as xm

        def step():
            xm.mark_step()
    """
    assert "xm.mark_step()" in ported(source)


def test_the_mix_is_said_once_at_the_first_native_sign() -> None:
    source = """
        import torch
        import torch_xla.core.xla_model as xm

        a = torch.ones(2).to("neuron")
        b = torch.ones(2).to("neuron")
        print(xm.xla_device_kind())
    """
    (finding,) = found(source, "NP202")
    assert (finding.location.row, finding.location.column) == (5, 22)


def test_an_optional_import_stays_when_another_one_of_the_same_name_goes() -> None:
    assert_ported(
        """
        import torch
        try:
            import torch_xla.core.xla_model as xm
        except ImportError:
            xm = None

        def move(x):
            import torch_xla.core.xla_model as xm

            return x.to(xm.xla_device())

        def seed(value):
            if xm is not None:
                xm.set_rng_state(value)
        """,
        """
        import torch
        try:
            import torch_xla.core.xla_model as xm
        except ImportError:
            xm = None

        def move(x):
            return x.to(torch.device("neuron"))

        def seed(value):
            if xm is not None:
                xm.set_rng_state(value)
        """,
    )


def test_a_flag_that_follows_from_the_device_guards_nothing() -> None:
    source = """
        import torch


        def train(name):
            if name:
                device, lazy = torch.device(name), False
            else:
                import torch_xla

                device = torch_xla.device()
            is_xla = False
            if not name:
                is_xla = True
            if is_xla:
                import torch_xla

                torch_xla.sync(wait=True)
            return device
    """
    after = ported(source)
    assert "torch_xla" not in after
    assert "if is_xla:\n        torch.accelerator.synchronize()" in after


def test_a_flag_of_a_found_package_still_guards() -> None:
    source = """
        import importlib.util

        has_xla = False
        if importlib.util.find_spec("torch_xla"):
            has_xla = True
        if has_xla:
            import torch_xla.core.xla_model as xm

            xm.mark_step()
    """
    assert "xm.mark_step()" in ported(source)


def test_torch_itself_is_no_old_package() -> None:
    source = """
        try:
            import torch
        except Exception:
            torch = None


        def run(path):
            return torch.ones(2).to("xla"), torch.jit.load(path)
    """
    assert 'torch.ones(2).to("neuron")' in ported(source)


def test_a_file_that_stays_on_the_old_platform_keeps_its_cuda_shims() -> None:
    source = """
        import torch
        import torch_xla.core.xla_model as xm

        torch.cuda.is_bf16_supported = lambda: True
        torch.cuda.synchronize()
        print(xm.xla_device_kind())
        xm.mark_step()
    """
    assert "torch.cuda" in ported(source, "safe")
    assert "torch.cuda" not in ported(source)


def test_cuda_code_beside_an_optional_import_is_ported_as_ever() -> None:
    source = """
        import torch
        try:
            import torch_xla.core.xla_model as xm
        except ImportError:
            xm = None

        torch.cuda.synchronize()
        if xm is not None:
            print(xm.xla_device_kind())
    """
    assert "torch.accelerator.synchronize()" in ported(source, "safe")


def test_a_saved_trace_needs_the_import_that_registers_its_operators() -> None:
    source = """
        import torch
        import torch_neuron

        model = torch.jit.load("net.pt")
    """
    assert "import torch_neuron" in ported(source)


@pytest.mark.parametrize(
    ("first", "use"),
    [
        ("from torch_xla.core import xla_model as xm", '__all__ = ["xm"]'),
        ("import torch_xla.runtime as xr", 'def size(loader: "xr.Loader") -> int: ...'),
        ("import torch_xla.runtime as xr", 'def size() -> "list[xr.Loader]": ...'),
        ("import torch_xla.runtime as xr", "del xr"),
        ("class Ranks:\n    import torch_xla.runtime as xr", "print(Ranks.xr.world_size())"),
    ],
)
def test_an_import_that_is_needed_without_being_read_stays_and_blocks(first: str, use: str) -> None:
    source = f"import torch\nimport torch_xla.core.xla_model as model\n{first}\n{use}\nd = model.xla_device()\n"
    assert ported(source, "safe") == source
    after = ported(source)
    assert first in after
    assert 'd = torch.device("neuron")' in after
    (finding,) = found(source, "NP201")
    assert "NP203 on line" in finding.message or "NP200 on line" in finding.message


def test_what_stands_before_del_is_found() -> None:
    source = "import torch_xla.core.xla_model as xm\nxm.mark_step()\nxm.xla_device()\ndel xm\n"
    assert {code for _, code in codes(source)} >= {"NP220", "NP210", "NP203"}


def test_a_class_body_whose_import_nobody_asks_for() -> None:
    source = "class A:\n    import torch_xla.core.xla_model as xm\n    xm.mark_step()\n    x = 1\n"
    assert ported(source) == "class A:\n    x = 1\n"

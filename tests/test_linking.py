"""What is ported together: guards with what they guard, imports with their uses."""

from __future__ import annotations

import textwrap

from neuron_port.findings import Applicability, Severity
from tests.porting import assert_ported, check, fix, ported


def test_guard_and_body_are_safe_together() -> None:
    assert_ported(
        """
        import torch
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        """,
        """
        import torch
        if torch.accelerator.is_available():
            torch.accelerator.synchronize()
        """,
        level="safe",
    )


def test_an_unsafe_body_keeps_its_guard_unsafe() -> None:
    source = """
        import torch
        def f(x):
            if torch.cuda.is_available():
                torch.cuda.synchronize()
                x = x.cuda()
            return x
    """
    assert ported(source, "safe") == textwrap.dedent(source)
    assert {finding.applicability for finding in check(source)} == {Applicability.UNSAFE}


def test_a_blocker_in_the_body_makes_the_guard_unsafe() -> None:
    findings = check("""
        import torch
        x = torch.zeros(1)
        if torch.cuda.is_available():
            name = torch.cuda.get_device_name(0)
            x = x.cuda()
    """)
    assert [(finding.code, finding.applicability.word) for finding in findings] == [
        ("NP120", "unsafe"),
        ("NP133", "manual"),
        ("NP110", "unsafe"),
    ]


def test_a_guard_of_questions_stays_with_the_one_that_has_no_answer() -> None:
    source = """
        import torch
        if torch.cuda.is_available():
            total = torch.cuda.get_device_properties(0).total_memory
            torch.cuda.synchronize()
    """
    assert ported(source) == textwrap.dedent(source)
    assert [(finding.code, finding.applicability.word) for finding in check(source)] == [
        ("NP120", "manual"),
        ("NP133", "manual"),
        ("NP130", "manual"),
    ]


def test_a_flag_is_a_guard() -> None:
    assert_ported(
        """
        import torch
        from torch import nn
        model = nn.Linear(1, 1)
        use_cuda = not args.no_cuda and torch.cuda.is_available()
        if use_cuda:
            model.cuda()
        """,
        """
        import torch
        from torch import nn
        model = nn.Linear(1, 1)
        use_cuda = not args.no_cuda and torch.accelerator.is_available()
        if use_cuda:
            model.to("neuron")
        """,
        level="safe",
    )


def test_a_branch_of_cuda_only_code_is_left_alone() -> None:
    source = """
        import torch
        if torch.cuda.is_available():
            import pynvml
            pynvml.nvmlInit()
    """
    findings = check(source)
    assert [(finding.code, finding.severity) for finding in findings] == [
        ("NP122", Severity.INFO),
        ("NP706", Severity.INFO),
    ]
    assert ported(source) == textwrap.dedent(source)


def test_one_cuda_only_line_does_not_hide_a_whole_training_run() -> None:
    findings = check("""
        import torch
        model = torch.nn.Linear(1, 1)
        if torch.cuda.is_available():
            import pynvml
            model.cuda()
    """)
    assert [finding.code for finding in findings] == ["NP120", "NP706", "NP110"]


def test_an_import_moves_when_every_use_can() -> None:
    assert_ported(
        """
        from torch.cuda import current_device, synchronize
        print(current_device())
        synchronize()
        """,
        """
        from torch.accelerator import current_device_index as current_device, synchronize
        print(current_device())
        synchronize()
        """,
        level="safe",
    )


def test_an_import_stays_when_one_use_cannot() -> None:
    source = """
        from torch.cuda import Event
        a = Event(True)
        b = Event(external=True)
    """
    result = fix(source)
    assert result.after == textwrap.dedent(source)
    assert [finding.message for finding in result.remaining if finding.location.row == 3] == [
        "torch.cuda.Event is bound to CUDA; use torch.Event; not ported because another use of Event, on line 4, is not"
    ]


def test_a_module_import_goes_with_its_last_use() -> None:
    assert_ported(
        """
        import torch
        import torch.cuda as tc
        from torch import cuda
        tc.synchronize()
        cuda.synchronize()
        """,
        """
        import torch
        torch.accelerator.synchronize()
        torch.accelerator.synchronize()
        """,
        level="safe",
    )


def test_a_module_import_stays_with_what_is_left() -> None:
    result = fix("""
        import torch
        from torch import cuda
        cuda.synchronize()
        print(cuda.get_device_name(0))
    """)
    assert "from torch import cuda\ntorch.accelerator.synchronize()\nprint(cuda.get_device_name(0))\n" in result.after
    assert [finding.code for finding in result.remaining] == ["NP136", "NP133"]


def test_an_exported_name_keeps_its_import() -> None:
    source = """
        from torch.cuda.amp import autocast
        __all__ = ["autocast"]
        with autocast():
            pass
    """
    assert "from torch.cuda.amp import autocast" in ported(source)


def test_a_fallback_for_older_torch_is_left_alone() -> None:
    source = """
        import torch
        try:
            from torch.amp import GradScaler
        except ImportError:
            from torch.cuda.amp import GradScaler
        if hasattr(torch, "accelerator"):
            torch.accelerator.synchronize()
        else:
            torch.cuda.synchronize()
    """
    assert ported(source) == textwrap.dedent(source)


def test_a_name_torch_that_is_something_else_is_not_used() -> None:
    source = """
        from torch.cuda import synchronize
        def f(torch):
            import torch.cuda as tc
            tc.synchronize()
    """
    assert "torch.accelerator.synchronize" not in ported(source)


def test_an_if_whose_body_goes_is_removed() -> None:
    assert_ported(
        """
        import torch
        torch.manual_seed(0)
        if torch.cuda.is_available():
            torch.cuda.manual_seed_all(0)
        print("seeded")
        """,
        """
        import torch
        torch.manual_seed(0)
        print("seeded")
        """,
        level="safe",
    )


def test_an_if_that_asks_something_else_keeps_its_test() -> None:
    assert_ported(
        """
        import torch
        torch.manual_seed(0)
        if read_flag():
            torch.cuda.manual_seed_all(0)
        """,
        """
        import torch
        torch.manual_seed(0)
        if read_flag():
            pass
        """,
        level="safe",
    )


def test_one_import_of_torch_takes_the_place_of_several_in_a_function() -> None:
    assert_ported(
        """
        def run(x):
            import torch_xla.core.xla_model as xm
            import torch_xla as xla

            xm.wait_device_ops()
            return x.to(xm.xla_device()), xla.device_count()
        """,
        """
        def run(x):
            import torch

            torch.accelerator.synchronize()
            return x.to(torch.device("neuron")), torch.accelerator.device_count()
        """,
    )


def test_a_definition_imports_torch_at_the_top() -> None:
    after = ported(
        """
        def run(data):
            import torch_xla.core.xla_model as xm

            xm.wait_device_ops()
            return xm._maybe_convert_to_cpu(data)
        """
    )
    lines = after.splitlines()
    assert "import torch" in lines
    assert lines[-4:] == [
        "",
        "def run(data):",
        "    torch.accelerator.synchronize()",
        '    return to_device(data, "cpu")',
    ]


def test_what_stands_before_del_is_ported_and_the_import_stays() -> None:
    source = "import torch\nfrom torch import cuda\ncuda.synchronize()\ndel cuda\n"
    assert ported(source) == "import torch\nfrom torch import cuda\ntorch.accelerator.synchronize()\ndel cuda\n"


def test_an_annotation_in_quotes_follows_an_import_that_moves() -> None:
    after = ported("""
        from torch.cuda.amp import autocast
        def enter(context: "autocast"):
            del context
        with autocast():
            enter(None)
    """)
    assert "from torch.amp import autocast" in after


def test_assignment_stays_while_an_excused_place_reads_it() -> None:
    source = (
        "from transformers import AutoModelForCausalLM, BitsAndBytesConfig\n"
        "\n"
        "config = BitsAndBytesConfig(load_in_4bit=True)\n"
        'model = AutoModelForCausalLM.from_pretrained("x", quantization_config=config)  # neuron-port: ignore\n'
    )
    assert ported(source, "unsafe") == source
    (finding,) = [finding for finding in check(source) if finding.code == "NP407"]
    assert finding.location.row == 3
    assert finding.message.endswith("; its value is still read on line 4")

"""optimum-neuron is one of the old platforms: its imports, its names in the file, and what else a file may change."""

from __future__ import annotations

from tests.porting import check, codes, ported


def test_optional_import_is_left_alone() -> None:
    source = """
        try:
            from optimum.neuron.somewhere import Something
        except ImportError:
            Something = None

        if Something is not None:
            tool = Something()
    """
    found = [(finding.location.row, finding.code, finding.severity.word) for finding in check(source)]
    assert found == [(3, "NP204", "warning"), (7, "NP300", "info"), (8, "NP300", "info")]


def test_other_parts_of_optimum_are_not_neuron() -> None:
    assert codes("import optimum.onnxruntime\nfrom optimum.neurons import x\nx(optimum.onnxruntime)\n") == []


def test_safe_fixes_wait_until_the_file_has_left_optimum() -> None:
    source = (
        'import torch\nfrom optimum.neuron.somewhere import Something\n\nSomething(torch.zeros(3, device="cuda"))\n'
    )
    assert ported(source, "safe") == source
    assert ported(source, "unsafe") == source.replace('"cuda"', '"neuron"')


def test_what_blocks_the_file_is_named() -> None:
    found = check(
        """
        from optimum.neuron.somewhere import Something
        import torch_xla.core.xla_model as xm

        tool = Something(xm.xla_device())
        """
    )
    (blocked,) = [finding for finding in found if finding.code == "NP301"]
    assert (blocked.location.row, blocked.location.column) == (2, 38)
    assert "cannot leave optimum-neuron as a whole: NP300 on line 5 needs a person" in blocked.message

"""Loads that are not Transformers', and what stays with a class that is not ported."""

from __future__ import annotations

import pytest

from tests.porting import assert_ported, check, codes, ported


@pytest.mark.parametrize("bases", ["", "(object)", "(torch.nn.Module)"])
def test_own_class_that_has_nothing_from_elsewhere(bases: str) -> None:
    source = f"""
        import torch
        import transformers

        class Net{bases}:
            @classmethod
            def from_pretrained(cls, name, device_map=None, load_in_8bit=False, torch_dtype=None):
                return cls()

        Net.from_pretrained("a", device_map="auto", load_in_8bit=True, torch_dtype=torch.float32)
    """
    assert codes(source) == []


def test_own_class_of_a_model_is_one() -> None:
    source = """
        from transformers import LlamaForCausalLM

        class Net(LlamaForCausalLM):
            pass

        Net.from_pretrained("a", device_map="auto")
    """
    assert (7, "NP400") in codes(source)


def test_arguments_stay_with_a_class_that_stays() -> None:
    source = (
        "from optimum.neuron import NeuronModelForCausalLM as M\n"
        'a = M.from_pretrained("x", export=True, num_cores=2, batch_size=4)\n'
        'print(hasattr(M, "foo"))\n'
    )
    assert ported(source) == source
    left = [finding for finding in check(source) if finding.code in ("NP306", "NP307")]
    assert len(left) == 3
    assert all("it goes with line 2, which is not ported" in finding.message for finding in left)


def test_the_variable_is_set_behind_the_import_that_it_needs() -> None:
    assert_ported(
        """\
        import warnings
        warnings.filterwarnings("ignore")
        from transformers import AutoModel
        m = AutoModel.from_pretrained("x", device_map="auto")
        """,
        """\
        import warnings
        warnings.filterwarnings("ignore")
        from transformers import AutoModel
        import os
        os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"

        m = AutoModel.from_pretrained("x", device_map="neuron")
        """,
    )


def test_the_variable_is_set_before_the_load_where_code_comes_first() -> None:
    assert_ported(
        """\
        #!/usr/bin/env python
        print("x")
        from transformers import AutoModel
        m = AutoModel.from_pretrained("x", device_map="auto")
        """,
        """\
        #!/usr/bin/env python
        import os

        print("x")
        from transformers import AutoModel
        os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"

        m = AutoModel.from_pretrained("x", device_map="neuron")
        """,
    )

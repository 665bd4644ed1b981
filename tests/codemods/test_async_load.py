"""Threads that load weights."""

from __future__ import annotations

from tests.porting import assert_ported, codes, ported

SET = 'os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"'
LOAD = 'AutoModel.from_pretrained("x", device_map="neuron")'


def test_a_program_sets_the_variable_behind_its_imports() -> None:
    assert_ported(
        f"""\
        import os
        from transformers import AutoModel

        def load():
            return {LOAD}

        if __name__ == "__main__":
            load()
        """,
        f"""\
        import os
        from transformers import AutoModel

        os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"


        def load():
            return {LOAD}

        if __name__ == "__main__":
            load()
        """,
    )


def test_a_module_of_others_is_told() -> None:
    source = f"from transformers import AutoModel\n\ndef load():\n    return {LOAD}\n"
    assert_ported(source, source)
    assert codes(source) == [(4, "NP408")]


def test_once_in_a_file() -> None:
    source = f"from transformers import AutoModel\n\ndef load():\n    return {LOAD}, {LOAD}\n"
    assert codes(source) == [(4, "NP408")]


def test_loads_on_the_cpu_and_files_that_know() -> None:
    head = "from transformers import AutoModel\n"
    assert codes(f'{head}AutoModel.from_pretrained("x", device_map="cpu")\n') == []
    assert codes(f'{head}AutoModel.from_pretrained("x").to("neuron")\n') == []
    assert codes(f'{head}import os\nos.environ.setdefault("HF_DEACTIVATE_ASYNC_LOAD", "1")\n{LOAD}\n') == []


def test_portable_code_is_told() -> None:
    source = f"from transformers import AutoModel\n\nmodel = {LOAD}\n"
    assert_ported(source, source, target="portable")


def test_an_os_that_is_imported_further_down() -> None:
    before = f"""\
        from transformers import AutoModel
        login()
        import os
        print(os)
        model = {LOAD}
        """
    assert_ported(before, before.replace("model =", 'os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"\n\n        model ='))


def test_statements_of_one_line_stay_together() -> None:
    head = "import torch; assert torch\nfrom transformers import AutoModel\n"
    before = f"{head}print()\nmodel = {LOAD}\n"
    after = (
        f"import os\nimport torch; assert torch\nfrom transformers import AutoModel\n{SET}\n\nprint()\nmodel = {LOAD}\n"
    )
    assert ported(before) == after


def test_a_load_for_other_accelerators_is_none_onto_neuron() -> None:
    source = "from transformers import AutoModel\nmodel = AutoModel.from_pretrained('x', device_map={'': 'mps'})\n"
    assert "NP408" not in [code for _, code in codes(source)]

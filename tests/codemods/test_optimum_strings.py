"""Strings that name a class, an artefact, a host or an image."""

from tests.porting import check, codes


def found(expression: str, imports: str = "") -> list[str]:
    source = f"{imports}\nvalue = {expression}\n"
    return [code for row, code in codes(source) if row == source.count("\n")]


def test_classes_that_are_picked_by_name() -> None:
    assert found('eval(f"optimum.neuron.NeuronModelFor{task}")', "import optimum.neuron") == ["NP389"]
    assert found('eval("optimum.neuron." + name)', "import optimum.neuron") == ["NP389"]
    assert found('getattr(package, f"NeuronModelFor{task}")') == ["NP389"]
    assert found('{"ner": "NeuronModelForTokenClassification"}') == ["NP389"]
    assert found('type(m).__name__ == "NeuronModelForCausalLM"') == ["NP389"]
    assert found('importlib.util.find_spec("optimum.neuron")', "import importlib.util") == ["NP389"]


def test_names_that_nothing_picks() -> None:
    assert found('logging.getLogger("optimum.neuron")', "import logging") == []
    assert found('print("NeuronModelForCausalLM")') == []
    assert found('f(x, "NeuronModel of a brain")') == []


def test_an_import_that_eval_needs_stays() -> None:
    source = 'import optimum.neuron as on\nmodel = eval(f"on.NeuronModelFor{task}")\n'
    assert [(finding.code, finding.fix) for finding in check(source)] == [("NP300", None)]


def test_artefacts() -> None:
    load = "from transformers import AutoModel, AutoTokenizer  # HF_DEACTIVATE_ASYNC_LOAD=1"
    assert found('AutoModel.from_pretrained("optimum/bert-neuronx", device_map="neuron")', load) == ["NP386"]
    assert found('AutoModel.from_pretrained("me/llama_tp8", device_map="neuron")', load) == ["NP386"]
    assert found('AutoModel.from_pretrained("neuroscience/bert", device_map="neuron")', load) == []
    assert found('AutoTokenizer.from_pretrained("optimum/bert-neuronx")', load) == []
    assert found('path / "neuron_config.json"') == ["NP386"]
    assert found('path.glob("*.neuron")') == ["NP386"]
    assert found('"adapter_shards"') == ["NP386"]
    assert found('"the adapter_shards folder"') == []


def test_commands() -> None:
    assert found('"optimum-cli export neuron --model bert out/"') == ["NP386"]
    assert found('f"optimum-cli neuron cache set {repository}"') == ["NP386"]
    assert found('["optimum-cli", "export", "neuron", "--model", name]') == ["NP386"]
    assert found('["optimum-cli", "export", "onnx", "--model", name]') == []
    assert found('"optimum-cli export onnx --model bert out/"') == []
    assert found('"run optimum-cli export neuron first"') == []


def test_hosts_and_images() -> None:
    for text in ("ml.inf2.xlarge", "trn1.32xlarge", "inf1.6xlarge", "trn1n.32xlarge", "huggingface-neuronx"):
        assert found(f'"{text}"') == ["NP387"], text
    for text in ("ml.g5.xlarge", "inf2", "trn1", "inf2.x"):
        assert found(f'"{text}"') == [], text
    notes = check('host = "ml.trn2.48xlarge"\n')
    assert [(finding.code, finding.severity.word) for finding in notes] == [("NP387", "info")]


def test_the_environment_of_a_container() -> None:
    source = 'import os\nconfig = {"HF_NUM_CORES": "2"}\nmodel = Model(env=config)\nother = {"HF_NUM_CORES": 3}\n'
    assert codes(source) == [(2, "NP385")]

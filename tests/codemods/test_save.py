"""Checkpoints that PyTorch/XLA writes."""

from __future__ import annotations

import pytest

from neuron_port.codemods.definitions import definition
from tests.codemods.lines import found, port
from tests.porting import check, ported

HEAD = (
    "import os\nimport torch\nimport torch.distributed as dist\nimport torch_xla.core.xla_model as xm\n"
    "model = torch.nn.Linear(1, 1)\n"
)
ALONE = "import torch\nimport torch_xla.core.xla_model as xm\nmodel = torch.nn.Linear(1, 1)\nxm.mark_step()\n"
ON_HOST = "dist.get_node_local_rank(fallback_rank=0) == 0"
FLAT = "{key: value.cpu() for key, value in model.state_dict().items()}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('xm.save(model.state_dict(), "x.pt")', f'torch.save({FLAT}, "x.pt")'),
        ('xm.save(data=model.state_dict(), file_or_path="x.pt")', f'torch.save({FLAT}, "x.pt")'),
        ('xm.save(model.state_dict(), "x.pt", master_only=False)', f'torch.save({FLAT}, "x.pt")'),
        ('xm.save(model.state_dict(), "x.pt", global_master=True)', f'torch.save({FLAT}, "x.pt")'),
        ('xm.save(optimizer.state_dict(), "x.pt")', 'torch.save(to_device(optimizer.state_dict(), "cpu"), "x.pt")'),
        ('xm.save({"a": model.state_dict()}, p)', 'torch.save(to_device({"a": model.state_dict()}, "cpu"), p)'),
        ("xm.save(checkpoint, path, False)", 'torch.save(to_device(checkpoint, "cpu"), path)'),
        ('xm.save(model, "x.pt")', 'save_on_cpu(model, "x.pt")'),
        ("xm.save(*both)", "save_on_cpu(*both)"),
        ("save(model, save_function=xm.save)", "save(model, save_function=save_on_cpu)"),
    ],
)
def test_one_process(before: str, after: str) -> None:
    assert port(ALONE, before, "safe") == after


@pytest.mark.parametrize(
    ("before", "condition"),
    [
        ('xm.save(model.state_dict(), "x.pt")', ON_HOST),
        ('xm.save(model.state_dict(), "x.pt", True, True)', 'int(os.environ.get("RANK", 0)) == 0'),
    ],
)
def test_the_first_process_writes(before: str, condition: str) -> None:
    assert ported(f"{HEAD}{before}\n").endswith(f'\nif {condition}:\n    torch.save({FLAT}, "x.pt")\n')
    assert found(HEAD, before, "NP256") == ["error unsafe"]


def test_the_first_of_a_group_writes() -> None:
    head = HEAD + 'dist.init_process_group("gloo")\n'
    after = ported(f'{head}xm.save(model.state_dict(), "x.pt", global_master=True)\n')
    assert after.endswith(f'if dist.get_rank() == 0:\n    torch.save({FLAT}, "x.pt")\n')


def test_every_process_writes() -> None:
    assert port(HEAD, "xm.save(model.state_dict(), path, master_only=False)") == f"torch.save({FLAT}, path)"


@pytest.mark.parametrize(
    ("test", "arguments", "again"),
    [
        ("xm.is_master_ordinal()", "", False),
        ("a and xm.is_master_ordinal()", "", False),
        ("xm.is_master_ordinal(local=False)", "", False),
        ("xm.is_master_ordinal(local=False)", ", global_master=True", False),
        ("xm.is_master_ordinal()", ", global_master=True", True),
        ("not xm.is_master_ordinal()", "", True),
    ],
)
def test_under_a_test_for_the_first_process(test: str, arguments: str, again: bool) -> None:
    after = ported(f'{HEAD}if {test}:\n    xm.save(model.state_dict(), "x.pt"{arguments})\n')
    assert after.endswith(f'    torch.save({FLAT}, "x.pt")\n')
    assert (after.count("if ") == 2) is again


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("xm.save(checkpoint, path, master_only=flag)", "save_on_cpu(checkpoint, path, master_only=flag)"),
        ("xm.save(model.state_dict(), path, flag)", "save_on_cpu(model.state_dict(), path, flag)"),
        ("xm.save(dist.get_object(xm.mesh_reduce('a', x, f)), path)", None),
        ("xm.save(model, path)", "save_on_cpu(model, path)"),
        ("done = xm.save(model.state_dict(), path)", "done = save_on_cpu(model.state_dict(), path)"),
    ],
)
def test_helper(before: str, after: str | None) -> None:
    assert port(HEAD, before).startswith(after or "save_on_cpu(")


def test_nested_data_in_the_first_process() -> None:
    after = ported(f'{HEAD}xm.save({{"model": model.state_dict(), "epoch": 1}}, path)\n')
    saved = 'torch.save(to_device({"model": model.state_dict(), "epoch": 1}, "cpu"), path)'
    assert after.endswith(f"\nif {ON_HOST}:\n    {saved}\n")
    assert "def save_on_cpu" not in after


def test_many_saves_read_better_with_a_helper() -> None:
    lines = "xm.save(model.state_dict(), path)\n" * 3
    assert ported(f"{HEAD}{lines}").endswith("save_on_cpu(model.state_dict(), path)\n" * 3)


def test_gathered_state_is_computed_everywhere() -> None:
    head = HEAD + "from torch.distributed.fsdp import fully_shard\n"
    assert port(head, "xm.save(model.state_dict(), path)") == "save_on_cpu(model.state_dict(), path)"


def test_variable_that_holds_a_state_dict() -> None:
    after = "torch.save({key: value.cpu() for key, value in state.items()}, path)"
    assert port(ALONE + "state = model.state_dict()\n", "xm.save(state, path)", "safe") == after
    head = ALONE + "state = model.state_dict()\nstate = {**state, 'epoch': 1}\n"
    assert port(head, "xm.save(state, path)", "safe") == 'torch.save(to_device(state, "cpu"), path)'


def test_definitions_are_written_whole() -> None:
    text = ported(f"{HEAD}save(xm.save)\n")
    for name in ("save_on_cpu", "to_device"):
        assert text.count(definition(name).code.code) == 1


def test_message_tells_of_the_old_barrier() -> None:
    (finding,) = [finding for finding in check(f"{HEAD}xm.save(checkpoint, path)\n") if finding.code == "NP256"]
    assert "put a barrier" in finding.message
    assert (finding.location.row, finding.location.column, finding.end_location.column) == (6, 1, 8)


def test_taken_names() -> None:
    assert found(HEAD + "save_on_cpu = 1\n", "save(xm.save)", "NP256") == ["error manual"]
    assert found(HEAD + "to_device = 1\n", "xm.save(checkpoint, path)", "NP256") == ["error manual"]


@pytest.mark.parametrize(
    ("head", "line", "expected"),
    [
        ("import torch_xla.utils.serialization as xser\n", "xser.save(state, path)", "error manual"),
        ("import torch_xla.utils.serialization as xser\n", "state = xser.load(path)", "error manual"),
        ("import torch_xla.utils.serialization as xser\n", "x = xser.TensorReference", "error manual"),
        (
            "import torch_xla.experimental.distributed_checkpoint as xc\n",
            "m = xc.CheckpointManager(path, 1)",
            "error manual",
        ),
        (
            "import torch_xla.experimental.distributed_checkpoint as xc\n",
            "p = xc.SPMDLoadPlanner()",
            "error manual",
        ),
        (
            "import torch_xla.experimental.distributed_checkpoint as xc\n",
            "o = xc.prime_optimizer(o)",
            "warning manual",
        ),
        (
            "from torch_xla.utils.checkpoint_tagger import CheckpointTagger\n",
            "t = CheckpointTagger()",
            "warning manual",
        ),
    ],
)
def test_formats_of_torch_xla(head: str, line: str, expected: str) -> None:
    assert found(head, line, "NP257") == [expected]

"""xm.optimizer_step and xm.reduce_gradients: who averages the gradients after the port."""

from __future__ import annotations

import textwrap

import pytest

from neuron_port.codemods.definitions import definition
from tests.porting import assert_ported, check, ported

AVERAGE = definition("average_gradients").code.code
XM = "import torch_xla.core.xla_model as xm\n"
GUARD = '\nif __name__ == "__main__":\n    main()\n'


def body(source: str, level: str = "unsafe", target: str = "neuron") -> str:
    """What follows the definition that the port writes (or the imports)."""
    after = ported(f"import torch\n{XM}\n\n{textwrap.dedent(source)}", level, target)
    return after.partition(AVERAGE)[2].lstrip("\n") or after.partition("import torch\n")[2].lstrip("\n")


def only(source: str, code: str = "NP230"):
    (finding,) = [finding for finding in check(source) if finding.code == code]
    return finding


@pytest.mark.parametrize("target", ["neuron", "portable"])
def test_a_library_module_averages_where_there_is_a_group(target: str) -> None:
    before = f"import torch\n{XM}\n\ndef step(optimizer):\n    xm.optimizer_step(optimizer, barrier=True)\n"
    after = (
        f"import torch\n\n\n{AVERAGE}\n\ndef step(optimizer):\n    average_gradients(optimizer)\n    optimizer.step()\n"
    )
    assert_ported(before, after, target=target)
    assert ported(before, "safe", target) == before


def test_a_program_of_one_process_steps() -> None:
    source = f"import torch\n{XM}\n\ndef main():\n    xm.optimizer_step(opt, barrier=True)\n{GUARD}"
    after = f"import torch\n\n\ndef main():\n    opt.step()\n{GUARD}"
    assert_ported(source, after, "safe")
    assert only(source).location.row == 6


@pytest.mark.parametrize(
    "sign",
    [
        "import torch_xla.distributed.xla_multiprocessing as xmp\nxmp.spawn(main)\n",
        "import torch.distributed as dist\ndist.init_process_group('xla')\nmain()\n",
        "from torch.utils.data.distributed import DistributedSampler\nDistributedSampler(data)\nmain()\n",
        "rank = int(os.environ['RANK'])\nmain()\n",
    ],
)
def test_a_program_of_several_processes_averages(sign: str) -> None:
    source = f"import os\nimport torch\n{XM}\n\ndef main():\n    xm.optimizer_step(opt)\n\n{sign}"
    assert "    average_gradients(opt)\n    opt.step()\n" in ported(source)
    assert only(source).applicability.word == "unsafe"


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("xm.optimizer_step(self.opt)", "average_gradients(self.opt)\nself.opt.step()"),
        ("xm.optimizer_step(optimizer=opt, pin_layout=False)", "average_gradients(opt)\nopt.step()"),
        ("xm.optimizer_step(opts[0], groups=None)  # each", "average_gradients(opts[0])\nopts[0].step()  # each"),
        ("loss = xm.optimizer_step(opt)", "average_gradients(opt)\nloss = opt.step()"),
        ("loss: float = xm.optimizer_step(opt).item()", "average_gradients(opt)\nloss: float = opt.step().item()"),
        (
            "xm.optimizer_step(opt, optimizer_args={'closure': lambda: f(x)})",
            "average_gradients(opt)\nopt.step(closure=lambda: f(x))",
        ),
        ("xm.optimizer_step(opt, False, {})", "average_gradients(opt)\nopt.step()"),
        ("xm.optimizer_step(opt, True, options)", "average_gradients(opt)\nopt.step(**options)"),
        ("xm.optimizer_step(opt, optimizer_args={**a})", "average_gradients(opt)\nopt.step(**{**a})"),
        ("if ready: xm.optimizer_step(opt)", "if ready: average_gradients(opt); opt.step()"),
        ("xm.reduce_gradients(opt)", "average_gradients(opt)"),
        ("xm.reduce_gradients(opt, groups=[])", "average_gradients(opt)"),
        ("xm.reduce_gradients(opt, groups=g._mesh)", "average_gradients(opt, g)"),
        ("xm.optimizer_step(opt, groups=g._mesh)", "average_gradients(opt, g)\nopt.step()"),
    ],
)
def test_forms(line: str, after: str) -> None:
    assert body(f"def f():\n    {line}\n") == "def f():\n" + textwrap.indent(after, "    ") + "\n"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("xm.optimizer_step(opt, groups=groups)", "torch.distributed.new_group(ranks)"),
        ("xm.optimizer_step(*args)", "a starred argument hides"),
        ("xm.optimizer_step(opt, **options)", "a ** argument hides"),
        ("xm.optimizer_step(make())", "part of a larger expression"),
        ("run(lambda: xm.optimizer_step(opt))", "part of a larger expression"),
        ("a = b and xm.optimizer_step(opt)", "part of a larger expression"),
        ("step = xm.optimizer_step", "passed on without a call"),
        ("step = partial(xm.optimizer_step, opt)", "passed on without a call"),
        ("xm.optimizer_step()", "the optimizer is missing"),
    ],
)
def test_what_a_person_does(line: str, reason: str) -> None:
    source = f"{XM}\ndef f():\n    {line}\n"
    assert reason in only(source).message
    assert ported(source) == source


def test_a_name_that_is_taken() -> None:
    source = f"{XM}\ndef average_gradients(model):\n    pass\n\ndef f():\n    xm.optimizer_step(opt)\n    xm.reduce_gradients(opt)\n"
    assert ported(source) == source
    assert "the name average_gradients means something else here" in only(source).message
    assert "the name average_gradients means something else here" in only(source, "NP231").message


def test_where_the_finding_stands() -> None:
    finding = only(f"{XM}\ndef f():\n    loss = xm.optimizer_step(opt, barrier=True)\n")
    assert (finding.location.row, finding.location.column) == (4, 12)
    assert (finding.end_location.row, finding.end_location.column) == (4, 48)
    assert (finding.severity.word, finding.applicability.word) == ("error", "unsafe")


DDP = "from torch.nn.parallel import DistributedDataParallel as DDP\n"
SHARD = "from torch.distributed.fsdp import fully_shard\n"


@pytest.mark.parametrize(
    ("setup", "level"),
    [
        (f"{DDP}net = DDP(Net())\nopt = Adam(net.parameters())", "safe"),
        (f"{DDP}net = Net()\nopt = Adam(net.parameters())\nmodel = DDP(net)", "safe"),
        (f"{DDP}net = Net()\nmodel = DDP(net)\nopt = Adam([{{'params': model.module.parameters()}}])", "safe"),
        (f"{DDP}net = DDP(Net())\nparams = [p for p in net.parameters()]\nopt = Adam(params)", "safe"),
        (f"{DDP}net = Net()\nif world_size > 1:\n    net = DDP(net)\nopt = Adam(net.parameters())", "safe"),
        (f"{SHARD}net = Net()\nfully_shard(net)\nopt = Adam(net.parameters())", "safe"),
        (f"{DDP}net = DDP(Net())\nopt = make(net)", "unsafe"),
        ("import torch_xla.distributed.spmd as xs\nxs.mark_sharding(x, m, s)", "unsafe"),
    ],
)
def test_a_wrapper_averages_already(setup: str, level: str) -> None:
    source = f"import torch\n{XM}{setup}\nxm.reduce_gradients(opt)\nxm.optimizer_step(opt)\n"
    if "spmd" not in setup:
        source = f"import torch.distributed as dist\n{source}"
    else:
        source = source.replace("import torch\n", "import torch\nimport torch.distributed as dist\n")
    source += "print(dist.get_rank())\n"
    levels = {finding.applicability.word for finding in check(source) if finding.code in ("NP230", "NP231")}
    assert "opt.step()" in ported(source)
    assert "average_gradients" not in ported(source) and "reduce_gradients" not in ported(source)
    assert levels == {level}


@pytest.mark.parametrize(
    "setup",
    [
        f"{DDP}net = Net()\nif args.ddp:\n    net = DDP(net)\nopt = Adam(net.parameters())",
        f"{DDP}net = DDP(Net()) if ddp else Net()\nopt = Adam(net.parameters())",
        f"{DDP}net = DDP(Net())\nother = Net()\nopt = Adam(other.parameters())",
        f"{DDP}net = DDP(Net())\nother = Net()\nopt = Adam([*net.parameters(), *other.parameters()])",
    ],
)
def test_a_wrapper_that_may_be_missing(setup: str) -> None:
    source = f"import torch\n{XM}{setup}\nxm.optimizer_step(opt)\n"
    assert "average_gradients(opt)\nopt.step()\n" in ported(source)


def test_a_wrapped_attribute() -> None:
    source = """
        import torch
        import torch_xla.core.xla_model as xm
        from torch.nn.parallel import DistributedDataParallel

        class Trainer:
            def __init__(self, model):
                self.model = DistributedDataParallel(model)
                self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1)

            def step(self):
                xm.optimizer_step(self.opt)
    """
    assert_ported(
        source,
        source.replace("xm.optimizer_step(self.opt)", "self.opt.step()").replace(
            "        import torch_xla.core.xla_model as xm\n", ""
        ),
        "safe",
    )


def test_an_spmd_program_steps_by_a_person() -> None:
    source = f"import torch\nimport torch_xla.runtime as xr\n{XM}xr.use_spmd()\nxm.optimizer_step(opt)\nprint(xr.world_size())\n"
    finding = only(source)
    assert finding.applicability.word == "unsafe" and "SPMD" in finding.message
    assert "opt.step()\n" in ported(source) and "average_gradients" not in ported(source)


def test_an_imported_name() -> None:
    before = """
        import torch
        from torch_xla.core.xla_model import optimizer_step, reduce_gradients

        def f(opt):
            reduce_gradients(opt)
            optimizer_step(opt)
    """
    after = ported(before)
    assert "torch_xla" not in after
    assert after.endswith("    average_gradients(opt)\n    average_gradients(opt)\n    opt.step()\n")


def test_a_program_that_asks_for_the_first_process_runs_in_several() -> None:
    source = "def main():\n    xm.optimizer_step(opt)\n    if xm.is_master_ordinal():\n        print(opt)\n" + GUARD
    assert "    average_gradients(opt)\n    opt.step()\n" in body(source)

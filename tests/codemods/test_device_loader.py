"""Loaders of PyTorch/XLA: the batch moves in the loop, or in a small class."""

from __future__ import annotations

import textwrap

import pytest

from neuron_port.codemods.definitions import definition
from tests.porting import check, ported

HEAD = """\
import torch
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl

device = xm.xla_device()
"""
DEFINITIONS = [definition(name).code.code for name in ("DeviceLoader", "to_device")]


def body(source: str, target: str = "neuron", level: str = "safe") -> str:
    """The port of code below the head, without the definitions that it brings; it settles, and needs no second run."""
    after = ported(HEAD + textwrap.dedent(source).lstrip("\n"), level, target)
    assert ported(after, level, target) == after
    assert "torch_xla" not in after
    return after.rpartition("current_accelerator()\n" if target == "portable" else 'torch.device("neuron")\n')[2]


def stays(source: str) -> str:
    """The message of the one finding about a loader in code that keeps it."""
    text = HEAD + textwrap.dedent(source).lstrip("\n")
    (finding,) = [finding for finding in check(text) if finding.code == "NP255"]
    assert (finding.severity.word, finding.applicability.word) == ("error", "manual")
    assert "pl." in ported(text)
    return finding.message


@pytest.mark.parametrize(
    ("target", "reads", "move"),
    [
        ("x, y", "loss_fn(model(x), y)", "x, y = x.to(device), y.to(device)"),
        ("(x, y)", "loss_fn(model(x), y)", "x, y = x.to(device), y.to(device)"),
        ("x, _", "model(x)", "x = x.to(device)"),
        ("x, path", "print(model(x), path)", "x, path = to_device((x, path), device)"),
        ("x", "model(x)", "x = x.to(device)"),
        ("x", "print(x)", "x = to_device(x, device)"),
        ("(a, b), x", "print(a, b, model(x))", "(a, b), x = to_device(((a, b), x), device)"),
        ("x, *more", "print(x, more)", "x, *more = to_device((x, *more), device)"),
    ],
)
def test_what_a_loop_takes(target: str, reads: str, move: str) -> None:
    source = f"loader = pl.MpDeviceLoader(batches, device)\nfor {target} in loader:\n    {reads}\n"
    assert body(source) == f"loader = batches\nfor {target} in loader:\n    {move}\n    {reads}\n"


@pytest.mark.parametrize(
    ("line", "move"),
    [
        ("x.view(-1)", "x = x.to(device)"),
        ("torch.stack([x, x]), x.size(0)", "x = x.to(device)"),
        ("F.relu(x)", "x = to_device(x, device)"),
        ("pred.eq(x)", "x = x.to(device)"),
        ("f(x[:, :-1])", "x = x.to(device)"),
        ("self.model(x)", "x = x.to(device)"),
        ("x['ids']", "x = to_device(x, device)"),
        ("model(x['ids'])", "x = to_device(x, device)"),
        ("model(**x)", "x = to_device(x, device)"),
        ("model(*x)", "x = to_device(x, device)"),
        ("model(x), [t for t in x]", "x = to_device(x, device)"),
        ("model(x), x.keys()", "x = to_device(x, device)"),
        ("f(x)", "x = to_device(x, device)"),
        ("x = x.to(device)", None),
        ("x = {k: v.to(device) for k, v in x.items()}", None),
        ("y = x['ids'].to(device)", None),
        ("pass", None),
    ],
)
def test_what_a_loop_does_with_a_batch(line: str, move: str | None) -> None:
    source = f"for x in pl.MpDeviceLoader(batches, device):\n    {line}\n"
    inserted = f"    {move}\n" if move else ""
    assert body(source) == f"for x in batches:\n{inserted}    {line}\n"


def test_tuples_that_move_themselves() -> None:
    line = "x, y = x.to(device), y.to(device)"
    source = f"for x, y in pl.MpDeviceLoader(batches, device):\n    {line}\n    f(x, y)\n"
    assert body(source) == f"for x, y in batches:\n    {line}\n    f(x, y)\n"


@pytest.mark.parametrize(
    "loop",
    [
        "for i, x in enumerate(loader, start=1)",
        "for i, x in enumerate(tqdm(loader, desc='a'))",
        "for x in tqdm.tqdm(loader, disable=not root)",
        "for x, z in zip(loader, other)",
        "for (i, x), z in zip(enumerate(loader), other)",
        "for x in itertools.islice(loader, 3)",
        "for x in iter(loader)",
    ],
)
def test_forms_of_loops(loop: str) -> None:
    source = f"loader = pl.MpDeviceLoader(batches, device)\n{loop}:\n    model(x)\n"
    assert body(source) == f"loader = batches\n{loop}:\n    x = x.to(device)\n    model(x)\n"


@pytest.mark.parametrize(
    "line",
    [
        "print(len(loader))",
        "if loader:\n    f()",
        "assert loader is not None",
        "del loader",
        "bar = tqdm(loader)\nbar.set_description('a')\nfor x in bar:\n    x = to_device(x, device)\n    f(x)",
    ],
)
def test_what_may_be_done_with_a_plain_loader(line: str) -> None:
    before = line.replace("    x = to_device(x, device)\n", "")
    loop = "for y in loader:\n    y = y.to(device)\n    f(y.shape)\n"
    source = f"loader = pl.MpDeviceLoader(batches, device)\n{loop}{before}\n".replace("    y = y.to(device)\n", "")
    assert body(source) == f"loader = batches\n{loop}{line}\n"


def test_the_wrapped_loader_is_the_loader() -> None:
    source = "def g():\n    loader = pl.MpDeviceLoader(batches, device)\n    loader._loader.sampler.set_epoch(1)\n"
    assert body(source).endswith("def g():\n    loader = batches\n    loader.sampler.set_epoch(1)\n")


@pytest.mark.parametrize(
    "line",
    [
        "self.loader = {}",
        "loaders = [{}]",
        "f({})",
        "it = iter({})",
        "loader = {}\nreturn_(loader)",
        "loader = {}\nit = iter(loader)",
        "loader = {}\nfirst = [x for x in loader]",
        "loader = {}\nfor item in enumerate(loader):\n    f(item)",
        "loader = {}\nfor self.x in loader:\n    f(self.x)",
        "if a:\n    loader = {}\nelse:\n    loader = batches\nfor x in loader:\n    f(x)",
        "if a:\n    batches = {}\nfor x in batches:\n    f(x)",
        "loader = {}",
        "loader = {}\nprint(len(loader))",
        "class Data:\n    loader = {}\n\n    def run(self):\n        for x in self.loader:\n            f(x)",
    ],
)
def test_other_uses_get_a_class(line: str) -> None:
    after = body(line.format("pl.MpDeviceLoader(batches, device, loader_prefetch_size=2)") + "\n")
    assert after == line.format("DeviceLoader(batches, device)") + "\n"


def test_the_class_is_written_with_what_it_needs() -> None:
    after = ported(f"{HEAD}loaders = [pl.MpDeviceLoader(batches, device)]\n", "safe")
    assert after == (
        "import torch\nimport copy\n\n\n" + "\n\n".join(DEFINITIONS) + '\n\ndevice = torch.device("neuron")\n'
        "loaders = [DeviceLoader(batches, device)]\n"
    )


def test_a_variable_that_is_rebound() -> None:
    source = """
        def f(batches):
            print(batches.sampler)
            batches = pl.MpDeviceLoader(batches, device)
            for x in batches:
                model(x)
    """
    assert body(source).endswith(
        "def f(batches):\n    print(batches.sampler)\n    for x in batches:\n        x = x.to(device)\n        model(x)\n"
    )


def test_a_function_that_only_iterates_its_parameter() -> None:
    source = """
        def train(loader, epoch):
            print(len(loader))
            for x in loader:
                model(x)

        def main():
            loader = pl.MpDeviceLoader(batches, device)
            train(loader, 1)
            train(epoch=2, loader=pl.MpDeviceLoader(others, device))
    """
    expected = textwrap.dedent(source).lstrip("\n")
    expected = expected.replace("    for x in loader:\n", "    for x in loader:\n        x = x.to(device)\n")
    expected = expected.replace("pl.MpDeviceLoader(batches, device)", "batches")
    expected = expected.replace("pl.MpDeviceLoader(others, device)", "others")
    assert body(source).lstrip("\n") == expected


@pytest.mark.parametrize("decorator", ["@torch.no_grad()", "@torch.inference_mode()", "@torch.no_grad"])
def test_a_function_with_a_harmless_decorator(decorator: str) -> None:
    source = f"{decorator}\ndef test(loader):\n    for x in loader:\n        model(x)\n\ntest(pl.MpDeviceLoader(batches, device))\n"
    assert "        x = x.to(device)\n" in body(source)
    other = source.replace(decorator, "@cached")
    assert "test(DeviceLoader(batches, device))" in body(other)


@pytest.mark.parametrize(
    "other",
    [
        "train(batches)",
        "run(train)",
        "train(*loaders)",
        "train()",
    ],
)
def test_a_function_that_may_get_another_loader(other: str) -> None:
    source = f"def train(loader=None):\n    for x in loader:\n        model(x)\n\ntrain(pl.MpDeviceLoader(batches, device))\n{other}\n"
    assert "\ntrain(DeviceLoader(batches, device))\n" in body(source)


@pytest.mark.parametrize(
    ("parameters", "call", "move"),
    [
        ("loader", "train(loader)", '"neuron"'),
        ("loader, device", "train(loader, device)", "device"),
        ("loader, device", "train(loader, device=device)", "device"),
        ("loader, device", 'train(loader, "cpu")', '"neuron"'),
    ],
)
def test_how_the_device_is_written(parameters: str, call: str, move: str) -> None:
    source = f"""
        def train({parameters}):
            for x in loader:
                model(x)

        def main():
            device = xm.xla_device()
            loader = pl.MpDeviceLoader(batches, device)
            {call}
    """
    after = ported(HEAD.replace("\ndevice = xm.xla_device()\n", "\n") + textwrap.dedent(source), "safe")
    assert f"        x = x.to({move})\n" in after


def test_a_device_without_a_variable() -> None:
    source = "for x in pl.MpDeviceLoader(batches, xm.xla_device()):\n    model(x)\n"
    assert body(source) == 'for x in batches:\n    x = x.to("neuron")\n    model(x)\n'
    assert body(source, "portable", "unsafe").endswith(
        'x = x.to(torch.accelerator.current_accelerator() if torch.accelerator.is_available() else "cpu")\n'
        "    model(x)\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "for x in pl.ParallelLoader(batches, [device]).per_device_loader(device):\n    model(x)\n",
            "for x in batches:\n    x = x.to(device)\n    model(x)\n",
        ),
        (
            "p = pl.ParallelLoader(batches, [device])\nfor x in p.per_device_loader(device):\n    model(x)\np.close()\n",
            "p = batches\nfor x in p:\n    x = x.to(device)\n    model(x)\n",
        ),
        (
            "p = pl.ParallelLoader(batches, [device])\nf(p.per_device_loader(device), p.per_device_samples())\n",
            "p = DeviceLoader(batches, device)\nf(p, len(p))\n",
        ),
        (
            "f(pl.ParallelLoader(batches, (device,)).per_device_loader(device))\n",
            "f(DeviceLoader(batches, device))\n",
        ),
        (
            "p = pl.ParallelLoader(batches, [device])\nit = p.per_device_loader(device)\nx = next(it)\n",
            "p = DeviceLoader(batches, device)\nit = iter(p)\nx = next(it)\n",
        ),
    ],
)
def test_parallel_loaders(before: str, after: str) -> None:
    assert body(before) == after


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("f(pl.MpDeviceLoader(batches, device, input_sharding=spec))", "DistributedSampler"),
        ("f(pl.MpDeviceLoader(batches, device, **options))", "a ** argument hides"),
        ("f(pl.MpDeviceLoader(*both))", "a starred argument hides"),
        ("f(pl.MpDeviceLoader(batches))", "not to be seen"),
        ("isinstance(x, pl.MpDeviceLoader)", "used without a call"),
        ("class Mine(pl.ParallelLoader):\n    pass", "used without a call"),
        ("p = pl.ParallelLoader(batches, [a, b])", "several devices"),
        ("p = pl.ParallelLoader(batches, devices)", "several devices"),
        ("f(pl.ParallelLoader(batches, [device]))", "stored or passed on"),
        ("p = pl.ParallelLoader(batches, [device])\nf(p)", "passed on"),
        ("p = pl.ParallelLoader(batches, [device])\np.next_item(device)", "next_item has no counterpart"),
        ("p = pl.ParallelLoader(batches, [device])\np.close()", "is not called in this file"),
        (
            "p = pl.ParallelLoader(batches, [device])\np = None\nf(p.per_device_loader(device))",
            "something else as well",
        ),
        ("pl.PerDeviceLoader.__len__ = f", "used without a call"),
        ("def to_device(x):\n    return x\nf(pl.MpDeviceLoader(batches, device))", "means something else here"),
    ],
)
def test_what_a_person_does(line: str, reason: str) -> None:
    assert reason in stays(f"{line}\n")


def test_options_without_a_counterpart_may_be_computed() -> None:
    assert "loaders = [DeviceLoader(batches, device)]" in ported(
        f"{HEAD}loaders = [pl.MpDeviceLoader(batches, device, batches_per_execution=args.n if a else 1)]\n", "safe"
    )
    source = f"{HEAD}loaders = [pl.MpDeviceLoader(batches, device, batches_per_execution=count())]\n"
    assert ported(source, "safe") == source
    assert "loaders = [DeviceLoader(batches, device)]" in ported(source)


def test_imported_by_name() -> None:
    before = "import torch\nfrom torch_xla.distributed.parallel_loader import MpDeviceLoader as Loader\n\nd = f()\nfor x in Loader(a, d):\n    model(x)\n"
    assert ported(before, "safe") == "import torch\n\nd = f()\nfor x in a:\n    x = x.to(d)\n    model(x)\n"


def test_where_the_finding_stands() -> None:
    (finding,) = [
        item for item in check(f"{HEAD}loader = pl.MpDeviceLoader(batches, device)\n") if item.code == "NP255"
    ]
    assert (finding.location.row, finding.location.column) == (6, 10)
    assert (finding.end_location.row, finding.end_location.column) == (6, 44)
    assert "does not shard the data" in finding.message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = xu.SampleGenerator(data=(x, y), sample_count=n)", "a = [(x, y)] * n"),
        ("a = xu.SampleGenerator((x, y), n // 8 // w)", "a = [(x, y)] * (n // 8 // w)"),
        ("a = xu.SampleGenerator(x, sample_count=n + 1)", "a = [x] * (n + 1)"),
    ],
)
def test_samples(before: str, after: str) -> None:
    assert ported(f"import torch_xla.utils.utils as xu\n\n{before}\n", "safe") == f"{after}\n"


@pytest.mark.parametrize("step", ["next(a)", "next(self.b, None)", "a.next()"])
def test_samples_that_are_taken_one_by_one(step: str) -> None:
    name = "self.b" if "self" in step else "a"
    source = f"import torch_xla.utils.utils as xu\n\n{name} = xu.SampleGenerator(x, n)\ny = {step}\n"
    assert [item.location.row for item in check(source) if item.code == "NP258"] == [3]
    assert ported(source) == source


def test_samples_without_a_count() -> None:
    source = "import torch_xla.utils.utils as xu\n\na = xu.SampleGenerator(x)\nb = xu.SampleGenerator\n"
    assert [item.location.row for item in check(source) if item.code == "NP258"] == [3, 4]
    assert ported(source) == source


def test_a_method_of_the_same_name_hides_nothing() -> None:
    source = (
        "class A:\n    def to_device(self, x):\n        return x\n\nloaders = [pl.MpDeviceLoader(batches, device)]\n"
    )
    assert "loaders = [DeviceLoader(batches, device)]" in body(source)

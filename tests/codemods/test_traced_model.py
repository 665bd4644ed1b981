"""Traced inference: the trace, its calls, its files, its options."""

from __future__ import annotations

import textwrap

import pytest

from tests.porting import assert_ported, check, codes, ported

HEAD = """\
import torch
import torch_neuronx

net = torch.nn.Linear(3, 3)
net.eval()
example = torch.zeros(1, 3)
"""
BODY = """\
import torch

net = torch.nn.Linear(3, 3)
net.eval()
example = torch.zeros(1, 3)
"""
SAVED = "torch.save({name: value.cpu() for name, value in net.state_dict().items()}, path)"


def body(lines: str, target: str = "neuron") -> str:
    """What the fix writes for ``lines`` behind the head."""
    after = ported(f"{HEAD}{lines}\n", target=target)
    assert ported(after, target=target) == after
    assert after.startswith(BODY)
    return after.removeprefix(BODY).rstrip("\n")


def messages(lines: str, code: str = "NP274") -> list[str]:
    return [finding.message for finding in check(f"{HEAD}{lines}\n") if finding.code == code]


# -- how the first call is made -----------------------------------------------------------------------------------------


def test_a_trace_alone() -> None:
    assert body("traced = torch_neuronx.trace(net, example)") == (
        'net.to("neuron")\n'
        'traced = torch.compile(net, backend="neuron", dynamic=False)\n'
        "with torch.inference_mode():\n"
        '    traced(example.to("neuron"))'
    )


def test_place_and_level() -> None:
    (finding,) = check(f"{HEAD}traced = torch_neuronx.trace(net, example)\n")
    assert (finding.code, finding.location.row, finding.location.column, finding.end_location.column) == (
        "NP274",
        7,
        10,
        29,
    )
    assert (finding.severity.word, finding.applicability.word) == ("error", "unsafe")


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_first_call_runs_in_the_mode_of_the_others(mode: str) -> None:
    after = body(f"traced = torch_neuronx.trace(net, example)\nwith torch.{mode}():\n    print(traced(example))")
    assert f'with torch.{mode}():\n    traced(example.to("neuron"))\nwith torch.{mode}():\n    print(' in after


def test_mode_of_a_decorated_function() -> None:
    after = body(
        "traced = torch_neuronx.trace(net, example)\n\n\n@torch.no_grad()\ndef predict(x):\n    return traced(x)"
    )
    assert 'with torch.no_grad():\n    traced(example.to("neuron"))\n' in after


def test_calls_without_a_mode_need_a_frozen_model() -> None:
    assert body("traced = torch_neuronx.trace(net, example)\nprint(traced(example))") == (
        'net.requires_grad_(False).to("neuron")\n'
        'traced = torch.compile(net, backend="neuron", dynamic=False)\n'
        'traced(example.to("neuron"))\n'
        'print(traced(example.to("neuron")).cpu())'
    )


def test_trace_in_another_mode_than_its_calls() -> None:
    assert body("with torch.no_grad():\n    traced = torch_neuronx.trace(net, example)\nprint(traced(example))") == (
        "with torch.no_grad():\n"
        '    net.to("neuron")\n'
        '    traced = torch.no_grad()(torch.compile(net, backend="neuron", dynamic=False))\n'
        '    traced(example.to("neuron"))\n'
        'print(traced(example.to("neuron")).cpu())'
    )


def test_mode_around_the_trace_serves_the_first_call() -> None:
    assert body("with torch.no_grad():\n    traced = torch_neuronx.trace(net, example)\n    traced(example)") == (
        "with torch.no_grad():\n"
        '    net.to("neuron")\n'
        '    traced = torch.compile(net, backend="neuron", dynamic=False)\n'
        '    traced(example.to("neuron"))\n'
        '    traced(example.to("neuron")).cpu()'
    )


# -- the model ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "before", "compiled"),
    [
        ("net", 'net.to("neuron")\n', "net"),
        ("net.eval()", 'net.eval().to("neuron")\n', "net"),
        ("torch.nn.Linear(3, 3)", "", 'torch.nn.Linear(3, 3).to("neuron")'),
        ("torch.nn.Linear(3, 3).eval()", "", 'torch.nn.Linear(3, 3).eval().to("neuron")'),
    ],
)
def test_model(model: str, before: str, compiled: str) -> None:
    after = body(f"traced = torch_neuronx.trace({model}, example)")
    assert after.startswith(f'{before}traced = torch.compile({compiled}, backend="neuron", dynamic=False)\n')


def test_model_that_was_never_evaluated() -> None:
    after = body("other = torch.nn.Linear(3, 3)\ntraced = torch_neuronx.trace(other, example)")
    assert 'other.eval().to("neuron")\n' in after


def test_pretrained_models_are_in_evaluation_mode() -> None:
    after = ported(
        """
        import torch_neuronx
        from transformers import AutoModel

        model = AutoModel.from_pretrained("bert-base-uncased")
        ids = model.dummy_inputs["input_ids"]
        traced = torch_neuronx.trace(model, (ids,))
        """
    )
    assert '\nmodel.to("neuron")\n' in after
    assert 'traced(ids.to("neuron"))' in after


@pytest.mark.parametrize("later", ["net(example)", "compare(net)", "net.fc(example)", "net.train()", "keep = [net]"])
def test_model_that_stays_on_the_cpu_is_copied(later: str) -> None:
    after = ported(f"{HEAD}traced = torch_neuronx.trace(net, example)\n{later}\n")
    assert 'traced = torch.compile(copy.deepcopy(net).to("neuron"), backend="neuron", dynamic=False)\n' in after
    assert "import copy\n" in after


@pytest.mark.parametrize("later", ["net.config", "net.eval()", "torch.save(net.state_dict(), 'a')", "del net"])
def test_harmless_uses_of_the_model(later: str) -> None:
    assert "copy" not in body(f"traced = torch_neuronx.trace(net, example)\n{later}")


def test_cpu_result_in_front_of_the_trace_needs_no_copy() -> None:
    assert "copy" not in body("expected = net(example)\ntraced = torch_neuronx.trace(net, example)")


def test_model_kept_in_another_place_is_copied() -> None:
    assert "copy.deepcopy(net)" in ported(f"{HEAD}same = net\ntraced = torch_neuronx.trace(net, example)\n")


def test_traced_under_the_name_of_the_model() -> None:
    assert body("print(net(example))\nnet = torch_neuronx.trace(net, example)\nprint(net(example))") == (
        "print(net(example))\n"
        'net.requires_grad_(False).to("neuron")\n'
        'net = torch.compile(net, backend="neuron", dynamic=False)\n'
        'net(example.to("neuron"))\n'
        'print(net(example.to("neuron")).cpu())'
    )


def test_function() -> None:
    after = ported(
        """
        import torch
        import torch_neuronx

        def add(a, b):
            return torch.add(a, b)

        fast = torch_neuronx.trace(add, (torch.ones(1), torch.ones(1)))
        """
    )
    assert 'fast = torch.compile(add, backend="neuron", dynamic=False)\n' in after


def test_function_that_uses_a_model_is_left_to_a_person() -> None:
    (message,) = messages("def f(x):\n    return net(x)\n\nfast = torch_neuronx.trace(f, example)")
    assert message.endswith("not done by itself: f() uses net, which may hold a model")


# -- the example --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "moved"),
    [
        ("example", 'example.to("neuron")'),
        ("(example,)", 'example.to("neuron")'),
        ("[example, example]", 'example.to("neuron"), example.to("neuron")'),
        ("(example, None)", 'example.to("neuron"), None'),
        ("torch.zeros(1, 3)", 'torch.zeros(1, 3).to("neuron")'),
        ("example_inputs=example", 'example.to("neuron")'),
        ("(example + 1,)", '(example + 1).to("neuron")'),
    ],
)
def test_example(given: str, moved: str) -> None:
    assert body(f"traced = torch_neuronx.trace(net, {given})").endswith(f"    traced({moved})")


def test_tuple_by_its_binding() -> None:
    after = body("pair = example, example\ntraced = torch_neuronx.trace(net, pair)")
    assert after.endswith('    traced(*(tensor.to("neuron") for tensor in pair))')


def test_tuple_by_how_it_is_passed() -> None:
    after = body("pair = make()\nprint(net(*pair))\ntraced = torch_neuronx.trace(net, pair)")
    assert after.endswith('    traced(*(tensor.to("neuron") for tensor in pair))')


def test_tuple_by_the_function_that_makes_it() -> None:
    after = body("def make():\n    return example, example\n\n\npair = make()\ntraced = torch_neuronx.trace(net, pair)")
    assert after.endswith('    traced(*(tensor.to("neuron") for tensor in pair))')


def test_tensor_by_how_it_is_passed() -> None:
    after = body("rows = make()\ntraced = torch_neuronx.trace(net, rows)\nprint(traced(rows))")
    assert 'traced(rows.to("neuron"))\n' in after


@pytest.mark.parametrize("given", ["make()", "{'x': example}", "(*example, 1)", "pair"])
def test_example_that_cannot_be_read(given: str) -> None:
    after = ported(f"{HEAD}traced = torch_neuronx.trace(net, {given})\nout = traced(example)\n")
    assert after.endswith(
        f'traced = HostModel(torch.compile(net.to("neuron"), backend="neuron", dynamic=False), {given}, "neuron")\n'
        "out = traced(example)\n"
    )


# -- the calls ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "after"),
    [
        ("out = traced(example)", 'out = traced(example.to("neuron")).cpu()'),
        ("out = traced(example, 2, None)", 'out = traced(example.to("neuron"), 2, None).cpu()'),
        ("out = traced(x=example)", 'out = traced(x=example.to("neuron")).cpu()'),
        ("out = traced(*args)", 'out = traced(*(tensor.to("neuron") for tensor in args)).cpu()'),
        (
            "out = traced(**batch)",
            'out = traced(**{name: tensor.to("neuron") for name, tensor in batch.items()}).cpu()',
        ),
        ("out = traced(example).cpu()", 'out = traced(example.to("neuron")).cpu()'),
        ("out = traced(example)[0]", 'out = traced(example.to("neuron")).cpu()[0]'),
        ("traced(example)", 'traced(example.to("neuron")).cpu()'),
        ("print(f'{traced(example)}')", "print(f'{traced(example.to(\"neuron\")).cpu()}')"),
    ],
)
def test_call(call: str, after: str) -> None:
    assert body(f"traced = torch_neuronx.trace(net, example)\n{call}").splitlines()[-1] == after


@pytest.mark.parametrize(
    ("call", "after"),
    [
        ("out = traced(ids)", 'out = to_device(traced(ids.to("neuron")), "cpu")'),
        ("out = traced(ids)[0]", 'out = to_device(traced(ids.to("neuron")), "cpu")[0]'),
        ("out = traced(ids).logits", 'out = to_device(traced(ids.to("neuron")), "cpu").logits'),
        ("out = traced(ids).argmax(-1)", 'out = traced(ids.to("neuron")).cpu().argmax(-1)'),
        (
            "out = torch.nn.functional.softmax(traced(ids), -1)",
            'out = torch.nn.functional.softmax(traced(ids.to("neuron")).cpu(), -1)',
        ),
        ("out = traced((ids, ids))", 'out = to_device(traced(to_device((ids, ids), "neuron")), "cpu")'),
    ],
)
def test_call_of_a_model_whose_result_is_not_known(call: str, after: str) -> None:
    head = "import torch\nimport torch_neuronx\n\nmodel = build()\ntraced = torch_neuronx.trace(model, (ids,))\n"
    assert ported(f"{head}{call}\n").splitlines()[-1] == after


def test_helper_is_written_once() -> None:
    after = ported(
        """
        import torch
        import torch_neuronx

        traced = torch_neuronx.trace(build(), (ids,))
        a = traced(ids)
        b = traced(ids)
        """
    )
    assert after.count("def to_device(value, device):") == 1


@pytest.mark.parametrize(
    ("forward", "single"),
    [
        ("return self.fc(x)", True),
        ("return torch.relu(self.fc(x))", True),
        ("x = self.fc(x)\n        x = x + 1\n        return x.flatten(1)", True),
        ("return x if self.training else -x", True),
        ("return self.fc(x), x", False),
        ("return {'x': x}", False),
        ("return self.fc(x).split(2)", False),
        ("return self.cell(x)", False),
        ("return self.other(x)", False),
        ("return self.body(x)", False),
    ],
)
def test_result_by_the_forward_of_a_class(forward: str, single: bool) -> None:
    source = f"""\
import torch
import torch_neuronx


class Net(torch.nn.Module):
    def __init__(self, other):
        super().__init__()
        self.fc = torch.nn.Linear(3, 3)
        self.cell = torch.nn.LSTM(3, 3)
        self.other = other

    def body(self, x):
        return x, x

    def forward(self, x):
        {forward}


net = Net(None)
traced = torch_neuronx.trace(net, torch.zeros(1, 3))
out = traced(rows)
"""
    last = ported(source).splitlines()[-1]
    assert last == (
        'out = traced(rows.to("neuron")).cpu()' if single else 'out = to_device(traced(rows.to("neuron")), "cpu")'
    )


def test_attribute_of_the_object() -> None:
    assert_ported(
        """
        import torch
        import torch_neuronx

        class Server:
            def __init__(self, model):
                self.traced = None
                self.load(model)

            def load(self, model):
                self.traced = torch_neuronx.trace(model, torch.zeros(1, 3))

            @torch.inference_mode()
            def predict(self, rows):
                return self.traced(rows).argmax(-1)
        """,
        """
        import torch

        class Server:
            def __init__(self, model):
                self.traced = None
                self.load(model)

            def load(self, model):
                model.eval().to("neuron")
                self.traced = torch.compile(model, backend="neuron", dynamic=False)
                with torch.inference_mode():
                    self.traced(torch.zeros(1, 3).to("neuron"))

            @torch.inference_mode()
            def predict(self, rows):
                return self.traced(rows.to("neuron")).cpu().argmax(-1)
        """,
    )


# -- left to a person ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("torch_neuronx.trace(net, example).save(path)", "it is saved to a file, on line 7"),
        ("net = torch_neuronx.trace(net, example)\nserve(net)\nnet.save(path)", "it is saved to a file, on line 9"),
        ("net.fast = torch_neuronx.trace(net, example)", "line 7 keeps it in the model that it is made of"),
        (
            "traced = torch_neuronx.trace(net, example)\nnet.encoder.fast = traced",
            "line 8 keeps it in the model that it is made of",
        ),
        ("HostModel = 1\nserve(torch_neuronx.trace(net, example))", "the name HostModel means something else here"),
        ("traced = torch_neuronx.trace(*args)", "a starred argument hides which parameter is set"),
        ("traced = torch_neuronx.trace(net, **more)", "a ** argument hides which parameter is set"),
        ("traced = torch_neuronx.trace(net)", "the example is not passed by its name"),
        ("traced = torch_neuronx.trace(net, example, cpu_backend=True)", "cpu_backend has no counterpart"),
        (
            "traced = torch_neuronx.trace(net, example, input_output_aliases=a)",
            "input_output_aliases has no counterpart",
        ),
    ],
)
def test_left_to_a_person(lines: str, reason: str) -> None:
    (message,) = messages(lines)
    assert message.partition("not done by itself: ")[2].startswith(reason)
    assert "torch_neuronx.trace(" in ported(f"{HEAD}{lines}\n")


@pytest.mark.parametrize(
    ("lines", "after"),
    [
        ("traced = {trace}\nserve(traced)", "traced = {host}\nserve(traced)"),
        (
            "traced = {trace}\nserve(model=traced)\ntraced(example)",
            "traced = {host}\nserve(model=traced)\ntraced(example)",
        ),
        ("def f():\n    return {trace}", "def f():\n    return {host}"),
        ("models = {{'a': {trace}}}", "models = {{'a': {host}}}"),
        ("pipe.unet = {trace}\nother.unet(example)", "pipe.unet = {host}\nother.unet(example)"),
        ("if x:\n    traced = {trace}\nelse:\n    traced = f()", "if x:\n    traced = {host}\nelse:\n    traced = f()"),
    ],
)
def test_calls_that_are_not_known(lines: str, after: str) -> None:
    host = 'HostModel(torch.compile(net.to("neuron"), backend="neuron", dynamic=False), example, "neuron")'
    text = ported(HEAD + lines.format(trace="torch_neuronx.trace(net, example)") + "\n")
    assert text.endswith(f"\n{after.format(host=host)}\n")
    assert text.count("class HostModel(torch.nn.Module):") == text.count("def to_device(value, device):") == 1
    assert "torch_neuronx" not in text


def test_wrapped_model_that_is_saved() -> None:
    text = ported(f"{HEAD}traced = torch_neuronx.trace(net, example)\nserve(traced)\ntorch.jit.save(traced, path)\n")
    assert text.endswith(f"\nserve(traced)\n{SAVED}\n")


def test_passed_on_without_a_call() -> None:
    assert codes("import torch_neuronx\ncompile = partial(torch_neuronx.trace, compiler_args='-O1')\n") == [
        (2, "NP274")
    ]


def test_name_taken_from_the_package() -> None:
    assert_ported(
        """
        import torch
        from torch_neuronx import trace

        net = torch.nn.Linear(3, 3).eval()
        traced = trace(net, torch.zeros(1, 3))
        """,
        """
        import torch

        net = torch.nn.Linear(3, 3).eval()
        net.to("neuron")
        traced = torch.compile(net, backend="neuron", dynamic=False)
        with torch.inference_mode():
            traced(torch.zeros(1, 3).to("neuron"))
        """,
    )


# -- files of traced models ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("save", ["torch.jit.save(traced, path)", "traced.save(path)"])
def test_weights_are_saved(save: str) -> None:
    assert body(f"traced = torch_neuronx.trace(net, example)\n{save}").splitlines()[-1] == SAVED


def test_weights_of_what_the_name_held() -> None:
    after = body("traced = torch_neuronx.trace(net, example)\nnet = None\ntraced.save(path)")
    assert "in traced._orig_mod.state_dict().items()}, path)" in after


@pytest.mark.parametrize(
    "save", ["torch.jit.save(other, path)", "torch.jit.save(torch_neuronx.trace(net, example), 'a')"]
)
def test_saves_that_are_left_to_a_person(save: str) -> None:
    assert ("NP275", "manual") in [(f.code, f.applicability.word) for f in check(f"{HEAD}{save}\n")]


@pytest.mark.parametrize(
    ("load", "after"),
    [
        ("traced = torch.jit.load(path)\ntraced.eval()\n", ""),
        (
            "again = torch.jit.load(path)\nprint(again(example))",
            'again = traced\nprint(again(example.to("neuron")).cpu())',
        ),
    ],
)
def test_reading_back(load: str, after: str) -> None:
    lines = f"path = 'net.pt'\ntraced = torch_neuronx.trace(net, example)\ntorch.jit.save(traced, path)\n{load}"
    assert body(lines).endswith(f"{SAVED}\n{after}".rstrip("\n"))


@pytest.mark.parametrize(
    "lines",
    [
        "path = 'a'\nif x:\n    path = 'b'\ntraced = torch_neuronx.trace(net, example)\ntraced.save(path)\nm = torch.jit.load(path)",
        "traced = torch_neuronx.trace(net, example)\ntraced.save('a')\nm = torch.jit.load('b')",
        "traced = torch_neuronx.trace(net, example)\ntraced.save('a')\ndef f():\n    m = torch.jit.load('a')",
        "model_neuron = torch.jit.load(path)",
        "model = torch.jit.load(f'{folder}/neuron/model.pt')",
    ],
)
def test_a_file_that_cannot_be_read(lines: str) -> None:
    found = [f for f in check(f"{HEAD}{lines}\n") if f.code == "NP275" and "cannot be loaded" in f.message]
    assert [(f.severity.word, f.applicability.word) for f in found] == [("error", "manual")]


def test_a_file_that_may_be_of_another_kind() -> None:
    (finding,) = [f for f in check(f"{HEAD}model = torch.jit.load('net.pt')\n") if f.code == "NP275"]
    assert finding.severity.word == "warning"
    assert finding.message.startswith("if this file holds a traced Neuron model: ")


def test_what_stays_after_the_port_is_still_reported() -> None:
    after = ported(f"{HEAD}traced = torch_neuronx.trace(net, example)\nother = torch.jit.load('other.pt')\n")
    assert "torch_neuronx" not in after
    assert [code for _, code in codes(after)] == ["NP275"]


def test_model_that_another_function_returns() -> None:
    source = f"""{HEAD}

def compile_model():
    return torch_neuronx.trace(net, example)


fast = compile_model()
fast.save("net.pt")
torch.jit.save(fast, "net.pt")
"""
    assert [code for row, code in codes(source) if row > 11] == ["NP275", "NP275"]
    assert [code for _, code in codes(ported(source))] == ["NP275"]


@pytest.mark.parametrize(
    "line", ["image.save('a.png')", "torch.save(net, 'a')", "net.save('a')", "traced_net.save('a', 'b')"]
)
def test_other_saves(line: str) -> None:
    assert codes(f"{HEAD}{line}\n") == []


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ("model_neuron.save('a.pt')", ["warning"]),
        ("self.traced_encoder.save('a.pt')", ["warning"]),
        ("torch.jit.save(model, 'a.pt')", ["warning"]),
        ("torch.jit.save(model_neuron, 'a.pt')", ["error"]),
        ("torch.jit.save(model, 'neuron/model.pt')", ["error"]),
        ("neuron_config.save('a.json')", []),
    ],
)
def test_saves_of_what_only_the_name_tells(line: str, severity: list[str]) -> None:
    assert [f.severity.word for f in check(f"{HEAD}{line}\n") if f.code == "NP275"] == severity


def test_torchscript_beside_neuron() -> None:
    lines = "scripted = torch.jit.trace(net, example)\ntorch.jit.save(scripted, 'cpu.pt')\nsame = torch.jit.load('cpu.pt')\n"
    assert codes(f"{HEAD}{lines}") == [(7, "NP512")]


@pytest.mark.parametrize(
    "line", ["torch.jit.save(scripted, 'net_neuron.pt')", "model_neuron = torch.jit.load('net_neuron.pt')"]
)
def test_torchscript_elsewhere(line: str) -> None:
    assert codes(f"import torch\nimport torch_neuron_tools\n{line}\n") == []


# -- options and placement ----------------------------------------------------------------------------------------------


def test_options_go_with_the_trace() -> None:
    lines = "traced = torch_neuronx.trace(net, example, compiler_args=['-O1'], compiler_workdir=folder)"
    found = [
        (f.location.column, f.severity.word, f.applicability.word)
        for f in check(f"{HEAD}{lines}\n")
        if f.code == "NP276"
    ]
    assert found == [(44, "warning", "unsafe"), (67, "warning", "unsafe")]
    assert "compiler" not in body(lines)


def test_empty_options_say_nothing() -> None:
    assert messages("t = torch_neuronx.trace(net, example, compiler_args=None, input_output_aliases={})", "NP276") == []


@pytest.mark.parametrize(
    "line",
    [
        "torch_neuronx.async_load(traced)",
        "torch_neuronx.lazy_load(traced, enable_lazy_load=False)",
        "torch_neuronx.move_trace_to_device(traced, 0)",
        "torch_neuronx.set_neuron_cores(traced)",
        "torch_neuronx.experimental.set_neuron_cores(traced, start_nc=0, nc_count=1)",
    ],
)
def test_placement_on_the_first_core_goes(line: str) -> None:
    plain = "traced = torch_neuronx.trace(net, example)"
    assert body(f"{plain}\n{line}") == body(plain)


@pytest.mark.parametrize(
    "line",
    [
        "torch_neuronx.move_trace_to_device(traced, 1)",
        "torch_neuronx.move_trace_to_device(traced, core)",
        "torch_neuronx.set_neuron_cores(traced, 0, 2)",
        "torch_neuronx.set_multicore(traced)",
        "with torch_neuronx.neuron_cores_context(2): pass",
    ],
)
def test_other_placements_are_left_to_a_person(line: str) -> None:
    found = [f for f in check(f"{HEAD}traced = torch_neuronx.trace(net, example)\n{line}\n") if f.code == "NP278"]
    assert [(f.severity.word, f.applicability.word) for f in found] == [("error", "manual")]


def test_context_on_the_first_core() -> None:
    after = body(
        "with torch_neuronx.experimental.neuron_cores_context(start_nc=0):\n"
        "    traced = torch_neuronx.trace(net, example)"
    )
    assert after.startswith('net.to("neuron")\ntraced = ')


@pytest.mark.parametrize(
    ("weights", "after"),
    [
        ("state", "net.load_state_dict(state, strict=False)"),
        ("torch.nn.Linear(3, 3)", "net.load_state_dict(torch.nn.Linear(3, 3).state_dict(), strict=False)"),
    ],
)
def test_new_weights(weights: str, after: str) -> None:
    lines = f"traced = torch_neuronx.trace(net, example)\ntorch_neuronx.replace_weights(traced, {weights})"
    assert body(lines).splitlines()[-1] == after


def test_data_parallel_and_its_attributes() -> None:
    source = textwrap.dedent(
        """\
        import torch_neuronx
        parallel = torch_neuronx.DataParallel(traced)
        parallel.num_workers = 2
        other.num_workers = 2
        """
    )
    assert codes(source) == [(2, "NP277"), (3, "NP277")]


def test_portable() -> None:
    after = ported(f"{HEAD}traced = torch_neuronx.trace(net, example)\n", target="portable")
    assert after.removeprefix(BODY) == (
        "net.to(torch.accelerator.current_accelerator())\n"
        "traced = torch.compile(net, dynamic=False)\n"
        "with torch.inference_mode():\n"
        "    traced(example.to(torch.accelerator.current_accelerator()))\n"
    )


def test_the_first_generation_of_the_package_is_a_submodule_of_torch() -> None:
    source = "import torch\nimport torch.neuron\n\nmodels = [torch.jit.load(path) for _ in range(4)]\n"
    assert [(f.code, f.severity.word) for f in check(source) if f.code == "NP275"] == [("NP275", "warning")]
    assert not check(source.replace("import torch.neuron\n", ""))

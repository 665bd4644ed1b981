"""XLA's FSDP becomes FSDP2."""

from __future__ import annotations

import pytest

from tests.porting import check, codes, ported

HEAD = "import torch\nfrom torch_xla.distributed.fsdp import XlaFullyShardedDataParallel as FSDP\n"
POLICY = (
    "from functools import partial\n"
    "from torch_xla.distributed.fsdp.wrap import size_based_auto_wrap_policy, transformer_auto_wrap_policy\n"
)


def body(lines: str, head: str = HEAD) -> str:
    """What the fix writes for ``lines``, without the imports and definitions before them."""
    after = ported(f"{head}MARK = 1\n{lines}\n")
    assert ported(after) == after
    return after.partition("MARK = 1\n")[2].rstrip("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("model = FSDP(model)", "fully_shard(model)"),
        ("self.model = FSDP(self.model)", "fully_shard(self.model)"),
        ("model.layers[i] = FSDP(model.layers[i])", "model.layers[i] = fully_shard(model.layers[i])"),
        ("wrapped = FSDP(model)", "wrapped = fully_shard(model)"),
        ("model = FSDP(build(args))", "model = build(args)\nfully_shard(model)"),
        ("model = FSDP(module=model)", "fully_shard(module=model)"),
        ("self.model = FSDP(build())", "self.model = fully_shard(build())"),
        ("layers.append(FSDP(layer))", "layers.append(fully_shard(layer))"),
        ("wrap = lambda m: FSDP(m)", "wrap = lambda m: fully_shard(m)"),
        ("model = FSDP(model, flatten_parameters=True, _debug_msg='x')", "fully_shard(model)"),
        ("model = FSDP(model, reshard_after_forward=True)", "fully_shard(model)"),
        ("model = FSDP(model, reshard_after_forward=False)", "fully_shard(model, reshard_after_forward=False)"),
        ("model = FSDP(model, reshard_after_forward=flag)", "fully_shard(model, reshard_after_forward=flag)"),
        (
            "model = FSDP(model, reshard_after_forward=True, disable_reshard_on_root=False)",
            "fully_shard(model, reshard_after_forward=True)",
        ),
        (
            "model = FSDP(model, compute_dtype=torch.bfloat16)",
            "fully_shard(model, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16))",
        ),
        (
            "model = FSDP(model, compute_dtype=dtype, fp32_reduce_scatter=True)",
            "fully_shard(model, mp_policy=MixedPrecisionPolicy(param_dtype=dtype, reduce_dtype=torch.float32))",
        ),
        (
            "model = FSDP(model, compute_dtype=dtype, fp32_reduce_scatter=False)",
            "fully_shard(model, mp_policy=MixedPrecisionPolicy(param_dtype=dtype))",
        ),
        (
            "model = FSDP(model, compute_dtype=dtype, fp32_reduce_scatter=flag)",
            "fully_shard(model, mp_policy=MixedPrecisionPolicy(param_dtype=dtype, reduce_dtype=torch.float32 if flag else None))",
        ),
        ("model = FSDP(model, compute_dtype=torch.float32)", "fully_shard(model)"),
        ("model = FSDP(model, compute_dtype=None, fp32_reduce_scatter=True)", "fully_shard(model)"),
        ("model = FSDP(model, auto_wrap_policy=None, sharding_groups=None)", "fully_shard(model)"),
        ("model = FSDP(model, auto_wrap_policy=policy)", "model = fully_shard_by_policy(model, policy)"),
        ("assert isinstance(model, (FSDP, str))", "assert isinstance(model, (FSDPModule, str))"),
        ("def f(model: FSDP): pass", "def f(model: FSDPModule): pass"),
    ],
)
def test_wrapping(before: str, after: str) -> None:
    assert body(before) == after


def test_imports() -> None:
    assert ported(f"{HEAD}model = FSDP(model, compute_dtype=torch.bfloat16)\n").splitlines()[:2] == [
        "import torch",
        "from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard",
    ]


def test_through_the_module() -> None:
    head = "import torch_xla.distributed.fsdp as xfsdp\n"
    assert body("model = xfsdp.XlaFullyShardedDataParallel(model)", head) == "fully_shard(model)"


def test_partial() -> None:
    lines = "wrap = partial(FSDP, compute_dtype=torch.float16, shard_param_on_dim_0=True)"
    after = "wrap = partial(fully_shard, mp_policy=MixedPrecisionPolicy(param_dtype=torch.float16))"
    assert body(lines, f"from functools import partial\n{HEAD}") == after


@pytest.mark.parametrize(
    ("classes", "loop", "test"),
    [
        ("{Block}", "model.modules()", "Block"),
        ("(Block,)", "model.modules()", "Block"),
        ("[Block, torch.nn.Linear]", "reversed(list(model.modules()))", "(Block, torch.nn.Linear)"),
        ("layers", "reversed(list(model.modules()))", "tuple(layers)"),
    ],
)
def test_policy_of_classes(classes: str, loop: str, test: str) -> None:
    lines = (
        f"model = FSDP(model, auto_wrap_policy=partial(transformer_auto_wrap_policy, transformer_layer_cls={classes}))"
    )
    assert body(lines, HEAD + POLICY) == (
        f"for module in {loop}:\n    if isinstance(module, {test}):\n        fully_shard(module)\nfully_shard(model)"
    )


@pytest.mark.parametrize(
    ("statement", "before", "root", "last"),
    [
        ("model = {}", "", "model", "fully_shard(model, reshard_after_forward=False)"),
        ("wrapped = {}", "", "model", "wrapped = fully_shard(model, reshard_after_forward=False)"),
        ("net = {made}", "net = build()\n", "net", "fully_shard(net, reshard_after_forward=False)"),
        (
            "def f():\n    return {}",
            "def f():\n    ",
            "model",
            "return fully_shard(model, reshard_after_forward=False)",
        ),
    ],
)
def test_policy_in_statements(statement: str, before: str, root: str, last: str) -> None:
    indent = "    " if statement.startswith("def") else ""
    options = "auto_wrap_policy=policy, reshard_after_forward=False)"
    lines = statement.format(f"FSDP(model, {options}", made=f"FSDP(build(), {options}")
    policy = "policy = partial(transformer_auto_wrap_policy, transformer_layer_cls={Block})\n"
    assert body(policy + lines, HEAD + POLICY) == (
        f"{before}for module in {root}.modules():\n"
        f"{indent}    if isinstance(module, Block):\n"
        f"{indent}        fully_shard(module, reshard_after_forward=False)\n"
        f"{indent}{last}"
    )


def test_policy_that_something_else_reads() -> None:
    lines = (
        "policy = partial(transformer_auto_wrap_policy, transformer_layer_cls={Block})\n"
        "print(policy)\n"
        "model = FSDP(model, auto_wrap_policy=policy)"
    )
    after = ported(f"{HEAD}{POLICY}{lines}\n")
    assert after.endswith(
        "policy = partial(transformer_auto_wrap_policy, transformer_layer_cls={Block})\n"
        "print(policy)\n"
        "model = fully_shard_by_policy(model, policy)\n"
    )
    assert "from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy\n" in after


def test_policy_of_classes_in_an_expression() -> None:
    lines = "wrap = lambda m: FSDP(m, auto_wrap_policy=partial(transformer_auto_wrap_policy, transformer_layer_cls={Block}))"
    after = ported(f"{HEAD}{POLICY}{lines}\n")
    assert "from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy\n" in after
    assert after.splitlines()[-1] == (
        "wrap = lambda m: fully_shard_by_policy(m, partial(transformer_auto_wrap_policy, transformer_layer_cls={Block}))"
    )


def test_wrapper_of_submodules() -> None:
    lines = (
        "wrapper = lambda m, *args, **kwargs: FSDP(checkpoint(m), *args, **kwargs) if flag else None\n"
        "model = FSDP(model, auto_wrap_policy=policy, auto_wrapper_callable=wrapper)"
    )
    assert body(lines) == (
        "wrapper = lambda m, *args, **kwargs: fully_shard(checkpoint(m), *args, **kwargs) if flag else None\n"
        "model = fully_shard_by_policy(model, policy, wrapper=wrapper)"
    )


def test_wrapper_of_submodules_without_a_policy() -> None:
    assert body("model = FSDP(model, auto_wrapper_callable=wrap)") == "fully_shard(model)"


def test_name_of_the_loop_is_free() -> None:
    lines = (
        "def f(module):\n"
        "    module = FSDP(module, auto_wrap_policy=partial(transformer_auto_wrap_policy, transformer_layer_cls={Block}))"
    )
    assert "    for submodule in module.modules():\n        if isinstance(submodule, Block):" in body(
        lines, HEAD + POLICY
    )


def test_options_of_a_dict() -> None:
    lines = (
        "options = dict(flatten_parameters=False, compute_dtype=torch.bfloat16, reshard_after_forward=flag)\n"
        "first = FSDP(first, **options)\n"
        "model = FSDP(build(), **options)"
    )
    assert body(lines) == (
        "options = dict(reshard_after_forward=flag, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16))\n"
        "fully_shard(first, **options)\n"
        "model = build()\n"
        "fully_shard(model, **options)"
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("model = FSDP(model, sharding_groups=groups)", "groups of ranks are a mesh of two dimensions"),
        ("model = FSDP(model, param_init_fn=init)", "parameters on the meta device"),
        ("model = FSDP(model, **options)", "**options hides which options are set"),
        ("model = FSDP(*args)", "positional arguments hide which option is set"),
        ("model = FSDP(model, False)", "options are passed by position"),
        ("model = FSDP(model, future=1)", "the option future is not known"),
        (
            "options = dict(a=1)\noptions['b'] = 2\nmodel = FSDP(model, **options)",
            "**options hides which options are set",
        ),
        ("fully_shard = 1\nmodel = FSDP(model)", "the name fully_shard means something else here"),
    ],
)
def test_left_to_a_person(line: str, reason: str) -> None:
    found = [f for f in check(f"{HEAD}{line}\n") if f.code == "NP265" and "not done by itself" in f.message]
    assert [(f.severity.word, f.applicability.word) for f in found] == [("error", "manual")]
    assert found[0].message.partition("not done by itself: ")[2].startswith(reason)


@pytest.mark.parametrize("line", ["class Own(FSDP): pass", "wrap = FSDP if flag else other", "serve(FSDP)"])
def test_class_that_is_passed_on(line: str) -> None:
    found = [f for f in check(f"{HEAD}{line}\n") if f.code == "NP265" and f.location.row == 3]
    assert [(f.severity.word, f.applicability.word) for f in found] == [("error", "manual")]


def test_buffers_are_mentioned() -> None:
    found = [f for f in check(f"{HEAD}model = FSDP(model, buffer_dtype=torch.float32)\n") if f.code == "NP265"]
    assert [(f.location.row, f.location.column, f.severity.word) for f in found] == [
        (2, 40, "error"),
        (3, 9, "error"),
        (3, 21, "warning"),
    ]


# -- what is done with a wrapped module ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("model.clip_grad_norm_(1.0)", "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"),
        (
            "norm = model.clip_grad_norm_(max_norm=c, norm_type=2)",
            "norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=c, norm_type=2).full_tensor()",
        ),
        (
            "print(model.clip_grad_norm_(1.0, groups=None).item())",
            "print(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).full_tensor().item())",
        ),
        ("print(model.module.fc.weight)", "print(model.fc.weight)"),
        ("save(model.module)", "save(model)"),
        (
            "with model.no_sync():\n    step()",
            "model.set_requires_gradient_sync(False)\nstep()\nmodel.set_requires_gradient_sync(True)",
        ),
        (
            "with torch.no_grad(), model.no_sync():\n    step()",
            "model.set_requires_gradient_sync(False)\nwith torch.no_grad():\n    step()\nmodel.set_requires_gradient_sync(True)",
        ),
        (
            "with model.no_sync():\n    for x in y:\n        if x: continue\n",
            "model.set_requires_gradient_sync(False)\nfor x in y:\n    if x: continue\nmodel.set_requires_gradient_sync(True)",
        ),
    ],
)
def test_methods(before: str, after: str) -> None:
    assert body(f"model = FSDP(model)\n{before}") == f"fully_shard(model)\n{after}"


@pytest.mark.parametrize(
    "make",
    [
        "wrap = lambda m: FSDP(m)\nmodel = wrap(model)",
        "def wrap(m):\n    return FSDP(m)\n\nmodel = wrap(model)",
        "def wrap(m):\n    m = FSDP(m)\n    return m\n\nmodel = wrap(model)",
    ],
)
def test_wrapped_by_a_function_of_the_file(make: str) -> None:
    assert body(f"{make}\nprint(model.module)").endswith("\nprint(model)")


@pytest.mark.parametrize(
    "lines",
    [
        "accelerator.clip_grad_norm_(model.parameters(), 1.0)",
        "trainer.clip_grad_norm_(1.0)",
        "print(other.module)",
        "with other.no_sync():\n    step()",
    ],
)
def test_other_owners(lines: str) -> None:
    assert body(f"model = FSDP(model)\n{lines}") == f"fully_shard(model)\n{lines}"


@pytest.mark.parametrize("leave", ["break", "return", "raise ValueError"])
def test_block_that_may_be_left(leave: str) -> None:
    lines = (
        f"def f(model):\n    model = FSDP(model)\n    for x in y:\n        with model.no_sync():\n            {leave}\n"
    )
    found = [f for f in check(f"{HEAD}{lines}") if f.code == "NP266"]
    assert [(f.location.row, f.applicability.word) for f in found] == [(6, "manual")]
    assert [code for _, code in codes(ported(f"{HEAD}{lines}"))] == ["NP266"]


def test_groups_of_ranks_are_left() -> None:
    found = [f for f in check("def f(model, groups):\n    model.clip_grad_norm_(1, groups=groups)\n")]
    assert [(f.code, f.applicability.word) for f in found] == [("NP266", "manual")]

"""Environment variables of PyTorch/XLA and of the older Neuron packages."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, ported

HEAD = "import os\nimport subprocess\nfrom os import environ\nprint(os, subprocess, environ)\n"
XLA = HEAD.replace("import os\n", "import os\nimport torch_xla\n", 1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('os.environ["PJRT_DEVICE"] = "NEURON"; x = 1', "x = 1"),
        ('os.environ.setdefault("PJRT_DEVICE", "NEURON"); x = 1', "x = 1"),
        ('os.environ["NEURON_PJRT_WORLD_SIZE"] = "2"; x = 1', "x = 1"),
        ('os.environ["XLA_USE_EAGER_DEBUG_MODE"] = "1"; x = 1', "x = 1"),
        ('environ["PT_XLA_DEBUG"] = "1"; x = 1', "x = 1"),
        ('os.environ["NEURON_FUSE_SOFTMAX"] = "1"; x = 1', "x = 1"),
        ('os.environ["USE_TORCH_XLA"] = "1"', 'os.environ["USE_TORCH_XLA"] = "0"'),
        ("os.environ['USE_TORCH_XLA'] = 'True'", "os.environ['USE_TORCH_XLA'] = '0'"),
    ],
)
def test_safe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert port(HEAD, before, "safe", "portable") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('os.environ["NEURON_COMPILE_CACHE_URL"] = "/c"', 'os.environ["TORCH_NEURONX_NEFF_CACHE_DIR"] = "/c"'),
        ('os.environ["XLA_PERSISTENT_CACHE_PATH"] = p', 'os.environ["TORCH_NEURONX_NEFF_CACHE_DIR"] = p'),
        ('os.environ["NEURON_RT_VIRTUAL_CORE_SIZE"] = "1"', 'os.environ["NEURON_LOGICAL_NC_CONFIG"] = "1"'),
        ('os.environ["NEURONCORE_NUM_DEVICES"] = "2"; x = 1', "x = 1"),
        ('os.environ["USE_TORCH_XLA"] = str(flag)', 'os.environ["USE_TORCH_XLA"] = "0"'),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('os.environ["PJRT_DEVICE"] = "CPU"', ["warning manual"]),
        ('x = os.environ.get("PJRT_DEVICE") == "NEURON"', ["warning manual"]),
        ('subprocess.run(c, env={"PJRT_DEVICE": "NEURON"})', ["warning manual"]),
        ('x = os.environ.get("XLA_USE_BF16", "0")', ["warning manual"]),
        ('os.environ["XLA_HLO_DEBUG"] = "1"', ["info manual"]),
    ],
)
def test_xla_reported(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP298") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('os.environ["NEURON_COMPILE_CACHE_URL"] = "s3://bucket/c"', ["warning manual"]),
        ('x = os.environ["NEURON_EXTRACT_GRAPHS_ONLY"]', ["warning manual"]),
        ('os.environ["NEURON_CC_FLAGS"] = "--auto-cast=matmult"', ["warning manual"]),
        ('os.environ["NEURON_CC_FLAGS"] = "--verbose=info"', ["info manual"]),
        ('os.environ["NEURON_CC_FLAGS"] = f"--cache_dir={d}"', ["warning manual"]),
        ('os.environ["NEURON_CC_FLAGS"] = " ".join(["--lnc=1", x])', ["warning manual"]),
        ('x = "--auto-cast=none" in os.getenv("NEURON_CC_FLAGS", "")', ["info manual"]),
    ],
)
def test_neuron_reported(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP299") == expected


@pytest.mark.parametrize(
    "line",
    [
        'os.environ["USE_TORCH_XLA"] = "0"',
        'os.environ["XLA_FLAGS"] = "--xla_dump_to=/x"',
        'os.environ["XLA_ANYTHING"] = "1"',
        'os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"',
        'os.environ["TPU_NUM_DEVICES"] = "3"',
        'os.environ["NEURON_RT_VISIBLE_CORES"] = "0"',
        'os.environ["NEURON_RT_LOG_LEVEL"] = "INFO"',
        'x = os.environ.get("NEURON_CC_FLAGS", "")',
        'x = names["PJRT_DEVICE"]',
        'print("XLA_USE_BF16")',
    ],
)
def test_nothing_to_say(line: str) -> None:
    assert port(HEAD, line) == line
    assert [*found(HEAD, line, "NP298"), *found(HEAD, line, "NP299")] == []


@pytest.mark.parametrize("name", ["XLA_ANYTHING", "TF_CPP_MIN_LOG_LEVEL", "TPU_NUM_DEVICES", "XLA_FLAGS"])
def test_names_that_others_use_too_count_beside_xla(name: str) -> None:
    assert port(XLA, f'os.environ["{name}"] = "1"; x = 1') == "x = 1"


def test_what_changed_numbers_leaves_a_comment() -> None:
    assert_ported(
        """
        import os

        def main(args):
            if args.bf16:
                os.environ["XLA_DOWNCAST_BF16"] = "1"
                os.environ["NEURON_FUSE_SOFTMAX"] = "1"
            os.environ["XLA_USE_BF16"] = "0"
            run()
        """,
        """
        def main(args):
            # TODO(neuron-port): NP298 XLA_DOWNCAST_BF16 turned float32 into bfloat16; move model and inputs to torch.bfloat16
            run()
        """,
    )


def test_a_switch_that_is_off_is_a_note() -> None:
    assert found(HEAD, 'os.environ["XLA_USE_BF16"] = "0"', "NP298") == ["info unsafe"]
    assert found(HEAD, 'os.environ["XLA_USE_BF16"] = "1"', "NP298") == ["warning unsafe"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('= "--model-type=transformer --verbose=1"', '= "--verbose=1"'),
        ('= "--auto-cast none --verbose=1"', '= "--verbose=1"'),
        ('+= " --retry_failed_compilation -O2"', '+= " -O2"'),
        ("= '--model-type=transformer --auto-cast=all'", "= '--auto-cast=all'"),
        ('= "{} --target=trn1".format(old)', '= "{}".format(old)'),
        ('= f"{old} --target=trn1"', '= f"{old} --target=trn1"'),
    ],
)
def test_flags(before: str, after: str) -> None:
    name = 'os.environ["NEURON_CC_FLAGS"] '
    assert port(HEAD, f"{name}{before}") == f"{name}{after}"


@pytest.mark.parametrize(
    "line",
    [
        'os.environ["NEURON_CC_FLAGS"] = "--model-type=transformer"',
        'os.environ["NEURON_CC_FLAGS"] += " --model-type transformer"',
        'os.environ["NEURON_CC_FLAGS"] = os.environ.get("NEURON_CC_FLAGS", "") + " --model-type=transformer"',
        'os.environ.setdefault("NEURON_CC_FLAGS", "--retry_failed_compilation --auto-cast=none")',
    ],
)
def test_nothing_is_left_of_the_flags(line: str) -> None:
    assert port(HEAD, f"{line}; x = 1") == "x = 1"


def test_flags_that_do_nothing_go_safely() -> None:
    line = 'os.environ["NEURON_CC_FLAGS"] = "--enable-saturate-infinity"; x = 1'
    assert port(HEAD, line, "safe") == "x = 1"


def test_each_flag_is_named() -> None:
    line = 'os.environ["NEURON_CC_FLAGS"] = "--model-type=transformer --auto-cast=none --auto-cast-type bf16 --foo"'
    message = check(f"{HEAD}{line}\n")[0].message
    assert "--model-type=transformer, --auto-cast=none (the default)" in message
    assert "--auto-cast-type bf16 (computes float32 code in lower precision" in message
    assert "--foo (not known to be needed" in message


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('x = os.environ.get("{}")', "x = None"),
        ('x = os.environ.get("{}", "0") == "1"', "x = False"),
        ('x = os.environ.get("{}", "0") != "1"', "x = True"),
        ('x = int(os.environ.get("{}", "0"))', "x = 0"),
        ('x = bool(int(os.environ.get("{}", 0)))', "x = bool(0)"),
        ('x = os.getenv("{}", None) is None', "x = True"),
        ('x = "{}" in os.environ', "x = False"),
        ('x = "{}" not in os.environ', "x = True"),
        ('x = 1 if os.environ.get("{}", None) else 2', "x = 2"),
        ('x = 1 if not os.environ.get("{}", None) else 2', "x = 1"),
        ('x = 1 if ready and not os.environ.get("{}") else 2', "x = 1 if ready else 2"),
        ('x = 1 if ready and os.environ.get("{}") else 2', "x = 2"),
        ('x = 1 if load() and os.environ.get("{}") else 2', "x = 1 if load() and False else 2"),
        ('x = 1 if ready or os.environ.get("{}") else 2', "x = 1 if ready else 2"),
        ('x = 1 if ready or not os.environ.get("{}") else 2', "x = 1"),
        ('f(shuffle=(os.environ.get("{}", None) == None))', "f(shuffle=(True))"),
        ('x = os.environ.get("{}", default)', 'x = os.environ.get("{}", default)'),
    ],
)
def test_no_graphs_are_extracted(before: str, after: str) -> None:
    name = "NEURON_EXTRACT_GRAPHS_ONLY"
    assert port(HEAD, before.format(name), "safe") == after.format(name)


def test_visible_cores_of_a_process_group() -> None:
    head = f'{HEAD}import torch.distributed as dist\ndist.init_process_group("neuron")\n'
    name = 'os.environ["NEURON_RT_VISIBLE_CORES"]'
    assert port(head, f'{name} = "0-31"; x = 1') == "x = 1"
    assert found(head, f'{name} = "0-31"', "NP299") == ["error unsafe"]
    assert found(head, f'{name} = f"0-{{n - 1}}"', "NP299") == ["error unsafe"]
    assert found(head, f"{name} = args.cores", "NP299") == ["warning manual"]
    assert found(head, f"x = {name}", "NP299") == ["error manual"]
    assert found(head, 'x = os.environ.get("NEURON_RT_VISIBLE_CORES")', "NP299") == ["warning manual"]
    assert found(head, f'{name} = os.environ["LOCAL_RANK"]', "NP299") == []
    assert found(head, f"{name} = str(local_rank)", "NP299") == []
    assert port(head, 'os.environ["NEURON_RT_NUM_CORES"] = "1"; x = 1') == "x = 1"


def test_blocks_about_extracted_graphs() -> None:
    assert_ported(
        """
        import os

        def main(step):
            if not os.environ.get("NEURON_EXTRACT_GRAPHS_ONLY", None):
                for x in range(step):
                    print(x)
            if os.environ.get("NEURON_EXTRACT_GRAPHS_ONLY", None) and step > 5:
                return 1
            if step and not os.environ.get("NEURON_EXTRACT_GRAPHS_ONLY"):
                print(step)
            if os.environ.get("NEURON_EXTRACT_GRAPHS_ONLY", "0") == "1":
                print(1)
            else:
                print(2)
        """,
        """
        def main(step):
            for x in range(step):
                print(x)
            if step:
                print(step)
            if False:
                print(1)
            else:
                print(2)
        """,
    )


def test_a_comment_on_the_condition_is_kept_by_safe_fixes() -> None:
    source = """
        import os

        if not os.environ.get("NEURON_EXTRACT_GRAPHS_ONLY"):  # why
            print(1)
    """
    assert "# why" in ported(source, "safe")
    assert ported(source) == "\nprint(1)\n"


def test_a_program_that_sets_the_switch_itself() -> None:
    head = f'{HEAD}os.environ["NEURON_EXTRACT_GRAPHS_ONLY"] = "1"\n'
    line = 'x = os.environ.get("NEURON_EXTRACT_GRAPHS_ONLY")'
    assert port(head, line) == line
    assert found(head, line, "NP299") == ["warning manual"]


def test_a_name_that_is_set_already_is_not_set_twice() -> None:
    head = f'{HEAD}os.environ["NEURON_LOGICAL_NC_CONFIG"] = "1"\n'
    assert port(head, 'os.environ["NEURON_RT_VIRTUAL_CORE_SIZE"] = "1"; x = 1') == "x = 1"

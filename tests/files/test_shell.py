"""Shell scripts: exact texts after the fix, exact places of findings, and that bash still reads the result."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_port.files import shell
from neuron_port.files.fragment import Fragment
from neuron_port.files.shell_syntax import parse
from neuron_port.findings import Applicability
from neuron_port.sources.python import UnreadableFile

sys.path.insert(0, str(Path(__file__).parent))
from texts import fixed, found, reports

BASH = shutil.which("bash")
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


def fix(text: str, **options: object) -> str:
    return fixed(shell.inspect, text, **options)


def codes(text: str) -> list[tuple[str, str]]:
    return found(shell.inspect, text)


# -- syntax ------------------------------------------------------------------------------------------------------------


def test_words_are_what_the_program_gets() -> None:
    script = parse(Fragment.of_file('A=1 run \'a b\'"c"d\\ e --x="y $Z" \\\n  last\n'))
    (command,) = script.commands
    assert [word.text for word in command.words] == ["run", "a bcd e", "--x=y $Z", "last"]
    assert [word.literal for word in command.words] == [True, True, False, True]
    assert [setting.name for setting in command.settings] == ["A"]


def test_a_word_of_several_variables_is_one_word() -> None:
    (command,) = parse(Fragment.of_file("docker push $A.ecr.$B.com/$C:$D\n")).commands
    assert [word.text for word in command.words] == ["docker", "push", "$A.ecr.$B.com/$C:$D"]


def test_an_edit_in_a_quoted_word_keeps_the_quotes() -> None:
    assert fix('torchrun --nproc_per_node="gpu" t.py\n') == 'torchrun --nproc_per_node="auto" t.py\n'
    assert fix("torchrun --nproc_per_node 'gpu' t.py\n") == "torchrun --nproc_per_node 'auto' t.py\n"


def test_a_value_that_is_joined_from_pieces_is_only_reported() -> None:
    text = "torchrun --nproc_per_node=g'p'u t.py\n"
    assert codes(text) == [("NP810", "--nproc_per_node=g'p'u")]
    assert fix(text) == text


def test_comments_and_here_documents_are_no_commands() -> None:
    text = "# torchrun --nproc_per_node=gpu\ncat <<EOF\nexport NCCL_DEBUG=INFO\nEOF\n"
    assert codes(text) == []


def test_here_documents_of_a_shell_are_code() -> None:
    text = "ssh host bash <<'EOF'\nexport NCCL_DEBUG=INFO\ntrue\nEOF\n"
    assert fix(text) == "ssh host bash <<'EOF'\ntrue\nEOF\n"


def test_characters_of_several_bytes_do_not_move_places() -> None:
    text = "echo 'günstig 好'; torchrun --nproc_per_node=gpu t.py # ✓\n"
    (report,) = reports(shell.inspect, text)
    assert text[report.start : report.end] == "--nproc_per_node=gpu"
    assert fix(text) == text.replace("=gpu", "=auto")


def test_line_ends_of_windows_stay() -> None:
    text = "export NCCL_DEBUG=INFO\r\ntorchrun \\\r\n  --nproc_per_node=gpu t.py\r\n"
    assert fix(text) == "torchrun \\\r\n  --nproc_per_node=auto t.py\r\n"


def test_a_broken_script_is_refused_with_its_place() -> None:
    with pytest.raises(UnreadableFile) as error:
        shell.check("echo 1\nexport A=<b>\nif true; then\n")
    assert error.value.row == 2


@pytest.mark.parametrize("text", ["", "\n", "run --a \\", "run --a \\\n", "echo `date`\n", "f() { :; }\n", "a=(1 2)\n"])
def test_valid_scripts_are_read(text: str) -> None:
    shell.check(text)


# -- variables ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("export NCCL_DEBUG=INFO\nrun\n", "run\n"),
        ("  export NCCL_DEBUG=INFO  # note\nrun\n", "run\n"),
        ("NCCL_DEBUG=INFO run\n", "run\n"),
        ("A=1 NCCL_DEBUG=INFO \\\n    run\n", "A=1 run\n"),
        ("export A=1 NCCL_DEBUG=INFO B=2\n", "export A=1 B=2\n"),
        ("export NCCL_DEBUG=INFO NCCL_IB_DISABLE=1\nrun\n", "run\n"),
        ("export NCCL_DEBUG=INFO; run\n", "run\n"),
        ("run; export NCCL_DEBUG=INFO\n", "run\n"),
        ("export NCCL_DEBUG=INFO && run\n", "run\n"),
        ("run && export NCCL_DEBUG=INFO\n", "run\n"),
        ("if a; then\n  export NCCL_DEBUG=INFO\nfi\n", "if a; then\n  :\nfi\n"),
        ("if a; then\n  export NCCL_DEBUG=INFO\n  run\nfi\n", "if a; then\n  run\nfi\n"),
        ("f() {\n  export NCCL_DEBUG=INFO\n}\n", "f() {\n  :\n}\n"),
        ("for i in 1; do export NCCL_DEBUG=INFO; run; done\n", "for i in 1; do run; done\n"),
        ("env NCCL_DEBUG=INFO A=1 python t.py\n", "env A=1 python t.py\n"),
        ("mpirun -np 2 -x NCCL_DEBUG=INFO -x PATH python t.py\n", "mpirun -np 2 -x PATH python t.py\n"),
        ("docker run -e NCCL_DEBUG=INFO image\n", "docker run image\n"),
        ("export CUDA_LAUNCH_BLOCKING=1\n", "export NEURON_LAUNCH_BLOCKING=1\n"),
        ("CUDA_VISIBLE_DEVICES=0 python t.py\n", "NEURON_RT_VISIBLE_CORES=0 python t.py\n"),
        ("CUDA_VISIBLE_DEVICES=0,1 torchrun t.py\n", "torchrun t.py\n"),
        ("CUDA_VISIBLE_DEVICES=0,1 accelerate launch t.py\n", "accelerate launch t.py\n"),
        ("export CUDA_VISIBLE_DEVICES=0,1\ntorchrun t.py\n", "torchrun t.py\n"),
        ("export CUDA_VISIBLE_DEVICES=0\npython t.py\n", "export NEURON_RT_VISIBLE_CORES=0\npython t.py\n"),
        ("NEURON_RT_VISIBLE_CORES=0-3 torchrun t.py\n", "torchrun t.py\n"),
        ("NEURON_RT_VISIBLE_CORES=0 python t.py\n", "NEURON_RT_VISIBLE_CORES=0 python t.py\n"),
        ('export ACCELERATE_MIXED_PRECISION="fp16"\n', 'export ACCELERATE_MIXED_PRECISION="bf16"\n'),
    ],
)
def test_variables(before: str, after: str) -> None:
    assert fix(before) == after


def test_a_variable_that_is_read_again_stays() -> None:
    text = "export CUDA_HOME=/usr/local/cuda\nls $CUDA_HOME/bin\n"
    assert fix(text) == text
    assert codes(text) == [("NP195", "CUDA_HOME=/usr/local/cuda")]


def test_a_read_of_the_list_of_gpus_is_reported() -> None:
    assert codes('IFS=, read -ra GPUS <<< "$CUDA_VISIBLE_DEVICES"\n') == [("NP195", "CUDA_VISIBLE_DEVICES")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("DEVICE=cuda\n", "DEVICE=neuron\n"),
        ("export MODEL_DEVICE='cuda:0'\n", "export MODEL_DEVICE='neuron'\n"),
        ('device="${2:-cuda}"\n', 'device="${2:-neuron}"\n'),
        ("DEVICE=cuda:$i python t.py\n", "DEVICE=neuron:$i python t.py\n"),
        ("BACKEND=nccl\n", "BACKEND=neuron\n"),
        ("DEVICE=xla\n", "DEVICE=neuron\n"),
        ("NAME=cuda\n", "NAME=cuda\n"),
        ("DEVICE=cpu\n", "DEVICE=cpu\n"),
    ],
)
def test_variables_that_hold_a_device(before: str, after: str) -> None:
    assert fix(before) == after


def test_words_that_a_device_is_compared_with() -> None:
    text = 'if [[ "$D" == "cuda" ]]; then a; fi\ncase $D in cuda|"cpu") b;; esac\n'
    assert codes(text) == [("NP817", '"cuda"'), ("NP817", "cuda")]


def test_hiding_all_gpus_is_left_to_a_person() -> None:
    text = 'CUDA_VISIBLE_DEVICES="" python t.py\n'
    (report,) = reports(shell.inspect, text)
    assert (report.applicability, fix(text)) == (Applicability.MANUAL, text)


def test_variables_that_tensorflow_shares_need_the_xla_packages() -> None:
    text = "export TF_CPP_MIN_LOG_LEVEL=2\nexport XLA_FLAGS=--xla_dump_to=/tmp\n"
    assert codes(text) == []
    assert [code for code, _ in codes(f"{text}neuron_parallel_compile python t.py\n")] == ["NP298", "NP298", "NP814"]


def test_what_changed_numbers_leaves_a_note() -> None:
    assert fix("if a; then\n  export XLA_USE_BF16=1\n  run\nfi\n") == (
        "if a; then\n"
        "  # TODO(neuron-port): NP298 XLA_USE_BF16 turned float32 into bfloat16; move model and inputs to torch.bfloat16\n"
        "  run\nfi\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"--model-type=transformer --cache_dir=$C"', '"--cache_dir=$C"'),
        ('"--cache_dir=$C --model-type transformer --retry_failed_compilation"', '"--cache_dir=$C"'),
        ('"$NEURON_CC_FLAGS --retry_failed_compilation -O2"', '"$NEURON_CC_FLAGS -O2"'),
    ],
)
def test_flags_of_the_compiler_go_one_by_one(before: str, after: str) -> None:
    assert fix(f"export NEURON_CC_FLAGS={before}\n") == f"export NEURON_CC_FLAGS={after}\n"


def test_a_variable_without_flags_goes() -> None:
    assert fix('export NEURON_CC_FLAGS="$NEURON_CC_FLAGS --model-type=transformer"\nrun\n') == "run\n"


def test_names_of_a_script_are_its_own() -> None:
    assert codes("TPU_ZONE=x\nXLA_DIR=/tmp\npython -m torch_xla.distributed.xla_dist t.py\n") == [
        ("NP814", "python -m torch_xla.distributed.xla_dist")
    ]
    assert codes("NCCL_TESTS_VERSION=2.1\nNCCL_VERSION=2.20\n") == []


def test_portable_scripts_keep_the_variables_of_cuda() -> None:
    text = "export NCCL_DEBUG=INFO\nexport CUDA_VISIBLE_DEVICES=0\npython t.py --device cuda\n"
    assert fix(text, target="portable") == text


# -- commands and options ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("sudo -E env A=1 torchrun --nproc_per_node=gpu t.py", "sudo -E env A=1 torchrun --nproc_per_node=auto t.py"),
        ('bash -c "torchrun --nproc_per_node=gpu t.py"', 'bash -c "torchrun --nproc_per_node=auto t.py"'),
        ("$PREFIX torchrun --nproc_per_node=gpu t.py", "$PREFIX torchrun --nproc_per_node=auto t.py"),
        ("eval 'python t.py --device cuda'", "eval 'python t.py --device neuron'"),
        ('CMD="python t.py --device cuda:0"', 'CMD="python t.py --device neuron"'),
        ('OPTS="$OPTS --device cuda"', 'OPTS="$OPTS --device neuron"'),
        ("ARGS+=(--device cuda --x 1)", "ARGS+=(--device neuron --x 1)"),
        ("./serve --device cuda", "./serve --device neuron"),
        ("python -u t.py device=cuda", "python -u t.py device=neuron"),
        ("python t.py --device cuda:$LOCAL_RANK", "python t.py --device neuron"),
        ("python t.py --device cuda:1", "python t.py --device neuron:1"),
        ("srun --mpi=pmix python t.py --dist-backend nccl", "srun --mpi=pmix python t.py --dist-backend neuron"),
        ("N=$(nvidia-smi -L | wc -l)", "N=$(python -c 'import torch; print(torch.accelerator.device_count())')"),
        ("nvidia-smi", "neuron-ls"),
        ("nsys profile -o a.qdrep torchrun t.py", "torchrun t.py"),
        ("neuron_parallel_compile bash run.sh 4", "bash run.sh 4"),
        ("docker run -it --gpus=all --rm image", "docker run -it --device=/dev/neuron0 --rm image"),
    ],
)
def test_commands(before: str, after: str) -> None:
    assert fix(f"{before}\n") == f"{after}\n"


def test_an_option_goes_with_its_line() -> None:
    text = "python t.py --per_device_train_batch_size 8 \\\n  --tf32 True \\\n  --lr 1\n"
    assert fix(text) == "python t.py --per_device_train_batch_size 8 \\\n  --lr 1\n"
    assert codes(text) == [("NP446", "--tf32 True")]


def test_an_option_that_shares_its_line_leaves_the_others_there() -> None:
    text = "mpirun -n 2 \\\n  -x NCCL_DEBUG=INFO -x PATH python t.py\n"
    assert fix(text) == "mpirun -n 2 \\\n  -x PATH python t.py\n"


def test_arguments_of_the_trainer_need_evidence() -> None:
    assert fix("python t.py --optim paged_adamw_8bit\n") == "python t.py --optim paged_adamw_8bit\n"
    assert fix("python t.py --per_device_train_batch_size 8 --optim paged_adamw_8bit --fp16\n") == (
        "python t.py --per_device_train_batch_size 8 --optim adamw_torch_fused --bf16\n"
    )


def test_a_condition_on_nvidia_smi_is_left_to_a_person() -> None:
    text = "if nvidia-smi >/dev/null; then\n  echo\nfi\nif command -v nvidia-smi; then echo; fi\n"
    assert fix(text) == text
    assert [code for code, _ in codes(text)] == ["NP196", "NP196"]


def test_commands_of_optimum_neuron() -> None:
    assert codes("optimum-cli export neuron --model gpt2 out\n") == [
        ("NP386", "optimum-cli export neuron --model gpt2 out")
    ]
    assert codes("optimum-cli export onnx --model gpt2 out\n") == []


def test_severities() -> None:
    text = "deepspeed t.py\ntorchrun --nproc_per_node=8 t.py\nmodule load cuda\n"
    assert [(report.rule.code, report.severity.word) for report in reports(shell.inspect, text)] == [
        ("NP813", "error"),
        ("NP810", "info"),
        ("NP815", "warning"),
    ]


def test_a_fragment_keeps_the_places_of_its_file() -> None:
    text = "before: torchrun --nproc_per_node=gpu t.py :after"
    start = text.index("torchrun")
    part = Fragment.of_part("torchrun --nproc_per_node=gpu t.py", start)
    from texts import context

    (report,) = shell.inspect_fragments(context(text), [part])
    assert text[report.start : report.end] == "--nproc_per_node=gpu"


@pytest.mark.skipif(BASH is None, reason="no bash here")
@pytest.mark.parametrize("path", sorted(FIXTURES.glob("NP8*/*.sh")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_bash_reads_the_fixtures(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for script in (text, fix(text)):
        done = subprocess.run([BASH, "-n"], input=script, text=True, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


# -- packages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("pip install flash-attn numpy --no-build-isolation\n", "pip install numpy --no-build-isolation\n"),
        ("a\npip install flash-attn\nb\n", "a\nb\n"),
        ("a\nsudo pip3 install flash-attn xformers && b\n", "a\nb\n"),
        ("uv pip install flash-attn -r requirements.txt\n", "uv pip install -r requirements.txt\n"),
        (
            "pip install numpy --index-url https://download.pytorch.org/whl/cu121\n",
            "pip install numpy\n",
        ),
        ("conda install -y pytorch-cuda=12.1 numpy -c nvidia\n", "conda install -y numpy\n"),
        ("pip uninstall -y flash-attn\n", "pip uninstall -y flash-attn\n"),
        ("python -m pip install -U numpy\n", "python -m pip install -U numpy\n"),
    ],
)
def test_packages(before: str, after: str) -> None:
    assert fix(before) == after


def test_a_package_that_becomes_several_is_quoted() -> None:
    text = fix("pip install optimum-neuron[training]\n")
    assert '"transformers>=' in text
    assert "optimum" not in text


def test_a_version_in_a_variable() -> None:
    assert [code for code, _ in codes("pip install flash-attn==${V}\n")] == ["NP830"]
    assert codes("pip install $PACKAGES\n") == []


# -- what hangs on a statement that goes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("export NCCL_DEBUG=INFO || exit 1\n", ": || exit 1\n"),
        ("pip install flash-attn || echo none\n", ": || echo none\n"),
        ("run || export NCCL_DEBUG=INFO\n", "run || :\n"),
        ("export NCCL_DEBUG=INFO && run\n", "run\n"),
        ("run && export NCCL_DEBUG=INFO\n", "run\n"),
        ("set -e\n[ -z $Q ] && export NCCL_DEBUG=INFO\n", "set -e\n[ -z $Q ] && :\n"),
        ("set -euo pipefail\nrun && export NCCL_DEBUG=INFO && more\n", "set -euo pipefail\nrun && more\n"),
        ("#!/bin/bash -e\nrun && export NCCL_DEBUG=INFO\n", "#!/bin/bash -e\nrun && :\n"),
    ],
)
def test_what_follows_success_or_failure_still_does(before: str, after: str) -> None:
    assert fix(before) == after
    assert fix(after) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torchrun --nproc_per_node=${N:-gpu} t.py\n", "torchrun --nproc_per_node=${N:-auto} t.py\n"),
        (
            'torchrun --nproc_per_node="${N:-$(nvidia-smi -L | wc -l)}" t.py\n',
            'torchrun --nproc_per_node="${N:-auto}" t.py\n',
        ),
        ('python t.py --device "${D:-cuda:0}"\n', 'python t.py --device "${D:-neuron}"\n'),
        ("python t.py --backend=${1-nccl}\n", "python t.py --backend=${1-neuron}\n"),
    ],
)
def test_defaults_of_variables_are_values(before: str, after: str) -> None:
    assert fix(before) == after


def test_a_default_number_of_processes_is_a_note() -> None:
    text = "torchrun --nproc_per_node=${2:-4} t.py\n"
    (report,) = reports(shell.inspect, text)
    assert report.rule.code == "NP810" and report.message.startswith("4 processes") and not report.edits


def test_two_variables_are_no_default() -> None:
    text = "python t.py --device ${D:-cuda}${N:-0}\n"
    assert fix(text) == text


# -- scripts in here-documents -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "head", ["sbatch <<EOT", "cat <<'EOT' | bash", "cat <<EOT > job.sh", "cat > jobs/a.slurm <<EOT", "tee job.sh <<EOT"]
)
def test_a_script_in_a_here_document_is_read(head: str) -> None:
    before = f"{head}\n#!/bin/bash\nexport NCCL_DEBUG=INFO\ntorchrun --nproc_per_node=gpu t.py\nEOT\n"
    assert fix(before) == f"{head}\n#!/bin/bash\ntorchrun --nproc_per_node=auto t.py\nEOT\n"


def test_other_here_documents_are_text() -> None:
    text = (
        "cat <<EOT > notes.txt\nexport NCCL_DEBUG=INFO\nEOT\ncat <<EOT | grep x\ntorchrun --nproc_per_node=gpu\nEOT\n"
    )
    assert codes(text) == []


def test_tabs_in_front_of_a_here_document_stay_with_their_lines() -> None:
    before = "bash <<-EOT\n\texport NCCL_DEBUG=INFO\n\tpython t.py\n\tEOT\n"
    assert fix(before) == "bash <<-EOT\n\tpython t.py\n\tEOT\n"

"""Hostile files: each is fixed correctly or left as it is with NP001; nothing ends in a traceback or a damaged file."""

from __future__ import annotations

import ast
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

OLD = b'device = torch.device("cuda")'
NEW = b'device = torch.device("neuron")'
SYNC = b"torch.cuda.synchronize()"
SYNCED = b"torch.accelerator.synchronize()"

# Each file holds one thing to rewrite; what surrounds it must survive byte for byte.
TEXTS = {
    "plain": b"import torch\n" + OLD + b"\n",
    "utf8": 'import torch\nname = "ünïcödé"\n'.encode() + OLD + b"\n",
    "utf8_before_it_on_the_line": 'import torch\nname = "ünï 😀"; '.encode() + OLD + b"\n",
    "non_ascii_identifiers": "import torch\nπ = größe = 1; ".encode() + OLD + b"\n",
    "utf8_cookie": b"# -*- coding: utf-8 -*-\nimport torch\n" + OLD + b"\n",
    "latin1_cookie": b"# -*- coding: latin-1 -*-\nimport torch\nname = '\xe9\xff'; " + OLD + b"\n",
    "latin15_cookie": b"# vim: set fileencoding=iso-8859-15 :\nimport torch\nname = '\xa4'\n" + OLD + b"\n",
    "cp1252_cookie": b"#!/usr/bin/env python\n# coding: cp1252\nimport torch\nname = '\x80'\n" + OLD + b"\n",
    "gbk_cookie": b"# coding: gbk\nimport torch\nname = '" + "中文字符".encode("gbk") + b"'; " + OLD + b"\n",
    "euc_kr_cookie": b"# coding: euc-kr\nimport torch\n# " + "한국어".encode("euc-kr") + b"\n" + OLD + b"\n",
    "shift_jis_cookie": b"# coding: shift_jis\nimport torch\n# " + "日本語".encode("shift_jis") + b"\n" + OLD + b"\n",
    "bom": b"\xef\xbb\xbfimport torch\n" + OLD + b"\n",
    "bom_and_cookie": b"\xef\xbb\xbf# coding: utf-8\nimport torch\n" + OLD + b"\n",
    "crlf": b"import torch\r\n\r\n" + OLD + b"\r\nx = 1\r\n",
    "mixed_line_ends": b"import torch\r\nx = 1\n" + OLD + b"\r\ny = 2\n",
    "form_feeds": b"import torch\n\x0c\nx = 1\n\x0c" + OLD + b"\n",
    "tabs": b"import torch\nif True:\n\tif True:\n\t\t" + OLD + b"\t# why\n",
    "tab_and_spaces": b"import torch\nif True:\n\tx = 1\nelse:\n        " + OLD + b"\n",
    "trailing_whitespace": b"import torch   \n\t\n" + OLD + b"   \n    \n",
    "no_final_newline": b"import torch\n" + OLD,
    "no_final_newline_crlf": b"import torch\r\n" + OLD,
    "comment_at_the_end": b"import torch\n" + OLD + b"\n# the end",
    "many_blank_lines": b"\n\n\n\nimport torch\n\n\n\n" + OLD + b"\n\n\n\n",
    "line_separator_in_string": 'import torch\ntext = "\u2028\x85\x0b"\n'.encode() + OLD + b"\n",
    "backslashes": b"import torch\nx = 1 + \\\n    2; \\\n" + OLD + b"\n",
    "semicolons": b"import torch; x = 1;  " + OLD + b"  ;y = 2;\n",
    "long_line": b"import torch\nx = [" + b"1, " * 40_000 + b"]; " + OLD + b"\n",
    "long_string": b"import torch\nx = '" + b"a" * 400_000 + b"'\n" + OLD + b"\n",
    "many_lines": b"import torch\n" + b"x = 1\n" * 10_000 + OLD + b"\n",
    "encoding_words_later": b"import torch\n\n\n# coding: latin-1\nx = '\xc3\xa9'\n" + OLD + b"\n",
    "docstring_first": b'r"""A docstring \\d."""\nimport torch\n' + OLD + b"\n",
    "only_future_import": b"from __future__ import annotations\nimport torch\n" + OLD + b"\n",
    "empty_fstring_fields": b"import torch\nx = f'{{}}{1!r:>{10}}'\n" + OLD + b"\n",
    "nested_quotes": b"import torch\nx = f\"{f'{1}'}\" 'a' \"b\" '''c\n'''\n" + OLD + b"\n",
    "tight_keywords": b"import torch\nx = 1if y else[i for i in(1,2)if i]\n" + OLD + b"\n",
}

# What the grammar got from 3.10 on: fixed where this Python has it, NP001 where it has not.
SYNTAX = {
    "match": b"match x:\n    case {'k': [a, *_], **rest} if a:\n        pass\n    case str() | None:\n        pass\n",
    "parenthesized_with": b"with (open('a') as a, open('b') as b):\n    pass\n",
    "except_star": b"try:\n    pass\nexcept* (ValueError, OSError) as group:\n    raise\n",
    "star_in_index": b"def f(*args: *tuple[int, ...]):\n    return args[*args]\n",
    "type_statement": b"type Pair[T] = tuple[T, T]\n",
    "type_parameters": b"def f[T: (int, str), *Ts, **P](x: T) -> T:\n    return x\nclass C[T]:\n    pass\n",
    "nested_same_quotes": b'd = {"k": 1}\nx = f"{d["k"]} {"\\n".join(["a"])}"\n',
    "multi_line_field": b"x = f'{\n    1  # one\n}'\n",
    "type_parameter_default": b"class C[T = int, *Ts = *tuple[int]]:\n    pass\n",
    "except_without_parentheses": b"try:\n    pass\nexcept ValueError, OSError:\n    pass\n",
    "template_string": b'name = "a"\nx = t"hello {name}"\n',
    "walrus": b"if (n := 1) and [m := 2]:\n    pass\n",
    "positional_only": b"def f(a, /, b, *, c):\n    return a, b, c\n",
    "async_generator": b"async def f():\n    async with a as b:\n        yield [i async for i in b]\n",
}

# What nobody can parse, and where NP001 must point.
REFUSED = {
    "python2_print": (b"import torch\nprint 'cuda'\n" + OLD + b"\n", 2),
    "python2_except": (b"import torch\ntry:\n    x()\nexcept IOError, e:\n    " + OLD + b"\n    e\n", 4),
    "python2_backticks": (b"import torch\n" + OLD + b"\nx = `1`\n", 3),
    "async_argument": (b"import torch\n" + OLD + b"\nf(async=True)\n", 3),
    "unclosed_bracket": (b"import torch\n" + OLD + b"\nx = (1,\n", 3),
    "unclosed_string": (b"import torch\n" + OLD + b"\nx = 'a\n", 3),
    "bad_indentation": (b"import torch\n" + OLD + b"\nif x:\ny = 1\n", 4),
    "inconsistent_tabs": (b"import torch\nif x:\n        y = 1\n\t" + OLD + b"\n", 4),
    "conflict_markers": (b"import torch\n<<<<<<< HEAD\n" + OLD + b"\n=======\n>>>>>>> b\n", 2),
    "invalid_utf8": (b"import torch\nx = '\xff'\n" + OLD + b"\n", 2),
    "unknown_encoding": (b"# coding: klingon\nimport torch\n" + OLD + b"\n", 1),
    "bom_with_latin1_cookie": (b"\xef\xbb\xbf# coding: latin-1\nimport torch\n" + OLD + b"\n", 1),
    "utf16": (b"import torch\n".decode().encode("utf-16") + b" torch cuda", 1),
    "null_byte": (b"import torch\n" + OLD + b"\0\n", 2),
    "rot13_encoding": (b"# coding: rot13\nx = torch.cuda\n", 1),
    "jinja_template": (b"import torch\n{% if cuda %}\n" + OLD + b"\n{% endif %}\n", 2),
}

# What only some parsers survive: fixed, or left alone with NP001; both are right.
DEPTHS = {
    "parentheses": b"x = " + b"(" * 3000 + b"1" + b")" * 3000 + b"\n",
    "lists": b"x = " + b"[" * 3000 + b"]" * 3000 + b"\n",
    "minus_signs": b"x = " + b"-" * 3000 + b"1\n",
    "nots": b"x = " + b"not " * 3000 + b"1\n",
    "plus_chain": b"x = " + b" + ".join([b"1"] * 5000) + b"\n",
    "and_chain": b"x = " + b" and ".join([b"1"] * 5000) + b"\n",
    "string_concatenation": b"x = (" + b"\n'a'" * 5000 + b")\n",
    "attribute_chain": b"x = a" + b".b" * 3000 + b"\n",
    "call_chain": b"x = a" + b"()" * 3000 + b"\n",
    "method_chain": b"x = a" + b".b()" * 3000 + b"\n",
    "subscript_chain": b"x = a" + b"[0]" * 3000 + b"\n",
    "nested_calls": b"x = " + b"f(" * 3000 + b"1" + b")" * 3000 + b"\n",
    "lambdas": b"x = " + b"lambda: " * 3000 + b"1\n",
    "conditional_chain": b"x = " + b"1 if y else " * 3000 + b"2\n",
    "comparison_chain": b"x = " + b" < ".join([b"1"] * 5000) + b"\n",
    "power_chain": b"x = " + b" ** ".join([b"1"] * 3000) + b"\n",
    "elif_chain": b"if y == 0:\n    pass\n" + b"".join(b"elif y == %d:\n    pass\n" % i for i in range(3000)),
    "nested_blocks": b"".join(b" " * i + b"if x:\n" for i in range(99)) + b" " * 99 + b"pass\n",
    "nested_functions": b"".join(b" " * i + b"def f():\n" for i in range(99)) + b" " * 99 + b"pass\n",
    "nested_fields": b"x = " + b"f'{" * 2 + b"1" + b"}'" * 2 + b"\n",
    "big_dictionary": b"x = {" + b"'key': {'a': [1, 2]}, " * 5000 + b"}\n",
    "long_target_chain": b" = ".join([b"x"] * 3000) + b" = 1\n",
    "long_decorators": b"@d\n" * 3000 + b"def f(): pass\n",
}


def parses(data: bytes) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def tool(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    cache = ["--no-cache"] if arguments[0] == "check" else []
    command = [sys.executable, "-m", "neuron_port", *arguments, *cache]
    done = subprocess.run(
        command,
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=300,
    )
    assert "Traceback" not in done.stderr + done.stdout
    assert "internal error" not in done.stderr
    return done


class Outcome:
    """What check said about the files of a folder and what ``fix --apply --unsafe-fixes`` made of them."""

    def __init__(self, folder: Path, files: dict[str, bytes], jobs: str) -> None:
        folder.mkdir()
        for name, data in files.items():
            (folder / f"{name}.py").write_bytes(data)
        checked = tool(folder, "check", "--format", "json", "--jobs", jobs, ".")
        assert checked.returncode == 1, checked.stderr
        self.findings: dict[str, list[dict]] = {name: [] for name in files}
        for finding in json.loads(checked.stdout):
            self.findings[Path(finding["filename"]).stem].append(finding)
        fixed = tool(folder, "fix", "--apply", "--unsafe-fixes", "--jobs", jobs, ".")
        assert fixed.returncode in (0, 1), fixed.stderr
        self.after = {name: (folder / f"{name}.py").read_bytes() for name in files}
        self.files = {path.name for path in folder.iterdir()}

    def codes(self, name: str) -> list[str]:
        return [finding["code"] for finding in self.findings[name]]


@pytest.fixture(scope="module", params=["1", "2"], ids=["one-job", "two-jobs"])
def outcome(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """One run over all cases together: a hostile file must not harm its neighbours either."""
    files = dict(TEXTS)
    files |= {f"syntax_{name}": with_device(data) for name, data in SYNTAX.items()}
    files |= {f"refused_{name}": data for name, (data, _) in REFUSED.items()}
    files |= {f"depth_{name}": with_device(data) for name, data in DEPTHS.items()}
    files["empty"] = b""
    files["only_newlines"] = b"\n\n\r\n"
    files["only_bom"] = b"\xef\xbb\xbf"
    files["only_comment"] = b"# cuda"
    return Outcome(tmp_path_factory.mktemp("robust") / "files", files, request.param)


def with_device(data: bytes) -> bytes:
    return b"import torch\n" + OLD + b"\n" + data


@pytest.mark.parametrize("name", TEXTS)
def test_only_the_device_changes(outcome: Outcome, name: str) -> None:
    assert outcome.codes(name) == ["NP101"]
    assert outcome.after[name] == TEXTS[name].replace(OLD, NEW)


@pytest.mark.parametrize("name", ["empty", "only_newlines", "only_bom", "only_comment"])
def test_files_without_code_have_no_findings(outcome: Outcome, name: str) -> None:
    assert outcome.codes(name) == []


def test_columns_count_characters(outcome: Outcome) -> None:
    place = outcome.findings["utf8_before_it_on_the_line"][0]["location"]
    assert place == {"row": 2, "column": len('name = "ünï 😀"; device = torch.device(') + 1}


@pytest.mark.parametrize("name", SYNTAX)
def test_new_syntax_is_fixed_or_refused(outcome: Outcome, name: str) -> None:
    before = with_device(SYNTAX[name])
    if parses(before):
        assert outcome.codes(f"syntax_{name}") == ["NP101"]
        assert outcome.after[f"syntax_{name}"] == before.replace(OLD, NEW)
    else:
        assert outcome.codes(f"syntax_{name}") == ["NP001"]
        assert outcome.after[f"syntax_{name}"] == before


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_python_is_refused(outcome: Outcome, name: str) -> None:
    data, row = REFUSED[name]
    assert outcome.codes(f"refused_{name}") == ["NP001"]
    assert outcome.findings[f"refused_{name}"][0]["location"]["row"] == row
    assert outcome.findings[f"refused_{name}"][0]["severity"] == "warning"
    assert outcome.after[f"refused_{name}"] == data


@pytest.mark.parametrize("name", DEPTHS)
def test_depth_is_fixed_or_refused(outcome: Outcome, name: str) -> None:
    before = with_device(DEPTHS[name])
    after = outcome.after[f"depth_{name}"]
    if outcome.codes(f"depth_{name}") == ["NP001"]:
        assert after == before
    else:
        # libcst may be the one that cannot: then the finding stays and nothing is written.
        assert outcome.codes(f"depth_{name}") == ["NP101"]
        assert after in (before, before.replace(OLD, NEW))


def test_no_other_file_is_left_behind(outcome: Outcome) -> None:
    assert outcome.files == {f"{name}.py" for name in outcome.after}


def test_old_mac_line_ends(tmp_path: Path) -> None:
    data = b"import torch\r" + OLD + b"\rx = 1\r"
    outcome = Outcome(tmp_path / "files", {"mac": data}, "1")
    if outcome.codes("mac") == ["NP001"]:
        assert outcome.after["mac"] == data
    else:
        assert outcome.codes("mac") == ["NP101"]
        assert outcome.after["mac"] == data.replace(OLD, NEW)


def test_text_that_the_encoding_lacks_is_never_written(tmp_path: Path) -> None:
    data = b"# coding: ascii\nimport torch\nx = '\xe9'\n" + OLD + b"\n"
    outcome = Outcome(tmp_path / "files", {"ascii": data}, "1")
    assert outcome.codes("ascii") == ["NP001"]
    assert outcome.after["ascii"] == data


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one good file."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "good.py").write_bytes(TEXTS["plain"])
    return folder


def fixed(data: bytes) -> bytes:
    return data.replace(OLD, NEW).replace(SYNC, SYNCED)


def codes_of(folder: Path, *paths: str) -> list[tuple[str, str]]:
    """(file name, code) of each finding."""
    done = tool(folder, "check", "--format", "json", "--exit-zero", *(paths or (".",)))
    assert done.returncode == 0, done.stderr
    return [(Path(finding["filename"]).name, finding["code"]) for finding in json.loads(done.stdout)]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o664])
def test_the_mode_is_kept(folder: Path, mode: int) -> None:
    (folder / "good.py").chmod(mode)
    tool(folder, "fix", "--apply", ".")
    assert (folder / "good.py").read_bytes() == fixed(TEXTS["plain"])
    assert stat.S_IMODE((folder / "good.py").stat().st_mode) == mode


def test_a_read_only_file_is_named_and_left(folder: Path) -> None:
    (folder / "locked.py").write_bytes(TEXTS["plain"])
    (folder / "locked.py").chmod(0o444)
    done = tool(folder, "fix", "--apply", ".")
    assert done.returncode in (1, 2)
    assert "locked.py" in done.stderr
    assert (folder / "locked.py").read_bytes() == TEXTS["plain"]
    assert (folder / "good.py").read_bytes() == fixed(TEXTS["plain"])
    assert sorted(path.name for path in folder.iterdir()) == ["good.py", "locked.py"]


def test_a_link_stays_a_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.py").write_bytes(TEXTS["plain"])
    (folder / "link.py").symlink_to(tmp_path / "elsewhere.py")
    tool(folder, "fix", "--apply", "link.py")
    assert (folder / "link.py").is_symlink()
    assert (tmp_path / "elsewhere.py").read_bytes() == fixed(TEXTS["plain"])


def test_a_file_and_a_link_to_it_are_fixed_once(folder: Path) -> None:
    (folder / "link.py").symlink_to("good.py")
    tool(folder, "fix", "--apply", ".")
    assert (folder / "link.py").is_symlink()
    assert (folder / "good.py").read_bytes() == fixed(TEXTS["plain"])


def test_broken_and_circular_links_are_refused(folder: Path) -> None:
    (folder / "broken.py").symlink_to("nowhere.py")
    (folder / "a.py").symlink_to("b.py")
    (folder / "b.py").symlink_to("a.py")
    found = codes_of(folder, "broken.py", "a.py", "good.py")
    assert found == [("a.py", "NP001"), ("broken.py", "NP001"), ("good.py", "NP101")]


def test_broken_links_in_a_folder_do_no_harm(folder: Path) -> None:
    (folder / "broken.py").symlink_to("nowhere.py")
    (folder / "loop").symlink_to(".")
    assert ("good.py", "NP101") in codes_of(folder)
    assert {name for name, _ in codes_of(folder)} <= {"good.py", "broken.py"}


def test_what_is_no_regular_file_is_refused_at_once(folder: Path) -> None:
    os.mkfifo(folder / "pipe.py")
    (folder / "zero.py").symlink_to("/dev/zero")
    start = time.monotonic()
    found = codes_of(folder, "good.py", "pipe.py", "zero.py")
    assert time.monotonic() - start < 20
    assert found == [("good.py", "NP101"), ("pipe.py", "NP001"), ("zero.py", "NP001")]


def test_a_folder_with_a_pipe_and_a_folder_named_like_a_file(folder: Path) -> None:
    os.mkfifo(folder / "pipe.py")
    (folder / "package.py").mkdir()
    (folder / "package.py" / "inside.py").write_bytes(TEXTS["plain"])
    found = codes_of(folder)
    assert ("good.py", "NP101") in found
    assert ("inside.py", "NP101") in found
    assert {name for name, _ in found} <= {"good.py", "inside.py", "pipe.py"}


STRANGE_NAMES = [b"with space.py", b"new\nline.py", b"-dash.py", b"[x].py", "ü😀.py".encode(), b"\xff\xfe.py"]


@pytest.mark.parametrize("form", ["text", "concise", "json", "github"])
def test_strange_names(folder: Path, form: str) -> None:
    paths = [os.path.join(os.fsencode(folder), name) for name in STRANGE_NAMES]
    for path in paths:
        with open(path, "wb") as file:
            file.write(TEXTS["plain"])
    done = tool(folder, "check", "--format", form, ".")
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("NP101") >= len(paths) + 1
    assert tool(folder, "fix", ".").stdout.count("+" + NEW.decode()) == len(paths) + 1
    tool(folder, "fix", "--apply", ".")
    for path in paths:
        with open(path, "rb") as file:
            assert file.read() == fixed(TEXTS["plain"])


def test_a_file_that_grows_bad_between_check_and_fix_is_left(folder: Path) -> None:
    assert codes_of(folder) == [("good.py", "NP101")]
    (folder / "good.py").write_bytes(b"import torch\ntorch.cuda(\n")
    done = tool(folder, "fix", "--apply", ".")
    assert "NP001" in done.stdout
    assert (folder / "good.py").read_bytes() == b"import torch\ntorch.cuda(\n"


# -- interruptions ----------------------------------------------------------------------------------------------------

BUSY_FILES = 60


@pytest.fixture(scope="module")
def busy_text() -> bytes:
    """A file that takes the writer a while."""
    body = "".join(
        f"def step_{i}(model, batch):\n"
        f"    loss = model(batch['x_{i}'].to('cuda')).sum() * {i}\n"
        f"    torch.cuda.synchronize()\n    return loss\n\n\n"
        for i in range(120)
    )
    return b"import torch\n\n\n" + body.encode()


@pytest.fixture(scope="module")
def busy_after(busy_text: bytes, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("busy-reference")
    (folder / "0.py").write_bytes(busy_text)
    tool(folder, "fix", "--apply", "--unsafe-fixes", ".")
    after = (folder / "0.py").read_bytes()
    assert after.count(SYNCED) == 120
    return after


@pytest.fixture
def busy(busy_text: bytes, tmp_path: Path) -> Path:
    folder = tmp_path / "busy"
    folder.mkdir()
    for number in range(BUSY_FILES):
        (folder / f"{number}.py").write_bytes(busy_text)
    return folder


@pytest.fixture
def start_fix(busy: Path) -> Iterator[subprocess.Popen[str]]:
    """``fix --apply`` under way, in a process group of its own; whatever happens, it is gone afterwards."""
    command = [
        sys.executable,
        "-m",
        "neuron_port",
        "fix",
        "--apply",
        "--unsafe-fixes",
        "--jobs",
        "2",
        ".",
    ]
    process = subprocess.Popen(
        command, cwd=busy, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def wait_for_first_change(process: subprocess.Popen[str], folder: Path, text: bytes) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if any(path.stat().st_size != len(text) for path in folder.glob("*.py")):
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError("no file was fixed within a minute")


def test_ctrl_c_leaves_every_file_whole(
    busy: Path, busy_text: bytes, busy_after: bytes, start_fix: subprocess.Popen[str]
) -> None:
    wait_for_first_change(start_fix, busy, busy_text)
    os.killpg(start_fix.pid, signal.SIGINT)
    _, errors = start_fix.communicate(timeout=60)
    assert start_fix.returncode == 130
    assert "Traceback" not in errors
    states = [path.read_bytes() for path in busy.glob("*.py")]
    assert set(states) == {busy_text, busy_after}
    assert len(list(busy.iterdir())) == BUSY_FILES, "a temporary file was left"


def test_sigterm_leaves_every_file_whole(
    busy: Path, busy_text: bytes, busy_after: bytes, start_fix: subprocess.Popen[str]
) -> None:
    wait_for_first_change(start_fix, busy, busy_text)
    os.killpg(start_fix.pid, signal.SIGTERM)
    start_fix.communicate(timeout=60)
    assert start_fix.returncode != 0
    assert {path.read_bytes() for path in busy.glob("*.py")} <= {busy_text, busy_after}


def children(parent: int) -> list[int]:
    """The process ids of the direct children, from the process table."""
    table = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], check=True, capture_output=True, text=True).stdout
    pairs = [tuple(map(int, line.split())) for line in table.splitlines()]
    return [pid for pid, ppid in pairs if ppid == parent]


def test_a_killed_worker_does_not_hang_the_run(
    busy: Path, busy_text: bytes, busy_after: bytes, start_fix: subprocess.Popen[str]
) -> None:
    wait_for_first_change(start_fix, busy, busy_text)
    workers = children(start_fix.pid)
    assert workers
    os.kill(workers[0], signal.SIGKILL)
    _, errors = start_fix.communicate(timeout=120)
    assert start_fix.returncode in (0, 1)
    assert "Traceback" not in errors
    assert {path.read_bytes() for path in busy.glob("*.py")} == {busy_after}
    assert sorted(path.name for path in busy.iterdir()) == sorted(f"{number}.py" for number in range(BUSY_FILES))


def test_a_full_disk_leaves_the_file(folder: Path) -> None:
    """A limit on the file size stands for a full disk: the write fails half-way."""
    data = TEXTS["plain"] + b"# " + b"x" * 200_000 + b"\n"
    (folder / "big.py").write_bytes(data)
    command = f"ulimit -f 64; exec {sys.executable} -m neuron_port fix --apply --jobs 1 big.py"
    done = subprocess.run(["bash", "-c", command], check=False, cwd=folder, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert done.returncode in (1, 2)
    assert "big.py" in done.stderr
    assert (folder / "big.py").read_bytes() == data
    assert sorted(path.name for path in folder.iterdir()) == ["big.py", "good.py"]


def test_nothing_is_left_in_the_folder_by_a_run(folder: Path) -> None:
    shutil.copy(folder / "good.py", folder / "second.py")
    tool(folder, "check", ".")
    tool(folder, "fix", ".")
    tool(folder, "fix", "--apply", ".")
    assert sorted(path.name for path in folder.iterdir()) == ["good.py", "second.py"]

"""Which files are found: named ones always, in folders the Python files that neither the user nor git leaves out."""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from neuron_port import discovery
from neuron_port.discovery import DEFAULT_EXCLUDE, MissingPath, discover


def make(root: Path, *names: str, **texts: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir() if name.endswith("/") else path.touch()
    for name, text in texts.items():
        (root / name).write_text(text)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def found(root: Path, *paths: str, exclude: Sequence[str] = DEFAULT_EXCLUDE) -> list[str]:
    """What is found below ``paths`` (``root`` itself by default), relative to ``root``."""
    results = discover([root / path for path in paths] or [root], exclude=exclude, root=root)
    return [path.relative_to(root).as_posix() for path in results]


def test_folders_are_walked_in_the_order_of_names(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/z.py", "a/b/c.pyi", "a/b.pyw", "a.py", "B.py", "readme.md", "a/x.pyc", "c/d.ipynb", "e/")
    assert found(tmp_path) == ["B.py", "a/b/c.pyi", "a/b.pyw", "a/z.py", "a.py", "b.py", "c/d.ipynb"]


def test_paths_keep_the_spelling_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a/b.py", "c.py")
    monkeypatch.chdir(tmp_path)
    assert list(discover([Path(".")], root=tmp_path)) == [Path("a/b.py"), Path("c.py")]
    assert list(discover([Path("a")], root=tmp_path)) == [Path("a/b.py")]
    assert list(discover([Path("a/../c.py"), Path("a/..")], root=tmp_path)) == [Path("a/../c.py"), Path("a/../a/b.py")]


def test_named_files_are_always_taken(tmp_path: Path) -> None:
    make(tmp_path, "a.txt", "tool", "venv/b.py", "c.py", ".git/")
    write(tmp_path / ".gitignore", "c.py\n")
    assert found(tmp_path, "a.txt", "tool", "venv/b.py", "c.py") == ["a.txt", "tool", "venv/b.py", "c.py"]
    assert found(tmp_path) == []


def test_each_file_once_in_the_order_given(tmp_path: Path) -> None:
    make(tmp_path, "a/b.py", "a/c.py", "d.py")
    assert found(tmp_path, "d.py", "a/c.py", "a", "d.py", "a/b.py", "") == ["d.py", "a/c.py", "a/b.py"]


def test_missing_path(tmp_path: Path) -> None:
    with pytest.raises(MissingPath) as caught:
        discover([tmp_path, tmp_path / "x.py"], root=tmp_path)
    assert caught.value.path == tmp_path / "x.py"
    assert str(caught.value) == f"no such file or folder: {tmp_path / 'x.py'}"


def test_scripts_without_suffix(tmp_path: Path) -> None:
    for name, text, mode in (
        ("run", "#!/usr/bin/env python3\n", 0o755),
        ("old", "#! /usr/local/bin/python2.7 -u\n", 0o755),
        ("shell", "#!/bin/sh\n# python\n", 0o755),
        ("data", "#!/usr/bin/python\n", 0o644),
        ("run.sh", "#!/usr/bin/python\n", 0o755),
        ("empty", "", 0o755),
    ):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(mode)
    assert found(tmp_path) == ["old", "run", "run.sh", "shell"]


def test_default_excludes(tmp_path: Path) -> None:
    anywhere = [folder for folder in DEFAULT_EXCLUDE if not folder.startswith("/")]
    at_root = [folder.removeprefix("/") for folder in DEFAULT_EXCLUDE]
    make(tmp_path, *(f"{folder}/x.py" for folder in at_root), *(f"a/{folder}/x.py" for folder in anywhere))
    make(tmp_path, "builds/x.py", "build.py", "env/x.py", "a/dist.py")
    assert found(tmp_path) == ["a/dist.py", "build.py", "builds/x.py", "env/x.py"]
    # What is excluded is taken when it is named; what is excluded in it is not.
    make(tmp_path, "venv/y/venv/z.py")
    assert found(tmp_path, "venv") == ["venv/x.py"]
    assert found(tmp_path, "venv/y") == []
    assert found(tmp_path, "build") == ["build/x.py"]
    # A package of the project may be called like a folder of build results.
    make(tmp_path, "a/dist/__init__.py")
    assert found(tmp_path, "a/dist") == ["a/dist/__init__.py"]


def test_exclude_patterns(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "a_test.py", "b/a_test.py", "b/c/d.py", "b/e.py", "f/c/d.py", "g/h/i.py")
    assert found(tmp_path, exclude=["*_test.py"]) == ["a.py", "b/c/d.py", "b/e.py", "f/c/d.py", "g/h/i.py"]
    assert found(tmp_path, exclude=["/b/c", "g/**"]) == ["a.py", "a_test.py", "b/a_test.py", "b/e.py", "f/c/d.py"]
    assert found(tmp_path, exclude=["c/", "*.py", "!a*.py"]) == ["a.py", "a_test.py", "b/a_test.py"]
    assert found(tmp_path, exclude=["a.py", "g"]) == ["a_test.py", "b/a_test.py", "b/c/d.py", "b/e.py", "f/c/d.py"]
    assert found(tmp_path, "b", exclude=["b/c"]) == ["b/a_test.py", "b/e.py"]
    assert found(tmp_path, "b/c", exclude=["b/c"]) == ["b/c/d.py"]


def test_exclude_patterns_for_folders_outside_the_root(tmp_path: Path) -> None:
    make(tmp_path, "root/", "other/a.py", "other/b/c.py", "other/skip/d.py")
    results = discover([tmp_path / "other"], exclude=["skip", "/b"], root=tmp_path / "root")
    assert list(results) == [tmp_path / "other/a.py"]


def test_gitignore(tmp_path: Path) -> None:
    make(tmp_path, ".git/", "a.py", "gen/x.py", "gen/keep.py", "src/gen.py", "src/b_pb2.py", "src/inner/b_pb2.py")
    make(tmp_path, "src/local/c.py", "deep/er/d.py", "deep/e.py")
    write(tmp_path / ".gitignore", "# generated\n\n/gen/*\n!keep.py\n*_pb2.py\r\nlocal/\ndeep/**/d.py\n")
    write(tmp_path / "src/inner/.gitignore", "!*_pb2.py\n")
    assert found(tmp_path) == ["a.py", "deep/e.py", "gen/keep.py", "src/gen.py", "src/inner/b_pb2.py"]
    # The rules of the folders above hold as well when the walk begins further in.
    assert found(tmp_path, "src") == ["src/gen.py", "src/inner/b_pb2.py"]
    assert found(tmp_path, "deep") == ["deep/e.py"]
    # But not against a folder that was named.
    assert found(tmp_path, "src/local") == ["src/local/c.py"]
    assert found(tmp_path, "gen") == ["gen/keep.py"]


def test_gitignore_of_an_ignored_folder_still_counts_inside(tmp_path: Path) -> None:
    make(tmp_path, ".git/", "out/a.py", "out/b.py", "out/in/c.py")
    write(tmp_path / ".gitignore", "out/\n")
    write(tmp_path / "out/.gitignore", "b.py\n")
    assert found(tmp_path, "out") == ["out/a.py", "out/in/c.py"]
    assert found(tmp_path, "out/in") == ["out/in/c.py"]


def test_gitignore_without_repository(tmp_path: Path) -> None:
    make(tmp_path, "a/b.py", "a/c/d.py", "a/c/e.py")
    write(tmp_path / ".gitignore", "d.py\n")
    write(tmp_path / "a/.gitignore", "e.py\n")
    assert found(tmp_path) == ["a/b.py"]
    # Above the walk, nothing says that the folders belong together.
    assert found(tmp_path, "a/c") == ["a/c/d.py", "a/c/e.py"]


def test_gitignore_with_mistakes_in_it(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b.py", "ü.py")
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbfa.py\n!\n\xff\n\xc3\xbc.py")
    assert found(tmp_path) == ["b.py"]
    (tmp_path / ".gitignore").unlink()
    (tmp_path / ".gitignore").mkdir()
    assert found(tmp_path) == ["a.py", "b.py", "ü.py"]


def test_exclude_file_of_the_repository(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b.py", "c/a.py")
    write(tmp_path / ".git/info/exclude", "a.py\n")
    write(tmp_path / "c/.gitignore", "!a.py\n")
    assert found(tmp_path) == ["b.py", "c/a.py"]
    assert found(tmp_path, "c") == ["c/a.py"]


def test_exclude_file_in_work_trees_and_submodules(tmp_path: Path) -> None:
    write(tmp_path / "main/.git/info/exclude", "a.py\n")
    write(tmp_path / "main/.git/worktrees/tree/commondir", "../..\n")
    make(tmp_path, "tree/a.py", "tree/b.py", "main/sub/a.py", "main/sub/c.py", "main/x/a.py", "main/x/b.py")
    write(tmp_path / "tree/.git", f"gitdir: {tmp_path}/main/.git/worktrees/tree\n")
    assert found(tmp_path, "tree") == ["tree/b.py"]
    # A submodule has rules of its own, and none of the outer repository's.
    write(tmp_path / "main/sub/.git", "gitdir: ../.git/modules/sub\n")
    write(tmp_path / "main/.git/modules/sub/info/exclude", "c.py\n")
    assert found(tmp_path, "main") == ["main/sub/a.py", "main/x/b.py"]


def test_links(tmp_path: Path) -> None:
    make(tmp_path, "b/c.py", "b/d.txt", "out/e.py")
    (tmp_path / "a.py").symlink_to("b/c.py")  # before the file that it leads to
    (tmp_path / "b/e.py").symlink_to("../out/e.py")
    (tmp_path / "b/f.py").symlink_to("../out/e.py")
    (tmp_path / "b/g.py").symlink_to("d.txt")
    (tmp_path / "b/loop").symlink_to("..")
    (tmp_path / "b/folder.py").symlink_to("../out")
    assert found(tmp_path) == ["b/c.py", "out/e.py", "b/g.py"]
    assert found(tmp_path, "b") == ["b/c.py", "b/e.py", "b/g.py"]
    assert found(tmp_path, "a.py", "b/loop/b/c.py", "b/folder.py") == ["a.py", "b/folder.py/e.py"]


def test_what_cannot_be_read_is_given_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.py", "closed/b.py", "folder.py/c.py")
    (tmp_path / "broken.py").symlink_to("nowhere")
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "broken").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.py")
    os.mkfifo(tmp_path / "pipe")
    scandir = os.scandir

    def refuse_one(path: str) -> object:
        if path.rstrip("/").endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse_one)
    assert found(tmp_path) == ["a.py", "closed", "folder.py/c.py", "pipe.py", "broken.py", "loop.py"]
    assert found(tmp_path, "broken.py", "closed") == ["broken.py", "closed"]


def step(folder: int, name: str) -> int:
    inner = os.open(name, os.O_RDONLY, dir_fd=folder)
    os.close(folder)
    return inner


def test_very_deep_folders(tmp_path: Path) -> None:
    depth = 1200  # more than the frames that Python allows for
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=folder)
        folder = step(folder, "d")
    os.close(os.open("x.py", os.O_CREAT, dir_fd=folder))
    try:
        assert list(discover([tmp_path], root=tmp_path)) == [tmp_path.joinpath(*["d"] * depth, "x.py")]
    finally:
        # shutil.rmtree, with which pytest cleans up, cannot do this.
        os.unlink("x.py", dir_fd=folder)
        for _ in range(depth):
            folder = step(folder, "..")
            os.rmdir("d", dir_fd=folder)
        os.close(folder)


WORDS = ["a", "b", "c", "ab", "a.py", " a", "a ", "\\a", "b\\"]
GLOBS = [
    "*",
    "a*",
    "*b",
    "?",
    "**",
    "a**",
    "**b",
    "*.py",
    "b?.py",
    "[ab]",
    "[!a]",
    "[^b].py",
    "[]a]",
    "[[:alpha:]]*",
    "[b",
]


@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_git(tmp_path: Path, seed: int) -> None:
    """On random trees and random ignore files, what is found is what git sees."""
    rng = random.Random(seed)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for _ in range(60):
        folders = [rng.choice(["a", "b", "c", "ab"]) for _ in range(rng.randrange(4))]
        write(tmp_path.joinpath(*folders, rng.choice(["a.py", "b.py", "bc.py", "c.py", "ab.py"])), "")
    folders = [tmp_path, *sorted(path for path in tmp_path.iterdir() if path.is_dir() and path.name != ".git")]
    for folder in folders:
        lines = []
        for _ in range(rng.randrange(1, 4)):
            pattern = "/".join(rng.choice(WORDS + GLOBS) for _ in range(rng.choice([1, 1, 1, 2])))
            lines.append(rng.choice(["", "", "!"]) + rng.choice(["", "", "/"]) + pattern + rng.choice(["", "", "/"]))
        write(folder / ".gitignore", "\n".join(lines) + "\n")
    command = ["git", "-C", str(tmp_path), "-c", "core.excludesFile=", "ls-files", "-z", "-o", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    expected = sorted(name for name in listed if name.endswith(".py"))
    assert sorted(found(tmp_path)) == expected


def test_thousands_of_files(tmp_path: Path) -> None:
    for folder in range(240):
        parent = tmp_path / f"p{folder // 24}" / f"q{folder}"
        parent.mkdir(parents=True)
        for number in range(20):
            (parent / f"m{number}.py").touch()
    (tmp_path / ".gitignore").write_text("".join(f"*.x{number}\nfoo{number}/\n/bar/{number}\n" for number in range(60)))
    times = []
    for _ in range(3):
        begin = time.process_time()
        assert len(list(discovery.discover([tmp_path], root=tmp_path))) == 4800
        times.append(time.process_time() - begin)
    assert min(times) < 0.3

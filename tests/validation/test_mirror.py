"""A mirror shows the user's folder with new versions of some files, and leaves the folder alone."""

from __future__ import annotations

from neuron_port.validation.mirror import mirrored


def test_new_files_lie_among_the_users_own(tmp_path) -> None:
    root = tmp_path / "project"
    (root / "package" / "__pycache__").mkdir(parents=True)
    (root / "data").mkdir()
    for name in ("train.py", "package/__init__.py", "package/net.py", "data/text"):
        (root / name).write_text("old")
    (root / "train.py").chmod(0o755)
    with mirrored(root, {root / "train.py": b"new", root / "package" / "net.py": b"new net"}) as mirror:
        assert mirror.name == "project"
        assert (mirror / "train.py").read_text() == "new"
        assert (mirror / "train.py").stat().st_mode & 0o777 == 0o755
        assert (mirror / "package" / "net.py").read_text() == "new net"
        assert not (mirror / "package").is_symlink()
        assert not (mirror / "package" / "__pycache__").exists()
        assert (mirror / "package" / "__init__.py").read_text() == "old"
        assert (mirror / "data").is_symlink()
        (mirror / "written").write_text("by the program")
    assert (root / "train.py").read_text() == "old"
    assert (root / "data" / "text").read_text() == "old"
    assert not mirror.exists()
    assert not (root / "written").exists()

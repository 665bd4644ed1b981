"""The cache: the same findings come back for the same content under the same conditions, and damage is a miss."""

from __future__ import annotations

import dataclasses
import os
import pickle
import time
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from neuron_port import cache as cache_module
from neuron_port.cache import Cache
from neuron_port.findings import Applicability, Edit, Finding, Fix, Location, Severity

FULL = Finding(
    code="NP101",
    name="cuda-device-literal",
    message='a "message" with ü, \n, \u2028 and \ud800',
    filename="a.py",
    location=Location(3, 5),
    end_location=Location(4, 1),
    severity=Severity.ERROR,
    applicability=Applicability.UNSAFE,
    fix=Fix(
        Applicability.SAFE,
        "write it",
        (Edit("x\r\n", Location(3, 5), Location(3, 9)), Edit("", Location(4, 1), Location(4, 1))),
    ),
    evidence="it is an nn.Module",
    cell=7,
    url="https://example.org/NP101",
    subject="option:device",
)
SMALL = Finding(
    "NP134",
    "n",
    "m",
    "a.py",
    Location(1, 1),
    Location(1, 2),
    Severity.INFO,
    Applicability.MANUAL,
    Fix(Applicability.SAFE, ""),
)


def opened(folder: Path, **options: object) -> Cache:
    return Cache(folder / "cache", **{"rules": "r", "settings": "s", **options})


def test_round_trip(tmp_path: Path) -> None:
    first = opened(tmp_path)
    key = first.key(b"content")
    assert first.get(key, "a.py") is None
    first.put(key, [FULL, SMALL])
    first.put(first.key(b"nothing"), [])
    assert first.get(key, "a.py") == [FULL, SMALL]
    first.save()
    assert first.get(key, "a.py") == [FULL, SMALL]
    second = opened(tmp_path)
    assert second.get(second.key(b"content"), "a.py") == [FULL, SMALL]
    assert second.get(second.key(b"nothing"), "a.py") == []
    assert second.get(second.key(b"other"), "a.py") is None


def test_every_field_is_kept() -> None:
    """Whoever gives a finding another field is told here that the cache has to keep it."""
    defaults = {field.name: field.default for field in dataclasses.fields(Finding)}
    assert [name for name, default in defaults.items() if getattr(FULL, name) == default] == []
    assert len(defaults) == 13
    assert len(dataclasses.fields(Fix)) == len(dataclasses.fields(Edit)) == 3


def test_the_file_name_is_that_of_the_caller(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    cache.put(cache.key(b"x"), [SMALL])
    assert cache.get(cache.key(b"x"), "b/c.py") == [dataclasses.replace(SMALL, filename="b/c.py")]


def test_what_the_key_depends_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [
        opened(tmp_path).key(b"x"),
        opened(tmp_path).key(b"y"),
        opened(tmp_path).key(b"x", "pyi"),
        opened(tmp_path, rules="r2").key(b"x"),
        opened(tmp_path, settings="s2").key(b"x"),
        opened(tmp_path, rules="rs", settings="").key(b"x"),
    ]
    assert opened(tmp_path / "elsewhere").key(b"x") == keys[0]
    monkeypatch.setattr(cache_module, "__version__", "99")
    keys.append(opened(tmp_path).key(b"x"))
    monkeypatch.undo()
    python = SimpleNamespace(version_info=SimpleNamespace(major=3, minor=99))
    monkeypatch.setattr(cache_module, "sys", python)
    keys.append(opened(tmp_path).key(b"x"))
    monkeypatch.undo()
    monkeypatch.setattr(cache_module, "_own_code", lambda: "other code")
    keys.append(opened(tmp_path).key(b"x"))
    assert len(set(keys)) == len(keys)
    assert {len(key) for key in keys} == {64}


def test_changed_code_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner" / "__pycache__").mkdir(parents=True)
    (tmp_path / "inner" / "a.py").write_text("1")
    monkeypatch.setattr(cache_module, "__file__", str(tmp_path / "cache.py"))
    before = cache_module._own_code()
    (tmp_path / "inner" / "__pycache__" / "a.py").write_text("1")
    (tmp_path / "inner" / "a.txt").write_text("1")
    assert cache_module._own_code() == before
    (tmp_path / "inner" / "a.py").write_text("22")
    changed = cache_module._own_code()
    (tmp_path / "inner" / "b.py").write_text("22")
    assert len({before, changed, cache_module._own_code()}) == 3


def test_folder(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    cache.save()
    assert os.listdir(tmp_path) == []
    cache.put(cache.key(b"x"), [])
    cache.save()
    folder = tmp_path / "cache"
    assert sorted(os.listdir(folder)) == [".gitignore", "CACHEDIR.TAG", "findings"]
    assert (folder / ".gitignore").read_text() == "*\n"
    assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")


def test_new_entries_are_added_to_what_is_there(tmp_path: Path) -> None:
    one, two, reader = opened(tmp_path), opened(tmp_path), opened(tmp_path)
    for cache, content in ((one, b"1"), (two, b"2"), (one, b"3")):
        cache.get(cache.key(content), "a.py")
        cache.put(cache.key(content), [SMALL])
        cache.save()
    assert [reader.get(reader.key(content), "a.py") for content in (b"1", b"2", b"3", b"4")] == [[SMALL]] * 3 + [None]
    size = (tmp_path / "cache" / "findings").stat().st_size
    one.save()
    assert (tmp_path / "cache" / "findings").stat().st_size == size


@pytest.mark.parametrize("damage", range(12))
def test_damage_is_a_miss(tmp_path: Path, damage: int) -> None:
    writer = opened(tmp_path)
    writer.put(writer.key(b"1"), [FULL])
    writer.put(writer.key(b"2"), [SMALL])
    writer.save()
    path = tmp_path / "cache" / "findings"
    data = path.read_bytes()
    middle, second = data.index(b"NP101"), data.index(b"\n", data.index(b"NP101")) + 1
    expected: list[list[Finding] | None]
    changed, expected = [
        (b"", [None, None]),
        (data[:10], [None, None]),
        (b"neuron-port cache 9\n" + data[20:], [None, None]),
        (b"\xff\xfe\0" * 50, [None, None]),
        (data[:middle], [None, None]),
        (data[:middle] + b"9" + data[middle + 1 :], [None, [SMALL]]),
        (data[:middle] + b"\n" + data[middle:], [None, [SMALL]]),
        (data[: second - 1] + data[second:], [None, None]),
        (data[:second], [[FULL], None]),
        (data[:-1], [[FULL], [SMALL]]),
        (data[:second] + b"\n\n" + b"\xff" * 64 + b" \n" + data[second:], [[FULL], [SMALL]]),
        (data[:second] + data[second : second + 65] + b"xyz 3\n", [[FULL], None]),
    ][damage]
    path.write_bytes(changed)
    reader = opened(tmp_path)
    assert [reader.get(reader.key(content), "a.py") for content in (b"1", b"2")] == expected
    # And what is put then can be read again, whatever the end of the file looks like.
    reader.put(reader.key(b"1"), [SMALL, FULL])
    reader.put(reader.key(b"3"), [SMALL])
    reader.save()
    again = opened(tmp_path)
    assert [again.get(again.key(content), "a.py") for content in (b"1", b"3")] == [
        [SMALL, FULL],
        [SMALL],
    ]


def test_content_that_is_no_list_of_findings(tmp_path: Path) -> None:
    writer = opened(tmp_path)
    writer.put(key := writer.key(b"x"), [])
    writer.save()
    path = tmp_path / "cache" / "findings"
    header = path.read_bytes().partition(b"\n")[0]
    bodies = [b"3", b"[3]", b"[[]]", b'["x"]', b"null", b"[", b'[["a","b","c",1,1,1,1,99,0,null,null,null,null]]']
    for body in bodies:
        path.write_bytes(b"%s\n%s %08x %s\n" % (header, key.encode(), zlib.crc32(body), body))
        assert opened(tmp_path).get(key, "a.py") is None
    path.write_bytes(b"%s\n%s %08x []\n" % (header, key.encode(), zlib.crc32(b"[]")))
    assert opened(tmp_path).get(key, "a.py") == []


def test_size_is_bounded(tmp_path: Path) -> None:
    sizes = []
    for number in range(60):
        cache = opened(tmp_path, max_bytes=4000)
        assert cache.get(cache.key(b"0"), "a.py") == ([FULL] if number else None)
        if number == 0:
            cache.put(cache.key(b"0"), [FULL])
        cache.put(cache.key(b"%d" % (number + 1)), [SMALL])
        cache.save()
        sizes.append((tmp_path / "cache" / "findings").stat().st_size)
    assert max(sizes) <= 4000
    assert min(sizes[30:]) < 2000 < max(sizes[30:])
    reader = opened(tmp_path)
    kept = [number for number in range(61) if reader.get(reader.key(b"%d" % number), "a.py") is not None]
    assert kept[0] == 0  # used in every run
    assert kept[1:] == list(range(61 - len(kept[1:]), 61))  # of the others, the newest
    assert len(kept) > 5


def test_more_than_fits(tmp_path: Path) -> None:
    cache = opened(tmp_path, max_bytes=100)
    cache.put(cache.key(b"1"), [FULL])
    cache.save()
    cache.put(cache.key(b"2"), [SMALL])
    cache.save()
    reader = opened(tmp_path)
    assert [reader.get(reader.key(content), "a.py") for content in (b"1", b"2")] == [None, [SMALL]]


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    cache = opened(tmp_path)
    cache.put(cache.key(b"x"), [SMALL])
    cache.save()
    assert cache.get(cache.key(b"x"), "a.py") == [SMALL]
    assert (tmp_path / "cache").read_bytes() == b""


def test_goes_to_worker_processes(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    cache.put(cache.key(b"x"), [FULL])
    cache.save()
    copy = pickle.loads(pickle.dumps(opened(tmp_path)))
    assert copy.get(copy.key(b"x"), "a.py") == [FULL]


def test_warm_run_of_thousands_is_quick(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    for number in range(4800):
        cache.put(cache.key(b"%d" % number), [SMALL] * (number % 4))
    cache.save()
    times = []
    for _ in range(3):
        begin = time.process_time()
        warm = opened(tmp_path)
        counts = [len(warm.get(warm.key(b"%d" % number), "a.py")) for number in range(4800)]
        times.append(time.process_time() - begin)
        assert counts == [number % 4 for number in range(4800)]
    assert min(times) < 0.5

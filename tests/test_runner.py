"""Many files: the same results under any number of jobs, and no file that can stop the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from neuron_port import runner, workers
from neuron_port.runner import available_jobs, run

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Forty files of very different sizes, 1.2 MB in all, their numbers in their first line."""
    paths = []
    for number in range(40):
        path = tmp_path / f"f{number:02}.py"
        path.write_text(f"{number}\n" + "#" * (number * 7919 % 60_000))
        paths.append(path)
    return paths


@pytest.fixture(params=["fork", "spawn"])
def start_method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    context = workers.multiprocessing.get_context(request.param)
    monkeypatch.setattr(workers, "_context", lambda: context)
    return request.param


def number(path: Path) -> int:
    return int(path.read_text().partition("\n")[0])


def numbers_and_process(path: Path) -> tuple[int, int]:
    return number(path), os.getpid()


def crash(path: Path, message: str) -> str:
    return f"{path.name}: {message}"


def dies(path: Path) -> int:
    if number(path) in (3, 31):
        os._exit(7)
    return number(path)


def is_killed(path: Path) -> int:
    if number(path) == 20:
        os.kill(os.getpid(), signal.SIGKILL)
    return number(path)


def dies_once(path: Path) -> int:
    mark = path.with_suffix(".died")
    if number(path) in (5, 6, 7) and not mark.exists():
        mark.touch()
        os._exit(1)
    return number(path)


def has_no_memory(path: Path) -> int:
    mark = path.with_suffix(".full")
    if number(path) == 9 or (number(path) == 10 and not mark.exists()):
        mark.touch()
        raise MemoryError
    return number(path)


class Panic(BaseException):
    """What an extension written in Rust raises when it panics is no Exception either."""


def raises(path: Path) -> int:
    if number(path) == 4:
        raise ValueError("four")
    if number(path) == 6:
        raise Panic("six")
    if number(path) == 5:
        sys.exit("five")
    return number(path)


def hangs(path: Path) -> int:
    if number(path) in (11, 12):
        time.sleep(600)
    return number(path)


def gives_what_cannot_be_sent(path: Path) -> object:
    return threading.Lock() if number(path) == 13 else number(path)


@pytest.mark.parametrize("jobs", [1, 2, 4, 100])
def test_order_of_results(files: list[Path], jobs: int, start_method: str) -> None:
    if start_method == "spawn":
        jobs = min(jobs, 4)
    assert run(files, number, jobs=jobs, on_crash=crash) == list(range(40))
    assert run(files[::-1], number, jobs=jobs, on_crash=crash) == list(range(39, -1, -1))


def test_work_is_shared_between_processes(files: list[Path]) -> None:
    results = run(files, numbers_and_process, jobs=2, on_crash=crash)
    assert [item for item, _ in results] == list(range(40))
    processes = {process for _, process in results}
    assert len(processes) == 2
    assert os.getpid() not in processes


def test_little_work_is_done_here(files: list[Path]) -> None:
    here = os.getpid()
    assert run(files[:3], numbers_and_process, jobs=2, on_crash=crash) == [(0, here), (1, here), (2, here)]
    assert {process for _, process in run(files, numbers_and_process, jobs=1, on_crash=crash)} == {here}
    files[0].write_text("0\n" + "#" * 2 * runner.SERIAL_BYTES)
    assert run(files[:1], numbers_and_process, jobs=2, on_crash=crash) == [(0, here)]
    assert run([], number, jobs=2, on_crash=crash) == []


def test_jobs_default_to_the_processors(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    assert available_jobs() == len(os.sched_getaffinity(0))
    monkeypatch.setattr(runner, "available_jobs", lambda: 3)
    results = run(files, numbers_and_process, on_crash=crash)
    assert len({process for _, process in results}) == 3


def test_file_that_is_gone_counts_as_empty(files: list[Path]) -> None:
    files[2].unlink()
    results = run(files, number, jobs=2, on_crash=crash)
    assert results[2] == f"f02.py: FileNotFoundError: [Errno 2] No such file or directory: '{files[2]}'"
    assert results[:2] + results[3:] == [0, 1, *range(3, 40)]


def with_reports(reports: dict[int, str]) -> list[int | str]:
    return [f"f{item:02}.py: {reports[item]}" if item in reports else item for item in range(40)]


@pytest.mark.parametrize(
    ("work", "reports"),
    [
        (dies, {3: "the worker process died (exit status 7)", 31: "the worker process died (exit status 7)"}),
        (is_killed, {20: "the worker process died (signal SIGKILL)"}),
        (dies_once, {}),
        (has_no_memory, {9: "out of memory"}),
        (raises, {4: "ValueError: four", 6: "Panic: six", 5: "the worker process died (exit status 1)"}),
        (gives_what_cannot_be_sent, {13: "TypeError: cannot pickle '_thread.lock' object"}),
    ],
)
@pytest.mark.parametrize("jobs", [2, 4])
def test_crashes_cost_one_file(
    files: list[Path], start_method: str, jobs: int, work: Callable[[Path], object], reports: dict[int, str]
) -> None:
    seen: list[tuple[int, int]] = []
    results = run(files, work, jobs=jobs, on_crash=crash, progress=lambda done, total: seen.append((done, total)))
    assert results == with_reports(reports)
    assert seen[-1] == (40, 40)
    assert seen == sorted(seen)


def test_exceptions_without_workers(files: list[Path]) -> None:
    seen: list[tuple[int, int]] = []
    results = run(
        files[:5], has_no_memory, jobs=1, on_crash=crash, progress=lambda done, total: seen.append((done, total))
    )
    assert results == [0, 1, 2, 3, 4]
    assert seen == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]
    assert run(files[3:5], raises, jobs=1, on_crash=crash) == [3, "f04.py: ValueError: four"]
    assert run(files[9:10], has_no_memory, jobs=1, on_crash=crash) == ["f09.py: out of memory"]


def counts_and_dies(path: Path) -> int:
    with open(path.with_suffix(".count"), "a") as stream:
        stream.write("x")
    time.sleep(0.03)
    if number(path) == 25:
        os._exit(1)
    return number(path)


def test_slow_work_is_not_done_again(files: list[Path], start_method: str) -> None:
    results = run(files, counts_and_dies, jobs=2, on_crash=crash)
    assert results == with_reports({25: "the worker process died (exit status 1)"})
    counts = [path.with_suffix(".count").read_text() for path in files]
    assert counts == ["xx" if item == 25 else "x" for item in range(40)]


def test_all_files_crash(files: list[Path]) -> None:
    results = run(files[:12], always_dies, jobs=3, on_crash=crash)
    assert results == [f"f{item:02}.py: the worker process died (exit status 9)" for item in range(12)]


def always_dies(path: Path) -> int:
    os._exit(9)


def test_time_limit(files: list[Path], start_method: str) -> None:
    begin = time.monotonic()
    results = run(files, hangs, jobs=2, on_crash=crash, time_limit=1.5)
    assert results == with_reports({11: "it took longer than 1.5 seconds", 12: "it took longer than 1.5 seconds"})
    assert time.monotonic() - begin < 20


def test_processes_that_do_not_start(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def no_process(pool: object) -> object:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(workers.Pool, "_start", no_process)
    seen: list[int] = []
    results = run(files, number, jobs=2, on_crash=crash, progress=lambda done, total: seen.append(done))
    assert results == list(range(40))
    assert seen == list(range(1, 41))


def test_processes_that_die_at_once(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_context", lambda: workers.multiprocessing.get_context("fork"))
    monkeypatch.setattr(workers, "_worker", lambda *_: os._exit(1))
    here = os.getpid()
    assert run(files, numbers_and_process, jobs=2, on_crash=crash) == [(item, here) for item in range(40)]


def test_no_process_for_the_second_try(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_context", lambda: workers.multiprocessing.get_context("fork"))
    start = workers.Pool._start
    left = iter([True])

    def start_one(pool: workers.Pool[object]) -> object:
        if next(left, False):
            return start(pool)
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(workers.Pool, "_start", start_one)
    results = run(files, is_killed, jobs=2, on_crash=crash)
    assert results == with_reports({20: "the worker process died, and no other could be started"})


def test_no_forks_beside_threads() -> None:
    alone = threading.active_count() == 1
    assert (workers._context().get_start_method() == "fork") is (sys.platform == "linux" and alone)
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert workers._context().get_start_method() == "spawn"
    finally:
        done.set()
        thread.join()


def test_chunks() -> None:
    assert runner._chunks([5, 1_000_000, 5, 300_000, 0], jobs=2) == [[1], [3], [0, 2, 4]]
    many = runner._chunks([10] * 5000, jobs=1)
    assert [len(chunk) for chunk in many] == [256] * 19 + [136]
    assert sorted(index for chunk in many for index in chunk) == list(range(5000))


def test_error_in_the_caller_ends_the_workers(files: list[Path]) -> None:
    def fail(done: int, total: int) -> None:
        raise RuntimeError("no progress")

    with pytest.raises(RuntimeError, match="no progress"):
        run(files, number, jobs=2, on_crash=crash, progress=fail)
    assert workers.multiprocessing.active_children() == []


SCRIPT = """
import os, sys, time
from pathlib import Path
from neuron_port import workers
from neuron_port.runner import run
from neuron_port.sources.python import write_atomic

def work(path):
    Path(f"{path}.pid").write_text(str(os.getpid()))
    if sys.argv[2] == "write":
        os.fsync = lambda fd: time.sleep(600)
        write_atomic(path, b"new")
    time.sleep(600)

if __name__ == "__main__":
    context = workers.multiprocessing.get_context(sys.argv[3])
    workers._context = lambda: context
    files = sorted(Path(sys.argv[1]).glob("*.py"))
    try:
        run(files, work, jobs=2, on_crash=lambda path, message: print("crash", path, message))
    except KeyboardInterrupt:
        print("interrupted")
        sys.exit(130)
"""


@pytest.fixture
def sleepers(
    files: list[Path], tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A command with two workers, both at a file that they will never be done with, and the workers' numbers."""
    script = tmp_path / "script"
    script.mkdir()
    (script / "main.py").write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, str(script / "main.py"), str(tmp_path), *request.param]
    process = subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    deadline = time.monotonic() + 60
    found: list[Path] = []
    while len(found) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
        found = [path for path in tmp_path.glob("*.pid") if path.read_text()]
    if request.param[0] == "write":
        while len(list(tmp_path.glob(".*.tmp"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
    yield process, [int(path.read_text()) for path in found]
    process.kill()
    process.communicate()


def is_alive(process: int) -> bool:
    try:
        # A process that has ended, but which nobody has asked about, is still listed, as a zombie.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for_end(processes: list[int]) -> list[int]:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and any(map(is_alive, processes)):
        time.sleep(0.05)
    return [process for process in processes if is_alive(process)]


@pytest.mark.parametrize(
    "sleepers", [("sleep", "fork"), ("sleep", "spawn"), ("write", "fork"), ("write", "spawn")], indirect=True
)
def test_interrupt(sleepers: tuple[subprocess.Popen[str], list[int]], tmp_path: Path) -> None:
    process, children = sleepers
    assert len(children) == 2
    begin = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert (output, errors, process.returncode) == ("interrupted\n", "", 130)
    assert time.monotonic() - begin < 5
    assert wait_for_end(children) == []
    assert list(tmp_path.glob(".*")) == []
    assert {path.read_bytes()[:3] for path in tmp_path.glob("*.py")} != {b"new"}


@pytest.mark.parametrize("sleepers", [("sleep", "fork")], indirect=True)
def test_workers_alone_ignore_the_interrupt(sleepers: tuple[subprocess.Popen[str], list[int]]) -> None:
    process, children = sleepers
    for child in children:
        os.kill(child, signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    assert all(map(is_alive, children))
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30) == ("interrupted\n", "")


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_end_with_their_parent(files: list[Path], tmp_path: Path, method: str) -> None:
    """A parent that is killed cannot tell its workers; they see that nobody is there to take the results."""
    script = tmp_path / "main.py.txt"
    script.write_text(SCRIPT.replace("time.sleep(600)\n\nif", "time.sleep(1)\n\nif"))
    command = [sys.executable, str(script), str(tmp_path), "sleep", method]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    children: set[int] = set()
    while len(children) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
        children = {int(path.read_text() or 0) for path in tmp_path.glob("*.pid")} - {0}
    process.kill()
    process.wait()
    assert len(children) == 2
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and any(map(is_alive, children)):
        time.sleep(0.1)
    assert [child for child in children if is_alive(child)] == []

"""The configuration files: what is found, what it means, and what is refused with which words."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_port.config import Config, ConfigError, Selection, Settings, parse_selectors, selector_matches
from neuron_port.discovery import DEFAULT_EXCLUDE
from neuron_port.findings import Severity


def config(tmp_path: Path, text: str) -> Config:
    (tmp_path / "neuron-port.toml").write_text(text)
    return Config.load(tmp_path)


def refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        config(tmp_path, text)
    file, message = str(caught.value).split(": ", 1)
    assert file == str(tmp_path / "neuron-port.toml")
    return message


def test_defaults(tmp_path: Path) -> None:
    assert Config.load(tmp_path / "not" / "there") == Config(
        root=Config.load(tmp_path / "not" / "there").root,
        file=None,
        select=None,
        ignore=(),
        extend_select=(),
        extend_rules=(),
        exclude=DEFAULT_EXCLUDE,
        extend_exclude=(),
        per_file_ignores=(),
        target="neuron",
        jobs=0,
        baseline=None,
        fail_on=Severity.WARNING,
        cache_dir=None,
        command_line=Selection(None, (), ()),
    )


def test_all_keys(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    text = """
        select = ["NP1", "NP701"]
        ignore = ["NP104"]
        extend-select = ["NP7"]
        extend-rules = ["rules"]
        exclude = ["old/"]
        extend-exclude = ["*_pb2.py"]
        target = "portable"
        jobs = 3
        baseline = "ci/baseline.json"
        fail-on = "error"
        cache-dir = "../cache"
        [per-file-ignores]
        "tests/" = ["ALL"]
        "!src/*" = ["NP1"]
    """
    assert config(tmp_path, text) == Config(
        root=tmp_path,
        file=tmp_path / "neuron-port.toml",
        select=("NP1", "NP701"),
        ignore=("NP104",),
        extend_select=("NP7",),
        extend_rules=(tmp_path / "rules",),
        exclude=("old/",),
        extend_exclude=("*_pb2.py",),
        per_file_ignores=(("tests/", ("ALL",)), ("!src/*", ("NP1",))),
        target="portable",
        jobs=3,
        baseline=tmp_path / "ci/baseline.json",
        fail_on=Severity.ERROR,
        cache_dir=tmp_path / "../cache",
    )
    assert Config.load(tmp_path).all_excludes == ("old/", "*_pb2.py")


def test_nearest_file(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.neuron-port]\njobs = 1\n")
    assert (Config.load(inner).jobs, Config.load(inner).root) == (1, tmp_path)
    # A project file that does not speak of the tool is passed over, whatever is in it.
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.ruff]\nthis is broken")
    assert Config.load(inner).root == tmp_path
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'neuron-port-user'\n")
    assert Config.load(inner).root == tmp_path
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.neuron-port]\n")
    assert (Config.load(inner).jobs, Config.load(inner).root) == (0, tmp_path / "a")
    # The tool's own file comes first in a folder, and holds alone.
    (tmp_path / "a" / "neuron-port.toml").write_text("target = 'portable'\n")
    assert (Config.load(inner).target, Config.load(inner).file) == ("portable", tmp_path / "a" / "neuron-port.toml")
    (inner / "neuron-port.toml").write_text("")
    assert (Config.load(inner).target, Config.load(inner).root) == ("neuron", inner)


def test_explicit_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "neuron-port.toml").write_text("jobs = 1")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "other.toml").write_text("jobs = 2")
    (tmp_path / "etc" / "pyproject.toml").write_text("[tool.neuron-port]\njobs = 3")
    assert Config.load(tmp_path, tmp_path / "etc" / "other.toml").jobs == 2
    monkeypatch.chdir(tmp_path)
    loaded = Config.load(Path("."), Path("etc/pyproject.toml"))
    assert (loaded.jobs, loaded.root) == (3, tmp_path / "etc")
    (tmp_path / "etc" / "pyproject.toml").write_text("[project]\n")
    with pytest.raises(ConfigError, match=r"^etc/pyproject\.toml: there is no \[tool\.neuron-port\] in it$"):
        Config.load(Path("."), Path("etc/pyproject.toml"))
    with pytest.raises(ConfigError, match=r"/gone\.toml: it cannot be read \(No such file or directory\)$"):
        Config.load(tmp_path, tmp_path / "gone.toml")


def test_root_without_a_file(tmp_path: Path) -> None:
    inner = tmp_path / "project" / "src"
    inner.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    assert Config.load(inner).root == tmp_path
    (tmp_path / "project" / "pyproject.toml").write_text("")
    assert Config.load(inner).root == tmp_path / "project"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.neuron-port]\njobs = 3", "the keys stand at the top of this file, without [tool.neuron-port]"),
        ("jbos = 3", "unknown key 'jbos', did you mean 'jobs'?"),
        ("fail_on = 'error'", "unknown key 'fail_on', did you mean 'fail-on'?"),
        ("Select = []", "unknown key 'Select', did you mean 'select'?"),
        ("colour = 'red'", "unknown key 'colour'"),
        ("select = 'NP1'", "select: must be a list of strings, not a string"),
        ("ignore = ['NP1', 3]", "ignore: must be a list of strings, but holds a whole number"),
        ("exclude = {a = 1}", "exclude: must be a list of strings, not a table"),
        (
            "extend-select = ['np1']",
            "extend-select: 'np1' is not a code, the beginning of a code, or 'ALL', did you mean 'NP1'?",
        ),
        ("select = ['NP1x']", "select: 'NP1x' is not a code, the beginning of a code, or 'ALL'"),
        ("select = ['']", "select: '' is not a code, the beginning of a code, or 'ALL'"),
        ("per-file-ignores = ['a']", "per-file-ignores: must be a table of patterns and lists of codes, not a list"),
        ("[per-file-ignores]\n'a*' = 'NP1'", "per-file-ignores: 'a*': must be a list of strings, not a string"),
        ("target = 'cuda'", "target: must be one of 'neuron', 'portable', not 'cuda'"),
        ("target = ['neuron']", "target: must be one of 'neuron', 'portable', not ['neuron']"),
        ("jobs = 'two'", "jobs: must be a whole number, 0 or more (0: one for each processor), not 'two'"),
        ("jobs = -1", "jobs: must be a whole number, 0 or more (0: one for each processor), not -1"),
        ("jobs = true", "jobs: must be a whole number, 0 or more (0: one for each processor), not True"),
        ("jobs = 1.5", "jobs: must be a whole number, 0 or more (0: one for each processor), not 1.5"),
        ("fail-on = 'fatal'", "fail-on: 'fatal' is not one of: info, warning, error"),
        ("fail-on = 1", "fail-on: must be a string, not a whole number"),
        ("baseline = 2020-01-01", "baseline: must be a string, not a date"),
        ("cache-dir = false", "cache-dir: must be a string, not a truth value"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, message: str) -> None:
    assert refused(tmp_path, text) == message


def test_missing_rules(tmp_path: Path) -> None:
    assert refused(tmp_path, "extend-rules = ['r']") == f"extend-rules: no such file or folder: {tmp_path / 'r'}"


def test_broken_files(tmp_path: Path) -> None:
    assert refused(tmp_path, "jobs = \n").startswith("it is not valid TOML (")
    (tmp_path / "neuron-port.toml").write_bytes(b"target = '\xff'")
    with pytest.raises(ConfigError, match="it is not valid TOML"):
        Config.load(tmp_path)
    (tmp_path / "neuron-port.toml").unlink()
    (tmp_path / "pyproject.toml").write_text("[tool.neuron-port\n")
    with pytest.raises(ConfigError, match="it is not valid TOML"):
        Config.load(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool]\nneuron-port = 3\n")
    with pytest.raises(ConfigError, match=r"pyproject\.toml: tool\.neuron-port must be a table, not a whole number$"):
        Config.load(tmp_path)
    (tmp_path / "pyproject.toml").write_text("tool = 'neuron-port'\n")
    assert Config.load(tmp_path).file is None


def test_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "neuron-port.toml").write_bytes(b"\xef\xbb\xbfjobs = 4\r\n")
    assert Config.load(tmp_path).jobs == 4


CODES = ["NP001", "NP002", "NP101", "NP104", "NP130", "NP131", "NP701"]


def selected(tmp_path: Path, text: str, command_line: Selection | None = None) -> list[str]:
    loaded = config(tmp_path, text).with_selection(command_line or Selection())
    assert [loaded.settings.is_selected(code) for code in CODES] == [loaded.is_selected(code) for code in CODES]
    return [code for code in CODES if loaded.is_selected(code)]


def test_selection_in_the_file(tmp_path: Path) -> None:
    assert selected(tmp_path, "") == CODES
    assert selected(tmp_path, "select = ['ALL']") == CODES
    assert selected(tmp_path, "select = []") == []
    assert selected(tmp_path, "select = ['NP1']") == ["NP101", "NP104", "NP130", "NP131"]
    assert selected(tmp_path, "ignore = ['NP1']") == ["NP001", "NP002", "NP701"]
    assert selected(tmp_path, "select = ['NP1']\nignore = ['NP13']") == ["NP101", "NP104"]
    # The longer one wins, whichever list it is in; of two that are alike, `ignore`.
    assert selected(tmp_path, "select = ['NP130']\nignore = ['NP1']") == ["NP130"]
    assert selected(tmp_path, "select = ['NP130']\nignore = ['NP130']") == []
    assert selected(tmp_path, "select = ['ALL']\nignore = ['ALL']") == []
    assert selected(tmp_path, "extend-select = ['NP104']\nignore = ['NP1']") == ["NP001", "NP002", "NP104", "NP701"]
    assert selected(tmp_path, "select = ['NP7']\nextend-select = ['NP0']\nignore = ['NP001']") == ["NP002", "NP701"]


def test_selection_on_the_command_line(tmp_path: Path) -> None:
    text = "select = ['NP13']\nextend-select = ['NP7']\nignore = ['NP131']"
    assert selected(tmp_path, text) == ["NP130", "NP701"]
    # `select` starts anew, the others change what the file says, even where that is longer.
    assert selected(tmp_path, text, Selection(select=("NP1",))) == ["NP101", "NP104", "NP130", "NP131"]
    assert selected(tmp_path, text, Selection(select=("NP131",))) == ["NP131"]
    assert selected(tmp_path, text, Selection(ignore=("NP1",))) == ["NP701"]
    assert selected(tmp_path, text, Selection(extend_select=("NP104", "NP131"))) == ["NP104", "NP130", "NP131", "NP701"]
    assert selected(tmp_path, text, Selection(select=("ALL",), ignore=("NP0",))) == CODES[2:]


def test_per_file_ignores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
        [per-file-ignores]
        "tests/" = ["NP1", "NP7"]
        "conf*.py" = ["NP104", "NP1"]
        "/setup.py" = ["ALL"]
        "!src/**" = ["NP002"]
    """
    loaded = config(tmp_path, text)
    assert loaded.ignored_in_file(tmp_path / "src/a.py") == ()
    assert loaded.ignored_in_file(tmp_path / "src/conf.py") == ("NP1", "NP104")
    assert loaded.ignored_in_file(tmp_path / "src/tests/x/conf.py") == ("NP1", "NP104", "NP7")
    assert loaded.ignored_in_file(tmp_path / "setup.py") == ("ALL", "NP002")
    assert loaded.ignored_in_file(tmp_path / "b/setup.py") == ("NP002",)
    assert loaded.ignored_in_file(tmp_path.parent / "tests/a.py") == ("NP002", "NP1", "NP7")
    monkeypatch.chdir(tmp_path)
    assert loaded.ignored_in_file(Path("tests/a.py")) == ("NP002", "NP1", "NP7")
    assert Config(root=tmp_path).ignored_in_file(tmp_path / "tests/a.py") == ()


def test_selectors_without_rules(tmp_path: Path) -> None:
    config(tmp_path, "select = ['NP1', 'ALL', 'NP', 'NP701']\nignore = ['NP13']").check_selectors(CODES)
    file = tmp_path / "neuron-port.toml"
    loaded = config(tmp_path, "select = ['NP1']\nignore = ['NP132']")
    with pytest.raises(ConfigError) as caught:
        loaded.check_selectors(CODES)
    assert str(caught.value) == f"{file}: ignore: no rule has the code 'NP132', did you mean 'NP131'?"
    loaded = config(tmp_path, "[per-file-ignores]\n'a/*' = ['X9']")
    with pytest.raises(ConfigError) as caught:
        loaded.check_selectors(CODES)
    assert str(caught.value) == f"{file}: per-file-ignores.'a/*': no rule has the code 'X9'"
    loaded = config(tmp_path, "").with_selection(Selection(extend_select=("NP5",)))
    with pytest.raises(ConfigError) as caught:
        loaded.check_selectors(CODES)
    assert str(caught.value) == "--extend-select: no rule has the code 'NP5'"


def test_parse_selectors() -> None:
    assert parse_selectors(["ALL", "NP", "NP130", "OURS12"]) == ("ALL", "NP", "NP130", "OURS12")
    with pytest.raises(ValueError, match=r"^'NP 1' is not a code, the beginning of a code, or 'ALL'$"):
        parse_selectors(["NP1", "NP 1"])


def test_selector_matches() -> None:
    cases = [
        ("ALL", "NP101"),
        ("NP", "NP101"),
        ("NP10", "NP101"),
        ("NP101", "NP101"),
        ("NP1011", "NP101"),
        ("P", "NP1"),
    ]
    assert [selector_matches(selector, code) for selector, code in cases] == [True, True, True, True, False, False]


def test_settings(tmp_path: Path) -> None:
    (tmp_path / "r.toml").touch()
    loaded = config(tmp_path, "select = ['NP1']\ntarget = 'portable'\nextend-rules = ['r.toml']\njobs = 3")
    settings = loaded.with_selection(Selection(ignore=("NP104",))).settings
    assert settings == Settings(
        "portable", (Selection(("NP1",), (), ()), Selection(None, (), ("NP104",))), (str(tmp_path / "r.toml"),)
    )
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert Settings().is_selected("NP101")


def test_digest_of_settings() -> None:
    different = [
        Settings(),
        Settings("portable"),
        Settings("neuron", (Selection(("NP1",)),)),
        Settings("neuron", (Selection(None, ("NP1",)),)),
        Settings("neuron", (Selection(None, (), ("NP1",)),)),
        Settings("neuron", (Selection(("NP1",)), Selection())),
    ]
    assert len({settings.digest for settings in different}) == len(different)
    code = "from neuron_port.config import *; print(Settings('neuron', (Selection(('NP1',)),)).digest)"
    for seed in ("1", "2"):
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parent.parent)}
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert run.stdout.strip() == different[2].digest

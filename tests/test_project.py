"""The requirement files of a project: what is read from each kind, and what of it is too old for a port."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from neuron_port.project.files import Project, read
from neuron_port.project.requirement import Requirement


def requirements(name: str, text: str) -> list[tuple[int, str, str | None]]:
    """Line, name and versions of each requirement in a file of this name."""
    found, _ = read(Path(name), text.encode())
    return [(each.line, each.name, None if each.specifier is None else str(each.specifier)) for each in found]


@pytest.mark.parametrize(
    ("asked", "admitted"),
    [
        ("==4.40.0", False), ("<5", False), (">=4.40", True), ("~=4.40", False), ("~=5.13", True), ("==5.13.*", True),
        ("==5.12.*", False), (">=4,<6", True), ("!=5.13", True), (">5.13,<5.14", True), ("==5.14.0rc1", True), ("", True),
        ("==5.13.0+cu1", True), ("<=5.12.9", False), ("===5.14", True), ("==5.13", True), ("<5.13", False),
    ],
)  # fmt: skip
def test_room_for_a_version(asked: str, admitted: bool) -> None:
    requirement = Requirement("transformers", SpecifierSet(asked), Path("r.txt"), 1, f"transformers{asked}")
    assert requirement.admits(SpecifierSet(">=5.13")) is admitted


def test_what_is_not_known_has_room() -> None:
    assert Requirement("transformers", None, Path("r.txt"), 1, "").admits(SpecifierSet(">=5.13"))


def test_pip_file() -> None:
    text = """\
# a comment
transformers==4.40.0  # another
Sentence_Transformers>=2
torch>=2 \\
   ; python_version < "3.11"
-e git+https://host/name.git#egg=Some_Thing
diffusers[torch]==0.30.0 --hash=sha256:abc \\
    --hash=sha256:def
git+https://host/other.git
accelerate @ https://host/accelerate.whl
trl>=1.*
--extra-index-url https://host/simple
"""
    assert requirements("requirements-dev.txt", text) == [
        (2, "transformers", "==4.40.0"),
        (3, "sentence-transformers", ">=2"),
        (4, "torch", ">=2"),
        (6, "some-thing", None),
        (7, "diffusers", "==0.30.0"),
        (10, "accelerate", None),
        (11, "trl", None),
    ]


def test_pyproject() -> None:
    text = """\
[project]
dependencies = [
    "transformers==4.40.0",  # "transformers==4.40.0" once more
    "accelerate>=1",
]
[project.optional-dependencies]
train = ["transformers==4.40.0", 'trl ; python_version < "3.9"']
[dependency-groups]
test = ["peft<1", {include-group = "other"}]
[tool.poetry.dependencies]
python = "^3.9"
torch = "^2.1"
kernels = "^0.3.2"
diffusers = {version = "~0.30", extras = ["torch"]}
evaluate = {git = "https://host/evaluate.git"}
numpy = [{version = "1.2", python = "<3.9"}, {version = ">=2", python = ">=3.9"}]
either = "^1 || ^2"
[tool.poetry.group.dev.dependencies.datasets]
version = "*"
[tool.uv]
constraint-dependencies = ["tokenizers<1"]
"""
    assert requirements("pyproject.toml", text) == [
        (3, "transformers", "==4.40.0"),
        (4, "accelerate", ">=1"),
        (7, "transformers", "==4.40.0"),
        (7, "trl", ""),
        (9, "peft", "<1"),
        (12, "torch", "<3,>=2.1"),
        (13, "kernels", "<0.4,>=0.3.2"),
        (14, "diffusers", "<0.31,>=0.30"),
        (15, "evaluate", None),
        (16, "numpy", "==1.2"),
        (16, "numpy", ">=2"),
        (17, "either", None),
        (18, "datasets", ""),
        (21, "tokenizers", "<1"),
    ]


def test_markers_are_kept() -> None:
    found, _ = read(Path("requirements.txt"), b'torch>=2; python_version < "3.11"\n')
    assert found[0].marker == 'python_version < "3.11"'


def test_setup_cfg() -> None:
    text = """\
[options]
install_requires =
    transformers==4.40
    torch>=2; python_version < "3.9"
[options.extras_require]
one = peft<1; trl
"""
    assert requirements("setup.cfg", text) == [
        (3, "transformers", "==4.40"),
        (4, "torch", ">=2"),
        (6, "peft", "<1"),
        (6, "trl", ""),
    ]


def test_environment() -> None:
    text = """\
name: env
channels: [conda-forge]
dependencies:
  - python=3.10
  - conda-forge::pytorch=2.1.0=cuda
  - transformers=4.40
  - numpy >=1.2,<2
  - accelerate[version='>=1']
  - pip:
    - trl==0.7
    - -r requirements/base.txt
"""
    assert requirements("environment.yml", text) == [
        (4, "python", "==3.10.*"),
        (5, "torch", "==2.1.0"),
        (6, "transformers", "==4.40.*"),
        (7, "numpy", "<2,>=1.2"),
        (8, "accelerate", None),
        (10, "trl", "==0.7"),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[project\n"),
        ("pyproject.toml", "project = 3\ntool = []\n"),
        (
            "pyproject.toml",
            '[project]\ndependencies = "torch"\n[dependency-groups]\na = 1\n[tool.poetry.group]\nx = 2\n',
        ),
        ("setup.cfg", "no section\n"),
        ("environment.yml", "a: [b\n"),
        ("environment.yml", "dependencies:\n  pip: 3\n"),
        ("environment.yml", "- " * 5000),
        ("requirements.txt", "\0\0 ==\n\\"),
    ],
)
def test_damage_is_no_requirement(name: str, text: str) -> None:
    assert requirements(name, text) == []


def test_nothing_is_made_from_yaml(tmp_path: Path) -> None:
    text = f"dependencies: !!python/object/apply:os.mkdir ['{tmp_path / 'made'}']\n"
    requirements("environment.yml", text)
    assert list(tmp_path.iterdir()) == []


def test_files_that_hold_for_a_source_file(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "src" / "requirements").mkdir(parents=True)
    (root / "other").mkdir()
    (tmp_path / "requirements.txt").write_text("outside\n")
    (root / "requirements.txt").write_text("-r more.txt\nroot\n-c requirements.txt\n")
    (root / "more.txt").write_text("-r ../shared.txt\nmore\n")
    (tmp_path / "shared.txt").write_text("shared\n")
    (root / "src" / "requirements" / "base.txt").write_text("base\n")
    (root / "src" / "notes.txt").write_text("notes\n")
    (root / "other" / "requirements.txt").write_text("other\n")
    project = Project(root)
    assert [each.name for each in project.requirements(root / "src" / "a.py")] == ["base", "root", "more", "shared"]
    assert [each.name for each in project.requirements(tmp_path / "a.py")] == ["outside"]
    assert project.shown(root / "src" / "requirements" / "base.txt") == "src/requirements/base.txt"


def test_the_digest_follows_the_requirements(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("-r more.txt\n")
    first = Project(tmp_path).digest(tmp_path / "a.py")
    assert Project(tmp_path).digest(tmp_path / "b.py") == first
    (tmp_path / "more.txt").write_text("torch\n")
    assert Project(tmp_path).digest(tmp_path / "a.py") != first


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("-r /dev/zero\n-r .\ntorch\n")
    assert [each.name for each in Project(tmp_path).requirements(tmp_path / "a.py")] == ["torch"]

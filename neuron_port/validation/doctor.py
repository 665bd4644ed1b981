"""Preflight: what of this machine and environment fits a run on the neuron device, and what does not.

Facts: the native package shares its name with the XLA build (AWS Neuron documentation); versions from the packages' own
requirements; environment variables from the TorchNeuron documentation. Nothing here touches a core.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from importlib import metadata
from pathlib import Path


class State(Enum):
    """How a check came out."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Check:
    """One line of the report; ``advice`` is empty where there is nothing to do."""

    name: str
    state: State
    found: str
    advice: str = ""


# Oldest versions that know the device (docs/rules names what each rewrite needs).
_FLOORS = {
    "torch": "2.13",
    "transformers": "5.22.2",
    "accelerate": "1.15",
    "trl": "1.16",
    "diffusers": "0.40",
    "peft": "0.21",
    "sentence-transformers": "6",
}
_LEFTOVER = (
    "torch-xla",
    "libneuronxla",
    "neuronx-distributed",
    "optimum-neuron",
    "transformers-neuronx",
    "torch-neuron",
)
_MEANINGLESS = {
    "XLA_USE_BF16": "load the model in bfloat16",
    "XLA_DOWNCAST_BF16": "load the model in bfloat16",
    "XLA_FLAGS": "",
    "PJRT_DEVICE": "",
    "NEURON_COMPILE_CACHE_URL": "the cache is TORCH_NEURONX_NEFF_CACHE_DIR now",
    "NEURON_EXTRACT_GRAPHS_ONLY": "the first run compiles",
    "CUDA_VISIBLE_DEVICES": "cores are chosen with NEURON_RT_VISIBLE_CORES",
    "CUDA_LAUNCH_BLOCKING": "use NEURON_LAUNCH_BLOCKING",
    "PYTORCH_CUDA_ALLOC_CONF": "",
}
_FAMILIES = {"trn2": True, "trn3": True, "trn1": False, "inf1": False, "inf2": False}
_PYTHON = tuple(sys.version_info[:3])
_PRODUCT = Path("/sys/devices/virtual/dmi/id/product_name")
_DEVICES = Path("/dev")


def examine(environment: Mapping[str, str] | None = None) -> list[Check]:
    """All checks, in the order of the report."""
    environment = os.environ if environment is None else environment
    parts: tuple[Callable[[], Iterator[Check]], ...] = (
        _python,
        _packages,
        _backend,
        _leftovers,
        _machine,
        lambda: _variables(environment),
        lambda: _cache(environment),
    )
    return [check for part in parts for check in part()]


def version_of(package: str) -> str | None:
    """The installed version of a distribution."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _python() -> Iterator[Check]:
    found = ".".join(map(str, _PYTHON))
    if _PYTHON < (3, 12):
        yield Check("python", State.WARNING, found, "torch-neuronx has wheels for Python 3.12 and newer")
    else:
        yield Check("python", State.OK, found)


def _packages() -> Iterator[Check]:
    for package, floor in _FLOORS.items():
        found = version_of(package)
        if found is None:
            if package == "torch":
                yield Check(package, State.ERROR, "missing", f"install torch {floor} or newer")
            continue
        if _older(found, floor):
            state = State.ERROR if package == "torch" else State.WARNING
            yield Check(package, state, found, f"{floor} or newer knows the neuron device")
        else:
            yield Check(package, State.OK, found)


def _backend() -> Iterator[Check]:
    found = version_of("torch-neuronx")
    if found is None:
        yield Check("torch-neuronx", State.NOTE, "missing", "validate uses the emulated device here")
    elif _older(found, "2"):
        yield Check(
            "torch-neuronx",
            State.ERROR,
            found,
            "this is the placeholder of the public index; use the Neuron package repository",
        )
    elif importlib.util.find_spec("torch_xla") is not None or _older(found, "2.10"):
        yield Check(
            "torch-neuronx", State.ERROR, found, "this is the build for PyTorch/XLA; the native one is 2.13 or newer"
        )
    elif _series(found) != _series(version_of("torch") or found):
        series = ".".join(map(str, _series(found)))
        yield Check("torch-neuronx", State.ERROR, found, f"it is built for torch {series}")
    else:
        yield Check("torch-neuronx", State.OK, f"{found} (native)")


def _leftovers() -> Iterator[Check]:
    for package in _LEFTOVER:
        found = version_of(package)
        if found is not None:
            yield Check(
                package,
                State.ERROR,
                found,
                "uninstall it: beside TorchNeuron it fails, or makes libraries choose PyTorch/XLA",
            )


def _machine() -> Iterator[Check]:
    product = _PRODUCT.read_text(encoding="utf-8", errors="replace").strip() if _PRODUCT.is_file() else ""
    family = product.partition(".")[0].rstrip("un")
    cores = sorted(_DEVICES.glob("neuron[0-9]*"))
    if family in _FAMILIES and not _FAMILIES[family]:
        yield Check("instance", State.ERROR, product, "TorchNeuron needs Trn2 or Trn3")
    elif family in _FAMILIES:
        yield Check("instance", State.OK, product)
    if not cores:
        yield Check("neuron chips", State.NOTE, "none", "validate uses the emulated device here")
        return
    held = _holders(cores)
    if held:
        yield Check(
            "neuron chips",
            State.WARNING,
            f"{len(cores)}, in use by process {', '.join(map(str, held))}",
            "end it first",
        )
    else:
        yield Check("neuron chips", State.OK, f"{len(cores)}, free")


def _holders(cores: list[Path]) -> list[int]:
    """The processes that have a chip open, as far as this user may see them."""
    wanted = {str(core) for core in cores}
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            opened = {os.readlink(each) for each in (process / "fd").iterdir()}
        except OSError:
            continue
        if opened & wanted and int(process.name) != os.getpid():
            found.add(int(process.name))
    return sorted(found)


def _variables(environment: Mapping[str, str]) -> Iterator[Check]:
    for name, advice in _MEANINGLESS.items():
        if name in environment:
            without = "it has no meaning on TorchNeuron"
            yield Check(name, State.WARNING, environment[name], f"{without}; {advice}" if advice else without)
    if "RANK" in environment and "NEURON_RT_VISIBLE_CORES" in environment:
        yield Check(
            "NEURON_RT_VISIBLE_CORES",
            State.WARNING,
            environment["NEURON_RT_VISIBLE_CORES"],
            "torchrun gives each process its core by itself",
        )
    if version_of("transformers") is not None and environment.get("HF_DEACTIVATE_ASYNC_LOAD") != "1":
        yield Check(
            "HF_DEACTIVATE_ASYNC_LOAD",
            State.NOTE,
            "not set",
            "set it to 1 before a model is loaded on the neuron device",
        )


def _cache(environment: Mapping[str, str]) -> Iterator[Check]:
    folder = environment.get("TORCH_NEURONX_NEFF_CACHE_DIR")
    if folder is None:
        return
    path = Path(folder)
    if path.exists() and not os.access(path, os.W_OK):
        yield Check("compile cache", State.ERROR, folder, "it cannot be written")
        return
    locks = list(path.glob("**/*.lock")) if path.is_dir() else []
    if locks:
        yield Check(
            "compile cache", State.WARNING, f"{folder}, {len(locks)} locks", "remove them where no run is compiling"
        )
    else:
        yield Check("compile cache", State.OK, folder)


def _older(found: str, than: str) -> bool:
    """Whether a version is older; what is no version (a build from a branch) is taken for a new one."""
    from packaging.version import InvalidVersion, Version

    try:
        # A pre-release or local build of a version knows what the version knows.
        return Version(Version(found).base_version) < Version(than)
    except InvalidVersion:
        return False


def _series(version: str) -> tuple[int, int]:
    """Major and minor version, in which torch and its backend agree."""
    from packaging.version import Version

    parsed = Version(version)
    return parsed.major, parsed.minor

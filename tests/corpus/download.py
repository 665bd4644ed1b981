"""Fetch pinned packages of real code into ``.corpus/`` (never committed).

    python tests/corpus/download.py small     # what CI checks: seven packages, 3 MB
    python tests/corpus/download.py full      # 23 packages, about 4,000 files
    python tests/corpus/download.py agnostic  # where the files of device_agnostic.txt come from
    python tests/corpus/download.py bench     # the six packages that benchmarks/speed.py measures

Only wheels are taken: unpacking one runs nothing, whereas pip prepares a source distribution by running its
``setup.py``. The wheels are chosen for one fixed Python, so every host gets the same files. What is there already
is kept; a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import fcntl
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / ".corpus"

SMALL = (
    "accelerate==1.15.0",
    "denoising-diffusion-pytorch==2.3.4",
    "litgpt==0.5.13",
    "mmengine==0.10.7",
    "opacus==1.6.0",
    "skorch==1.4.0",
    "yolov5==7.0.14",
)
FULL = (
    *SMALL,
    "composer==0.32.1",
    "coqui-tts==0.28.0",
    "easyocr==1.7.2",
    "f5-tts==1.1.22",
    "fastai==2.8.12",
    "lightning==2.6.6",
    "monai==1.6.1",
    "open-clip-torch==3.3.0",
    "pytorch-ignite==0.5.5",
    "salesforce-lavis==1.0.2",
    "sentence-transformers==6.2.0",
    "speechbrain==1.1.2",
    "stable-baselines3==2.9.2",
    "timm==1.0.31",
    "torchtune==0.6.1",
    "ultralytics==8.4.190",
)
BENCH = (
    "accelerate==1.15.0",
    "diffusers==0.42.1",
    "peft==0.21.2",
    "timm==1.0.31",
    "transformers==5.24.0",
    "trl==1.16.0",
)
# Where the files of device_agnostic.txt come from.
AGNOSTIC = (*SMALL, "peft==0.21.2", "timm==1.0.31", "trl==1.16.0")
SETS = {"small": SMALL, "full": FULL, "bench": BENCH, "agnostic": AGNOSTIC}

# One fixed host for pip to choose wheels for, so that a corpus does not depend on the Python that fetches it.
_PIP_TARGET = ("--python-version", "3.12", "--implementation", "py", "--abi", "none", "--platform", "any")


class DownloadError(RuntimeError):
    """A package could not be fetched or unpacked; the message names it and repeats what pip said."""


def fetch(name: str, corpus: Path = CORPUS) -> Path:
    """Fetch and unpack a set; return the folder that holds one ``<package>-<version>`` folder for each member.

    Raises:
        DownloadError: pip could not deliver a wheel, or the wheel is damaged.
        KeyError: there is no such set.
    """
    target = corpus / name
    corpus.mkdir(parents=True, exist_ok=True)
    with open(corpus / "lock", "w") as lock:
        # Test workers may ask for the same set at the same time.
        fcntl.flock(lock, fcntl.LOCK_EX)
        for requirement in SETS[name]:
            folder = target / requirement.replace("==", "-")
            if not folder.is_dir():
                _unpack(_wheel(requirement, corpus / "downloads"), folder)
    return target


def _wheel(requirement: str, downloads: Path) -> Path:
    """Return the wheel of a pinned requirement, fetched by pip when it is not there yet."""
    name, version = requirement.split("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    downloads.mkdir(parents=True, exist_ok=True)
    if not list(downloads.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary", ":all:", *_PIP_TARGET, "--dest", str(downloads), requirement]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise DownloadError(f"pip could not fetch {requirement}:\n{done.stderr.strip()}")
    found = sorted(downloads.glob(pattern))
    if len(found) != 1:
        raise DownloadError(f"pip reported success for {requirement}, but {len(found)} files match {pattern}")
    return found[0]


def _unpack(wheel: Path, folder: Path) -> None:
    """Unpack the Python files of a wheel; the folder appears only when it is complete."""
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(partial, [member for member in archive.namelist() if member.endswith(".py")])
    except zipfile.BadZipFile as error:
        wheel.unlink()
        raise DownloadError(f"{wheel.name} was damaged and is deleted ({error}); run again to fetch it anew") from error
    partial.rename(folder)


def main() -> int:
    """Fetch the set named on the command line and print what it holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=sorted(SETS))
    arguments = parser.parse_args()
    try:
        folder = fetch(arguments.set)
    except DownloadError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    files = list(folder.rglob("*.py"))
    size = sum(file.stat().st_size for file in files)
    print(f"{folder.relative_to(ROOT)}: {len(SETS[arguments.set])} packages, {len(files)} files, {size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Runs of ported Hugging Face programs; they need the libraries and are left out where one is missing."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

LIBRARIES = ("torch", "transformers", "trl", "diffusers", "accelerate", "peft", "datasets", "sentence_transformers")
if not all(map(importlib.util.find_spec, LIBRARIES)):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def models(tmp_path_factory) -> Path:
    """The folder with the tiny models and their data."""
    from tests.validation_huggingface import tiny
    from tests.validation_huggingface.launching import run_function

    folder = tmp_path_factory.mktemp("tiny")
    run_function(tiny.make, folder, folder=tmp_path_factory.mktemp("made"))
    return folder


@pytest.fixture
def expected(tmp_path: Path) -> Callable[..., list[str]]:
    """Runs a function of references.py."""
    from tests.validation_huggingface.launching import run_function

    numbers = itertools.count()
    return lambda function, *arguments: run_function(function, *arguments, folder=tmp_path / f"expected{next(numbers)}")

"""The proof on seven real packages: see run.py for what must hold."""

from __future__ import annotations

from pathlib import Path

import download
import pytest
from run import Proof, prove


@pytest.fixture(scope="module")
def corpus() -> Path:
    return download.fetch("small")


@pytest.fixture(scope="module", params=["neuron", "portable"])
def proof(request: pytest.FixtureRequest, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Proof:
    return prove(corpus, tmp_path_factory.mktemp(request.param) / "corpus", request.param)


def test_the_corpus_is_the_pinned_one(proof: Proof) -> None:
    assert proof.files == 579


def test_the_tool_finds_and_changes_something(proof: Proof) -> None:
    assert proof.before["NP120"] > 0
    assert proof.before["NP130"] > 0
    assert proof.changed > 50
    assert proof.after.total() < proof.before.total()


def test_nothing_crashes(proof: Proof) -> None:
    assert proof.crashes == []


def test_every_fixed_file_parses(proof: Proof) -> None:
    assert proof.broken == []


def test_a_second_fix_changes_nothing(proof: Proof) -> None:
    assert proof.unstable == []


def test_nothing_is_left_without_a_finding(proof: Proof) -> None:
    assert proof.residue == []

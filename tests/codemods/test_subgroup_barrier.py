"""Barriers on a part of the processes: ``codemods.subgroup_barrier``."""

from __future__ import annotations

import pytest

from tests.porting import check

HEAD = "import torch.distributed as dist\n"


def found(code: str) -> list[tuple[int, int, str]]:
    return [
        (finding.location.row, finding.location.column, finding.severity.word)
        for finding in check(HEAD + code)
        if finding.code == "NP543"
    ]


def test_a_group_that_the_file_makes_is_a_part():
    assert found("part = dist.new_group([0, 1])\ndist.barrier(part)\n") == [(3, 1, "warning")]


def test_a_group_that_nothing_is_known_of_may_be_one():
    assert found("def wait(group):\n    dist.barrier(group=group)\n") == [(3, 5, "info")]
    assert found("everyone = dist.new_group()\ndist.barrier(everyone)\n") == [(3, 1, "info")]


@pytest.mark.parametrize(
    "group", ["None", "dist.group.WORLD", "dist.GroupMember.WORLD", "dist.new_group([0], backend='gloo')"]
)
def test_everyone_and_groups_of_the_host_may_wait(group):
    assert found(f"dist.barrier({group})\n") == []


def test_a_parameter_that_is_always_none_is_everyone():
    assert found("def wait(group=None):\n    dist.barrier(group)\n\nwait()\n") == []

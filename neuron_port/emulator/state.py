"""What this process is: its device index, whether the device was touched, whether it is a forked child."""

from __future__ import annotations

import os

from . import limits

CORES = 4  # logical cores of a trn2.3xlarge

index = 0
touched = False
ready = False  # touched by this very process
group_started = False
several = False  # tensors on more than one device of this process were made
current = 0  # then: the device of the operator that runs
_forked = False


def touch() -> None:
    """The device is about to be used: the runtime starts with the first use."""
    global touched, ready
    if _forked and limits.active("fork"):
        limits.refuse("fork")
    touched = ready = True


def cores() -> int:
    """The cores of the instance, also for a rank that owns one of them: PyTorch takes ``rank % device_count()``."""
    wanted = os.environ.get("NEURON_RT_NUM_CORES", "")
    return max(int(wanted) if wanted.isdigit() else CORES, int(os.environ.get("LOCAL_WORLD_SIZE", 1)))


def use_device(chosen: int | None) -> int:
    """The index a tensor gets that is made for this device; a process without a group may use all cores."""
    global several
    if chosen is None or chosen == index or group_started:
        return index
    several = True
    return chosen


def choose_index(local_rank: int) -> None:
    """After ``init_process_group`` a process owns one device, whose index is its local rank."""
    global index, group_started
    index = local_rank
    group_started = True


def release_index() -> None:
    """The process group is gone; the index stays what it is, as the runtime stays up."""
    global group_started
    group_started = False


def in_bad_fork() -> bool:
    """Whether this process was forked from one that had used the device."""
    return _forked


def _after_fork() -> None:
    global _forked, ready
    ready = False
    if touched:
        _forked = True


os.register_at_fork(after_in_child=_after_fork)

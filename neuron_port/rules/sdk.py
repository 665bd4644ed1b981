"""The Neuron SDK releases that rules about limits refer to.

A rule or a row says ``since`` (the first release with the limit) and ``fixed_in`` (the first release without it), both as SDK
releases. 2.33 is the first SDK with the public native package: limits that were seen before it are ``since = "2.33"`` with
the confidence prerelease. When an SDK lifts a limit, ``fixed_in`` in the rule's file and its number here are all it takes.
"""

from __future__ import annotations

import re

# Source: release notes of SDK 2.33.0 (2026-10-19), the first with torch-neuronx 2.13.3 and 2.14.3.
KNOWN = ("2.33",)
NEWEST = KNOWN[-1]

_RELEASE = re.compile(r"\d+\.\d+(\.\d+)?\Z")


def parse_sdk(text: str) -> str:
    """Return ``text`` when it is the release of an SDK with the native package; newer ones than the newest known may be named.

    Raises:
        ValueError: it is no release, or an older one.
    """
    if not _RELEASE.match(text):
        raise ValueError(f"{text!r} is not a Neuron SDK release such as {NEWEST!r}")
    if _key(text) < _key(KNOWN[0]):
        raise ValueError(f"the native PyTorch package begins with SDK {KNOWN[0]}, not {text}")
    return text


def holds(since: str | None, fixed_in: str | None, sdk: str) -> bool:
    """Whether a limit holds in the release ``sdk``."""
    if since is not None and _key(sdk) < _key(since):
        return False
    return fixed_in is None or _key(sdk) < _key(fixed_in)


def _key(release: str) -> tuple[int, ...]:
    numbers = tuple(int(part) for part in release.split("."))
    return (*numbers, *(0 for _ in range(3 - len(numbers))))

"""The hint that an error message gives for a word that is not known."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``", did you mean 'x'?"`` with the closest of the known words, or nothing when none is close."""
    # Imported here, as it takes a few milliseconds and is for errors only.
    import difflib

    # Capitals and underscores are the usual slips, and count as letters when words are compared.
    by_plain = {name.lower().replace("_", "-"): name for name in known}
    close = difflib.get_close_matches(word.lower().replace("_", "-"), by_plain, n=1)
    return f", did you mean {by_plain[close[0]]!r}?" if close else ""

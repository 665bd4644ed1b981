"""The one error of the writer."""

from __future__ import annotations


class WriteError(Exception):
    """The operations cannot be carried out: a wrong anchor, a conflict, or text that cannot be taken apart safely."""

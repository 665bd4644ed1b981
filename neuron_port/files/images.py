"""Container images: rows ``from = "image:..."`` with a ``pattern`` for the whole reference, ``keep`` for those that are right."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neuron_port.files.base import FileContext, TextReport
from neuron_port.files.fragment import Fragment


def inspect_image(context: FileContext, image: Fragment, *, by_tag: bool = True) -> Iterator[TextReport]:
    """Report an image that is made for another platform.

    ``by_tag`` is false where the text may be something else than an image: a word in its tag is no evidence then.
    """
    text = image.text.strip("\"'")
    for rule in context.rules.values():
        for row in rule.rows:
            if not row.source.startswith("image:") or (row.options.get("by_tag") and not by_tag):
                continue
            if not re.fullmatch(row.options["pattern"], text, re.IGNORECASE):
                continue
            if "keep" in row.options and re.fullmatch(row.options["keep"], text, re.IGNORECASE):
                return
            start, end = image.span(0, len(image.text))
            yield context.report(rule.code, start, end, row.message.replace("{name}", text), row=row)
            return

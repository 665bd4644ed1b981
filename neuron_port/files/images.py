"""Container images: rows ``from = "image:..."`` with a ``pattern`` for the whole reference, ``keep`` for those that are right."""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.files.base import FileContext, TextReport
from neuron_port.files.commands import default_span
from neuron_port.files.fragment import Fragment
from neuron_port.files.tables import tables_of


def inspect_image(context: FileContext, image: Fragment, *, by_tag: bool = True) -> Iterator[TextReport]:
    """Report an image that is made for another platform.

    ``by_tag`` is false where the text may be something else than an image: a word in its tag is no evidence then.
    """
    image = image.cut(*default_span(image.text))
    text = image.text.strip("\"'")
    if "://" in text:
        return
    for pattern, keep, rule, row in tables_of(context).images:
        if (row.options.get("by_tag") and not (by_tag and "$" not in text)) or not pattern.fullmatch(text):
            continue
        if keep is None or not keep.fullmatch(text):
            start, end = image.span(0, len(image.text))
            yield context.report(rule.code, start, end, row.message.replace("{name}", text), row=row)
        return

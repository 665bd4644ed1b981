"""A judgement as JSON: everything the text shows, uncut."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import Enum
from typing import Any

from neuron_port.validation.judgement import Judgement


def text(judgement: Judgement) -> str:
    """Return one JSON object; ``passed`` never stands without ``device`` (``neuron`` or ``emulated``) beside it."""
    data: dict[str, Any] = {"device": judgement.device, "passed": judgement.passed, **asdict(judgement)}
    return json.dumps(data, indent=2, default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    raise TypeError(f"{type(value).__name__} is no JSON value")

"""PyTorch's own operator samples agree with the CPU (see opinfo.py)."""

from __future__ import annotations

import warnings

import pytest

pytest.importorskip("expecttest")


def test_operator_samples_agree(allow):
    from opinfo import compare, operators

    allow("all")
    passed, failures = 0, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for op in operators():
            try:
                compare(op, most=2)
                passed += 1
            except LookupError:
                continue
            except Exception as error:
                failures[f"{op.name}.{op.variant_test_name}"] = str(error)
    assert failures == {}
    assert passed > 600

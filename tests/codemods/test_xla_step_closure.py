"""Closures of a step are called in place."""

from __future__ import annotations

import textwrap

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check

HEAD = "import torch\nimport torch_xla.core.xla_model as xm\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("xm.add_step_closure(f, args=(a, b))", "f(a, b)"),
        ("xm.add_step_closure(f, (a,))", "f(a)"),
        ("xm.add_step_closure(f, [a, *b])", "f(a, *b)"),
        ("xm.add_step_closure(f)", "f()"),
        ("xm.add_step_closure(f, args=())", "f()"),
        ("xm.add_step_closure(closure=self.log.f, args=(a, ), run_async=False)", "self.log.f(a)"),
        ("xm.add_step_closure(f, args=values)", "f(*values)"),
        ("xm.add_step_closure(f, args=a + b)", "f(*a + b)"),
        ("xm.add_step_closure(lambda: print(x))", "print(x)"),
        ("xm.add_step_closure(lambda v: print(v.item()), args=(loss,))", "print(loss.item())"),
        ("xm.add_step_closure(lambda v: print(v.item()), (loss + 1,))", "print((loss + 1).item())"),
        ("xm.add_step_closure(lambda v: print(v, v), (loss.mean(),))", "(lambda v: print(v, v))(loss.mean())"),
        ("xm.add_step_closure(lambda v, w=1: print(v), (loss,))", "(lambda v, w=1: print(v))(loss)"),
        ("xm.add_step_closure(lambda v: [v for v in v], (loss,))", "(lambda v: [v for v in v])(loss)"),
        ("g = lambda: xm.add_step_closure(f, (a,))", "g = lambda: f(a)"),
    ],
)
def test_the_closure_is_called(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert found(HEAD, before, "NP223") == ["error safe"]


def test_the_layout_of_the_arguments_stays() -> None:
    assert_ported(
        """
        import torch_xla.core.xla_model as xm

        xm.add_step_closure(
            save,
            (
                folder,  # where
                {"epoch": epoch},  # what
            ),
        )
        xm.add_step_closure(report, args=(step, loss,
                                          rate))
        """,
        """
        save(
            folder,  # where
            {"epoch": epoch},  # what
        )
        report(step, loss,
               rate)
        """,
    )


LOOP = """
    import torch
    import torch_xla.core.xla_model as xm

    def train(loader):
        total, count = torch.zeros(1), 0
        for step, batch in enumerate(loader):
            def local():
                print(count)

            {call}
            {later}
"""


@pytest.mark.parametrize(
    ("call", "later", "reason"),
    [
        ("xm.add_step_closure(f, (total,))", "total.zero_()", "total is changed in place on line 12"),
        ("xm.add_step_closure(f, (total.detach(),))", "total += batch", "total is changed in place on line 12"),
        ("xm.add_step_closure(f, (total,))", "total[0] = 1", "total is changed in place on line 12"),
        ("xm.add_step_closure(f, (self.sums,))", "self.sums.append(1)", "self.sums is changed in place on line 12"),
        ("xm.add_step_closure(local)", "count += 1", "count is bound anew on line 12"),
        ("xm.add_step_closure(lambda: print(total))", "total = 3", "total is bound anew on line 12"),
        ("xm.add_step_closure(f, (batch,), run_async=True)", "pass", "it ran in a thread of its own"),
        ("value = xm.add_step_closure(f, (batch,))", "pass", "the value of the closure takes the place of None"),
    ],
)
def test_what_may_differ_is_unsafe(call: str, later: str, reason: str) -> None:
    source = textwrap.dedent(LOOP).format(call=call, later=later)
    (finding,) = [item for item in check(source) if item.code == "NP223"]
    assert finding.applicability.word == "unsafe"
    assert reason in finding.message


@pytest.mark.parametrize(
    ("call", "later"),
    [
        ("xm.add_step_closure(f, (count, step))", "count += 1"),
        ("xm.add_step_closure(f, (total,))", "xm.mark_step(); total.zero_()"),
        ("xm.add_step_closure(f, (total,))", "other.total.zero_()"),
        ("xm.add_step_closure(f, (total.item(),))", "total.zero_()"),
        ("xm.add_step_closure(f, (total,))", "total = torch.zeros(1)"),
        ("xm.add_step_closure(lambda v: print(v), (total,))", "v = 1"),
    ],
)
def test_what_cannot_differ_is_safe(call: str, later: str) -> None:
    source = textwrap.dedent(LOOP).format(call=call, later=later)
    assert [item.applicability.word for item in check(source) if item.code == "NP223"] == ["safe"]


@pytest.mark.parametrize(
    "line", ["g(xm.add_step_closure)", "xm.add_step_closure(*a)", "xm.add_step_closure(args=(1,))"]
)
def test_what_a_person_decides(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP223") == ["error manual"]

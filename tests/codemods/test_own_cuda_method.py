"""Classes with a cuda() of their own."""

from __future__ import annotations

from tests.porting import assert_ported, check


def words(source: str) -> list[tuple[int, str, str]]:
    return [(finding.location.row, finding.code, finding.severity.word) for finding in check(source)]


def test_the_body_is_ported_and_the_name_stays() -> None:
    assert_ported(
        """
        import torch
        class Batch:
            def cuda(self):
                self.data = self.data.cuda()
                return self
        """,
        """
        import torch
        class Batch:
            def cuda(self):
                self.data = self.data.to("neuron")
                return self
        """,
    )


def test_the_definition_is_a_note() -> None:
    assert words("class Batch:\n    def cuda(self):\n        return self\n") == [(2, "NP111", "info")]


def test_a_module_never_calls_it() -> None:
    source = "from torch import nn\nclass Net(nn.Module):\n    def cuda(self, device=None):\n        return self\n"
    assert words(source) == [(3, "NP111", "warning")]


def test_a_class_that_moves_another_way_is_left_alone() -> None:
    assert words("class A:\n    def to(self, device): ...\n    def cuda(self): ...\n") == []
    assert words("class A:\n    def neuron(self): ...\n    def cuda(self): ...\n") == []


def test_only_methods_count() -> None:
    assert words("def cuda():\n    return 1\nclass A:\n    def f(self):\n        def cuda(): ...\n") == []

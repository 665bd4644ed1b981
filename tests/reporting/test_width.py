"""Columns on a terminal."""

from __future__ import annotations

import pytest

from neuron_port.reporting.width import char_width, cut, one_line, text_width, visible, wrap


@pytest.mark.parametrize(
    ("char", "width"),
    [("a", 1), ("é", 1), ("デ", 2), ("\uff21", 2), ("\u0301", 0), ("\u200d", 0), ("\ufffd", 1), ("🙂", 2)],
)
def test_char_width(char: str, width: int) -> None:
    assert char_width(char) == width


def test_text_width_counts_wide_and_combining_characters() -> None:
    assert text_width("abc") == 3
    assert text_width("デバイス") == 8
    assert text_width("e\u0301") == 1


@pytest.mark.parametrize("char", ["\x1b", "\x07", "\x7f", "\x9b", "\u202e", "\u2066", "\u2028", "\ud800"])
def test_characters_that_steer_a_terminal_are_not_printed(char: str) -> None:
    assert visible(char) == "\ufffd"


def test_one_line() -> None:
    assert one_line("a\n  b\tc") == "a b c"
    assert one_line("a\x1b[31mb") == "a\ufffd[31mb"


def test_cut() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abc..."
    assert cut("ab cdefg", 6) == "ab..."
    assert cut("デバイス", 7) == "デバ..."


def test_wrap_fills_lines() -> None:
    assert list(wrap("aaa bbb ccc ddd", 7)) == ["aaa bbb", "ccc ddd"]


def test_wrap_keeps_the_room_that_is_taken_on_the_first_line() -> None:
    assert list(wrap("aaa bbb ccc", 7, first=4)) == ["aaa", "bbb ccc"]
    assert list(wrap("aaaa bbb", 8, first=6)) == ["", "aaaa bbb"]


def test_wrap_leaves_a_long_word_whole() -> None:
    assert list(wrap("a 0123456789 b", 5)) == ["a", "0123456789", "b"]


def test_wrap_of_nothing_is_an_empty_line() -> None:
    assert list(wrap("", 5)) == [""]

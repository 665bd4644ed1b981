"""The source lines below a finding."""

from __future__ import annotations

import time

import pytest
from made_findings import literal

from neuron_port.findings import Finding, Location
from neuron_port.reporting.excerpt import excerpt
from neuron_port.reporting.paint import Paint
from neuron_port.reporting.width import text_width


def _at(start: tuple[int, int], end: tuple[int, int]) -> Finding:
    return literal(location=Location(*start), end_location=Location(*end))


def _show(finding: Finding, lines: list[str], width: int = 76) -> list[str]:
    return list(excerpt(finding, lines, width, Paint(False)))


def test_one_line() -> None:
    assert _show(_at((2, 5), (2, 11)), ["\n", 'f(a,"cuda")\n']) == [
        '  2 | f(a,"cuda")',
        "    |     ^^^^^^",
    ]


def test_an_empty_range_has_one_caret() -> None:
    assert _show(_at((1, 3), (1, 3)), ["abcd"]) == ["  1 | abcd", "    |   ^"]


def test_a_place_behind_the_line_end() -> None:
    assert _show(_at((1, 5), (1, 9)), ["abcd\r\n"]) == ["  1 | abcd", "    |     ^"]


def test_an_empty_line() -> None:
    assert _show(_at((1, 1), (1, 1)), ["\n"]) == ["  1 |", "    | ^"]


def test_tabs_are_four_columns() -> None:
    assert _show(_at((1, 3), (1, 4)), ["\ta\tb"]) == ["  1 |     a    b", "    |      ^^^^"]


def test_wide_and_combining_characters() -> None:
    assert _show(_at((1, 7), (1, 9)), ["デバe\u0301 xデy"]) == ["  1 | デバe\u0301 xデy", "    |        ^^^"]
    assert _show(_at((1, 8), (1, 9)), ["デバe\u0301 xyデ"]) == ["  1 | デバe\u0301 xyデ", "    |         ^^"]


def test_control_characters_are_not_printed() -> None:
    assert _show(_at((1, 3), (1, 4)), ["\x0c\x1bx\u202e"]) == ["  1 | \ufffd\ufffdx\ufffd", "    |   ^"]


def test_two_lines() -> None:
    assert _show(_at((1, 5), (2, 6)), ["x = f(\n", "    a)  # note\n"]) == [
        "  1 | x = f(",
        "    |     ^^",
        "  2 |     a)  # note",
        "    |     ^",
    ]


def test_three_lines_are_shown_whole() -> None:
    assert _show(_at((1, 5), (3, 2)), ["x = f(\n", "    a,\n", ")\n"]) == [
        "  1 | x = f(",
        "    |     ^^",
        "  2 |     a,",
        "  3 | )",
        "    | ^",
    ]


def test_more_lines_are_left_out() -> None:
    assert _show(_at((99, 5), (102, 2)), ["\n"] * 98 + ["x = f(\n", "    a,\n", "    b,\n", ")\n"]) == [
        " 99 | x = f(",
        "    |     ^^",
        "... |",
        "102 | )",
        "    | ^",
    ]


def test_a_long_line_is_shown_around_the_mark() -> None:
    line = "a" * 100 + "CUDA" + "b" * 100
    assert _show(_at((1, 101), (1, 105)), [line], 46) == [
        "  1 | ...aaaaaaaaaaCUDAbbbbbbbbbbbbbbbbbbbb...",
        "    |              ^^^^",
    ]
    assert _show(_at((1, 101), (1, 105)), ["a" * 100 + "CUDA"], 46) == [
        "  1 | ..." + "a" * 33 + "CUDA",
        "    | " + " " * 36 + "^^^^",
    ]
    assert _show(_at((1, 3), (1, 7)), ["aaCUDA" + "b" * 100], 46) == [
        "  1 | aaCUDA" + "b" * 31 + "...",
        "    |   ^^^^",
    ]


def test_a_mark_that_is_longer_than_the_line() -> None:
    assert _show(_at((1, 11), (1, 111)), ["a" * 10 + "x" * 100 + "b" * 100], 46) == [
        "  1 | aaaaaaaaaa" + "x" * 27 + "...",
        "    |           " + "^" * 30,
    ]


@pytest.mark.parametrize("width", [40, 46, 60, 76, 80, 120])
def test_no_line_is_wider_than_asked(width: int) -> None:
    line = "\tprint('デバイス', \"cuda\")  # 日本語" * 40
    for start in range(1, len(line), 7):
        for size in (0, 6, 90):
            shown = _show(_at((1, start), (1, start + size)), [line], width)
            assert max(map(text_width, shown)) <= width
            assert shown[1].count("^") >= 1


def test_a_line_of_a_megabyte_takes_no_time() -> None:
    line = "x" * 1_000_000 + '"cuda"'
    started = time.perf_counter()
    for _ in range(100):
        _show(_at((1, 1_000_001), (1, 1_000_007)), [line])
    assert time.perf_counter() - started < 1


def test_places_outside_the_text_show_nothing() -> None:
    assert _show(_at((3, 1), (3, 2)), ["a\n"]) == []
    assert _show(_at((1, 1), (1, 2)), []) == []
    assert _show(_at((2, 1), (1, 1)), ["a\n", "b\n"]) == []


def test_an_end_behind_the_last_line() -> None:
    assert _show(_at((1, 1), (2, 1)), ["abc\n"]) == ["  1 | abc", "    | ^^^"]


def test_colours() -> None:
    assert list(excerpt(_at((1, 2), (1, 3)), ["abc"], 76, Paint(True))) == [
        "\x1b[2m  1 |\x1b[0m abc",
        "\x1b[2m    |\x1b[0m  \x1b[1;31m^\x1b[0m",
    ]

"""Comments that hide findings: where they stand, what they hide, and what is said about those that do not."""

from __future__ import annotations

import ast

import pytest

from neuron_port.findings import Applicability, Finding, Location, Severity
from neuron_port.suppressions import Mistake, Suppression, Suppressions

RULES = {
    "NP101": "cuda-device-literal",
    "NP102": "cuda-device-index",
    "NP110": "cuda-method",
    "NP002": "unused-suppression",
}
CODES = {code: code for code in RULES} | {name: code for code, name in RULES.items()}
CANNOT_READ = (
    "This suppression cannot be read and hides nothing: "
    "write '# neuron-port: ignore[NP101]' or '# neuron-port: ignore-file'"
)


def make(code: str, message: str, location: Location, end_location: Location) -> Finding:
    return Finding(code, "", message, "x.py", location, end_location, Severity.WARNING, Applicability.MANUAL)


def calls(text: str, code: str = "NP101") -> list[Finding]:
    """A finding for each call of a name that begins with ``f`` in ``text``, with the name as its message."""
    findings = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.startswith("f"):
            start = Location(node.lineno, node.col_offset + 1)
            findings.append(make(code, node.func.id, start, Location(node.end_lineno, node.end_col_offset + 1)))
    return findings


def apply(text: str, findings: list[Finding], *disabled: str) -> tuple[list[str], list[str]]:
    """The messages of the findings that are left, and code, place and message of those about suppressions."""
    kept, about = Suppressions.parse(text).apply(
        findings, codes=CODES, is_enabled=lambda code: code not in disabled, make=make
    )
    places = [(finding.location, finding.end_location) for finding in about]
    lines = [
        f"{finding.code} {start.row}:{start.column}-{end.column} {finding.message}"
        for finding, (start, end) in zip(about, places, strict=True)
    ]
    return [finding.message for finding in kept], lines


def left(text: str) -> list[str]:
    kept, about = apply(text, calls(text))
    assert about == []
    return kept


def test_parse() -> None:
    text = (
        "# neuron-port: ignore-file[NP102] old\nx = 1  # noqa #  neuron-port:ignore [NP101,cuda-method]  why # not \n"
    )
    assert Suppressions.parse(text) == Suppressions(
        (
            Suppression(Location(1, 1), Location(1, 38), ("NP102",), True, "old"),
            Suppression(Location(2, 15), Location(2, 67), ("NP101", "cuda-method"), False, "why # not"),
        ),
        (),
        {},
    )


def test_nothing_to_parse() -> None:
    assert Suppressions.parse("x = 'neuron' # port:") == Suppressions()
    findings = calls("f()")
    assert Suppressions().apply(findings, codes={}, is_enabled=bool, make=make) == (findings, [])


def test_on_the_line() -> None:
    assert left("f1()  # neuron-port: ignore[NP101]\nf2()\n") == ["f2"]
    assert left("f1()\nf2()  # neuron-port: ignore") == ["f1"]
    assert left("f1()  # neuron-port: ignore[NP101 cuda-device-literal]\n") == []
    assert left("f1(); f2()  # neuron-port: ignore[cuda-device-literal] both\n") == []
    assert left("f1()  # type: ignore  # neuron-port: ignore[NP101]  # noqa\n") == []
    assert left("if f1():  # neuron-port: ignore[NP101]\n    f2()\n") == ["f2"]


def test_first_or_last_line_of_the_finding() -> None:
    assert left("f1(  # neuron-port: ignore[NP101]\n    1,\n)\nf2()") == ["f2"]
    assert left("f1(\n    1,\n)  # neuron-port: ignore[NP101]\nf2()") == ["f2"]
    kept, about = apply(text := "f1(\n    1,  # neuron-port: ignore[NP101]\n)\n", calls(text))
    assert kept == ["f1"]
    assert about == ["NP002 2:9-37 This suppression hides nothing, remove it (unused: NP101)"]
    assert left("g(\n    f1(),  # neuron-port: ignore[NP101]\n    f2(),\n)\n") == ["f2"]


def test_end_before_the_first_column_is_on_the_line_above() -> None:
    finding = make("NP101", "block", Location(1, 1), Location(3, 1))
    assert apply("if x:\n    y  # neuron-port: ignore\nz\n", [finding]) == ([], [])
    kept, _ = apply("if x:\n    y\nz  # neuron-port: ignore\n", [finding])
    assert kept == ["block"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_without_room_for_a_comment(end: str) -> None:
    def lines(*parts: str) -> str:
        return end.join(parts)

    assert left(lines("x = f1() + \\", "    2 + \\", "    3  # neuron-port: ignore[NP101]", "f2()")) == ["f2"]
    assert left(lines("x = f1() + '''", "a # neuron-port: ignore", "''' + f2()  # neuron-port: ignore[NP101]")) == []
    assert left(lines("x = 1", "f1('''\\", "''', '''", "''')  # neuron-port: ignore[NP101]", "f2()")) == ["f2"]
    assert left(lines("x = f'''{f1()}", "''' 'a' '''", "'''  # neuron-port: ignore", "f2()")) == ["f2"]


def test_backslash_in_a_comment() -> None:
    text = "f1()  # so \\\nf2()  # neuron-port: ignore[NP101] \\\nf3()\n"
    assert left(text) == ["f1", "f3"]


def test_text_in_strings_is_no_suppression() -> None:
    assert left("f1('# neuron-port: ignore')\n") == ["f1"]
    assert left("'''\n# neuron-port: ignore-file\n'''\nf1()\n") == ["f1"]
    assert left("f1(f'# neuron-port: ignore {x}')\n") == ["f1"]


def test_whole_file() -> None:
    assert left("# neuron-port: ignore-file\nf1()\n\nf2()\n") == []
    assert (
        left("#!/usr/bin/python\n# coding: utf-8\n\n'''Doc.\n'''\n\n# neuron-port: ignore-file[NP101]: old\nf1()\n")
        == []
    )
    assert left("'Doc.'\n  # neuron-port: ignore-file[cuda-device-literal]\nf1()") == []


def test_whole_file_in_the_wrong_place() -> None:
    message = "This suppression hides nothing: 'ignore-file' has a line of its own before all statements"
    for text, place in (
        ("import x\n# neuron-port: ignore-file\nf1()", "2:1-27"),
        ("f1()  # neuron-port: ignore-file[NP101]", "1:7-40"),
        ("'doc'  # neuron-port: ignore-file\nf1()", "1:8-34"),
        ("f1(\n    # neuron-port: ignore-file\n)", "2:5-31"),
        ("'doc'.x\n# neuron-port: ignore-file\nf1()", "2:1-27"),
    ):
        assert apply(text, calls(text)) == (["f1"], [f"NP003 {place} {message}"])


def test_codes_are_told_apart() -> None:
    text = "f1()  # neuron-port: ignore[NP110]"
    assert apply(text, calls(text, "NP110")) == ([], [])
    assert apply(text, calls(text, "NP101")) == (
        ["f1"],
        ["NP002 1:7-35 This suppression hides nothing, remove it (unused: NP110)"],
    )


def test_unused() -> None:
    text = "f1()  # neuron-port: ignore[NP110, NP101, cuda-device-index]"
    assert apply(text, calls(text)) == (
        [],
        ["NP002 1:7-61 A part of this suppression hides nothing, remove it (unused: NP110, cuda-device-index)"],
    )
    # What is not looked for may be there all the same.
    assert apply(text, calls(text), "NP110") == (
        [],
        ["NP002 1:7-61 A part of this suppression hides nothing, remove it (unused: cuda-device-index)"],
    )
    assert apply(text, calls(text), "NP110", "NP102") == ([], [])
    assert apply(text, calls(text), "NP002") == ([], [])
    text = "x = 1  # neuron-port: ignore"
    assert apply(text, []) == ([], ["NP002 1:8-29 This suppression hides nothing, remove it"])
    assert apply(text, [], "NP102") == ([], [])
    text = "# neuron-port: ignore-file[NP101]\nx = 1\n"
    assert apply(text, []) == ([], ["NP002 1:1-34 This suppression hides nothing, remove it (unused: NP101)"])


def test_each_suppression_that_fits_is_used() -> None:
    assert left("# neuron-port: ignore-file[NP101]\nf1()  # neuron-port: ignore[NP101]\n") == []
    assert left("f1(  # neuron-port: ignore\n)  # neuron-port: ignore[NP101]\n") == []


def test_hiding_what_is_said_about_suppressions() -> None:
    assert apply("x = 1  # neuron-port: ignore[NP101, NP002]", []) == ([], [])
    assert apply("# neuron-port: ignore-file[NP002]\nx = 1  # neuron-port: ignore[NP101]\n", []) == ([], [])
    text = (
        "# neuron-port: ignore-file\nf1()\nx = 1  # neuron-port: ignore[NP101]\ny = 1  # neuron-port: ignore[NP999]\n"
    )
    assert apply(text, calls(text)) == ([], [])
    assert apply("# neuron-port: ignore-file\n", []) == ([], ["NP002 1:1-27 This suppression hides nothing, remove it"])


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# neuron-port: ignored", CANNOT_READ),
        ("# neuron-port:", CANNOT_READ),
        ("# neuron-port: NP101", CANNOT_READ),
        ("# neuron-port: noqa", CANNOT_READ),
        ("# neuron-port: Ignore", CANNOT_READ),
        ("# neuron-port: ignore-line", CANNOT_READ),
        ("# neuron-port: ignore-file-x", CANNOT_READ),
        ("# neuron-port: ignore: NP101", CANNOT_READ),
        ("# neuron-port: ignore[NP101", CANNOT_READ),
        ("# neuron-port: ignore]NP101[", CANNOT_READ),
        ("# neuron-port: ignore[[NP101]]", CANNOT_READ),
        ("# neuron-port: ignore=NP101", CANNOT_READ),
        ("# neuron-port: ignore[]", "This suppression hides nothing: no code stands in its brackets"),
        ("# neuron-port: ignore[ , ]", "This suppression hides nothing: no code stands in its brackets"),
        ("# neuron-port: ignore NP101", "This suppression hides nothing: write NP101 in brackets, '[NP101]'"),
        ("# neuron-port: ignore (NP777)", "This suppression hides nothing: write NP777 in brackets, '[NP777]'"),
        (
            "# neuron-port: ignore cuda-method",
            "This suppression hides nothing: write cuda-method in brackets, '[cuda-method]'",
        ),
        ("# neuron-port: ignore[NP111]", "No rule is called 'NP111', did you mean 'NP110'?"),
        ("# neuron-port: ignore[np101]", "No rule is called 'np101', did you mean 'NP101'?"),
        ("# neuron-port: ignore[cuda_method]", "No rule is called 'cuda_method', did you mean 'cuda-method'?"),
        ("# neuron-port: ignore[E501]", "No rule is called 'E501'"),
    ],
)
def test_mistakes(comment: str, message: str) -> None:
    text = f"f1()  {comment}"
    kept, about = apply(text, calls(text))
    assert kept == ["f1"]
    assert about == [f"NP003 1:7-{7 + len(comment)} {message}"]
    assert apply(text, calls(text), "NP003") == (["f1"], [])


def test_an_unknown_code_does_not_spoil_the_others() -> None:
    text = "f1()  # neuron-port: ignore[NP101, xyz, abc]"
    assert apply(text, calls(text)) == (
        [],
        ["NP003 1:7-45 No rule is called 'xyz'", "NP003 1:7-45 No rule is called 'abc'"],
    )


def test_several_in_one_comment() -> None:
    text = "f1()  # neuron-port: ignore[NP110] a  # neuron-port: ignore[NP101] b"
    assert [item.reason for item in Suppressions.parse(text).items] == ["a", "b"]
    assert [(item.location.column, item.end_location.column) for item in Suppressions.parse(text).items] == [
        (7, 37),
        (39, 69),
    ]


def test_words_that_are_no_suppression() -> None:
    for comment in ("# TODO(neuron-port): NP101", "# see neuron-port: ignore[NP101]", "# neuron-porting: ignore"):
        assert left(f"f1()  {comment}") == ["f1"]


def test_characters_are_counted() -> None:
    item = Suppressions.parse("x = 'äöü€😀'  # neuron-port: ignore[NP101]  ").items[0]
    assert (item.location, item.end_location) == (Location(1, 14), Location(1, 42))


@pytest.mark.parametrize("broken", ["print 'x'\n(", "'''", "if x:\n\t1\n        2\n  3\n", "x = $\n", "'abc\n"])
def test_broken_files(broken: str) -> None:
    """What stands before the mistake counts, so that a file on its way can be kept out."""
    suppressions = Suppressions.parse("# neuron-port: ignore-file[NP101]\n" + broken)
    assert [(item.codes, item.whole_file) for item in suppressions.items] == [(("NP101",), True)]
    assert suppressions.mistakes == ()


def test_mistakes_are_found_when_parsing() -> None:
    assert Suppressions.parse("# neuron-port: x\n").mistakes == (Mistake(Location(1, 1), Location(1, 17), CANNOT_READ),)

"""The machine formats: concise, json, github."""

from __future__ import annotations

import json

import pytest
from made_findings import BASE, flag, literal, note, parallel

from neuron_port.findings import Severity
from neuron_port.reporting import FORMATS, render
from neuron_port.reporting.report import Report, View, shown_path

VIEW = View(BASE)


def _lines(name: str, *findings: object) -> list[str]:
    return list(render(name, Report(1, findings), VIEW))


def test_formats() -> None:
    assert FORMATS == ("text", "concise", "json", "github")
    with pytest.raises(KeyError):
        render("paint", Report(0, ()), VIEW)


@pytest.mark.parametrize("name", ["concise", "github"])
def test_nothing_found_is_no_line(name: str) -> None:
    assert _lines(name) == []


def test_shown_path() -> None:
    assert shown_path("/project/a/b.py", "/project") == "a/b.py"
    assert shown_path("/projects/b.py", "/project") == "/projects/b.py"
    assert shown_path("./a//b.py", "/project") == "a/b.py"
    assert shown_path("../b.py", "/project") == "../b.py"
    assert shown_path("/a/b.py", "/") == "a/b.py"
    assert shown_path("-", "/project") == "-"


def test_concise() -> None:
    assert _lines("concise", literal(), note()) == [
        'train.py:3:23: NP101 The device "cuda" does not exist on Trainium: name it "neuron".',
        'lib/data.py:1:1: NP104 It is not clear whether this "cuda" names a device.',
    ]


def test_concise_keeps_to_one_line() -> None:
    assert _lines("concise", literal("/project/a\nb.py", message="a\nb\x1b[31m")) == [
        "a b.py:3:23: NP101 a b\ufffd[31m",
    ]


def test_concise_names_the_cell_of_a_notebook() -> None:
    assert _lines("concise", literal("/project/a.ipynb", cell=2, message="m")) == ["a.ipynb:cell 2:3:23: NP101 m"]


def test_concise_in_colour() -> None:
    report = Report(1, (flag(),))
    assert list(render("concise", report, View(BASE, colour=True))) == [
        "\x1b[1mtrain.py:8:1\x1b[0m: \x1b[1;33mNP185\x1b[0m cuDNN settings have no effect on Trainium."
    ]


def test_json_of_nothing() -> None:
    assert _lines("json") == ["[]"]


def test_json() -> None:
    assert _lines("json", literal()) == [
        "[",
        "  {",
        '    "cell": null,',
        '    "code": "NP101",',
        '    "end_location": {',
        '      "column": 29,',
        '      "row": 3',
        "    },",
        '    "evidence": "argument of torch.device",',
        '    "filename": "/project/train.py",',
        '    "fix": {',
        '      "applicability": "safe",',
        '      "edits": [',
        "        {",
        '          "content": "\\"neuron\\"",',
        '          "end_location": {',
        '            "column": 29,',
        '            "row": 3',
        "          },",
        '          "location": {',
        '            "column": 23,',
        '            "row": 3',
        "          }",
        "        }",
        "      ],",
        '      "message": "Write \\"neuron\\""',
        "    },",
        '    "location": {',
        '      "column": 23,',
        '      "row": 3',
        "    },",
        '    "message": "The device \\"cuda\\" does not exist on Trainium: name it \\"neuron\\".",',
        '    "name": "cuda-device-literal",',
        '    "noqa_row": null,',
        '    "severity": "error",',
        '    "url": "https://example.com/rules/NP101"',
        "  }",
        "]",
    ]


def test_json_of_other_findings() -> None:
    found = json.loads("\n".join(_lines("json", parallel("sub/../a.py"), flag("-"), note())))
    assert [item["filename"] for item in found] == ["/project/a.py", "-", "/project/lib/data.py"]
    assert [item["severity"] for item in found] == ["error", "warning", "info"]
    assert [item["fix"] for item in found] == [
        None,
        {"applicability": "unsafe", "edits": [], "message": "Remove the statement"},
        None,
    ]


def test_json_has_the_keys_of_ruff() -> None:
    (found,) = json.loads("\n".join(_lines("json", literal())))
    assert set(found) - {"evidence"} == {
        "cell", "code", "end_location", "filename", "fix", "location", "message", "name", "noqa_row", "severity", "url",
    }  # fmt: skip


def test_json_is_ascii() -> None:
    text = "\n".join(_lines("json", literal("/project/デ\udce9.py")))
    assert text.isascii()
    assert json.loads(text)[0]["filename"] == "/project/デ\udce9.py"


def test_github() -> None:
    assert _lines("github", literal(), flag(), note()) == [
        "::error title=neuron-port (NP101),file=/project/train.py,line=3,col=23,endLine=3,endColumn=29::"
        'The device "cuda" does not exist on Trainium: name it "neuron".',
        "::warning title=neuron-port (NP185),file=/project/train.py,line=8,col=1,endLine=8,endColumn=38::"
        "cuDNN settings have no effect on Trainium.",
        "::notice title=neuron-port (NP104),file=/project/lib/data.py,line=1,col=1,endLine=1,endColumn=7::"
        'It is not clear whether this "cuda" names a device.',
    ]


def test_github_has_no_columns_over_several_lines() -> None:
    assert _lines("github", parallel())[0].startswith(
        "::error title=neuron-port (NP173),file=/project/train.py,line=4,endLine=7::DataParallel drives"
    )


def test_github_escapes() -> None:
    assert _lines("github", literal("/project/a,b:c%.py", message="50%:\r\na, b")) == [
        "::error title=neuron-port (NP101),file=/project/a%2Cb%3Ac%25.py,line=3,col=23,endLine=3,endColumn=29::"
        "50%25:%0D%0Aa, b"
    ]


def test_github_names_the_cell_of_a_notebook() -> None:
    assert _lines("github", literal("/project/a.ipynb", cell=2, message="m", severity=Severity.INFO)) == [
        "::notice title=neuron-port (NP101),file=/project/a.ipynb::cell 2, line 3: m"
    ]

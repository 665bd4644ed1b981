"""RequireImport."""

from __future__ import annotations

import pytest

from neuron_port.edits.operations import RemoveImport, RequireImport, RetargetImport


def require(*modules):
    return lambda _: [
        RequireImport(*module) if isinstance(module, tuple) else RequireImport(module) for module in modules
    ]


PRESENT = [
    ("import a\n", require("a")),
    ("import a.b\n", require("a")),
    ("import a.b.c\n", require("a.b")),
    ("import x, a\n", require("a")),
    ("from a import b\n", require(("a", "b"))),
    ("from a import b as b\n", require(("a", "b"))),
    ("from a import (\n    c,\n    b,\n)\n", require(("a", "b"))),
    ("try:\n    import a\nexcept ImportError:\n    a = None\n", require("a")),
    ("try:\n    x\nfinally:\n    import a\n", require("a")),
    ("if x:\n    import a\n", require("a")),
    ("if x:\n    y\nelse:\n    import a\n", require("a")),
    ("with x:\n    import a\n", require("a")),
    ("x = 1\nimport a\n", require("a")),
]

ADDED = [
    ("import x\n", require("a"), "import x\nimport a\n"),
    ("import x\n\ny = 1\n", require("a"), "import x\nimport a\n\ny = 1\n"),
    ("import x  # c\ny = 1\n", require("a"), "import x  # c\nimport a\ny = 1\n"),
    (
        "import x\nfrom z import (\n    w,\n)\n\ny = 1\n",
        require("a"),
        "import x\nfrom z import (\n    w,\n)\nimport a\n\ny = 1\n",
    ),
    ("import x\ny = 1\nimport z\n", require("a"), "import x\nimport a\ny = 1\nimport z\n"),
    ("import x; y = 1\nz\n", require("a"), "import a\nimport x; y = 1\nz\n"),
    ("import a.b as c\n", require("a"), "import a.b as c\nimport a\n"),
    ("import a as c\n", require("a"), "import a as c\nimport a\n"),
    ("import a\n", require("a.b"), "import a\nimport a.b\n"),
    ("from a import b as c\n", require(("a", "b")), "from a import b as c, b\n"),
    ("from .a import b\n", require(("a", "b")), "from .a import b\nfrom a import b\n"),
    ("if TYPE_CHECKING:\n    import a\nx\n", require("a"), "import a\n\nif TYPE_CHECKING:\n    import a\nx\n"),
    (
        "import t\nif t.TYPE_CHECKING:\n    import a\n",
        require("a"),
        "import t\nimport a\nif t.TYPE_CHECKING:\n    import a\n",
    ),
    ("def f():\n    import a\n", require("a"), "import a\n\ndef f():\n    import a\n"),
    (
        "import x\ntry:\n    import y\nexcept ImportError:\n    y = None\nimport z\n\nw\n",
        require("a"),
        "import x\ntry:\n    import y\nexcept ImportError:\n    y = None\nimport z\nimport a\n\nw\n",
    ),
    ("__version__ = '1'\nimport x\n\ny\n", require("a"), "__version__ = '1'\nimport x\nimport a\n\ny\n"),
    *(
        (f"import os\n{setting}\nimport x\n\ny\n", require("a"), f"import os\n{setting}\nimport x\nimport a\n\ny\n")
        for setting in (
            "os.environ['V'] = '1'",
            "os.environ['V'] = os.environ.get('V', '') + ' --flag'",
            "os.environ.setdefault('V', '1')",
            "sys.path.append(os.path.dirname(sys.argv[0]))",
            "warnings.filterwarnings('ignore')",
        )
    ),
    *(
        (f"import os\n{other}\nimport x\n", require("a"), f"import os\nimport a\n{other}\nimport x\n")
        for other in ("os.environ['V'] = f()", "run(os.environ)", "v = os.environ['V']")
    ),
    (
        "import x\nif y:\n    import z\nelse:\n    z = 1\nw\n",
        require("a"),
        "import x\nimport a\nif y:\n    import z\nelse:\n    z = 1\nw\n",
    ),
    ('"""Doc."""\n', require("a"), '"""Doc."""\n\nimport a\n'),
    ('"""Doc."""\nx = 1\n', require("a"), '"""Doc."""\n\nimport a\n\nx = 1\n'),
    ('"""Doc."""\n\nx = 1\n', require("a"), '"""Doc."""\n\nimport a\n\nx = 1\n'),
    ('"""Doc\n\nmore."""  # c\n\nx = 1\n', require("a"), '"""Doc\n\nmore."""  # c\n\nimport a\n\nx = 1\n'),
    (
        '"""Doc."""\nfrom __future__ import annotations\n\nx = 1\n',
        require("a"),
        '"""Doc."""\nfrom __future__ import annotations\n\nimport a\n\nx = 1\n',
    ),
    (
        "from __future__ import annotations\nx = 1\n",
        require("a"),
        "from __future__ import annotations\n\nimport a\n\nx = 1\n",
    ),
    (
        "from __future__ import annotations\nimport x\n",
        require("a"),
        "from __future__ import annotations\nimport x\nimport a\n",
    ),
    ("# c\n", require("a"), "# c\nimport a\n"),
    ("#!/usr/bin/env python\n# c\nx = 1\n", require("a"), "#!/usr/bin/env python\n# c\nimport a\n\nx = 1\n"),
    ("# license\n\n# about x\nx = 1\n", require("a"), "# license\n\nimport a\n\n# about x\nx = 1\n"),
    ("@d\ndef f(): ...\n", require("a"), "import a\n\n@d\ndef f(): ...\n"),
    (
        "import x\n",
        require("c", "b", ("e", "g"), ("d", "h"), ("e", "f")),
        "import x\nimport b\nimport c\nfrom d import h\nfrom e import f, g\n",
    ),
    ("import x\n", require("a", "a"), "import x\nimport a\n"),
]


@pytest.mark.parametrize(("text", "make"), PRESENT)
def test_what_is_there_is_not_added(write, text, make):
    assert write(text, make) == text


@pytest.mark.parametrize(("before", "make", "after"), ADDED)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_add(write, before, make, after, newline):
    assert write(before.replace("\n", newline), make) == after.replace("\n", newline)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "import a\n"),
        ("\n", "\nimport a\n"),
        ("import x", "import x\nimport a"),
        ("import x  # c", "import x  # c\nimport a"),
        ('"""Doc."""', '"""Doc."""\n\nimport a'),
        ("# c", "# c\nimport a"),
        ("x = 1", "import a\n\nx = 1"),
    ],
)
def test_no_line_end_at_the_end(write, before, after):
    assert write(before, require("a")) == after


@pytest.mark.parametrize(("before", "make", "after"), ADDED)
def test_a_second_time_changes_nothing(write, before, make, after):
    assert write(after, make) == after


def names(code):
    return [(node, alias) for node in code.tree.body if hasattr(node, "names") for alias in node.names]


def test_next_to_a_removed_import(write):
    def make(code):
        return [RemoveImport(*names(code)[0]), RequireImport("a")]

    assert write("import x  # c\n\ny\n", make) == "import a\n\ny\n"
    assert write("import a  # c\n\ny\n", make) == "import a\n\ny\n"
    assert write("import x, z  # c\n\ny\n", make) == "import z  # c\nimport a\n\ny\n"


def test_next_to_a_retargeted_import(write):
    def make(code):
        return [RetargetImport(*names(code)[0], "a.b"), RequireImport("a"), RequireImport("a", "b")]

    assert write("from x import b\n\ny\n", make) == "from a import b\nimport a\n\ny\n"


JOINED = [
    ("from __future__ import z; y = 1\n", require("a"), "from __future__ import z; y = 1\n\nimport a\n"),
    ("from a import c\n", require(("a", "b")), "from a import c, b\n"),
    ("from a import c\nimport x\n", require(("a", "b"), ("a", "d")), "from a import c, b, d\nimport x\n"),
    ("from a import (\n    c,\n)\n", require(("a", "b")), "from a import (\n    c,\n    b,\n)\n"),
    ("from a import c  # d\n", require(("a", "b")), "from a import c, b  # d\n"),
    ("from a.b import c\n", require(("a", "b")), "from a.b import c\nfrom a import b\n"),
    ("from a import *\n", require(("a", "b")), "from a import *\nfrom a import b\n"),
    (
        "import x\n\ny = 1\nfrom a import c\n",
        require(("a", "b")),
        "import x\nfrom a import b\n\ny = 1\nfrom a import c\n",
    ),
    (f"from a import {'c' * 90}\n", require(("a", "b")), f"from a import {'c' * 90}\nfrom a import b\n"),
]


@pytest.mark.parametrize(("before", "make", "after"), JOINED)
def test_name_joins_an_import_of_its_module(write, before, make, after):
    assert write(before, make) == after


def test_name_joins_an_import_that_loses_another(write):
    def make(code):
        return [RemoveImport(*names(code)[0]), RequireImport("a", "b")]

    assert write("from a import c\n", make) == "from a import b\n"


def test_name_joins_an_import_that_moves_to_its_module(write):
    def make(code):
        statement, alias = names(code)[0]
        return [RetargetImport(statement, alias, "a.c"), RequireImport("a", "b")]

    assert write("from x import c\n\ny\n", make) == "from a import c, b\n\ny\n"
    assert write("from x import c, d\n\ny\n", make) == "from a import b, c\nfrom x import d\n\ny\n"

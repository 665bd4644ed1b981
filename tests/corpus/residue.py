"""Find what is still bound to CUDA in a file and carries no finding: an independent check, on tokens only.

    python tests/corpus/residue.py findings.json PATH...

``findings.json`` is the output of ``neuron-port check --format json`` over the same files. The checker shares no code
and no data with the tool: it knows a handful of words, a token-level import table and the list of exemptions below.

What counts as bound to CUDA
    name      ``torch.cuda``, ``torch.backends.cudnn``, ``torch.backends.cuda``, ``torch.version.cuda`` and everything
              below them, through any alias that an import statement gives (``th.cuda``, ``tc.Stream``, ``autocast``)
    method    ``x.cuda(...)`` and ``x.is_cuda``
    import    ``import torch.cuda``, ``from torch.cuda import ...``, and imports of packages that need CUDA
    string    a literal that is exactly cuda, cuda:N, nccl, torch.cuda.<name>; an f-string that begins with ``cuda:``
    variable  a literal that is exactly the name of an environment variable of CUDA, NCCL or the CUDA allocator, where it
              is looked up: ``env["X"]``, ``env.get("X")``, ``"X" in env``, ``getenv("X")``; env may be called env, environ,
              ..._env or ..._environ

What is exempt, and why
    comments, docstrings  text
    messages              string arguments of print, log and warning calls, of ``raise``, and of the keywords help,
                          metavar, description, title, label, name, message, msg, reason: text (f-string fields count)
    bytes literals        no API takes a device as bytes
    shadowed names        a name that an import binds to CUDA and the file binds in another way too (``try``/``except
                          ImportError``, a parameter, an assignment): a token has no scope. The import itself counts
    keyword names         ``f(cuda=True)``: the name belongs to ``f``
    foreign modules       ``.cuda(`` on a name that an import binds to something other than torch, and ``.is_cuda(``: a
                          tensor's ``is_cuda`` is no method
    files without torch   ``.cuda(`` and device strings in a file that never names torch: they may be anything
    ported enumerations   ``CUDA = "cuda"`` in a file that has ``NEURON = "neuron"`` as well
    ported tables         a device string whose statement names "neuron" too: a list or table that knows Neuron already
    own attributes        ``self.is_cuda`` in a file that assigns ``self.is_cuda``
    paths                 string arguments of join, Path, open, listdir, glob, exists and ``/`` operands: text

Which finding covers an occurrence: one that begins on the same logical line; or a NP122 finding (a branch that is never
taken on Neuron) whose range holds the line; or NP001, which says that the whole file was not looked at.
"""

from __future__ import annotations

import io
import json
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tokenize import COMMENT, DEDENT, ENCODING, INDENT, NAME, NEWLINE, NL, NUMBER, OP, STRING

CUDA_PACKAGES = frozenset(
    [
        "apex",
        "bitsandbytes",
        "cudf",
        "cuml",
        "cupy",
        "cupyx",
        "cutlass",
        "deepspeed",
        "flash_attn",
        "flash_attn_interface",
        "megatron",
        "nvidia",
        "onnxruntime_gpu",
        "pycuda",
        "pynvml",
        "spconv",
        "tensorrt",
        "tensorrt_llm",
        "torch_tensorrt",
        "transformer_engine",
        "triton",
        "xformers",
    ]
)
CUDA_PACKAGE_PARTS = frozenset({"numba.cuda", "cuda.bindings", "cuda.cuda", "cuda.cudart", "cuda.nvrtc"})
CUDA_ROOTS = ("torch.cuda", "torch.backends.cudnn", "torch.backends.cuda", "torch.version.cuda")
VARIABLES = frozenset(
    [
        "CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER",
        "CUDA_LAUNCH_BLOCKING",
        "CUDA_HOME",
        "CUDA_PATH",
        "CUDA_DEVICE_MAX_CONNECTIONS",
        "PYTORCH_CUDA_ALLOC_CONF",
        "PYTORCH_NVML_BASED_CUDA_CHECK",
        "TORCH_CUDA_ARCH_LIST",
        "NVIDIA_VISIBLE_DEVICES",
        "NVIDIA_TF32_OVERRIDE",
        "CUBLAS_WORKSPACE_CONFIG",
        "NCCL_DEBUG",
        "NCCL_P2P_DISABLE",
        "NCCL_IB_DISABLE",
        "NCCL_SOCKET_IFNAME",
        "NCCL_BLOCKING_WAIT",
        "NCCL_ASYNC_ERROR_HANDLING",
        "TORCH_NCCL_ASYNC_ERROR_HANDLING",
        "TORCH_NCCL_BLOCKING_WAIT",
        "TORCH_NCCL_AVOID_RECORD_STREAMS",
    ]
)
DEVICE_STRING = re.compile(r"cuda(:\d+)?|nccl|torch\.cuda(\.\w+)*")
MESSAGE_CALLS = re.compile(
    r"print|pprint|warn|warn_once|warning|warning_once|warning_advice|info|info_once|debug|error|exception|critical|log|logging"
    r"|rank_zero_(warn|info|debug|deprecation)|deprecate|echo|secho|write|fail|skip|skipif"
)
MESSAGE_KEYWORDS = frozenset({"help", "metavar", "description", "title", "label", "name", "message", "msg", "reason"})
ENVIRONMENT = re.compile(r"getenv|putenv|unsetenv|(\w+_)?env(iron)?")
LOOKUPS = frozenset({"get", "pop", "setdefault"})
PATH_CALLS = frozenset({"join", "Path", "PurePath", "open", "listdir", "glob", "exists", "isdir", "isfile", "makedirs"})
# What a file must hold to be worth tokenizing: each kind of occurrence needs one of these words.
_WORDS = re.compile("|".join(["cuda", "CUDA", "cudnn", "nccl", "NCCL", "NVIDIA", "CUBLAS", *sorted(CUDA_PACKAGES)]))
_FSTRING_START = {getattr(tokenize, kind) for kind in ("FSTRING_START", "TSTRING_START") if hasattr(tokenize, kind)}
_FSTRING_MIDDLE = {getattr(tokenize, kind) for kind in ("FSTRING_MIDDLE", "TSTRING_MIDDLE") if hasattr(tokenize, kind)}
_FSTRING_END = {getattr(tokenize, kind) for kind in ("FSTRING_END", "TSTRING_END") if hasattr(tokenize, kind)}
_LITERAL = re.compile(r"([A-Za-z]*)('''|\"\"\"|'|\")(.*)\2", re.DOTALL)


@dataclass(frozen=True)
class Residue:
    """One occurrence without a finding: where it is and what it says."""

    row: int
    column: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.row}:{self.column}: {self.kind} {self.text}"


@dataclass(frozen=True)
class _Token:
    """A token with the little that the checks need; strings are already unpacked."""

    kind: str  # name, op, number, string, fstring
    text: str  # for strings: the content without prefix and quotes (of an f-string: what stands before the first field)
    row: int
    column: int
    prefix: str = ""


def residue(text: str, findings: Iterable[dict]) -> list[Residue]:
    """List the occurrences in ``text`` that no finding of this file covers, in order."""
    findings = list(findings)
    if not _WORDS.search(text) or any(finding["code"] == "NP001" for finding in findings):
        return []
    lines = list(_logical_lines(text))
    table = _Imports(lines)
    dead = [_rows(finding) for finding in findings if finding["code"] == "NP122"]
    begins = {finding["location"]["row"] for finding in findings}
    left = []
    knows_neuron = any(_is_member(line, "neuron") for line in lines)
    for line in lines:
        if knows_neuron and _is_member(line, "cuda"):
            continue
        rows = range(line[0].row, line[-1].row + 1)
        if any(row in begins for row in rows) or any(rows.start <= end and start < rows.stop for start, end in dead):
            continue
        left += _occurrences(line, table)
    return left


def _is_member(line: list[_Token], value: str) -> bool:
    """``CUDA = "cuda"``, as in the body of an enumeration."""
    return (
        len(line) == 3
        and line[0].kind == "name"
        and line[0].text.isupper()
        and line[1].text == "="
        and line[2].kind == "string"
        and line[2].text == value
    )


def _rows(finding: dict) -> tuple[int, int]:
    return finding["location"]["row"], finding["end_location"]["row"]


def _logical_lines(text: str) -> Iterator[list[_Token]]:
    """Split a file into logical lines of tokens, without comments and layout; the last row of a string counts."""
    line: list[_Token] = []
    for token in _tokens(tokenize.generate_tokens(io.StringIO(text).readline)):
        if token.kind != "newline":
            line.append(token)
        elif line:
            yield line
            line = []
    if line:
        yield line


def _tokens(stream: Iterator[tokenize.TokenInfo]) -> Iterator[_Token]:
    for token in stream:
        row, column = token.start[0], token.start[1] + 1
        if token.type == NEWLINE:
            yield _Token("newline", "", row, column)
        elif token.type in _FSTRING_START:
            yield from _fstring(token, stream)
        elif token.type == STRING:
            yield from _string(token.string, row, column)
        elif token.type in (NAME, OP, NUMBER):
            kind = {NAME: "name", OP: "op", NUMBER: "number"}[token.type]
            yield _Token(kind, token.string, row, column)
        elif token.type not in (COMMENT, NL, INDENT, DEDENT, ENCODING):
            yield _Token("other", token.string, row, column)


def _fstring(start: tokenize.TokenInfo, stream: Iterator[tokenize.TokenInfo]) -> Iterator[_Token]:
    """An f-string of Python 3.12 or later: one string token, then the tokens of its fields."""
    inside: list[tokenize.TokenInfo] = []
    depth = 1
    for token in stream:
        depth += (token.type in _FSTRING_START) - (token.type in _FSTRING_END)
        if not depth:
            break
        inside.append(token)
    head = inside[0].string if inside and inside[0].type in _FSTRING_MIDDLE else ""
    row, column = start.start[0], start.start[1] + 1
    yield _Token("fstring" if len(inside) > bool(head) else "string", head, row, column, start.string.rstrip("'\""))
    fields = [token for token in inside if token.type not in _FSTRING_MIDDLE]
    yield from _bracketed(_tokens(iter(fields)))


def _string(literal: str, row: int, column: int) -> Iterator[_Token]:
    """A string token; before Python 3.12 the fields of an f-string must be dug out of it."""
    match = _LITERAL.fullmatch(literal)
    if not match:
        yield _Token("other", literal, row, column)
        return
    prefix, _, content = match.groups()
    if "f" not in prefix.lower():
        yield _Token("string", content, row, column, prefix)
        return
    head = content.split("{", 1)[0]
    fields = re.findall(r"(?<!\{)\{([^{}!]+)", content.replace("{{", "").replace("}}", ""))
    yield _Token("fstring" if fields else "string", head, row, column, prefix)
    for field in fields:
        try:
            inner = list(tokenize.generate_tokens(io.StringIO(f"({field})").readline))
        except (tokenize.TokenError, IndentationError, SyntaxError):
            continue  # a format specification cut the field: nothing nameable is left
        yield from (
            _Token(token.kind, token.text, row, column) for token in _tokens(iter(inner)) if token.kind != "newline"
        )


def _bracketed(tokens: Iterator[_Token]) -> Iterator[_Token]:
    return (token for token in tokens if token.kind != "newline")


def _statements(line: list[_Token]) -> Iterator[list[_Token]]:
    """Split a logical line at ``;`` and after the ``:`` of a one-line block (``try: import apex``)."""
    start = depth = 0
    for position, token in enumerate(line):
        if token.kind != "op":
            continue
        depth += (token.text in "([{") - (token.text in ")]}")
        following = line[position + 1].text if position + 1 < len(line) else ""
        if not depth and (token.text == ";" or (token.text == ":" and following in ("import", "from"))):
            if position > start:
                yield line[start:position]
            start = position + 1
    if start < len(line):
        yield line[start:]


class _Imports:
    """What names mean by the import statements of a file, wherever they stand; scopes are not looked at."""

    def __init__(self, lines: list[list[_Token]]) -> None:
        self.meaning: dict[str, set[str]] = defaultdict(set)
        self.rebound: set[str] = set()
        self.names_torch = any(token.kind == "name" and token.text == "torch" for line in lines for token in line)
        self.assigns_is_cuda = any(
            [token.text for token in line[:4]] == ["self", ".", "is_cuda", "="] for line in lines
        )
        for statement in (part for line in lines for part in _statements(line)):
            imported = _import_statement(statement)
            if imported is None:
                self.rebound |= _bound_names(statement)
            else:
                for local, qualified in imported:
                    self.meaning[local].add(qualified)

    def resolve(self, name: str) -> str | None:
        """Return the one qualified name that ``name`` stands for; ``None`` when it has another binding or none."""
        meanings = self.meaning.get(name, set())
        if len(meanings) != 1 or (name in self.rebound and name != "torch"):
            return None
        return next(iter(meanings))

    def is_foreign(self, name: str) -> bool:
        """True when every import of the name leads to a module outside torch."""
        meanings = self.meaning.get(name, set())
        return bool(meanings) and not any(meaning.split(".")[0] == "torch" for meaning in meanings)


def _import_statement(line: list[_Token]) -> list[tuple[str, str]] | None:
    """Return (local name, qualified name) pairs of an import statement; ``None`` when the line is none."""
    words = [token.text for token in line]
    if words[0] not in ("import", "from"):
        return None
    if words[0] == "from":
        middle = words.index("import")
        module = "".join(words[1:middle])
        return [(local, f"{module}.{name}") for name, local in _aliases(words[middle + 1 :])]
    pairs = []
    for name, local in _aliases(words[1:]):
        pairs.append((local, name) if local != name else (name.split(".")[0], name.split(".")[0]))
    return pairs


def _aliases(words: list[str]) -> Iterator[tuple[str, str]]:
    """Read ``a.b as c, d``; parentheses are ignored."""
    items: list[list[str]] = [[]]
    for word in words:
        if word == ",":
            items.append([])
        elif word not in "()":
            items[-1].append(word)
    for item in filter(None, items):
        if "as" in item:
            cut = item.index("as")
            yield "".join(item[:cut]), item[cut + 1]
        else:
            yield "".join(item), "".join(item)


def _bound_names(line: list[_Token]) -> set[str]:
    """Names that a line may bind other than by an import: targets, parameters, loop variables, def and class names."""
    bound = set()
    texts = [token.text for token in line]
    is_header = texts[0] in ("def", "class", "async", "lambda", "for", "with", "except", "global") or "lambda" in texts
    for position, token in enumerate(line):
        if token.kind != "name":
            continue
        before = texts[position - 1] if position else ""
        after = texts[position + 1] if position + 1 < len(line) else ""
        is_target = (after in ("=", ",") and position == 0) or after == ":="
        is_declared = before in ("def", "class", "as", "for", "global")
        is_parameter = is_header and before in ("(", ",", "*", "**", "lambda") and after in (",", ")", "=", ":")
        if is_target or is_declared or is_parameter:
            bound.add(token.text)
    return bound


def _occurrences(line: list[_Token], table: _Imports) -> Iterator[Residue]:
    for statement in _statements(line):
        if _import_statement(statement) is not None:
            yield from _import_occurrences(statement)
        else:
            yield from _name_occurrences(statement, table)
            yield from _string_occurrences(statement, table)


def _import_occurrences(line: list[_Token]) -> Iterator[Residue]:
    words = [token.text for token in line]
    names = (
        [name for name, _ in _aliases(words[1:])]
        if words[0] == "import"
        else [name for _, name in _import_statement(line) or ()]
    )
    for name in names:
        root = name.split(".")[0]
        package = next((part for part in CUDA_PACKAGE_PARTS if name == part or name.startswith(part + ".")), None)
        if _is_cuda_name(name) or root in CUDA_PACKAGES or package:
            yield Residue(line[0].row, line[0].column, "import", name)


def _is_cuda_name(name: str) -> bool:
    return any(name == root or name.startswith(root + ".") for root in CUDA_ROOTS)


def _name_occurrences(line: list[_Token], table: _Imports) -> Iterator[Residue]:
    for position, token in enumerate(line):
        if token.kind != "name":
            continue
        before = line[position - 1].text if position else ""
        after = line[position + 1].text if position + 1 < len(line) else ""
        if before == ".":
            is_own = table.assigns_is_cuda and position >= 2 and line[position - 2].text == "self"
            if token.text == "is_cuda" and after != "(" and not is_own:
                yield Residue(token.row, token.column, "method", ".is_cuda")
            elif token.text == "cuda" and after == "(" and table.names_torch:
                root = _chain_root(line, position)
                if root is None or not (table.is_foreign(root) or table.resolve(root) == "torch"):
                    yield Residue(token.row, token.column, "method", ".cuda(")
            continue
        if after == "=" and _depth(line, position):
            continue
        meaning = table.resolve(token.text)
        if meaning:
            name = ".".join([meaning, *_attributes(line, position)])
            if _is_cuda_name(name):
                yield Residue(token.row, token.column, "name", name)


def _attributes(line: list[_Token], position: int) -> Iterator[str]:
    while position + 2 < len(line) and line[position + 1].text == "." and line[position + 2].kind == "name":
        position += 2
        yield line[position].text


def _chain_root(line: list[_Token], position: int) -> str | None:
    """Return the name that a chain of attributes begins with; ``None`` when it begins with anything else."""
    while position >= 2 and line[position - 1].text == "." and line[position - 2].kind == "name":
        position -= 2
    return line[position].text if not position or line[position - 1].text != "." else None


def _depth(line: list[_Token], position: int) -> int:
    before = [token.text for token in line[:position] if token.kind == "op"]
    return sum(text in "([{" for text in before) - sum(text in ")]}" for text in before)


def _string_occurrences(line: list[_Token], table: _Imports) -> Iterator[Residue]:
    if all(token.kind in ("string", "fstring") for token in line) or line[0].text == "raise":
        return
    is_ported = any(token.kind == "string" and token.text == "neuron" for token in line)
    position = 0
    while position < len(line):
        first = position
        pieces = []
        while position < len(line) and line[position].kind in ("string", "fstring"):
            pieces.append(line[position])
            position += 1
        if pieces:
            kind = _string_kind(pieces)
            is_device = kind == "string" and table.names_torch and not is_ported
            wanted = is_device or (kind == "variable" and _is_looked_up(line, first, position))
            if wanted and not _is_text(line, first, position):
                yield Residue(line[first].row, line[first].column, kind, "".join(piece.text for piece in pieces))
        else:
            position += 1


def _string_kind(pieces: list[_Token]) -> str | None:
    if any("b" in piece.prefix.lower() for piece in pieces):
        return None
    content = "".join(piece.text for piece in pieces)
    if pieces[-1].kind == "fstring":
        return "string" if content.startswith("cuda:") else None
    if any(piece.kind == "fstring" for piece in pieces):
        return None
    if content in VARIABLES:
        return "variable"
    return "string" if DEVICE_STRING.fullmatch(content) else None


def _is_looked_up(line: list[_Token], first: int, after: int) -> bool:
    """True when the string is a key that is read from, written to or searched in an environment."""
    if first and line[first - 1].text in ("[", "("):
        place = first - 2
        if place >= 2 and line[place].text in LOOKUPS and line[place - 1].text == ".":
            place -= 2
        if place >= 0 and ENVIRONMENT.fullmatch(line[place].text):
            return True
    following = [token.text for token in line[after : after + 5]]
    return following[:1] in (["in"], ["not"]) and any(map(ENVIRONMENT.fullmatch, following))


def _is_text(line: list[_Token], first: int, after: int) -> bool:
    """True when the string is an argument of a message or path call, of a text keyword, or an operand of ``/``."""
    neighbours = (line[first - 1].text if first else "", line[after].text if after < len(line) else "")
    if "/" in neighbours:
        return True
    if neighbours[0] == "=" and first >= 2 and line[first - 2].text in MESSAGE_KEYWORDS and _depth(line, first):
        return True
    for opening in _open_brackets(line, first):
        if line[opening].text != "(" or not opening or line[opening - 1].kind != "name":
            continue
        called = line[opening - 1].text
        receiver = line[opening - 2].text if opening >= 2 else ""
        if (
            MESSAGE_CALLS.fullmatch(called)
            or called in PATH_CALLS
            or receiver in ("logger", "logging", "log", "warnings")
        ):
            return True
    return False


def _open_brackets(line: list[_Token], position: int) -> Iterator[int]:
    """Positions of the brackets that are open at ``position``, innermost first."""
    closed = 0
    for place in range(position - 1, -1, -1):
        if line[place].kind != "op":
            continue
        if line[place].text in ")]}":
            closed += 1
        elif line[place].text in "([{":
            if closed:
                closed -= 1
            else:
                yield place


def check_files(paths: Iterable[Path], findings: Iterable[dict]) -> dict[Path, list[Residue]]:
    """Return the residue of each file that has some. ``filename`` of a finding is resolved from the working directory.

    Raises:
        SyntaxError, tokenize.TokenError: a file cannot be tokenized although no NP001 finding says so.
    """
    by_file: dict[Path, list[dict]] = defaultdict(list)
    for finding in findings:
        by_file[Path(finding["filename"]).resolve()].append(finding)
    result = {}
    for path in paths:
        own = by_file[path.resolve()]
        if any(finding["code"] == "NP001" for finding in own):
            continue
        with tokenize.open(path) as file:
            left = residue(file.read(), own)
        if left:
            result[path] = left
    return result


def main() -> int:
    """Print the residue of the files and folders on the command line; exit 1 when there is any."""
    findings = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    paths = [
        found for name in sys.argv[2:] for found in ([Path(name)] if Path(name).is_file() else Path(name).rglob("*.py"))
    ]
    result = check_files(sorted(paths), findings)
    for path, left in result.items():
        for item in left:
            print(f"{path}:{item}")
    return 1 if result else 0


if __name__ == "__main__":
    raise SystemExit(main())

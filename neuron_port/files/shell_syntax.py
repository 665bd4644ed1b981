"""Shell code as commands, variables and comments with their places: tree-sitter's bash grammar, asked once for each text.

    A=1 torchrun --nproc_per_node="gpu" \\
        train.py                                one command: words torchrun, --nproc_per_node=gpu, train.py; variable A
    export NCCL_DEBUG=INFO                      one variable
    cmd="python -m torch.distributed.launch"    one variable, whose value is a command too
    args=(--device cuda)                        a list of words

A word knows for each of its characters where it stands, so that an edit leaves quotes and line joints alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from neuron_port.files.fragment import Fragment

# What opens and closes a run of statements.
_OPENERS = frozenset({"then", "do", "{", "(", ")", "else", "elif"})
_CLOSERS = frozenset({"fi", "done", "}", ")", "elif_clause", "else_clause", ";;", ";&", ";;&"})
_ERREXIT = re.compile(r"\bset\s+(?:[-+]\w+\s+)*-(?:\w*e|o\s+errexit)|^#!.*\s-\w*e")
_WORDS = frozenset({"word", "string", "raw_string", "extglob_pattern"})
_EXPANSIONS = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "arithmetic_expansion", "process_substitution"}
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word after quotes and backslashes are taken away; expansions are kept as they are written.

    ``literal`` tells whether there are none.
    """

    part: Fragment
    start: int
    end: int
    literal: bool

    @property
    def text(self) -> str:
        """What the program gets, as far as the file says."""
        return self.part.text


@dataclass(frozen=True, slots=True)
class Removal:
    """How a statement goes: the place and what takes it (``:`` where a body may not be empty)."""

    start: int
    end: int
    content: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """A variable that is given a value.

    ``kind`` is ``prefix`` (``A=1 command``), ``export``, ``plain``, or ``word`` (``env A=1 command``, ``-x A=1``).
    ``removal`` takes nothing but this setting away. A declaration of several names (``export A=1 B=2``) has the number
    ``statement``; ``piece`` is the setting's part of it, all parts together the whole declaration.
    """

    name: str
    start: int
    end: int
    value: Word | None
    kind: str
    removal: Removal | None
    appends: bool = False
    command: Command | None = None
    indent: str | None = None
    statement: int = 0
    piece: Removal | None = None


@dataclass(slots=True, eq=False)
class Command:
    """A command with its words, the name first, and the variables in front of it.

    ``sure`` is false in and beside text that the grammar could not read. ``piped`` commands stand in a pipeline,
    ``captured`` ones in ``$(...)``. ``tested`` ones are asked for their status. ``follower`` is the next command of the pipeline. ``is_list`` is set for words that are
    kept for a later command, ``is_items`` for words that are the items of a list in another format. ``target`` is the file that the command writes.
    """

    words: list[Word]
    start: int
    end: int
    settings: list[Setting] = field(default_factory=list)
    sure: bool = True
    removal: Removal | None = None
    piped: bool = False
    captured: bool = False
    tested: bool = False
    follower: Command | None = None
    heredoc: Fragment | None = None
    target: str = ""
    is_list: bool = False
    is_items: bool = False


@dataclass(slots=True, eq=False)
class Script:
    """What a shell text consists of, in the order of the text.

    ``reads`` are the places of ``$NAME`` by name, ``compared`` the words in tests and in front of the arms of ``case``.
    """

    commands: list[Command] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)
    reads: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    comments: list[Fragment] = field(default_factory=list)
    compared: list[Word] = field(default_factory=list)
    problem: int | None = None


@lru_cache(maxsize=1)
def _parser() -> Any:
    # Only files with shell code need the grammar.
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def parse(fragment: Fragment) -> Script:
    """Read shell code. ``Script.problem`` is the offset in the file where the grammar first loses its way."""
    data = fragment.text.encode("utf-8", "surrogatepass")
    tree = _parser().parse(data)
    reader = _Reader(fragment, _offsets(fragment.text, data))
    reader.read(tree.root_node)
    return reader.script


def _offsets(text: str, data: bytes) -> range | list[int]:
    """Character offset for each byte offset."""
    if len(data) == len(text):
        return range(len(text) + 1)
    found: list[int] = []
    for index, character in enumerate(text):
        found += [index] * len(character.encode("utf-8", "surrogatepass"))
    found.append(len(text))
    return found


class _Reader:
    def __init__(self, fragment: Fragment, offsets: range | list[int]) -> None:
        self.fragment = fragment
        self.text = fragment.text
        self.offsets = offsets
        self.script = Script()
        self.by_node: dict[int, Command] = {}
        # What tree-sitter would find from the root down each time that it is asked.
        self.parents: dict[int, Any] = {}

    def local(self, node: Any) -> tuple[int, int]:
        return self.offsets[node.start_byte], self.offsets[node.end_byte]

    def span(self, node: Any) -> tuple[int, int]:
        return self.fragment.span(*self.local(node))

    def read(self, root: Any) -> None:
        stack = [root]
        while stack:
            node = stack.pop()
            kind = node.type
            if self.script.problem is None and self._is_fault(node):
                self.script.problem = self.span(node)[0]
            if kind == "comment":
                self.script.comments.append(self.fragment.cut(*self.local(node)))
            elif kind == "command":
                self._command(node)
            elif kind == "binary_expression":
                self.script.compared += [self.word(child) for child in node.children if child.type in _WORDS]
            elif kind == "case_item":
                self.script.compared += [self.word(child) for child in node.children_by_field_name("value")]
            elif kind == "declaration_command":
                self._declaration(node)
            elif kind == "variable_assignment" and self.parent(node).type not in ("command", "declaration_command"):
                self._plain(node)
            elif kind in ("simple_expansion", "expansion"):
                for child in node.children:
                    if child.type == "variable_name":
                        start, end = self.local(child)
                        self.script.reads.setdefault(self.text[start:end], []).append(self.fragment.span(start, end))
            for child in node.children:
                self.parents[child.id] = node
            stack.extend(reversed(node.children))

    def parent(self, node: Any) -> Any:
        """The node around one that was met."""
        return self.parents.get(node.id)

    def _with_redirects(self, node: Any) -> Any:
        """A command with its ``> file``, where it has one."""
        around = self.parent(node)
        return around if around is not None and around.type == "redirected_statement" else node

    def _is_fault(self, node: Any) -> bool:
        """Whether the grammar lost its way here; a joint at the end of a text is nothing that a shell minds."""
        if node.is_missing:
            return node.type != "`"
        return node.is_error and bool(self.text[slice(*self.local(node))].strip(" \t\r\n\\"))

    # -- commands ------------------------------------------------------------------------------------------------------

    def _command(self, node: Any) -> Command:
        words: list[Word] = []
        prefixes: list[Any] = []
        for child in node.children:
            if child.type == "variable_assignment":
                prefixes.append(child)
            elif child.type == "command_name":
                words.append(self.word(child.children[0] if child.children else child))
            elif child.type not in ("file_redirect", "herestring_redirect", "heredoc_redirect", "comment"):
                word = self.word(child)
                if words and words[-1].end == word.start:
                    # The grammar takes "$A.$B.c" apart.
                    words[-1] = _joined(words[-1], word)
                else:
                    words.append(word)
        start, end = self.span(node)
        command = Command(words, start, end, sure=self._is_sure(node), removal=self._removal(node))
        command.heredoc = self._heredoc(node)
        command.target = self._target(node) if command.heredoc is not None else ""
        place = self._with_redirects(node)
        command.piped = self.parent(place) is not None and self.parent(place).type == "pipeline"
        around = self.parent(node)
        while around is not None and not command.captured:
            command.captured = around.type == "command_substitution"
            around = self.parent(around)
        command.tested = self._is_tested(place)
        before = self._before_pipe(place)
        if before is not None and before in self.by_node:
            self.by_node[before].follower = command
        self.by_node[node.id] = command
        for prefix in prefixes:
            follower = prefix.next_sibling
            place = self.local(prefix)
            if follower is not None:
                place = (place[0], self.local(follower)[0])
            self._setting(prefix, "prefix", self._cut(place), command)
        self.script.commands.append(command)
        return command

    def _is_tested(self, node: Any) -> bool:
        """Whether a command is the condition of ``if`` or ``while``."""
        while self.parent(node) is not None and self.parent(node).type in (
            "list",
            "negated_command",
            "pipeline",
            "redirected_statement",
        ):
            node = self.parent(node)
        around = self.parent(node)
        if around is None or around.type not in ("if_statement", "elif_clause", "while_statement"):
            return False
        return not self._is_after(node, "then") and not self._is_after(node, "do")

    def _before_pipe(self, node: Any) -> int | None:
        """The command in front of ``|``."""
        pipe = node.prev_sibling
        if pipe is None or pipe.type not in ("|", "|&"):
            return None
        before = pipe.prev_sibling
        if before is None:
            # "a <<EOF | b": the grammar hangs what follows on the here-document.
            around = self.parent(self.parent(pipe))
            if around is None or around.type != "heredoc_redirect":
                return None
            before = self.parent(around)
        if before.type == "redirected_statement":
            before = before.children[0]
        return before.id

    def _heredoc(self, node: Any) -> Fragment | None:
        for place in (node, self.parent(node)):
            if place is None or (place is not node and place.type != "redirected_statement"):
                continue
            for child in place.children:
                if child.type == "heredoc_redirect":
                    bodies = [inner for inner in child.children if inner.type == "heredoc_body"]
                    if bodies:
                        start, end = self.local(bodies[0])
                        while self.text[start - 1 : start] == "\t":  # behind "<<-" the grammar leaves them out
                            start -= 1
                        return self.fragment.cut(start, end, lines=self.fragment.lines)
        return None

    def _target(self, node: Any) -> str:
        """The name behind ``>``, which may stand in front of ``<<`` or behind it."""
        place = self._with_redirects(node)
        holders = [place, *(child for child in place.children if child.type == "heredoc_redirect")]
        for child in (child for holder in holders for child in holder.children):
            if child.type == "file_redirect" and child.children and child.children[0].type in (">", ">>", ">|"):
                return self.word(child.children[-1]).text
        return ""

    def _declaration(self, node: Any) -> None:
        keyword = self.text[slice(*self.local(node.children[0]))]
        exports = keyword == "export" or any(
            child.type == "word" and re.fullmatch(r"-\w*x\w*", self.text[slice(*self.local(child))])
            for child in node.children[1:]
        )
        names = [child for child in node.children[1:] if child.type in ("variable_assignment", "variable_name")]
        whole = self._removal(node)
        for index, child in enumerate(names):
            piece = None
            if len(names) == 1:
                removal: Removal | None = whole
            else:
                begin, stop = self.fragment.span(self._end_before(child), self.local(child)[1])
                removal = Removal(begin, stop)
                first, last = index == 0, index == len(names) - 1
                piece = Removal(
                    whole.start if first else begin, whole.end if last else stop, whole.content if first else ""
                )
            statement = self.span(node)[0] + 1 if len(names) > 1 else 0
            if child.type == "variable_assignment":
                self._setting(child, "export" if exports else "plain", removal, None, node, statement, piece)
            elif exports:  # "export NAME" of a variable that is set elsewhere
                start, end = self.span(child)
                name = self.text[slice(*self.local(child))]
                self.script.settings.append(
                    Setting(name, start, end, None, "export", removal, statement=statement, piece=piece)
                )

    def _end_before(self, node: Any) -> int:
        before = node.prev_sibling
        return self.local(before)[1] if before is not None else self.local(node)[0]

    def _plain(self, node: Any) -> None:
        if self.parent(node).type == "variable_assignments":
            # "A=1 B=2" on a line of its own.
            follower = node.next_sibling
            start, end = self.local(node)
            self._setting(node, "plain", self._cut((start, self.local(follower)[0] if follower else end)), None)
            return
        self._setting(node, "plain", self._removal(node), None, node)

    def _setting(
        self,
        node: Any,
        kind: str,
        removal: Removal | None,
        command: Command | None,
        owner: Any = None,
        statement: int = 0,
        piece: Removal | None = None,
    ) -> None:
        names = [child for child in node.children if child.type == "variable_name"]
        if not names:  # an element of an array
            return
        value_nodes = [child for child in node.children if child.type not in ("variable_name", "=", "+=", "subscript")]
        value: Word | None = None
        if value_nodes and value_nodes[-1].type == "array":
            words = [
                self.word(child) for child in value_nodes[-1].children if child.is_named and child.type != "comment"
            ]
            start, end = self.span(value_nodes[-1])
            self.script.commands.append(Command(words, start, end, sure=self._is_sure(node), is_list=True))
            return
        if value_nodes:
            value = self.word(value_nodes[-1])
        start, end = self.span(node)
        setting = Setting(
            name=self.text[slice(*self.local(names[0]))],
            start=start,
            end=end,
            value=value,
            kind=kind,
            removal=removal if self._is_sure(node) else None,
            appends=any(child.type == "+=" for child in node.children),
            command=command,
            indent=self._indent(owner) if owner is not None else None,
            statement=statement,
            piece=piece,
        )
        (command.settings if command is not None else self.script.settings).append(setting)
        if command is not None:
            self.script.settings.append(setting)

    def _indent(self, node: Any) -> str | None:
        """The space in front of a statement that begins its line."""
        if not self.fragment.lines:
            return None
        start = self.local(node)[0]
        line = self.text.rfind("\n", 0, start) + 1
        return self.text[line:start] if not self.text[line:start].strip() else None

    def _is_sure(self, node: Any) -> bool:
        """Whether neither the node nor what it stands in directly is broken."""
        if node.has_error:
            return False
        around = self.parent(node)
        while around is not None and self.parent(around) is not None:
            if around.is_error:
                return False
            around = self.parent(around)
        return True

    # -- words ---------------------------------------------------------------------------------------------------------

    def word(self, node: Any) -> Word:
        """One word of a command."""
        indices: list[int] = []
        literal = self._collect(node, indices)
        start, end = self.span(node)
        part = Fragment(
            "".join(self.text[index] for index in indices),
            [self.fragment.starts[index] for index in indices],
            [self.fragment.ends[index] for index in indices],
            False,
        )
        return Word(part, start, end, literal)

    def _collect(self, node: Any, indices: list[int]) -> bool:
        """Gather the characters of a word and tell whether they are all there is."""
        start, end = self.local(node)
        kind = node.type
        if kind in _EXPANSIONS:
            indices += range(start, end)
            return False
        if kind in ("raw_string", "ansi_c_string"):
            lead = 1 if kind == "raw_string" else 2
            indices += range(start + lead, end - 1)
            return kind == "raw_string" or "\\" not in self.text[start:end]
        if kind == "string":
            return self._collect_parts(
                node, start + 1, end - (1 if self.text[end - 1 : end] == '"' else 0), indices, '"$`\\'
            )
        if kind == "translated_string":
            indices += range(start + 2, end - 1)
            return True
        if node.children and kind in ("concatenation", "command_name"):
            return self._collect_parts(node, start, end, indices, None)
        self._plain_text(start, end, indices, None)
        return True

    def _collect_parts(self, node: Any, start: int, end: int, indices: list[int], escapes: str | None) -> bool:
        literal = True
        place = start
        for child in node.children:
            if child.type in ('"', "string_content"):
                continue
            first, last = self.local(child)
            self._plain_text(place, first, indices, escapes)
            literal &= self._collect(child, indices)
            place = last
        self._plain_text(place, end, indices, escapes)
        return literal

    def _plain_text(self, start: int, end: int, indices: list[int], escapes: str | None) -> None:
        """Unquoted text, or text in double quotes, where a backslash only escapes the characters of ``escapes``."""
        place = start
        while place < end:
            character = self.text[place]
            if character == "\\" and place + 1 < end:
                follower = self.text[place + 1]
                if follower == "\n":
                    place += 2
                    continue
                if escapes is None or follower in escapes:
                    indices.append(place + 1)
                    place += 2
                    continue
            indices.append(place)
            place += 1

    # -- how statements go ---------------------------------------------------------------------------------------------

    def _cut(self, place: tuple[int, int], content: str = "") -> Removal:
        start, end = self.fragment.span(*place)
        return Removal(start, end, content)

    def _removal(self, node: Any) -> Removal:
        """How a statement goes without leaving a hole."""
        node = self._with_redirects(node)
        parent = self.parent(node)
        start, end = self.local(node)
        if parent is not None and parent.type == "list":
            return self._list_removal(node, parent)
        if parent is None or parent.type in ("pipeline", "negated_command", "while_statement", "command_substitution"):
            return self._cut((start, end), ":")
        if parent.type in ("if_statement", "elif_clause") and not self._is_after(node, "then"):
            return self._cut((start, end), ":")
        if parent.type != "program" and not self._has_company(node):
            return self._cut((start, end), ":")
        follower = node.next_sibling
        if follower is not None and follower.type in (";", "&"):
            end = self.local(follower)[1]
            after = follower.next_sibling
            if after is not None and "\n" not in self.text[end : self.local(after)[0]].replace("\\\n", ""):
                return self._cut((start, self.local(after)[0]))
        if not self.fragment.lines:
            return self._cut((start, self.local(node)[1]), ":")
        return self._whole_line(start, end)

    def _list_removal(self, node: Any, around: Any) -> Removal:
        """How a side of ``a && b`` or ``a || b`` goes. It is taken to have succeeded: what ran behind it still does, and
        what ran only after its failure still does not."""
        start, end = self.local(node)
        first, last = around.children[0], around.children[-1]
        if any(child.type == "&&" for child in around.children):
            if node.id == first.id:
                return self._cut((start, self.local(last)[0]))
            inner = self.parent(around) is not None and self.parent(around).type == "list"
            if node.id == last.id and (inner or not _ERREXIT.search(self.text)):
                return self._cut((self.local(first)[1], end))
        # Under "set -e" a script ends when "a" fails, and goes on when "a && b" does.
        return self._cut((start, end), ":")

    def _whole_line(self, start: int, end: int) -> Removal:
        line = self.text.rfind("\n", 0, start) + 1
        stop = self.text.find("\n", end)
        stop = len(self.text) if stop < 0 else stop + 1
        rest = self.text[end:stop].strip()
        if self.text[line:start].strip():
            # Something stands in front: "a; export B=1".
            head = self.text[line:start].rstrip()
            if head.endswith(";"):
                return self._cut((line + len(head) - 1, end))
            return self._cut((start, end), ":")
        if rest and not rest.startswith("#"):
            return self._cut((start, end), ":")
        # The lines of a fragment may be indented in the file.
        fragment = self.fragment
        if line > 0 or stop == len(self.text):
            return Removal(fragment.ends[line - 1] if line > 0 else fragment.starts[line], fragment.ends[stop - 1])
        return Removal(fragment.starts[line], fragment.starts[stop])

    @staticmethod
    def _is_after(node: Any, keyword: str) -> bool:
        before = node.prev_sibling
        while before is not None:
            if before.type == keyword:
                return True
            before = before.prev_sibling
        return False

    @staticmethod
    def _has_company(node: Any) -> bool:
        """Whether a body still holds a statement that surely stays."""
        for direction, ends in (("prev_sibling", _OPENERS), ("next_sibling", _CLOSERS)):
            other = getattr(node, direction)
            while other is not None and other.type not in ends:
                if other.is_named and other.type not in ("comment", "declaration_command", "variable_assignment"):
                    return True
                other = getattr(other, direction)
        return False


def _joined(left: Word, right: Word) -> Word:
    """Two pieces of one word."""
    part = Fragment(
        left.text + right.text,
        [*left.part.starts, *right.part.starts],
        [*left.part.ends, *right.part.ends],
        False,
    )
    return Word(part, left.start, right.end, False)

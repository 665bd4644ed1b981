"""Packages that a command line installs, with what the rules on requirements say about them.

pip install torch==2.4.0+cu121 numpy         ->  pip install torch==2.14.0 numpy             (unsafe)
pip install flash-attn numpy                 ->  pip install numpy                           (unsafe)
pip install torch --index-url https://download.pytorch.org/whl/cu121    ->  pip install torch
conda install pytorch-cuda=12.1 numpy -c nvidia                         ->  conda install numpy
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from neuron_port.files.base import FileContext, TextEdit, TextReport
from neuron_port.files.commands import Call, Option, options_of
from neuron_port.files.dependencies import Advice, advice, advise
from neuron_port.files.requirements import index
from neuron_port.files.shell_syntax import Removal, Word
from neuron_port.project.conda import conda_requirement

_PIP = {
    "pip": "install",
    "pip3": "install",
    "uv pip": "install",
    "pipenv": "install",
    "pipenv install": "",
    "uv add": "",
    "poetry add": "",
    "pixi add": "",
}
_CONDA = {"conda install": "", "conda create": "", "mamba install": "", "mamba create": "", "micromamba install": "", "micromamba create": ""}  # fmt: skip
_ADDRESSES = ("--index-url", "--extra-index-url", "-i", "-f", "--find-links", "--default-index", "--index")
_CHANNELS = ("-c", "--channel")
# Options whose next word is theirs.
_WITH_VALUE = frozenset(
    "-r --requirement -c --constraint -t --target --prefix --root --python -p --platform --python-version --abi --implementation "
    "--trusted-host --timeout --retries --cache-dir --log --proxy --cert --progress-bar --global-option --config-settings "
    "--install-option -n --name --channel --file --no-binary --only-binary --upgrade-strategy --group --extra -G -E --torch-backend".split()
)
# What keeps a command worth running when all packages that it names go.
_SOURCES = ("-r", "--requirement", "-e", "--editable", "--file")
_SPECIAL = re.compile(r"[<>;&|!*?()\s$\[\]{}~]")


def inspect_install(context: FileContext, call: Call) -> Iterator[TextReport]:
    """Report packages and their indexes in a command that installs them."""
    is_conda = call.program in _CONDA
    verb = _CONDA.get(call.program, _PIP.get(call.program))
    words = list(call.words)
    if verb is None:
        return
    if verb:
        while words and words[0].text.startswith("-"):
            words.pop(0)
        if not words or words[0].text != verb:
            return
        words = words[1:]
    packages = list(_packages(words))
    said = [(word, _said(context, word, is_conda)) for word in packages]
    going = [word for word, found in said if found is not None and found.new == ()]
    sources = any(word.text.partition("=")[0] in _SOURCES for word in words)
    everything = bool(going) and len(going) == len(packages) and not sources
    for word, found in said:
        if found is None:
            continue
        edits: list[TextEdit] = []
        if call.command.sure:
            edits = list(_edits(context, call, word, found, everything, is_conda))
        group = call.command.start + 1 if everything and edits else 0
        yield context.report(
            found.rule.code,
            word.part.starts[0],
            word.part.ends[-1],
            found.message,
            row=found.row,
            edits=edits,
            group=group,
        )
    for option in options_of(call):
        yield from _origin(context, call, option, is_conda)


def _packages(words: list[Word]) -> Iterator[Word]:
    """The words that name a package."""
    before = ""
    for word in words:
        text = word.text
        if text and not text.startswith("-") and before not in _WITH_VALUE and before not in _ADDRESSES:
            yield word
        before = text


def _said(context: FileContext, word: Word, is_conda: bool) -> Advice | None:
    text = word.text
    if not word.literal:
        # The version is a variable's.
        text = re.split(r"[=<>!~$@]", text)[0]
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]*(?:\[[\w,-]*\])?", text):
            return None
    if is_conda:
        requirement = conda_requirement(text, context.path, 1)
        return None if requirement is None else advise(context, requirement)
    return advice(context, text)


def _edits(
    context: FileContext, call: Call, word: Word, found: Advice, everything: bool, is_conda: bool
) -> Iterator[TextEdit]:
    new = found.new
    if new == ():
        removal = _whole(call) if everything else _removal(context.text, call, word)
        if removal is not None:
            yield TextEdit(removal.start, removal.end, removal.content)
    elif new is not None and not is_conda and word.literal and not (call.command.is_items and len(new) > 1):
        quoted = context.text[word.start : word.end] != word.text
        if len(new) == 1 and quoted and word.part.stands_as_is(context.text, 0, len(word.text)):
            yield TextEdit(*word.part.span(0, len(word.text)), new[0])
        elif not call.command.is_items:
            yield TextEdit(word.start, word.end, " ".join(_quoted(text) for text in new))


def _quoted(text: str) -> str:
    return f'"{text}"' if _SPECIAL.search(text) else text


def _whole(call: Call) -> Removal | None:
    """How the command goes, where nothing but this is in it."""
    command = call.command
    if command.is_items or command.piped or command.captured or command.tested or command.settings:
        return None
    return command.removal


def _removal(source: str, call: Call, word: Word) -> Removal:
    words = call.command.words
    place = next(number for number, other in enumerate(words) if other.start == word.start)
    after = words[place + 1] if place + 1 < len(words) else None
    option = Option(word.text, word, None, None, False, words[place - 1] if place else None, (after, None))
    return option.removal(source, False)


def _origin(context: FileContext, call: Call, option: Option, is_conda: bool) -> Iterator[TextReport]:
    """Where the packages come from."""
    if option.value is None or not option.text:
        return
    whole: tuple[int, int] | None = None
    if call.command.sure and (option.separate or not call.command.is_items):
        removal = option.removal(context.text, True)
        whole = (removal.start, removal.end)
    start, end = option.value.span(0, len(option.text))
    if is_conda and option.name in _CHANNELS:
        known = context.row(f"channel:{option.text}")
        if known is not None and known[1].source.startswith("channel:"):
            rule, row = known
            edits = [TextEdit(*whole, "")] if whole is not None else []
            yield context.report(rule.code, start, end, row.message or rule.summary, row=row, edits=edits)
    elif not is_conda and option.name in _ADDRESSES and context.text[start:end] == option.text:
        yield from index(context, option.text, start, whole)

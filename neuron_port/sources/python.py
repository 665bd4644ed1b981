"""Python files: bytes to text and back without a byte of difference, parsing, and atomic writes."""

from __future__ import annotations

import ast
import errno
import io
import os
import re
import stat
import sys
import tokenize
import warnings
from dataclasses import dataclass
from pathlib import Path

BOM = b"\xef\xbb\xbf"

# What ends a line for Python itself. `str.splitlines` also splits at form feeds, vertical tabs and U+2028.
_LINE_END = re.compile(r"\r\n|\r|\n")
_LINE_END_BYTES = re.compile(rb"\r\n|\r|\n")
_FIRST_TWO_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)?[^\r\n]*")
_NO_ASCII = re.compile(rb"[\x80-\xff]")
_WIDE_BOMS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
# Each text has one spelling in these, so what they decoded need not be encoded again to be compared.
_EXACT_ENCODINGS = frozenset({"utf-8", "iso-8859-1", "ascii"})


class UnreadableFile(Exception):
    """A file that cannot be read, decoded, parsed or encoded.

    ``message`` says why, as a clause that follows "The file was not checked: ". ``row`` and ``column`` are 1-based
    and counted in characters; they are 1 where no place is known.
    """

    def __init__(self, message: str, row: int = 1, column: int = 1) -> None:
        super().__init__(message, row, column)
        self.message = message
        self.row = row
        self.column = column

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A decoded Python file. ``text`` is without the BOM and keeps line ends and form feeds as they are."""

    path: Path
    data: bytes
    text: str
    encoding: str
    bom: bool


def read(path: Path) -> SourceFile:
    """Read and decode a file.

    Raises:
        UnreadableFile: it is no regular file, cannot be opened, or its bytes are not the text they claim to be.
    """
    return decode(path, read_bytes(path))


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a regular file.

    Raises:
        UnreadableFile: the file is missing, is no regular file, or may not be read.
    """
    try:
        with open(path, "rb", buffering=0, opener=_open_without_waiting) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise UnreadableFile("it is not a regular file")
            return stream.readall()
    except OSError as error:
        raise UnreadableFile(_why_not_opened(path, error)) from error


def _open_without_waiting(path: str, flags: int) -> int:
    # A named pipe without a writer would block the open for ever.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _why_not_opened(path: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "it is a broken symbolic link" if os.path.islink(path) else "it does not exist any more"
    if isinstance(error, PermissionError):
        return "permission denied"
    if isinstance(error, IsADirectoryError):
        return "it is a folder"
    if error.errno == errno.ELOOP:
        return "it is a loop of symbolic links"
    if error.errno == errno.ENXIO:
        return "it is not a regular file"
    return error.strerror or type(error).__name__


def decode(path: Path, data: bytes) -> SourceFile:
    """Decode bytes as Python would (PEP 263), and make sure that the text can be written back to the same bytes.

    Raises:
        UnreadableFile: unknown encoding, bytes outside the encoding, null bytes, UTF-16 or UTF-32, or an encoding
            that does not give the same bytes again.
    """
    for mark, name in _WIDE_BOMS:
        if data.startswith(mark):
            raise UnreadableFile(f"it is {name} text, which Python does not accept as source code")
    null = data.find(b"\0")
    if null >= 0:
        raise UnreadableFile("it contains null bytes", *place_of_byte(data, null, "utf-8-sig"))
    bom = data.startswith(BOM)
    body = data[len(BOM) :] if bom else data
    encoding = _declared_encoding(data)
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        message = f"byte 0x{body[error.start]:02x} is not valid {encoding}"
        raise UnreadableFile(message, *place_of_byte(body, error.start, encoding)) from error
    except (LookupError, ValueError) as error:
        raise UnreadableFile(f"{encoding} is not a text encoding") from error
    if encoding not in _EXACT_ENCODINGS and not _gives_back(text, encoding, body):
        raise UnreadableFile(f"its {encoding} text cannot be written back byte for byte")
    return SourceFile(path, data, text, encoding, bom)


def _declared_encoding(data: bytes) -> str:
    head = _FIRST_TWO_LINES.match(data)[0]
    if b"coding" not in head:
        return "utf-8"
    # detect_encoding ends lines at "\n" only and wants them to be UTF-8; Python itself is not so strict.
    mark = BOM if data.startswith(BOM) else b""
    lines = [_NO_ASCII.sub(b"?", line) + b"\n" for line in _LINE_END_BYTES.split(head.removeprefix(BOM))]
    lines[0] = mark + lines[0]
    remaining = iter(lines)
    try:
        encoding, _ = tokenize.detect_encoding(lambda: next(remaining, b""))
    except SyntaxError as error:
        row = 1 if b"coding" in lines[0] else 2
        raise UnreadableFile(f"its encoding declaration does not hold ({error.msg})", row) from error
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _gives_back(text: str, encoding: str, body: bytes) -> bool:
    try:
        return text.encode(encoding) == body
    except UnicodeError:
        return False


def place_of_byte(data: bytes, offset: int, encoding: str) -> tuple[int, int]:
    """Line and column, 1-based, of the byte at ``offset``."""
    before = _LINE_END_BYTES.split(data[:offset])
    return len(before), len(before[-1].decode(encoding, errors="replace")) + 1


def encode(source: SourceFile, new_text: str) -> bytes:
    """Return ``new_text`` as bytes in the encoding and with the BOM of ``source``.

    Raises:
        UnreadableFile: the encoding that the file declares cannot hold the text.
    """
    try:
        body = new_text.encode(source.encoding)
    except UnicodeEncodeError as error:
        lines = split_lines(new_text[: error.start] + "|")
        character = new_text[error.start]
        message = f"the new text holds {character!r}, which {source.encoding} does not have"
        raise UnreadableFile(message, len(lines), len(lines[-1])) from error
    if source.encoding not in _EXACT_ENCODINGS and body.decode(source.encoding) != new_text:
        raise UnreadableFile(f"the new text cannot be written as {source.encoding}")
    return BOM + body if source.bom else body


def split_lines(text: str) -> list[str]:
    """Split text into lines with their ends kept, where Python's parser splits it (``\\r\\n``, ``\\r``, ``\\n``)."""
    return io.StringIO(text, newline="").readlines()


def parse(text: str) -> ast.Module:
    """Parse source text with the running Python's own parser, without warnings about the user's code.

    Raises:
        UnreadableFile: the text is no valid Python for this interpreter, or is nested too deeply for it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        message = f"it is not valid Python {version} ({error.msg})"
        raise UnreadableFile(message, max(error.lineno or 1, 1), max(error.offset or 1, 1)) from error
    except (RecursionError, MemoryError) as error:
        raise UnreadableFile("it is nested too deeply to be parsed") from error
    except ValueError as error:
        raise UnreadableFile(f"it cannot be parsed ({error})") from error


def write_atomic(path: Path, data: bytes) -> None:
    """Replace the content of an existing file in one step, keeping its mode and, where allowed, its owner.

    A symbolic link stays a link: the file that it leads to is replaced. When anything fails, Ctrl-C included, the
    file is as it was and no temporary file is left.

    Raises:
        OSError: the file is missing, read-only, or its folder does not let a new file be made.
    """
    target = os.path.realpath(path)
    status = os.stat(target)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    # os.replace asks the folder alone, and root may write everything: a read-only file has to be asked about.
    if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only", str(path))
    _replace(target, data, status)


def create_or_replace(path: Path, data: bytes) -> None:
    """Write a file of the tool's own in one step, whether it exists or not; with the usual mode for new files.

    Raises:
        OSError: its folder is missing or does not let a new file be made.
    """
    _replace(os.path.realpath(path), data, None)


def _replace(target: str, data: bytes, status: os.stat_result | None) -> None:
    folder, name = os.path.split(target)
    # Named before it exists, so that there is no moment in which an interrupt could leave it behind.
    temporary = os.path.join(folder, f".{name[:100]}.{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if status is not None:
            _keep_owner(temporary, status)
            os.chmod(temporary, stat.S_IMODE(status.st_mode))
        os.replace(temporary, target)
    except BaseException:
        _remove(temporary)
        raise


def _keep_owner(temporary: str, status: os.stat_result) -> None:
    mine = os.stat(temporary)
    if (mine.st_uid, mine.st_gid) == (status.st_uid, status.st_gid) or not hasattr(os, "chown"):
        return
    try:
        os.chown(temporary, status.st_uid, status.st_gid)
    except PermissionError:
        # Only root may give a file away; a changed owner is better than no edit, as with any editor.
        return


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return

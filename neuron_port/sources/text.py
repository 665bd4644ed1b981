"""Files that are not Python: bytes to text and back without a byte of difference."""

from __future__ import annotations

from pathlib import Path

from neuron_port.sources.python import BOM, SourceFile, UnreadableFile, place_of_byte

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_UTF_32 = (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")


def is_wide(data: bytes) -> bool:
    """Whether a byte order mark says that each character takes two bytes or more."""
    return data.startswith(_UTF_16)


def decode_text(path: Path, data: bytes, *, strict: bool) -> SourceFile:
    """Decode a file that has no declaration of its encoding.

    UTF-8, or UTF-16 with a byte order mark (what ``pip freeze >`` writes in PowerShell). Other bytes are kept as they
    are, one character each, unless ``strict`` says that the format is UTF-8 by definition.

    Raises:
        UnreadableFile: the bytes are no text.
    """
    if data.startswith(_UTF_32):
        raise UnreadableFile("it is UTF-32 text")
    if is_wide(data):
        return _wide(path, data, strict)
    null = data.find(b"\0")
    if null >= 0:
        raise UnreadableFile("it contains null bytes", *place_of_byte(data, null, "utf-8-sig"))
    bom = data.startswith(BOM)
    body = data[len(BOM) :] if bom else data
    try:
        return SourceFile(path, data, body.decode("utf-8"), "utf-8", bom)
    except UnicodeDecodeError as error:
        if strict or bom:
            message = f"byte 0x{body[error.start]:02x} is not valid utf-8"
            raise UnreadableFile(message, *place_of_byte(body, error.start, "utf-8")) from error
    return SourceFile(path, data, body.decode("iso-8859-1"), "iso-8859-1", False)


def _wide(path: Path, data: bytes, strict: bool) -> SourceFile:
    if strict:
        raise UnreadableFile("it is UTF-16 text, and its format has to be UTF-8")
    try:
        text = data.decode("utf-16")
    except UnicodeDecodeError as error:
        raise UnreadableFile("it is not the UTF-16 text that its first bytes say it is") from error
    if text.encode("utf-16") != data:
        raise UnreadableFile("its UTF-16 text cannot be written back byte for byte")
    return SourceFile(path, data, text, "utf-16", False)

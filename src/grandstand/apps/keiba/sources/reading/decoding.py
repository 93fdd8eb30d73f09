"""Kept here: bytes of a page into text, by what the page says and what its bytes bear out."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Encoding: TypeAlias = Literal["utf-8", "euc-jp", "cp932"]

_LOST: Final = "\ufffd"
_HEAD_BYTES: Final = 4096
_META: Final = re.compile(rb"charset\s*=\s*[\"']?\s*([A-Za-z0-9_\-]{3,20})", re.IGNORECASE)
_HEADER: Final = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_\-]{3,20})", re.IGNORECASE)
_NAMES: Final[dict[str, Encoding]] = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "euc-jp": "euc-jp",
    "eucjp": "euc-jp",
    "x-euc-jp": "euc-jp",
    "cp51932": "euc-jp",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "cp932": "cp932",
}
_USUAL: Final[tuple[Encoding, ...]] = ("utf-8", "euc-jp", "cp932")
_VENDOR: Final = "grandstand-cp51932"
_PAIR: Final = 2
_ABOVE_ASCII: Final = 0xA0
_LAST_LOW_ROW: Final = 0x5E
_FIRST_HIGH_CELL: Final = 0x60


@dataclass(frozen=True, slots=True)
class Decoded:
    """A page's text; `lost` is how many places could not be read, `said` what it claims to be."""

    text: str
    encoding: Encoding
    lost: int = 0
    said: Encoding | None = None


def decode(body: bytes, content_type: str = "") -> Decoded:
    """Answer the text of a page, in the encoding that loses least of it.

    The header comes first, then the page's own word, then what is usual; a declaration that its
    bytes contradict is not believed. ISO-8859-1 is what servers say when they know nothing.
    """
    named = _named(body, content_type)
    said = named[0] if named else None
    # Nearly any bytes are CP932, so a page that says so is first held against what is not.
    strict = [name for name in named if name != "cp932"]
    found: list[Decoded] = []
    for encoding in dict.fromkeys((*strict, *_USUAL)):
        text = _decoded(body, encoding)
        found.append(Decoded(text, encoding, text.count(_LOST), said))
        if not found[-1].lost:
            return found[-1]
    return min(found, key=lambda one: one.lost)


def _named(body: bytes, content_type: str) -> list[Encoding]:
    """Answer the encodings that the header and the page name, as far as they are known."""
    said = _HEADER.findall(content_type)[:1]
    said += [name.decode("ascii") for name in _META.findall(body[:_HEAD_BYTES])[:1]]
    return [_NAMES[name] for name in map(_plain, said) if name in _NAMES]


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def _decoded(body: bytes, encoding: Encoding) -> str:
    """Decode leniently; a letter that the end of the bytes cuts in two is one place lost."""
    if encoding == "euc-jp":
        codecs.register_error(_VENDOR, _vendor_letter)
        return body.decode("euc_jp", _VENDOR)
    return body.removeprefix(codecs.BOM_UTF8).decode(encoding, "replace")


def _vendor_letter(error: UnicodeError) -> tuple[str, int]:
    """Read what Windows adds to EUC-JP (rows 13 and 89 to 92, among it circled numbers).

    Python's own codec does not know these; their places in CP932 follow from the same rows.
    """
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + _PAIR]
    if len(pair) == _PAIR and min(pair) > _ABOVE_ASCII:
        row, cell = pair[0] - 0x80, pair[1] - 0x80
        first = ((row - 1) >> 1) + (0x71 if row <= _LAST_LOW_ROW else 0xB1)
        odd = cell + (0x1F if cell < _FIRST_HIGH_CELL else 0x20)
        letter = bytes((first, odd if row & 1 else cell + 0x7E)).decode("cp932", "replace")
        if len(letter) == 1 and letter != _LOST:
            return letter, error.start + _PAIR
    return _LOST, error.start + 1

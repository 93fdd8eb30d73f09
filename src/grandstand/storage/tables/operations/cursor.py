"""Kept here: where a page ended, as a text that only the same question takes back."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Final

import msgspec

from grandstand.storage.tables.encoding.packing import pack, unpack
from grandstand.storage.tables.errors import CursorInvalid
from grandstand.storage.tables.values import Key

_MARK: Final = 8


def question_mark(question: object) -> bytes:
    """Answer a short mark of a question, so that a cursor cannot be used for another one."""
    return hashlib.sha256(repr(question).encode()).digest()[:_MARK]


def write_cursor(question: object, key: Key) -> str:
    """Write the place after `key` as an opaque, URL-safe text."""
    body = pack(key)
    mark = question_mark(question)
    seal = hashlib.sha256(mark + body).digest()[:_MARK]
    return base64.urlsafe_b64encode(seal + body).rstrip(b"=").decode()


def read_cursor(question: object, cursor: str) -> Key:
    """Read the place back; raise CursorInvalid when it is damaged or another question's."""
    try:
        data = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        seal, body = data[:_MARK], data[_MARK:]
        if hashlib.sha256(question_mark(question) + body).digest()[:_MARK] == seal:
            return unpack(body)
    except (binascii.Error, ValueError, msgspec.DecodeError):
        pass
    message = "This cursor is damaged or belongs to another question: start from the first page"
    raise CursorInvalid(message)

"""Kept here: whether a text is what somebody looks for, and how near it is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

T = TypeVar("T")

MOST: Final = 8
_SHORT: Final = 3
# Two marks make another letter of a Japanese one: ha, ba and pa are not the same.
_VOICED: Final = ("\u3099", "\u309a")
_KATAKANA: Final = {letter: letter + 0x60 for letter in range(0x3041, 0x3097)}
_BREAKS: Final = re.compile(r"[^\w]+")


def folded(text: str) -> str:
    """Answer a text as it is compared: without case and accents, wide or narrow, all katakana."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    kept = (one for one in parts if not unicodedata.combining(one) or one in _VOICED)
    return "".join(kept).translate(_KATAKANA)


def nearness(sought: str, *texts: str) -> int | None:
    """Answer how near texts are to what is sought, 0 the nearest; None when they are not it.

    Every word sought has to be in one of the texts: best as the whole of it, then at its start,
    then at the start of a word, then anywhere; one or two Latin letters only begin a word.
    """
    words = [word for word in folded(sought).split() if _BREAKS.sub("", word)]
    held = [folded(text) for text in texts if text]
    if not words or not all(any(word in text for text in held) for word in words):
        return None
    whole = " ".join(words)
    if whole in held:
        return 0
    if any(text.startswith(whole) for text in held):
        return 1
    parts = [part for text in held for part in _BREAKS.split(text)]
    inside = [word for word in words if not any(part.startswith(word) for part in parts)]
    if any(len(word) < _SHORT and word.isascii() for word in inside):
        return None
    return 3 if inside else 2


def nearest(
    sought: str, things: Iterable[T], texts: Callable[[T], tuple[str, ...]], most: int = MOST
) -> tuple[T, ...]:
    """Answer so many of the things sought, the nearest first, else as they were given."""
    ranked = [(nearness(sought, *texts(thing)), thing) for thing in things]
    found = [(rank, thing) for rank, thing in ranked if rank is not None]
    return tuple(thing for _, thing in sorted(found, key=lambda one: one[0])[:most])

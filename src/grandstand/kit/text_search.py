"""Fuzzy matching for the search box."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

T = TypeVar("T")

MAX_HITS: Final = 8
# The two voicing marks make another letter: ha, ba and pa differ.
_VOICED: Final = ("\u3099", "\u309a")
_KATAKANA: Final = {letter: letter + 0x60 for letter in range(0x3041, 0x3097)}
_BREAKS: Final = re.compile(r"[^\w]+")


def normalize(text: str) -> str:
    """Return a text for comparison: without case, accents and width, hiragana as katakana."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    kept = (one for one in parts if not unicodedata.combining(one) or one in _VOICED)
    return "".join(kept).translate(_KATAKANA)


def match_rank(query: str, *texts: str) -> int | None:
    """Return how well texts match a query, 0 being best; None if they do not.

    Every word of the query must occur in one of the texts: best as a whole, then at its start, then
    at the start of a word, then anywhere. One or two Latin letters must start a word.
    """
    words = [word for word in normalize(query).split() if _BREAKS.sub("", word)]
    held = [normalize(text) for text in texts if text]
    if not words or not all(any(word in text for text in held) for word in words):
        return None
    whole = " ".join(words)
    if whole in held:
        return 0
    if any(text.startswith(whole) for text in held):
        return 1
    parts = [part for text in held for part in _BREAKS.split(text)]
    inside = [word for word in words if not any(part.startswith(word) for part in parts)]
    if any(len(word) < 3 and word.isascii() for word in inside):
        return None
    return 3 if inside else 2


def best_matches(
    query: str, things: Iterable[T], texts: Callable[[T], tuple[str, ...]], most: int = MAX_HITS
) -> tuple[T, ...]:
    """Return up to `limit` items, best match first, otherwise in the given order."""
    ranked = [(match_rank(query, *texts(thing)), thing) for thing in things]
    found = [(rank, thing) for rank, thing in ranked if rank is not None]
    return tuple(thing for _, thing in sorted(found, key=lambda one: one[0])[:most])

"""Kept here: an answer cut into pieces, so that the passages scores rest on can be shown in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

_QUOTED: Final = re.compile("“([^”]+)”")


@dataclass(frozen=True, slots=True)
class Passage:
    """A quote behind a score, and the place in the answers it leads to; none when not found."""

    quote: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason for a score: its words, the passage it quotes, if any, and the words after that."""

    words: str
    passage: Passage | None = None
    after: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """Where a quote stands in an answer, and the number of the dimension it speaks for."""

    start: int
    end: int
    dimension: int
    anchor: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of an answer: the dimensions quoted there, what begins here, and what ends here."""

    text: str
    dimensions: tuple[int, ...] = ()
    anchors: tuple[str, ...] = ()
    ends: tuple[int, ...] = ()


def place_of(text: str, quote: str) -> tuple[int, int] | None:
    """Answer where a quote stands in a text, however its words are spaced; None when nowhere."""
    at = text.find(quote) if quote else -1
    if at >= 0:
        return at, at + len(quote)
    words = [re.escape(word) for word in quote.split()]
    found = re.search(r"\s+".join(words), text) if words else None
    return None if found is None else found.span()


def quoted(reason: str) -> str:
    """Answer what a reason quotes first; nothing when it quotes nothing."""
    found = _QUOTED.search(reason)
    return "" if found is None else found.group(1)


def reason_of(text: str, passage: Passage | None) -> Reason:
    """Take a reason apart around the passage it quotes."""
    found = _QUOTED.search(text)
    if found is None or passage is None:
        return Reason(text)
    return Reason(text[: found.start()], passage, text[found.end() :])


def pieces(text: str, found: Sequence[Found]) -> tuple[Piece, ...]:
    """Cut a text where quotes begin and end; together the pieces are the text."""
    cuts = sorted({0, len(text), *(f.start for f in found), *(f.end for f in found)})
    made = []
    for start, end in pairwise(cuts):
        over = [each for each in found if each.start <= start and each.end >= end]
        made.append(
            Piece(
                text=text[start:end],
                dimensions=_numbers(over),
                anchors=tuple(each.anchor for each in over if each.start == start),
                ends=_numbers([each for each in over if each.end == end]),
            )
        )
    return tuple(made)


def _numbers(found: Sequence[Found]) -> tuple[int, ...]:
    return tuple(sorted({each.dimension for each in found}))

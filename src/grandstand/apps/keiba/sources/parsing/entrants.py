"""Kept here: the cells that a card and a result share: horse, people and weights of one row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborNode

from grandstand.apps.keiba.sources.reading import text
from grandstand.apps.keiba.sources.reading.links import horse_in, jockey_in, trainer_in
from grandstand.apps.keiba.sources.reading.page import Reading, link_of, text_of

_STABLE: Final = re.compile(r"\[?(美浦|栗東|[^\s\[\]]{1,4})\]?\s+(\S.*)")


@dataclass(frozen=True, slots=True)
class Horse:
    """A horse as a row names it."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Person:
    """A jockey or trainer as a row names them; a trainer's stable, a jockey's mark beside it."""

    id: str | None = None
    name: str | None = None
    beside: str | None = None


def horse_of(cell: LexborNode | None, reading: Reading, where: str) -> Horse | None:
    """Answer the horse of a cell; one that cannot be told from others is noted and left out."""
    for link in cell.css("a[href]") if cell else []:
        found = horse_in(link_of(link))
        if found:
            name = text_of(link) or text.normal(link.attributes.get("title"))
            if not name:
                reading.warn(f"horse {found} has no name")
            return Horse(found, name or found)
    reading.warn(f"{where} has no horse that can be told from others and is left out")
    return None


def jockey_of(cell: LexborNode | None) -> Person:
    """Answer the jockey of a cell, without the mark of an allowance in the name."""
    mark, name = text.jockey(text_of(cell))
    return Person(jockey_in(link_of(cell)), name, mark)


def trainer_of(cell: LexborNode | None) -> Person:
    """Answer the trainer of a cell and the stable written before the name."""
    if cell is None:
        return Person()
    link = cell.css_first("a[href]")
    name = text_of(link) or None
    stable = text_of(cell.css_first("span"))
    if not stable and name is None:
        found = _STABLE.fullmatch(text_of(cell))
        name, stable = (found[2], found[1]) if found else (text_of(cell) or None, "")
    elif not stable:
        stable = text_of(cell).replace(name or "", "", 1).strip(" []")
    return Person(trainer_in(link_of(link)), name, stable.strip("[]") or None)

"""Kept here: the page of a horse's ancestors: five generations in 62 cells of one table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from selectolax.lexbor import LexborNode

from grandstand.apps.keiba.model.people import Ancestor, Pedigree
from grandstand.apps.keiba.sources.reading.links import horse_in
from grandstand.apps.keiba.sources.reading.page import (
    Page,
    Parsed,
    Reading,
    classes_of,
    lines_of,
    link_of,
    open_page,
)
from grandstand.apps.keiba.sources.reading.tables import cells_of, rows_of

_ROWS: Final = 32
_GENERATIONS: Final = {16: 1, 8: 2, 4: 3, 2: 4, 1: 5}
_ANCESTORS: Final = 62
_BORN: Final = re.compile(r"([0-9]{4})(?:\s+(\S+毛))?")
_ABROAD: Final = re.compile(r"(.{1,60}?)\s*\((\S{1,8})\)")
_FAMILY: Final = re.compile(r"FNo\.?\s*\[([^\]]{1,10})\]")
_LINKS: Final = frozenset({"血統", "産駒", "[", "]", "[]", "|"})


def parse_pedigree(page: Page, horse_id: str) -> Parsed[Pedigree]:
    """Answer five generations, or what can be told of them; raise PageUnreadable.

    Sire and dam are the two cells that span sixteen rows, and no others.
    """
    reading = open_page(page)
    table = reading.tree.css_first("table.blood_table")
    if table is None:
        raise reading.unreadable("it has no table of ancestors")
    rows = rows_of(table)
    found = dict(_parents(rows))
    if not found:
        raise reading.unreadable("neither sire nor dam is found in it")
    if len(rows) == _ROWS:
        found |= {path: cell for path, cell in _all(rows) if path not in found}
    else:
        reading.warn(f"the table has {len(rows)} rows, so that only the parents can be told")
    horses = [_ancestor(path, found[path]) for path in sorted(found, key=_order)]
    known = tuple(horse for horse in horses if horse.id or horse.name)
    if not known:
        raise reading.unreadable("its ancestors have no names")
    _note_missing(reading, known)
    return reading.parsed(Pedigree(horse_id, known))


def _order(path: str) -> tuple[int, str]:
    return len(path), path.replace("S", "A")


def _note_missing(reading: Reading, known: tuple[Ancestor, ...]) -> None:
    paths = {horse.path for horse in known}
    for path, word in (("S", "sire"), ("D", "dam")):
        if path not in paths:
            reading.warn(f"the {word} is not named")
    if len(known) < _ANCESTORS:
        reading.warn(f"{_ANCESTORS - len(known)} of {_ANCESTORS} ancestors are not named")


def _parents(rows: list[LexborNode]) -> Iterator[tuple[str, LexborNode]]:
    for cell in (cell for row in rows for cell in cells_of(row)):
        if _span(cell) == _ROWS // 2:
            if "b_ml" in classes_of(cell):
                yield "S", cell
            elif "b_fml" in classes_of(cell):
                yield "D", cell


def _all(rows: list[LexborNode]) -> Iterator[tuple[str, LexborNode]]:
    """Answer every cell with its path: its row and span say which of its generation it is."""
    for at, row in enumerate(rows):
        for cell in cells_of(row):
            span = _span(cell)
            generation = _GENERATIONS.get(span)
            if generation is not None and at % span == 0:
                nth = f"{at // span:0{generation}b}"
                yield nth.replace("0", "S").replace("1", "D"), cell


def _span(cell: LexborNode) -> int:
    said = cell.attributes.get("rowspan") or "1"
    return int(said) if said in {"1", "2", "4", "8", "16"} else 0


def _ancestor(path: str, cell: LexborNode) -> Ancestor:
    lines = [line for line in lines_of(cell) if line not in _LINKS]
    horse = horse_in(link_of(cell)) or next(
        (one for link in cell.css("a[href]") if (one := horse_in(link_of(link)))), None
    )
    said: dict[str, Any] = {}
    for line in lines:
        _add(said, line)
    return Ancestor(path, horse, **said)


def _add(said: dict[str, Any], line: str) -> None:
    """Add what one line of a cell says of a horse."""
    if "FNo" in line and (family := _FAMILY.search(line)):
        said["family"] = family[1]
    elif born := _BORN.fullmatch(line):
        said["born_year"], said["coat"] = int(born[1]), born[2]
    elif line.endswith(")") and (abroad := _ABROAD.fullmatch(line)):
        said["english_name" if "name" in said else "name"] = abroad[1]
        said["country"] = abroad[2]
    elif "name" not in said:
        said["name"] = line
    elif "english_name" not in said and line.isascii() and any(map(str.isalpha, line)):
        said["english_name"] = line

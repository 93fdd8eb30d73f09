"""Kept here: the odds of a race: JSON on national tracks, tables of a page on local ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Final

import msgspec
from selectolax.lexbor import LexborNode

from grandstand.apps.keiba.model.errors import NotPublished, PageUnreadable
from grandstand.apps.keiba.model.races import Odds, PlaceOdds, WinOdds
from grandstand.apps.keiba.model.words import OddsStatus
from grandstand.apps.keiba.sources.reading import text
from grandstand.apps.keiba.sources.reading.page import (
    Page,
    Parsed,
    Reading,
    open_page,
    page_text,
    text_of,
)
from grandstand.apps.keiba.sources.reading.tables import Row, body_of

_JAPAN: Final = timezone(timedelta(hours=9))
_STATUSES: Final[dict[str, OddsStatus]] = {
    "result": "final",
    "middle": "live",
    "yoso": "forecast",
}
_MOMENT: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2}) ([0-9]{2}):([0-9]{2})(?::[0-9]{2})?")
_FROM_TO: Final = re.compile(r"([0-9.]{1,8})\s*-\s*([0-9.]{1,8})")
_WIN, _PLACE = "1", "2"
_TRIPLE: Final = 3


def parse_odds(page: Page, race_id: str) -> Parsed[Odds]:
    """Answer the odds in the site's JSON; raise NotPublished without any, or PageUnreadable."""
    try:
        said = msgspec.json.decode(page_text(page).text)
    except msgspec.DecodeError:
        raise PageUnreadable(page.address, "it is no JSON") from None
    if not isinstance(said, dict) or not isinstance(said.get("status"), str):
        raise PageUnreadable(page.address, "its JSON is not of odds")
    data = said.get("data")
    tables = data.get("odds") if isinstance(data, dict) else None
    status = _STATUSES.get(said["status"])
    if status is None or not isinstance(data, dict) or not isinstance(tables, dict):
        raise NotPublished(page.address, f"there are no odds yet ({said['status'][:20]})")
    if not tables.get(_WIN):
        raise NotPublished(page.address, f"there are no odds yet ({said['status'][:20]})")
    reading = Reading(page.address, "")
    wins = tuple(_wins(tables.get(_WIN), reading))
    if not wins:
        raise PageUnreadable(page.address, "its JSON names no horse with odds")
    return reading.parsed(
        Odds(
            race_id,
            status,
            wins,
            tuple(_places(tables.get(_PLACE), reading)),
            _moment(data.get("official_datetime")),
        )
    )


def parse_local_odds(page: Page, race_id: str) -> Parsed[Odds]:
    """Answer the odds in the tables of a local race; raise NotPublished, or PageUnreadable."""
    reading = open_page(page)
    block = reading.tree.css_first("#odds_tan_block")
    if block is None:
        raise reading.unreadable("it has no table of odds")
    wins = tuple(_local_wins(block, reading))
    if block.css_first("table") is None or (not wins and block.css_first("td") is not None):
        raise reading.unreadable("not one horse is found in its table of odds")
    if all(one.odds is None for one in wins):
        raise NotPublished(page.address, "there are no odds yet")
    places = tuple(_local_places(reading.tree.css_first("#odds_fuku_block"), reading))
    return reading.parsed(Odds(race_id, "live", wins, places))


def _wins(table: object, reading: Reading) -> Iterator[WinOdds]:
    for number, (odds, _, rank) in _triples(table, reading):
        yield WinOdds(number, _priced(odds), text.positive(rank))


def _places(table: object, reading: Reading) -> Iterator[PlaceOdds]:
    for number, (low, high, rank) in _triples(table, reading):
        yield PlaceOdds(number, _priced(low), _priced(high), text.positive(rank))


def _triples(table: object, reading: Reading) -> Iterator[tuple[int, tuple[str, str, str]]]:
    """Answer the three texts of each horse, in the order of their numbers."""
    if not isinstance(table, Mapping):
        return
    found: dict[int, tuple[str, str, str]] = {}
    for key, value in table.items():
        number = text.positive(str(key))
        if number is None or not isinstance(value, list) or len(value) < _TRIPLE:
            reading.warn(f"the odds of {str(key)[:10]!r} cannot be made out")
            continue
        found[number] = (str(value[0]), str(value[1]), str(value[2]))
    yield from sorted(found.items())


def _priced(written: str) -> Decimal | None:
    """Answer odds; a horse that does not run has none, written as nought or less."""
    odds = text.decimal(written)
    return odds if odds is not None and odds > 0 else None


def _moment(written: object) -> datetime | None:
    found = _MOMENT.match(written) if isinstance(written, str) else None
    if found is None:
        return None
    try:
        year, month, day, hour, minute = map(int, found.groups())
        return datetime(year, month, day, hour, minute, tzinfo=_JAPAN)
    except ValueError:
        return None


def _local_rows(block: LexborNode | None) -> Iterator[tuple[int, Row]]:
    for table in block.css("table") if block else []:
        for row in body_of(table):
            number = text.positive(row.text("馬番"))
            if number is not None:
                yield number, row


def _local_wins(block: LexborNode, reading: Reading) -> Iterator[WinOdds]:
    for number, row in _local_rows(block):
        cell = row.cell("オッズ", "単勝オッズ", "単勝") or row.node.css_first("td.Odds")
        if cell is None:
            reading.warn(f"horse {number} has no cell for its odds")
        yield WinOdds(number, _priced(text_of(cell)), text.positive(row.text("人気")))


def _local_places(block: LexborNode | None, reading: Reading) -> Iterator[PlaceOdds]:
    for number, row in _local_rows(block):
        cell = row.cell("オッズ", "複勝オッズ", "複勝") or row.node.css_first("td.Odds")
        found = _FROM_TO.search(text_of(cell))
        if found is None:
            reading.warn(f"horse {number} has no odds for a place")
        low, high = (found[1], found[2]) if found else ("", "")
        yield PlaceOdds(number, _priced(low), _priced(high))

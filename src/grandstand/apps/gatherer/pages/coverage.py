"""Kept here: how complete the recording is: a map of markets and hours, and the gaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.gatherer.model.coverage import HOUR, Covered
from grandstand.apps.gatherer.model.incidents import GapReason
from grandstand.apps.gatherer.pages.part import PagesPart, moment
from grandstand.apps.gatherer.service import Gap
from grandstand.apps.gatherer.service.reporting import report
from grandstand.kit.pages import shown
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import Who, page

SHOWN_HOURS: Final = 24
_SHOWN_MARKETS: Final = 40
_MICRO: Final = 1_000_000
_PERCENT: Final = 100
_LEVELS: Final = ((50, "poor"), (90, "low"), (99, "near"), (100, "almost"))
_COLUMNS: Final = (
    Column("found", "Found", "time"),
    Column("healed", "Healed after", "number"),
    Column("why", "Why"),
    Column("markets", "Markets", "number"),
    Column("connection", "Connection", rank=2),
    Column("expected", "Number due", "number", rank=2),
    Column("got", "Number got", "number", rank=2),
)
_WHY: Final[Mapping[str, str]] = {
    GapReason.MISSED: "a message was missed",
    GapReason.NEGATIVE: "a size fell below nothing",
    GapReason.CROSSED: "bids met asks",
    GapReason.REFUSED: "a message was not understood",
    GapReason.UNSEEDED: "changes came before a whole book",
    GapReason.ENDED: "the exchange ended it",
    GapReason.DISCONNECTED: "not connected",
    GapReason.AUDIT: "an audit differed",
    GapReason.LEFT: "followed no more for a while",
}
"""Why a gap began, in words."""
_CHANNELS: Final[Mapping[str, str]] = {
    "orderbook_delta": "books",
    "trade": "trades",
    "ticker": "summaries",
    "market_lifecycle_v2": "news of markets",
}
_names: Final = msgspec.json.Decoder(list[str])


@dataclass(frozen=True, slots=True)
class Square:
    """One hour of one market: a class for its colour, what stands in it, and what it says."""

    level: str
    shown: str
    said: str


@dataclass(frozen=True, slots=True)
class Line:
    """A market and its hours."""

    ticker: str
    share: str
    squares: tuple[Square, ...]


class CoveragePages(PagesPart):
    """The heat map of a day, hour by hour, and its gaps."""

    @page("/coverage")
    async def coverage(self, request: Request, who: Who) -> Response:
        """The last hours, or those before a moment; the least whole markets first."""
        now, query = self._gatherer.now_us(), request.query_params
        last = _last_hour(query, now)
        start, end = last - (SHOWN_HOURS - 1) * HOUR, min(last + HOUR, now)
        sought = query.get("find", "").strip()[:_PERCENT]
        cells = await self._gatherer.coverage(start, end)
        kept = [one for one in cells if sought.casefold() in one.ticker.casefold()]
        lines = heat_lines(kept, start)
        gaps = await self._gatherer.gaps(start, end)
        hours = [moment(start + place * HOUR) for place in reversed(range(SHOWN_HOURS))]
        return self._render(
            request,
            "coverage",
            here="coverage",
            report=report(kept, start, end),
            lines=lines[:_SHOWN_MARKETS],
            found=len(lines),
            hours=[_clock(hour, who.preferences.time_zone) for hour in hours],
            start=moment(start),
            end=moment(end),
            sought=sought,
            earlier=(last - SHOWN_HOURS * HOUR) // HOUR,
            later=None if last + HOUR > now else min(last + SHOWN_HOURS * HOUR, now) // HOUR,
            gaps=_gaps(gaps, who.preferences.time_zone).view(query),
        )


def heat_lines(cells: Iterable[Covered], start: int) -> list[Line]:
    """Answer a line for each market, those that miss most first; the newest hour is the first."""
    markets: dict[str, dict[int, Covered]] = {}
    for one in cells:
        markets.setdefault(one.ticker, {})[(one.hour - start) // HOUR] = one
    ranked = sorted(markets.items(), key=lambda item: (_missed(item[1]), item[0]))
    return [
        Line(ticker, _share(by_hour.values()), tuple(map(_square, _day(by_hour))))
        for ticker, by_hour in ranked
    ]


def _day(by_hour: Mapping[int, Covered]) -> list[Covered | None]:
    return [by_hour.get(place) for place in reversed(range(SHOWN_HOURS))]


def _missed(by_hour: Mapping[int, Covered]) -> int:
    return -sum(one.expected_us - one.seen_us for one in by_hour.values())


def _share(cells: Iterable[Covered]) -> str:
    held = [*cells]
    return report(held, 0, 0).seen


def _square(one: Covered | None) -> Square:
    if one is None or not one.expected_us:
        return Square("none", "", "not recorded")
    percent = one.seen_us * _PERCENT // one.expected_us
    told = f"{percent} % seen" if one.seen_us < one.expected_us else "whole"
    if one.gaps:
        told += f", {one.gaps} {'gap' if one.gaps == 1 else 'gaps'}, {one.healed} healed"
    if one.audited:
        told += f", {one.audited} audited"
    if one.differed:
        return Square("poor", "≠", f"{told}, {one.differed} differed")
    if one.seen_us == one.expected_us:
        return Square("whole", "", told)
    level = next(name for most, name in _LEVELS if percent < most)
    return Square(level, str(percent), told)


def _last_hour(query: Mapping[str, str], now: int) -> int:
    asked, present = query.get("until", ""), now // HOUR
    known = asked.isascii() and asked.isdigit() and len(asked) <= len(str(present))
    hour = min(max(int(asked), SHOWN_HOURS), present) if known else present
    return hour * HOUR


def _clock(hour: datetime | None, zone: str) -> str:
    return "" if hour is None else shown.local_time(hour, zone, "clock")


def _gaps(gaps: Iterable[Gap], zone: str) -> DataTable:
    rows = tuple(_gap(one, zone) for one in sorted(gaps, key=lambda one: -one.detected_at))
    return DataTable("gaps", "Gaps", _COLUMNS, rows)


def _gap(one: Gap, zone: str) -> Row:
    length = None if one.resolved_at is None else one.resolved_at - one.detected_at
    healed = Cell("Open", tone="bad", badge=True)
    if length is not None:
        healed = Cell(shown.duration(length / _MICRO), length)
    markets = len(_names.decode(one.tickers)) or None if one.tickers else None
    reason = one.reason or GapReason.MISSED
    why = _WHY.get(reason, reason)
    return Row(
        f"{one.detected_at}-{one.conn}-{one.sid}-{one.expected_seq}",
        (
            Cell(shown.time_tag(moment(one.detected_at), zone, "second"), one.detected_at),
            healed,
            Cell(why if markets else f"{why}: {_CHANNELS.get(one.channel or '', 'everything')}"),
            Cell(shown.number(markets), markets),
            Cell(f"subscription {one.sid}" if one.conn else "before a restart"),
            Cell(shown.number(one.expected_seq or None), one.expected_seq),
            Cell(shown.number(one.got_seq), one.got_seq),
        ),
    )

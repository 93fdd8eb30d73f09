"""Coverage of the recording: a heat map of markets and hours, and the gaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.gatherer.domain.coverage import HOUR_US, HourCoverage, summarize
from grandstand.apps.gatherer.domain.feed_events import GapReason
from grandstand.apps.gatherer.domain.messages import datetime_from_us
from grandstand.apps.gatherer.pages.markets import GathererPageGroup, to_datetime
from grandstand.apps.gatherer.services.coverage import RecordingGap
from grandstand.core import formatting
from grandstand.kit.pages.rendering import time_tag
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import CurrentCaller, page

HOURS_SHOWN: Final = 24
_MAX_MARKETS: Final = 40
_MAX_CHARS: Final = 100
_MICRO: Final = 1_000_000
_SHARE_LEVELS: Final = ((50, "poor"), (90, "low"), (99, "near"), (100, "almost"))
_COLUMNS: Final = (
    Column("found", "Found", "time"),
    Column("closed", "Duration", "number"),
    Column("reason", "Reason"),
    Column("markets", "Markets", "number"),
    Column("connection", "Connection", rank=2),
    Column("expected", "Expected seq", "number", rank=2),
    Column("got", "Received seq", "number", rank=2),
)
_REASONS: Final[Mapping[str, str]] = {
    GapReason.MISSED: "message lost",
    GapReason.NEGATIVE: "negative size",
    GapReason.CROSSED: "crossed book",
    GapReason.REFUSED: "invalid message",
    GapReason.UNSEEDED: "changes before the first snapshot",
    GapReason.ENDED: "subscription ended by the exchange",
    GapReason.DISCONNECTED: "disconnected",
    GapReason.AUDIT: "audit differed",
    GapReason.LEFT: "not followed",
}
_CHANNELS: Final[Mapping[str, str]] = {
    "orderbook_delta": "order books",
    "trade": "trades",
    "ticker": "tickers",
    "market_lifecycle_v2": "lifecycle events",
}


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One hour of one market: a CSS level, a label and a description."""

    level: str
    label: str
    description: str


@dataclass(frozen=True, slots=True)
class HeatRow:
    """The hours of one market."""

    ticker: str
    share: str
    cells: tuple[HeatCell, ...]


class CoveragePages(GathererPageGroup):
    """The heat map of a day, and its gaps."""

    @page("/coverage")
    async def coverage(self, request: Request, caller: CurrentCaller) -> Response:
        """The last 24 hours, or those before an hour; the least complete markets first."""
        now, params = self._gatherer.now_us(), request.query_params
        last = _last_hour(params, now)
        start, end = last - (HOURS_SHOWN - 1) * HOUR_US, min(last + HOUR_US, now)
        query = params.get("find", "").strip()[:_MAX_CHARS]
        cells = [
            cell
            for cell in await self._gatherer.coverage.hours(start, end)
            if query.casefold() in cell.ticker.casefold()
        ]
        rows = heat_rows(cells, start)
        gaps = await self._gatherer.coverage.gaps(start, end)
        zone = caller.preferences.time_zone
        hours = [datetime_from_us(start + at * HOUR_US) for at in reversed(range(HOURS_SHOWN))]
        later = min(last + HOURS_SHOWN * HOUR_US, now) // HOUR_US
        return self._render(
            request,
            "coverage",
            here="coverage",
            report=summarize(cells, start, end),
            heat_rows=rows[:_MAX_MARKETS],
            total=len(rows),
            hours=[formatting.format_time(hour, zone, "clock") for hour in hours],
            start=to_datetime(start),
            end=to_datetime(end),
            query=query,
            earlier=(last - HOURS_SHOWN * HOUR_US) // HOUR_US,
            later=None if last + HOUR_US > now else later,
            gaps=_gap_table(gaps, zone).view(params),
        )


def heat_rows(cells: Iterable[HourCoverage], start: int) -> list[HeatRow]:
    """Return a row per market, the least complete first; the newest hour comes first."""
    markets: dict[str, dict[int, HourCoverage]] = {}
    for cell in cells:
        markets.setdefault(cell.ticker, {})[(cell.hour - start) // HOUR_US] = cell
    missing_us = {
        ticker: sum(cell.expected_us - cell.seen_us for cell in by_hour.values())
        for ticker, by_hour in markets.items()
    }
    ranked = sorted(markets.items(), key=lambda item: (-missing_us[item[0]], item[0]))
    return [
        HeatRow(
            ticker,
            summarize(by_hour.values(), 0, 0).share,
            tuple(_heat_cell(by_hour.get(index)) for index in reversed(range(HOURS_SHOWN))),
        )
        for ticker, by_hour in ranked
    ]


def _heat_cell(cell: HourCoverage | None) -> HeatCell:
    if cell is None or not cell.expected_us:
        return HeatCell("none", "", "not recorded")
    percent = cell.seen_us * 100 // cell.expected_us
    text = f"{percent} % recorded" if cell.seen_us < cell.expected_us else "complete"
    if cell.gaps:
        text += f", {cell.gaps} {'gap' if cell.gaps == 1 else 'gaps'}, {cell.closed} closed"
    if cell.audited:
        text += f", {cell.audited} audited"
    if cell.differed:
        return HeatCell("poor", "≠", f"{text}, {cell.differed} differed")
    if cell.seen_us == cell.expected_us:
        return HeatCell("complete", "", text)
    level = next(name for limit, name in _SHARE_LEVELS if percent < limit)
    return HeatCell(level, str(percent), text)


def _last_hour(params: Mapping[str, str], now: int) -> int:
    value, current = params.get("until", ""), now // HOUR_US
    valid = value.isascii() and value.isdigit() and len(value) <= len(str(current))
    hour = min(max(int(value), HOURS_SHOWN), current) if valid else current
    return hour * HOUR_US


def _gap_table(gaps: Iterable[RecordingGap], zone: str) -> DataTable:
    newest_first = sorted(gaps, key=lambda gap: -gap.detected_at)
    return DataTable("gaps", "Gaps", _COLUMNS, tuple(_gap_row(gap, zone) for gap in newest_first))


def _gap_row(gap: RecordingGap, zone: str) -> Row:
    duration = Cell("Open", tone="bad", badge=True)
    if gap.resolved_at is not None:
        length = gap.resolved_at - gap.detected_at
        duration = Cell(formatting.format_duration(length / _MICRO), length)
    markets = len(gap.markets or ()) or None
    code = gap.reason or GapReason.MISSED
    reason = _REASONS.get(code, code)
    channel = _CHANNELS.get(gap.channel or "", "all channels")
    return Row(
        f"{gap.detected_at}-{gap.conn}-{gap.sid}-{gap.expected_seq}",
        (
            Cell(time_tag(to_datetime(gap.detected_at), zone, "second"), gap.detected_at),
            duration,
            Cell(reason if markets else f"{reason}: {channel}"),
            Cell(formatting.format_number(markets), markets),
            Cell(f"subscription {gap.sid}" if gap.conn else "before a restart"),
            Cell(formatting.format_number(gap.expected_seq or None), gap.expected_seq),
            Cell(formatting.format_number(gap.got_seq), gap.got_seq),
        ),
    )

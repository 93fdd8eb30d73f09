"""Kept here: recording as it goes, its connections, and whether it could begin."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.gatherer.pages.part import PagesPart, moment
from grandstand.apps.gatherer.pages.plots import pace_chart
from grandstand.apps.gatherer.service import ConnectionView, Ingest
from grandstand.kit.pages import shown
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import Admin, Who, page

_MICRO: Final = 1_000_000
_SAID: Final = {
    "started": "Recording is asked for; it begins within seconds.",
    "stopped": "Recording stops; what was received is kept first.",
}
_CONNECTIONS: Final = (
    Column("number", "Connection"),
    Column("state", "State"),
    Column("markets", "Markets", "number"),
    Column("waiting", "Waiting", "number"),
    Column("stale", "Stale", "number"),
    Column("subscriptions", "Subscriptions", "number", rank=2),
    Column("frames", "Messages", "number"),
    Column("heard", "Last heard", "time"),
)
_ROWS: Final = (Column("series", "Series"), Column("rows", "Rows", "number"))


class RecordingPages(PagesPart):
    """The ingest panel, the connections, and the check."""

    @page("/recording")
    async def recording(self, request: Request, who: Who) -> Response:
        """How recording goes, second by second."""
        ingest, now = await self._gatherer.ingest(), self._gatherer.now_us()
        zone = who.preferences.time_zone
        return self._render(
            request,
            "recording",
            here="recording",
            ingest=ingest,
            asked=await self._gatherer.asked_for(),
            since=moment(ingest.started_at),
            kept=_kept(ingest),
            settings=self._gatherer.settings,
            pace=pace_chart(now / _MICRO, ingest.frames_per_second),
            connections=_connections(ingest, zone),
            rows=_rows(ingest),
            said=_SAID.get(request.query_params.get("said", ""), ""),
        )

    @page("/check", access="admin")
    async def check(self, request: Request, who: Admin) -> Response:
        """Whether recording could begin now, tried when the page is loaded."""
        del who
        findings = await self._gatherer.check()
        return self._render(request, "check", here="recording", findings=findings)


_SERIES: Final = {
    "orderbook_deltas": "Changes of books",
    "orderbook_snapshots": "Whole books, as sent",
    "keyframes": "Whole books, as reckoned",
    "trades": "Trades",
    "tickers": "Summaries",
    "market_events": "News of markets",
    "sessions": "Sessions",
    "gaps": "Gaps",
    "audits": "Audits",
    "followed": "Markets followed",
}
"""What the rows of each series are, as people say it."""


def _kept(ingest: Ingest) -> str:
    """Say how much smaller the raw frames are on the tape; nothing without a tape."""
    if not ingest.tape_bytes or not ingest.tape_raw_bytes:
        return ""
    tenths = 10 * ingest.tape_raw_bytes // ingest.tape_bytes
    return f"{tenths // 10}.{tenths % 10} to 1"


def _connections(ingest: Ingest, zone: str) -> DataTable:
    rows = tuple(_connection(one, zone) for one in ingest.connections)
    return DataTable("connections", "Connections", _CONNECTIONS, rows)


def _connection(one: ConnectionView, zone: str) -> Row:
    up = one.conn is not None
    state = Cell("Up", tone="good", badge=True) if up else Cell(one.lost or "Down", tone="bad")
    return Row(
        f"connection-{one.number}",
        (
            Cell(str(one.number + 1), one.number),
            state,
            Cell(shown.number(one.markets), one.markets),
            Cell(shown.number(one.waiting), one.waiting),
            Cell(shown.number(one.stale), one.stale),
            Cell(shown.number(one.subscriptions), one.subscriptions),
            Cell(shown.number(one.frames), one.frames),
            Cell(shown.time_tag(moment(one.heard_at), zone, "second"), one.heard_at or None),
        ),
    )


def _rows(ingest: Ingest) -> DataTable:
    rows = tuple(
        Row(name, (Cell(_SERIES.get(name, name)), Cell(shown.number(count), count)))
        for name, count in sorted(ingest.rows.items(), key=lambda item: -item[1])
    )
    return DataTable("rows", "Rows since the start", _ROWS, rows)

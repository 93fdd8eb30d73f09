"""The recorder status, its connections, and the checks."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.gatherer.pages.market import rate_chart
from grandstand.apps.gatherer.pages.markets import NOTICES, GathererPageGroup
from grandstand.apps.gatherer.services.recording.status import ConnectionStatus, RecorderStatus
from grandstand.core import formatting
from grandstand.kit.pages.rendering import time_tag
from grandstand.kit.pages.table import Cell, Column, DataTable, Row
from grandstand.kit.routes import AdminCaller, CurrentCaller, page

_MICRO: Final = 1_000_000
_CONNECTION_COLUMNS: Final = (
    Column("number", "Connection"),
    Column("state", "State"),
    Column("markets", "Markets", "number"),
    Column("waiting", "Waiting", "number"),
    Column("stale", "Stale", "number"),
    Column("subscriptions", "Subscriptions", "number", rank=2),
    Column("frames", "Messages", "number"),
    Column("heard", "Last message", "time"),
)
_ROW_COLUMNS: Final = (Column("series", "Series"), Column("rows", "Rows", "number"))
_SERIES_LABELS: Final = {
    "orderbook_deltas": "Order book deltas",
    "orderbook_snapshots": "Order book snapshots",
    "keyframes": "Keyframes",
    "trades": "Trades",
    "tickers": "Tickers",
    "market_events": "Lifecycle events",
    "sessions": "Sessions",
    "gaps": "Gaps",
    "audits": "Audits",
    "followed": "Markets followed",
}


class RecordingPages(GathererPageGroup):
    """The recorder status and the checks."""

    @page("/recording")
    async def recording(self, request: Request, caller: CurrentCaller) -> Response:
        """The recorder status, updated every second."""
        status, now = await self._gatherer.recording.status(), self._gatherer.now_us()
        return self._render(
            request,
            "recording",
            here="recording",
            recorder=status,
            requested=await self._gatherer.recording.is_requested(),
            compression=_compression(status),
            settings=self._gatherer.settings,
            rate=rate_chart(now / _MICRO, status.frames_per_second),
            connections=_connections(status, caller.preferences.time_zone),
            rows=_rows(status),
            notice=NOTICES.get(request.query_params.get("notice", ""), ""),
        )

    @page("/check", access="admin")
    async def check(self, request: Request, caller: AdminCaller) -> Response:
        """Whether recording could start, checked when the page is loaded."""
        del caller
        checks = await self._gatherer.diagnostics.run()
        return self._render(request, "check", here="recording", checks=checks)


def _compression(status: RecorderStatus) -> str:
    """Return the compression ratio of the raw log; empty without one."""
    if not status.raw_log_bytes or not status.raw_log_uncompressed_bytes:
        return ""
    tenths = 10 * status.raw_log_uncompressed_bytes // status.raw_log_bytes
    return f"{tenths // 10}.{tenths % 10} to 1"


def _connections(status: RecorderStatus, zone: str) -> DataTable:
    rows = tuple(_connection(connection, zone) for connection in status.connections)
    return DataTable("connections", "Connections", _CONNECTION_COLUMNS, rows)


def _connection(connection: ConnectionStatus, zone: str) -> Row:
    state = Cell("Up", tone="good", badge=True)
    if connection.conn is None:
        state = Cell(connection.error or "Down", tone="bad")
    heard_at = connection.heard_at
    return Row(
        f"connection-{connection.number}",
        (
            Cell(str(connection.number + 1), connection.number),
            state,
            Cell(formatting.format_number(connection.markets), connection.markets),
            Cell(formatting.format_number(connection.waiting), connection.waiting),
            Cell(formatting.format_number(connection.stale), connection.stale),
            Cell(formatting.format_number(connection.subscriptions), connection.subscriptions),
            Cell(formatting.format_number(connection.frames), connection.frames),
            Cell(
                time_tag(heard_at, zone, "second"),
                None if heard_at is None else heard_at.timestamp(),
            ),
        ),
    )


def _rows(status: RecorderStatus) -> DataTable:
    rows = tuple(
        Row(
            name,
            (Cell(_SERIES_LABELS.get(name, name)), Cell(formatting.format_number(count), count)),
        )
        for name, count in sorted(status.rows.items(), key=lambda item: -item[1])
    )
    return DataTable("rows", "Rows since the start", _ROW_COLUMNS, rows)

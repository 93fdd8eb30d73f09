"""Kept here: what a gatherer left behind when it last ran: how far it can be relied on."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.model.incidents import Gap, GapReason
from grandstand.base.errors import Unavailable
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.window import Window

_LOOKED_AT: Final = 2000
_RELIED: Final = frozenset({"whole", "stopped"})
_EVER: Final = 2**62
_NOTE: Final = "whole"


@dataclass(frozen=True, slots=True)
class Past:
    """The last moment everything was kept, and the last stamp that is known to be used.

    Both are 0 when a gatherer never ran here. `open_gaps` are those that nobody closed.
    """

    whole_at: int = 0
    last_stamp: int = 0
    open_gaps: tuple[store.Gap, ...] = ()


def read_past(engine: SeriesEngine, gatherer: str) -> Past:
    """Answer how far a gatherer's record can be relied on; raise what the engine raises."""
    for series in (store.SESSIONS, store.GAPS):
        engine.prepare(series)
    window = Window(store.SESSIONS, 0, _EVER, (gatherer,), order="newest", most=_LOOKED_AT)
    last = whole_at = 0
    for session in engine.read(window):
        last = max(last, session.at, session.conn)
        if session.what in _RELIED:
            whole_at = session.at
            break
    left = _left_open(engine, gatherer) if last else ()
    return Past(whole_at, last, left)


def remember_whole(folder: Path, at: int) -> None:
    """Note beside the buffer how far everything is kept, for a start without the series."""
    fresh = folder / f"{_NOTE}.new"
    with suppress(OSError):
        fresh.write_text(str(at), "ascii")
        fresh.replace(folder / _NOTE)


def past_of(engine: SeriesEngine, gatherer: str, folder: Path) -> Past:
    """Answer how far a gatherer's record can be relied on, also while the series are away."""
    try:
        return read_past(engine, gatherer)
    except Unavailable:
        with suppress(OSError, ValueError):
            at = int((folder / _NOTE).read_text("ascii"))
            return Past(at, at)
        return Past()


def _left_open(engine: SeriesEngine, gatherer: str) -> tuple[store.Gap, ...]:
    window = Window(store.GAPS, 0, _EVER, (gatherer,), order="newest", most=_LOOKED_AT)
    rows = [*engine.read(window)]
    closed = {row.place for row in rows if row.resolved}
    return tuple(row for row in rows if not row.resolved and row.place not in closed)


def absence(past: Past, number: int, channel: str, tickers: frozenset[str]) -> Gap:
    """Answer the gap from the last moment that can be relied on until a connection is up again.

    None stood then: its `conn` is 0, its `sid` the number of the connection. What was left open of
    the same channel is within it where that can be fetched.
    """
    left = [gap for gap in past.open_gaps if gap.channel == channel] if not tickers else []
    since = [gap.detected_at if gap.from_ts is None else gap.from_ts for gap in left]
    return Gap(
        from_ts=min(since, default=None),
        conn=0,
        sid=number,
        channel=channel,
        reason=GapReason.DISCONNECTED,
        expected_seq=0,
        got_seq=None,
        detected_at=past.whole_at or past.last_stamp,
        tickers=tickers,
    )

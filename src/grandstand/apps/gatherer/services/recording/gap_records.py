"""Gap records, and the state of the last run: how far its recording is complete."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.domain.feed_events import Gap, GapReason
from grandstand.apps.gatherer.domain.subscriptions import BOOKS
from grandstand.core.errors import Unavailable
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.series.query import Window

_MAX_ROWS: Final = 2000
_WATERMARKS: Final = frozenset({"whole", "stopped"})
_WATERMARK_FILE: Final = "whole"


@dataclass(frozen=True, slots=True)
class ResumeState:
    """Up to when everything is stored, and the last receive stamp in use.

    Both are 0 if the gatherer never ran here. `open_gaps` were not closed by the last run.
    """

    whole_at: int = 0
    last_stamp: int = 0
    open_gaps: tuple[store.GapRecord, ...] = ()


def read_resume_state(engine: SeriesEngine, gatherer: str) -> ResumeState:
    """Read the state of the last run from the series."""
    for series in (store.SESSIONS, store.GAPS):
        engine.prepare(series)
    window = Window(store.SESSIONS, 0, store.LATEST, (gatherer,), order="newest", limit=_MAX_ROWS)
    last = whole_at = 0
    for session in engine.read(window):
        last = max(last, session.at, session.conn)
        if session.what in _WATERMARKS:
            whole_at = session.at
            break
    return ResumeState(whole_at, last, _open_gaps(engine, gatherer) if last else ())


def save_watermark(folder: Path, at: int) -> None:
    """Save the watermark beside the buffer, for a start while the series are unavailable."""
    temporary = folder / f"{_WATERMARK_FILE}.new"
    with suppress(OSError):
        temporary.write_text(str(at), "ascii")
        temporary.replace(folder / _WATERMARK_FILE)


def load_resume_state(engine: SeriesEngine, gatherer: str, folder: Path) -> ResumeState:
    """Read the state of the last run; falls back to the saved watermark."""
    try:
        return read_resume_state(engine, gatherer)
    except Unavailable:
        with suppress(OSError, ValueError):
            at = int((folder / _WATERMARK_FILE).read_text("ascii"))
            return ResumeState(at, at)
        return ResumeState()


def _open_gaps(engine: SeriesEngine, gatherer: str) -> tuple[store.GapRecord, ...]:
    window = Window(store.GAPS, 0, store.LATEST, (gatherer,), order="newest", limit=_MAX_ROWS)
    rows = [*engine.read(window)]
    closed = {row.gap_key for row in rows if row.resolved}
    return tuple(row for row in rows if not row.resolved and row.gap_key not in closed)


def absence_gap(resume: ResumeState, number: int, channel: str, tickers: frozenset[str]) -> Gap:
    """Return the gap from the watermark of the last run until a connection is up again.

    Its `conn` is 0 and its `sid` the number of the connection. For channels without books it starts
    where the oldest gap that the last run left open started.
    """
    left_open = [gap for gap in resume.open_gaps if gap.channel == channel] if not tickers else []
    starts = [gap.detected_at if gap.from_ts is None else gap.from_ts for gap in left_open]
    return Gap(
        from_ts=min(starts, default=None),
        conn=0,
        sid=number,
        channel=channel,
        reason=GapReason.DISCONNECTED,
        expected_seq=0,
        got_seq=None,
        detected_at=resume.whole_at or resume.last_stamp,
        tickers=tickers,
    )


def gap_record(gap: Gap, gatherer: str, resolved_at: int | None) -> store.GapRecord:
    """Return the row that records that a gap was found, or closed at `resolved_at`."""
    # A gap with no connection at all concerns every market.
    every_market = gap.channel == BOOKS and gap.reason is GapReason.DISCONNECTED and not gap.conn
    return store.GapRecord(
        detected_at=gap.detected_at,
        gatherer=gatherer,
        conn=gap.conn,
        sid=gap.sid,
        expected_seq=gap.expected_seq,
        resolved=resolved_at is not None,
        got_seq=gap.got_seq,
        resolved_at=resolved_at,
        channel=gap.channel,
        reason=str(gap.reason),
        tickers=None if every_market else msgspec.json.encode(sorted(gap.tickers)).decode(),
        from_ts=gap.from_ts,
        to_ts=gap.to_ts,
    )

"""Kept here: gaps as they are kept: a row when one is found, and another when it is closed."""

from __future__ import annotations

import msgspec

from grandstand.apps.gatherer import store
from grandstand.apps.gatherer.model.incidents import Gap, GapReason
from grandstand.apps.gatherer.model.lines import BOOKS


def gap_row(gap: Gap, gatherer: str, resolved_at: int | None) -> store.Gap:
    """Answer the row that says a gap was found, or closed."""
    return store.Gap(
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
        tickers=None if absent(gap) else msgspec.json.encode(sorted(gap.tickers)).decode(),
        from_ts=gap.from_ts,
        to_ts=gap.to_ts,
    )


def absent(gap: Gap) -> bool:
    """Tell whether nobody listened at all: such a gap is one of every market."""
    return gap.channel == BOOKS and gap.reason is GapReason.DISCONNECTED and not gap.conn

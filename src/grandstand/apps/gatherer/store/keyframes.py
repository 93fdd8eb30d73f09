"""Kept here: books between snapshots: how one is written and read, and when one is due."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from grandstand.apps.gatherer.store.journals import Keyframe

EVERY_DELTAS: Final = 1_000
EVERY_US: Final = 5 * 60 * 1_000_000
ALL_EVERY_US: Final = 60 * 60 * 1_000_000

_levels: Final = msgspec.json.Decoder(list[tuple[int, int]])


def levels_text(levels: Mapping[int, int]) -> str:
    """Answer price levels as the columns of snapshots and keyframes hold them, lowest first."""
    return msgspec.json.encode(sorted(levels.items())).decode()


def parse_levels(text: str) -> dict[int, int]:
    """Answer sizes by price from such a column; raises msgspec.DecodeError for anything else."""
    return dict(_levels.decode(text))


def keyframe(
    ticker: str,
    yes_bids: Mapping[int, int],
    no_bids: Mapping[int, int],
    *,
    taken_at: int,
    exchange_ts: int | None,
    gatherer: str,
    conn: int | None = None,
    sid: int | None = None,
) -> Keyframe:
    """Answer the row that keeps a book after the message received at `taken_at`.

    `exchange_ts` is that of the newest change in it, None when that said no time. A book that
    waits for a snapshot after a gap must not be kept: whoever reads takes a keyframe for right.
    """
    return Keyframe(
        taken_at=taken_at,
        ticker=ticker,
        gatherer=gatherer,
        yes_bids=levels_text(yes_bids),
        no_bids=levels_text(no_bids),
        exchange_ts=exchange_ts,
        sid=sid,
        conn=conn,
    )


class Rhythm:
    """Which books are due for a keyframe.

    One is due after every snapshot and 1,000 changes, one every five minutes if the book changed,
    and one every hour in any case, so that no way back is longer. Whoever takes one says so.
    """

    def __init__(self, every_deltas: int = EVERY_DELTAS) -> None:
        self._every = every_deltas
        self._changes: dict[str, int] = {}
        self._slot: int | None = None
        self._hour: int | None = None

    def changed(self, ticker: str) -> bool:
        """Count a change of a book; True when a keyframe of it is due now."""
        count = self._changes.get(ticker, 0) + 1
        self._changes[ticker] = count
        return count >= self._every

    def due(self, at_us: int) -> tuple[str, ...]:
        """Answer the tickers of which one is due because of the time; ask about every second."""
        slot, hour = at_us // EVERY_US, at_us // ALL_EVERY_US
        if slot == self._slot:
            return ()
        every, first = hour != self._hour, self._slot is None
        self._slot, self._hour = slot, hour
        if first:
            return ()
        return tuple(ticker for ticker, count in self._changes.items() if every or count)

    def taken(self, ticker: str) -> None:
        """Say that a keyframe of a book was taken."""
        self._changes[ticker] = 0

    def forget(self, ticker: str) -> None:
        """Say that a book is not kept any more, or waits for a snapshot."""
        self._changes.pop(ticker, None)

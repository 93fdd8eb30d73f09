"""Events a feed produces besides rows: gaps, and requests to the exchange."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from grandstand.apps.gatherer.domain.rows import Row


class GapReason(StrEnum):
    """Why a part of the stream is missing or wrong."""

    MISSED = "missed"
    NEGATIVE = "negative"
    CROSSED = "crossed"
    REFUSED = "refused"
    UNSEEDED = "unseeded"
    ENDED = "ended"
    DISCONNECTED = "disconnected"
    AUDIT = "audit"
    LEFT = "left"


class Gap(Struct, frozen=True):
    """A part of one subscription that is missing or wrong.

    `tickers` are the markets it makes stale; it is closed when each has a snapshot or is no longer
    followed. A gap of a channel without books has none, and is closed by a backfill. `got_seq` is
    None if nothing came after it. Nothing is missing before `from_ts` or after `to_ts`, in exchange
    time; None where that is unknown.
    """

    conn: int
    sid: int
    channel: str
    reason: GapReason
    expected_seq: int
    got_seq: int | None
    detected_at: int
    tickers: frozenset[str]
    from_ts: int | None = None
    to_ts: int | None = None


class GapOpened(Struct, frozen=True):
    """A gap was found."""

    gap: Gap


class GapClosed(Struct, frozen=True):
    """Every market of a gap has a valid book again."""

    gap: Gap
    resolved_at: int


class SnapshotsNeeded(Struct, frozen=True):
    """Snapshots of these books must be requested (`get_snapshot`)."""

    sid: int
    tickers: tuple[str, ...]


class ResubscribeNeeded(Struct, frozen=True):
    """The exchange ended a subscription (codes 10, 25): subscribe to the same markets again."""

    sid: int
    channel: str
    tickers: tuple[str, ...]
    code: int


class DuplicateDropped(Struct, frozen=True):
    """A frame was received twice, or too late to count."""

    sid: int
    seq: int


FeedEvent: TypeAlias = (
    GapOpened | GapClosed | SnapshotsNeeded | ResubscribeNeeded | DuplicateDropped
)


class FeedResult(Struct, frozen=True):
    """The result of one message: at most one row to append, and events."""

    row: Row | None = None
    events: tuple[FeedEvent, ...] = ()


# After these gaps deltas are recorded again at once, whether the book is valid or not.
_HEALING_REASONS: Final = frozenset({GapReason.MISSED, GapReason.REFUSED})


@dataclass(slots=True)
class _OpenGap:
    gap: Gap
    waiting: set[str] = field(default_factory=set)


class GapTracker:
    """The open gaps; a snapshot of its last market closes a gap."""

    def __init__(self) -> None:
        self._open: list[_OpenGap] = []

    def open(self, gap: Gap) -> tuple[FeedEvent, ...]:
        """Open a gap; one without markets is closed by a backfill."""
        self.add((gap,))
        return (GapOpened(gap),)

    def add(self, gaps: Iterable[Gap]) -> None:
        """Add gaps that were opened elsewhere."""
        self._open += [_OpenGap(gap, set(gap.tickers)) for gap in gaps]

    def close(self, gap: Gap, at: int) -> tuple[FeedEvent, ...]:
        """Close a gap whatever its markets; does nothing if it is not open."""
        closed = [open_gap for open_gap in self._open if _gap_key(open_gap.gap) == _gap_key(gap)]
        self._open = [open_gap for open_gap in self._open if open_gap not in closed]
        return tuple(GapClosed(open_gap.gap, at) for open_gap in closed)

    def resolve(self, tickers: frozenset[str], at: int) -> tuple[FeedEvent, ...]:
        """Mark markets as valid, and return the gaps this closes."""
        if not self._open:
            return ()
        closed: list[FeedEvent] = []
        for open_gap in [open_gap for open_gap in self._open if open_gap.waiting & tickers]:
            open_gap.waiting -= tickers
            if not open_gap.waiting:
                self._open.remove(open_gap)
                closed.append(GapClosed(open_gap.gap, at))
        return tuple(closed)

    def is_pending(self, ticker: str) -> bool:
        """Return whether a market is in a gap that lasts until its snapshot."""
        return any(
            ticker in open_gap.waiting and open_gap.gap.reason not in _HEALING_REASONS
            for open_gap in self._open
        )

    def remaining(self) -> tuple[Gap, ...]:
        """Return the open gaps, each with the markets that are still stale."""
        return tuple(
            replace(open_gap.gap, tickers=frozenset(open_gap.waiting)) for open_gap in self._open
        )


def _gap_key(gap: Gap) -> tuple[int, int, int, int]:
    return gap.conn, gap.sid, gap.expected_seq, gap.detected_at

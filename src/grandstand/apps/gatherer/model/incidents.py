"""Kept here: what a feed tells besides rows: gaps, and what must be asked of the exchange."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from grandstand.apps.gatherer.model.rows import Row


class GapReason(StrEnum):
    """Why a stretch of the stream cannot be trusted."""

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
    """A stretch of one subscription that is missing or wrong.

    `tickers` are the markets it makes stale; it is closed when each has had a snapshot, or is no
    longer followed. A gap of a channel without books has none, and is closed by whoever fetched
    what was missed. `got_seq` is None when nothing came after it. Nothing that was missed happened
    before `from_ts` or after `to_ts`, in exchange time; None where that is not known.
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
    """Every market of a gap has a true book again."""

    gap: Gap
    resolved_at: int


class SnapshotsWanted(Struct, frozen=True):
    """The exchange must be asked (`get_snapshot`) for these books."""

    sid: int
    tickers: tuple[str, ...]


class BackfillWanted(Struct, frozen=True):
    """Trades or lifecycle were missed: they can be fetched, then `Feed.close` is called."""

    gap: Gap


class Resubscribe(Struct, frozen=True):
    """The exchange ended a subscription (codes 10, 25): ask for the same markets anew."""

    sid: int
    channel: str
    tickers: tuple[str, ...]
    code: int


class DuplicateDropped(Struct, frozen=True):
    """A frame came again, or too late to count."""

    sid: int
    seq: int


Incident: TypeAlias = (
    GapOpened | GapClosed | SnapshotsWanted | BackfillWanted | Resubscribe | DuplicateDropped
)


class Outcome(Struct, frozen=True):
    """What follows from one message: at most one row to append, and what else happened."""

    row: Row | None = None
    incidents: tuple[Incident, ...] = ()

"""Kept here: the life of a Live Activity: when it is started, restarted, stale and over."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from grandstand.apps.cricket.model.words import MatchPhase

Start: TypeAlias = Literal["start", "wait", "give_up"]

LONGEST: Final = timedelta(hours=8)
"""iOS ends a Live Activity after eight hours, whatever is sent."""


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long things last in the life of an activity.

    A start is sent again after `restart_gap`, twice as long each time, at most `starts` times.
    """

    restart_after: timedelta = timedelta(hours=7, minutes=45)
    restart_in_breaks_after: timedelta = timedelta(hours=6, minutes=30)
    stale_live: timedelta = timedelta(minutes=15)
    stale_break: timedelta = timedelta(minutes=90)
    dismiss_after: timedelta = timedelta(minutes=30)
    restart_gap: timedelta = timedelta(minutes=2)
    starts: int = 4
    kept_after_end: timedelta = timedelta(hours=24)
    follow: timedelta = timedelta(hours=48)


@dataclass(frozen=True, slots=True)
class Attempts:
    """How often a start was sent to a device for a match, and when last."""

    sent: int = 0
    last_at: datetime | None = None


def next_start(attempts: Attempts, now: datetime, lifetimes: Lifetimes) -> Start:
    """Answer whether a follower without an activity is sent a start now.

    Never a second one while the first may still be on its way, and not for ever.
    """
    if attempts.sent >= lifetimes.starts:
        return "give_up"
    if attempts.last_at is None:
        return "start"
    gap = lifetimes.restart_gap * 2 ** max(0, attempts.sent - 1)
    return "start" if now - attempts.last_at >= gap else "wait"


def restart_due(
    started_at: datetime, phase: MatchPhase, now: datetime, lifetimes: Lifetimes
) -> bool:
    """Tell whether an activity must be replaced before iOS ends it; a break is a good moment."""
    age = now - started_at
    if phase == "ended":
        return False
    if phase == "break":
        return age >= lifetimes.restart_in_breaks_after
    return age >= lifetimes.restart_after


def is_worn_out(started_at: datetime, now: datetime) -> bool:
    """Tell whether iOS has ended an activity by its age, though its token may still be taken."""
    return now - started_at >= LONGEST


def stale_date(phase: MatchPhase, now: datetime, lifetimes: Lifetimes) -> datetime:
    """Answer from when on a state without an update is shown as old."""
    return now + (lifetimes.stale_live if phase == "live" else lifetimes.stale_break)


def heartbeat_due(
    pushed_at: datetime, phase: MatchPhase, now: datetime, lifetimes: Lifetimes
) -> bool:
    """Tell whether an unchanged state is sent again, before it would be shown as old."""
    half = (stale_date(phase, pushed_at, lifetimes) - pushed_at) / 2
    return phase != "ended" and now - pushed_at >= half


def dismissal_date(now: datetime, lifetimes: Lifetimes, *, at_once: bool = False) -> datetime:
    """Answer when an ended activity leaves the lock screen; at once for who unfollowed."""
    return now if at_once else now + lifetimes.dismiss_after


def is_rejection_current(rejected_at: datetime | None, registered_at: datetime | None) -> bool:
    """Tell whether a rejection is about the token there is, and not about one before it."""
    return rejected_at is None or registered_at is None or rejected_at >= registered_at


def session_expires(now: datetime, match_ends: datetime | None, lifetimes: Lifetimes) -> datetime:
    """Answer when a session's record may go: a day after the match, however long that lasts."""
    return max(now, match_ends or now) + lifetimes.kept_after_end


def follow_expires(
    starts: datetime, ends: datetime | None, now: datetime, lifetimes: Lifetimes
) -> datetime:
    """Answer when a follow may go: two days after the latest of start, planned end and now.

    While a match is active it is pushed on, so that a five-day Test keeps its followers.
    """
    return max(starts, ends or starts, now) + lifetimes.follow

"""Live Activity sessions: their keys and lifetimes, push tokens and push results."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Final, Literal, NamedTuple, TypeAlias

from grandstand.apps.cricket.domain.matches import MatchPhase
from grandstand.core.errors import InvalidInput

SessionStatus: TypeAlias = Literal["pending", "active", "suspended", "ended"]
EndReason: TypeAlias = Literal["match_ended", "unfollowed", "dismissed", "token_invalid"]
StartDecision: TypeAlias = Literal["start", "wait", "give_up"]
PushOutcome: TypeAlias = Literal[
    "delivered", "gone", "unsent", "uncertain", "rejected", "forbidden"
]

MAX_ACTIVITY_AGE: Final = timedelta(hours=8)
"""iOS ends a Live Activity after eight hours."""


@dataclass(frozen=True, slots=True)
class ActivityKey:
    """A Live Activity: one device of one user, for one match."""

    match_id: str
    user_id: str
    device_id: str


@dataclass(frozen=True, slots=True)
class DeviceRegistration:
    """What a device reports when it registers."""

    device_token: str
    device_id: str
    platform: str = "ios"
    os_version: str = ""
    app_version: str = ""


@dataclass(frozen=True, slots=True)
class BrowserSubscription:
    """The Web Push endpoint of a browser, and the keys its messages are encrypted with."""

    endpoint: str
    p256dh: str = field(repr=False)
    auth: str = field(repr=False)


class PushTarget(NamedTuple):
    """A token to push to, and the id of the push, which stays the same when it is repeated."""

    token: str
    push_id: str


class PushResult(NamedTuple):
    """The outcome of one push.

    `delivered`: the service accepted it. `gone`: the token is invalid, since `at` if known.
    `unsent`: it was not sent and may be repeated after `retry_seconds`. `uncertain`: it was sent
    without a response, so it may have arrived. `rejected`: the request is wrong. `forbidden`: the
    service does not accept our key.
    """

    outcome: PushOutcome
    reason: str = ""
    at: datetime | None = None
    retry_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """The time limits of Live Activities, follows and stored sessions.

    A start is repeated after `restart_gap`, doubled each time, at most `starts` times.
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


def decide_start(
    sent: int, last_at: datetime | None, now: datetime, lifetimes: Lifetimes
) -> StartDecision:
    """Return whether a device is sent a start now, after `sent` starts, the last at `last_at`.

    No second start is sent while the first may still arrive.
    """
    if sent >= lifetimes.starts:
        return "give_up"
    if last_at is None:
        return "start"
    gap = lifetimes.restart_gap * 2 ** max(0, sent - 1)
    return "start" if now - last_at >= gap else "wait"


def is_restart_due(
    started_at: datetime, phase: MatchPhase, now: datetime, lifetimes: Lifetimes
) -> bool:
    """Return whether an activity must be replaced before iOS ends it, earlier during a break."""
    age = now - started_at
    if phase == "ended":
        return False
    if phase == "break":
        return age >= lifetimes.restart_in_breaks_after
    return age >= lifetimes.restart_after


def is_expired_by_ios(started_at: datetime, now: datetime) -> bool:
    """Return whether iOS has ended an activity by age; its token may still be accepted."""
    return now - started_at >= MAX_ACTIVITY_AGE


def stale_date(phase: MatchPhase, now: datetime, lifetimes: Lifetimes) -> datetime:
    """Return when a state without updates is shown as stale."""
    return now + (lifetimes.stale_live if phase == "live" else lifetimes.stale_break)


def is_heartbeat_due(
    pushed_at: datetime, phase: MatchPhase, now: datetime, lifetimes: Lifetimes
) -> bool:
    """Return whether an unchanged state is pushed again before it becomes stale."""
    half = (stale_date(phase, pushed_at, lifetimes) - pushed_at) / 2
    return phase != "ended" and now - pushed_at >= half


def dismissal_date(now: datetime, lifetimes: Lifetimes, *, at_once: bool = False) -> datetime:
    """Return when an ended activity leaves the lock screen."""
    return now if at_once else now + lifetimes.dismiss_after


def is_rejection_current(rejected_at: datetime | None, registered_at: datetime | None) -> bool:
    """Return whether a rejection is about the current token, not about an earlier one."""
    return rejected_at is None or registered_at is None or rejected_at >= registered_at


def session_expiry(now: datetime, match_ends: datetime | None, lifetimes: Lifetimes) -> datetime:
    """Return when a session record expires: a day after the end of the match."""
    return max(now, match_ends or now) + lifetimes.kept_after_end


def follow_expiry(
    starts: datetime, ends: datetime | None, now: datetime, lifetimes: Lifetimes
) -> datetime:
    """Return when a follow expires: 48 hours after the latest of start, planned end and now.

    It is extended while a match is active, so that a five-day Test keeps its followers.
    """
    return max(starts, ends or starts, now) + lifetimes.follow


# Apple says not to count on a length; device tokens have 64 digits, activity tokens 160 to 256.
_TOKEN: Final = re.compile(r"(?:[0-9a-fA-F]{2}){4,256}")


def validate_token(token: str, what: str = "token") -> str:
    """Return a push token in lower case. Raises InvalidInput if it is malformed."""
    if _TOKEN.fullmatch(token) is None:
        raise InvalidInput(
            f"Invalid {what} of {len(token)} characters. Send 8 to 512 hexadecimal digits, an even "
            "number of them."
        )
    return token.lower()


def make_push_id(*parts: str) -> str:
    """Return the UUID of a push; the same parts always give the same one.

    A push repeated after a crash has the id it had before.
    """
    digits = blake2b("\x1f".join(parts).encode(), digest_size=16).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

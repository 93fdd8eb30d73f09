"""Kept here: what came of a push, in our words; each says what may be done next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeAlias

import msgspec

from grandstand.wire.push import Answer, Lost, Outcome

_OK: Final = 200
_GONE: Final = 410
_FORBIDDEN: Final = 403
_TOO_MANY: Final = 429
_SERVER_FAULT: Final = 500

# Apple asks not to push to one activity more than about once a second.
_TOO_MANY_SECONDS: Final = 5.0
_FAULT_SECONDS: Final = 15.0
_SOON_SECONDS: Final = 1.0
_GONE_REASONS: Final = frozenset({"BadDeviceToken", "DeviceTokenNotForTopic"})


@dataclass(frozen=True, slots=True)
class Delivered:
    """Apple has it; whether the phone shows it, it never tells."""


@dataclass(frozen=True, slots=True)
class Gone:
    """The token is of no use any more, since `at` if Apple says so."""

    reason: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Later:
    """Not taken now: after a while the newest state may be sent, never a backlog."""

    reason: str
    after_seconds: float


@dataclass(frozen=True, slots=True)
class Doubtful:
    """Sent, and no answer: it may have arrived.

    The same push may be sent again with the same id, timestamp and content, or a newer state.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Apple will never take this push as it is: our own fault, or the payload's size."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """Apple does not trust us: nothing goes out until somebody looks at key, team and app."""

    reason: str


PushResult: TypeAlias = Delivered | Gone | Later | Doubtful | Refused | Stopped

DELIVERED: Final = Delivered()


class _Body(msgspec.Struct):
    reason: str = ""
    timestamp: int | None = None


def reason_of(outcome: Outcome) -> str:
    """Answer the reason Apple gives, empty where there is none."""
    return "" if isinstance(outcome, Lost) else _body(outcome).reason


def result_of(outcome: Outcome) -> PushResult:
    """Answer what an outcome means."""
    if isinstance(outcome, Lost):
        return Doubtful(outcome.reason) if outcome.sent else Later(outcome.reason, _SOON_SECONDS)
    status = outcome.status
    if status == _OK:
        return DELIVERED
    body = _body(outcome)
    reason = body.reason or f"status {status}"
    if status == _GONE:
        return Gone(reason, _moment(body.timestamp))
    if reason in _GONE_REASONS:
        return Gone(reason)
    if status == _FORBIDDEN:
        return Stopped(reason)
    if status == _TOO_MANY:
        return Later(reason, _TOO_MANY_SECONDS)
    if reason == "IdleTimeout":
        return Later(reason, _SOON_SECONDS)
    return Later(reason, _FAULT_SECONDS) if status >= _SERVER_FAULT else Refused(reason)


def _body(answer: Answer) -> _Body:
    try:
        return msgspec.json.decode(answer.body, type=_Body) if answer.body else _Body()
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _Body()


def _moment(milliseconds: int | None) -> datetime | None:
    try:
        return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return None

"""Errors of the cricket app that callers handle separately."""

from __future__ import annotations

from typing import ClassVar

from grandstand.core.errors import Conflict, InvalidInput, NotFound, Unavailable


class MatchNotFound(NotFound):
    """Neither the store nor the score feed has this match."""

    code: ClassVar[str] = "match-not-found"

    def __init__(self, match_id: str) -> None:
        super().__init__(f"No match {match_id[:40]!r}. List matches with GET /matches.")
        self.match_id = match_id


class LeagueNotFound(NotFound):
    """No league has this id or code."""

    code: ClassVar[str] = "league-not-found"


class DeviceNotFound(NotFound):
    """The caller has no such device."""

    code: ClassVar[str] = "device-not-found"


class ActivityNotFound(NotFound):
    """The caller has no Live Activity for this match on this device."""

    code: ClassVar[str] = "activity-not-found"


class TeamNotPlaying(InvalidInput):
    """The team does not play in this match."""

    code: ClassVar[str] = "team-not-playing"


class FeedNotConfigured(Conflict):
    """The score feed needs a token."""

    code: ClassVar[str] = "feed-not-configured"


class PushNotConfigured(Conflict):
    """Push notifications need a key."""

    code: ClassVar[str] = "push-not-configured"


class PushUnavailable(Unavailable):
    """The push service does not accept the push now."""

    code: ClassVar[str] = "push-unavailable"

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds

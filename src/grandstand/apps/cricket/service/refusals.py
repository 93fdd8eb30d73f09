"""Kept here: why cricket says no.

InvalidInput   TeamNotPlaying DeviceNameInvalid
NotFound       LeagueUnknown TeamUnknown DeviceUnknown FollowUnknown ActivityUnknown
Conflict       MatchOver PushKeyMissing
Unavailable    PushingOff TickOutpaced
"""

from __future__ import annotations

from grandstand.base.errors import Conflict, InvalidInput, NotFound, Unavailable


class TeamNotPlaying(InvalidInput):
    """The team does not play in this match."""


class DeviceNameInvalid(InvalidInput):
    """A device's id or version cannot be taken as it is."""


class LeagueUnknown(NotFound):
    """There is no such league."""


class TeamUnknown(NotFound):
    """There is no such team."""


class DeviceUnknown(NotFound):
    """The caller has no such device."""


class FollowUnknown(NotFound):
    """The caller does not follow this match."""


class ActivityUnknown(NotFound):
    """The caller has no Live Activity for this match on this device."""


class MatchOver(Conflict):
    """The match is over: there is nothing more to follow."""


class PushKeyMissing(Conflict):
    """Nothing can be pushed here: the push key is not set."""


class PushingOff(Unavailable):
    """Nothing can be pushed now: the push key is not set, or the push service is not reached."""

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class TickOutpaced(Unavailable):
    """Another instance is telling the same news: what is left is looked at again."""

"""Kept here: what can go wrong between us, the score feed and those who follow matches.

InvalidInput   TokenInvalid AlertKindUnknown ReplayRefused RecordingUnreadable
NotFound       MatchUnknown
SourceFailed   FeedUnreadable
Conflict       ReplayingOff FeedKeyMissing
"""

from __future__ import annotations

from grandstand.base.errors import Conflict, InvalidInput, NotFound, SourceFailed


class TokenInvalid(InvalidInput):
    """This cannot be a push token: it must be hexadecimal digits, as the device shows them."""


class AlertKindUnknown(InvalidInput):
    """There is no such kind of event to be alerted of."""


class ReplayRefused(InvalidInput):
    """The replayed feed does not do what it was told."""


class RecordingUnreadable(InvalidInput):
    """The file holds no answers of the score feed."""


class FeedKeyMissing(Conflict):
    """The score feed cannot be asked: `cricket.feed_token` is not set."""


class ReplayingOff(Conflict):
    """No feed is replayed here: `cricket.replay_url` is not set."""


class MatchUnknown(NotFound):
    """Neither we nor the score feed know this match."""

    def __init__(self, match_id: str) -> None:
        super().__init__(f"There is no match {match_id[:40]!r} among those known here")
        self.match_id = match_id


class FeedUnreadable(SourceFailed):
    """The score feed answered, and what it must say cannot be found in it."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what} of the score feed cannot be read: {why}")
        self.what = what
        self.why = why

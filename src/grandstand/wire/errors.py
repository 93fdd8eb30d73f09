"""Kept here: what can go wrong on the way to an outsider; no text of it carries a secret.

SourceFailed   SourceFaulted AnswerGarbled AnswerTooLarge SourceRefused RedirectRefused
Unavailable    SourceTimeout SourceUnreachable BreakerOpen NotConnected
LimitReached   RateLimited QuotaSpent TooBusy
NotAllowed     RobotsForbid
InvalidInput   RequestFault
"""

from __future__ import annotations

from grandstand.base.errors import (
    GrandstandError,
    InvalidInput,
    LimitReached,
    NotAllowed,
    SourceFailed,
    Unavailable,
)
from grandstand.base.log import redact


class Told(Exception):
    """What a library said about a failure, without secrets; it stands in for its exception."""


def told(error: BaseException, *secrets: str) -> Told:
    """Answer what a library's exception says, without secrets and without the request in it."""
    return Told(redact(f"{type(error).__name__}: {error}", *secrets))


class WireError(GrandstandError):
    """Something went wrong with a source; `retry_after_seconds` says when it may pass, if known."""

    def __init__(
        self, message: str, *, source: str = "", retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(redact(message))
        self.source = source
        self.retry_after_seconds = retry_after_seconds


class SourceTimeout(WireError, Unavailable):
    """The source did not answer in time."""


class SourceUnreachable(WireError, Unavailable):
    """No connection, or it broke; `sent` is False when the source cannot have seen the request."""

    def __init__(self, message: str, *, source: str = "", sent: bool = True) -> None:
        super().__init__(message, source=source)
        self.sent = sent


class BreakerOpen(WireError, Unavailable):
    """The source failed so often that it is left alone for a while."""


class NotConnected(WireError, Unavailable):
    """The socket has no connection now."""


class SourceFaulted(WireError, SourceFailed):
    """The source answered that something is wrong at its end; `said` is how its text begins."""

    def __init__(
        self,
        message: str,
        *,
        source: str = "",
        answered: int = 0,
        retry_after_seconds: float | None = None,
        said: str = "",
    ) -> None:
        super().__init__(message, source=source, retry_after_seconds=retry_after_seconds)
        self.answered = answered
        self.said = said


class SourceRefused(WireError, SourceFailed):
    """The source will not do what was asked, however often; `answered` is its status."""

    retry = False

    def __init__(self, message: str, *, source: str = "", answered: int = 0) -> None:
        super().__init__(message, source=source)
        self.answered = answered


class AnswerGarbled(WireError, SourceFailed):
    """What came back is not what was agreed on."""


class AnswerTooLarge(WireError, SourceFailed):
    """The answer is larger than we are ready to read."""

    retry = False


class RedirectRefused(WireError, SourceFailed):
    """The source sent us elsewhere, where we do not go."""

    retry = False


class RateLimited(WireError, LimitReached):
    """The source says that we ask too often."""


class TooBusy(WireError, LimitReached):
    """Our own rate limit would keep this request waiting for too long."""


class QuotaSpent(WireError, LimitReached):
    """What the source allows in this period is used up."""

    retry = False


class RobotsForbid(WireError, NotAllowed):
    """The site asks robots not to read this."""


class RequestFault(WireError, InvalidInput):
    """The request cannot be sent as it is, or would go to a host it must not go to."""

"""Errors of requests to external sources; their messages contain no secrets.

SourceFailed   SourceServerError InvalidResponse ResponseTooLarge SourceRefused RedirectRefused
Unavailable    SourceTimeout SourceUnreachable CircuitOpen NotConnected
LimitReached   RateLimited QuotaExceeded RateLimitTimeout
NotAllowed     RobotsDisallowed
InvalidInput   InvalidRequest
"""

from __future__ import annotations

from grandstand.core import errors
from grandstand.core.logging import redact


class RedactedCause(Exception):
    """Stands in for a library's exception, without secrets."""


def redacted(error: BaseException, *secrets: str) -> RedactedCause:
    """Return a stand-in for a library's exception, without secrets and without its request."""
    return RedactedCause(redact(f"{type(error).__name__}: {error}", *secrets))


class NetworkError(errors.GrandstandError):
    """A request to a source failed.

    `retry_after_seconds` is when to try again, if known. `response_status` and `response_text`, the
    start of the body, are set if there was a response.
    """

    code = "network-error"

    def __init__(
        self,
        message: str,
        *,
        source: str = "",
        retry_after_seconds: float | None = None,
        response_status: int = 0,
        response_text: str = "",
    ) -> None:
        super().__init__(redact(message))
        self.source = source
        self.retry_after_seconds = retry_after_seconds
        self.response_status = response_status
        self.response_text = response_text


class SourceTimeout(NetworkError, errors.Unavailable):
    """The source did not respond in time."""

    code = "source-timeout"


class SourceUnreachable(NetworkError, errors.Unavailable):
    """No connection, or it broke; `sent` is False if the source cannot have seen the request."""

    code = "source-unreachable"

    def __init__(self, message: str, *, source: str = "", sent: bool = True) -> None:
        super().__init__(message, source=source)
        self.sent = sent


class CircuitOpen(NetworkError, errors.Unavailable):
    """The circuit breaker is open after repeated failures."""

    code = "circuit-open"


class NotConnected(NetworkError, errors.Unavailable):
    """The WebSocket is not connected."""

    code = "not-connected"


class SourceServerError(NetworkError, errors.SourceFailed):
    """The source failed."""

    code = "source-server-error"


class SourceRefused(NetworkError, errors.SourceFailed):
    """The source rejected the request."""

    code = "source-refused"

    retry = False


class InvalidResponse(NetworkError, errors.SourceFailed):
    """The response is not in the expected format."""

    code = "invalid-response"


class ResponseTooLarge(NetworkError, errors.SourceFailed):
    """The response exceeds the size limit."""

    code = "response-too-large"

    retry = False


class RedirectRefused(NetworkError, errors.SourceFailed):
    """The redirect leads to a place that is not allowed."""

    code = "redirect-refused"

    retry = False


class RateLimited(NetworkError, errors.LimitReached):
    """The source reports too many requests."""

    code = "rate-limited"


class RateLimitTimeout(NetworkError, errors.LimitReached):
    """Our own rate limit would delay the request beyond its deadline."""

    code = "rate-limit-timeout"


class QuotaExceeded(NetworkError, errors.LimitReached):
    """The quota of the current period is used up."""

    code = "quota-exceeded"

    retry = False


class RobotsDisallowed(NetworkError, errors.NotAllowed):
    """The site's robots.txt disallows the path."""

    code = "robots-disallowed"


class InvalidRequest(NetworkError, errors.InvalidInput):
    """The request cannot be sent, or would go to a host that is not allowed."""

    code = "invalid-request"

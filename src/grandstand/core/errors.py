"""The error tree: each class has an error code, an HTTP status, an exit code and a retry flag.

GrandstandError
├── InvalidInput    400  the caller must change the request
├── NotAllowed      403  the caller may not do this
├── NotFound        404  the thing does not exist
├── Conflict        409  it exists already, or changed in the meantime
├── LimitReached    429  too much or too often; try later
├── SourceFailed    502  an external service sent something unusable
├── Unavailable     503  something this depends on does not respond
└── Broken          500  a bug, or damaged data
"""

from __future__ import annotations

from typing import ClassVar


class GrandstandError(Exception):
    """Base of all errors; the message says what happened and what to do next.

    `code` is the public name in problem responses and logs. `retry` tells whether the same request
    may succeed later.
    """

    code: ClassVar[str] = "grandstand-error"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 70
    retry: ClassVar[bool] = False


class InvalidInput(GrandstandError):
    """The input is not acceptable as it is."""

    code = "invalid-input"
    status = 400
    exit_code = 65


class NotAllowed(GrandstandError):
    """The caller may not do this."""

    code = "not-allowed"
    status = 403
    exit_code = 77


class NotFound(GrandstandError):
    """The requested thing does not exist."""

    code = "not-found"
    status = 404
    exit_code = 66


class Conflict(GrandstandError):
    """The current state is not what the caller expected."""

    code = "conflict"
    status = 409
    exit_code = 73


class LimitReached(GrandstandError):
    """A limit on amount or rate was reached."""

    code = "limit-reached"
    status = 429
    exit_code = 75
    retry = True


class SourceFailed(GrandstandError):
    """An external source returned something unusable."""

    code = "source-failed"
    status = 502
    exit_code = 76
    retry = True


class Unavailable(GrandstandError):
    """Something this depends on does not respond."""

    code = "unavailable"
    status = 503
    exit_code = 69
    retry = True


class Broken(GrandstandError):
    """A bug, or damaged data."""

    code = "broken"

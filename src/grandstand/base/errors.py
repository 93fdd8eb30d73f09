"""Kept here: the one tree of errors, and what each meaning says to HTTP, to a shell and to a retry.

GrandstandError
├── InvalidInput    400  the caller must change what it sent
├── NotAllowed      403  the caller may not do this
├── NotFound        404  there is no such thing
├── Conflict        409  it exists, or it changed meanwhile
├── LimitReached    429  too much or too often; later it may pass
├── SourceFailed    502  an outsider answered wrongly
├── Unavailable     503  something we depend on is not answering
└── Broken          500  our own fault, or damaged data
"""

from __future__ import annotations

from typing import ClassVar


class GrandstandError(Exception):
    """What every error of ours is: a fact in its name, a sentence that says what to do next."""

    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 70
    retry: ClassVar[bool] = False


class InvalidInput(GrandstandError):
    """What was given cannot be accepted as it is."""

    status = 400
    exit_code = 65


class NotAllowed(GrandstandError):
    """The caller is known, or unknown, and may not do this."""

    status = 403
    exit_code = 77


class NotFound(GrandstandError):
    """The thing asked for does not exist."""

    status = 404
    exit_code = 66


class Conflict(GrandstandError):
    """The state found is not the state the caller counted on."""

    status = 409
    exit_code = 73


class LimitReached(GrandstandError):
    """A limit on amount or rate was reached."""

    status = 429
    exit_code = 75
    retry = True


class SourceFailed(GrandstandError):
    """An outside source answered with something we cannot use."""

    status = 502
    exit_code = 76
    retry = True


class Unavailable(GrandstandError):
    """Something this needs does not answer now."""

    status = 503
    exit_code = 69
    retry = True


class Broken(GrandstandError):
    """Our own fault, or data that is damaged."""

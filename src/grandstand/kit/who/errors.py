"""Kept here: what can go wrong with people and their credentials."""

from __future__ import annotations

from grandstand.base.errors import Conflict, LimitReached, NotAllowed


class LoginFailed(NotAllowed):
    """The name and the password do not belong together; which of them is wrong is not said."""

    status = 401


class LoginThrottled(LimitReached):
    """Too many logins failed; `retry_after_seconds` says when the next may be tried."""

    def __init__(self, message: str, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class NameTaken(Conflict):
    """Another account has this name."""


class LastAdmin(Conflict):
    """Without this account nobody could administer the others."""

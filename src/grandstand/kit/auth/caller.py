"""The caller of a request, and the errors of authentication."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from grandstand.core.errors import Conflict, LimitReached, NotAllowed
from grandstand.core.formatting import OddsFormat

Role: TypeAlias = Literal["user", "admin"]
Via: TypeAlias = Literal["owner", "session", "key", "token"]


@dataclass(frozen=True, slots=True)
class Preferences:
    """A user's time zone and odds format."""

    time_zone: str = "UTC"
    odds_format: OddsFormat = "decimal"


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller; data is stored under `user_id` only."""

    user_id: str
    name: str
    roles: frozenset[Role]
    via: Via
    preferences: Preferences = field(default_factory=Preferences)

    @property
    def admin(self) -> bool:
        """Whether the caller has administrator rights."""
        return "admin" in self.roles


LOCAL_OWNER: Final = Caller("owner", "Owner", frozenset({"user", "admin"}), "owner")


class LoginFailed(NotAllowed):
    """The name or password is wrong; which one is not disclosed."""

    code = "login-failed"

    status = 401


class LoginThrottled(LimitReached):
    """Too many failed logins; `retry_after_seconds` says when to try again."""

    code = "login-throttled"

    def __init__(self, message: str, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class NameTaken(Conflict):
    """Another account has this name."""

    code = "name-taken"


class LastAdmin(Conflict):
    """The account is the last administrator."""

    code = "last-admin"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a credential or request is refused, in a sentence for the client."""

    reason: str

"""Kept here: the caller of a request, as the credential says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Role: TypeAlias = Literal["user", "admin"]
Via: TypeAlias = Literal["owner", "session", "key", "token"]
OddsFormat: TypeAlias = Literal["american", "decimal", "fractional"]


@dataclass(frozen=True, slots=True)
class Preferences:
    """How a person likes times and odds to be shown."""

    time_zone: str = "UTC"
    odds_format: OddsFormat = "decimal"


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody whose credential was accepted; `user_id` is the only name data is kept under."""

    user_id: str
    name: str
    roles: frozenset[Role]
    via: Via
    preferences: Preferences = field(default_factory=Preferences)

    @property
    def admin(self) -> bool:
        """Whether this caller may do what only administrators may."""
        return "admin" in self.roles


LOCAL_OWNER: Final = Caller("owner", "Owner", frozenset({"user", "admin"}), "owner")

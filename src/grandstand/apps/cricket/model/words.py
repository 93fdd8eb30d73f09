"""Kept here: the words for the states of matches and sessions, and who holds what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

MatchStatus: TypeAlias = Literal["idle", "active", "ended"]
MatchPhase: TypeAlias = Literal["prematch", "live", "break", "ended"]
SessionStatus: TypeAlias = Literal["pending", "active", "suspended", "ended"]
EndReason: TypeAlias = Literal["match_ended", "unfollowed", "dismissed", "token_invalid"]

NEUTRAL_TEAM: Final = "neutral"


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock: an instance, and the nonce of this one acquisition."""

    owner: str
    nonce: str


@dataclass(frozen=True, slots=True)
class Seat:
    """Where a Live Activity runs: one device of one person, for one match."""

    match_id: str
    user_id: str
    device_id: str


@dataclass(frozen=True, slots=True)
class Phone:
    """What a device tells of itself when it registers."""

    device_id: str
    platform: str
    apns_token: str
    os_version: str
    app_version: str

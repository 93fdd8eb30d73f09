"""Kept here: the values of cricket: what a tick saw of a match, and the words for its states."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal, TypeAlias

MatchStatus: TypeAlias = Literal["idle", "active", "ended"]
MatchPhase: TypeAlias = Literal["prematch", "live", "break", "ended"]
SessionStatus: TypeAlias = Literal["pending", "active", "suspended", "ended"]
EndReason: TypeAlias = Literal["match_ended", "unfollowed", "dismissed", "token_invalid"]

NEUTRAL_TEAM: Final = "neutral"


@dataclass(frozen=True, slots=True)
class InningsScore:
    """Where one innings stands."""

    team_id: str
    inning: int
    score: int
    wickets: int
    overs: Decimal


@dataclass(frozen=True, slots=True)
class BattingLine:
    """One batter's figures in an innings."""

    player_id: int
    scoreboard: str
    score: int
    balls: int
    fours: int
    sixes: int
    out: bool


@dataclass(frozen=True, slots=True)
class BowlingLine:
    """One bowler's figures in an innings."""

    player_id: int
    scoreboard: str
    overs: Decimal
    maidens: int
    runs: int
    wickets: int


@dataclass(frozen=True, slots=True)
class Ball:
    """One delivery, short enough that thirty of them stay small."""

    id: int
    scoreboard: str
    ball: Decimal
    batter_id: int
    bowler_id: int
    runs: int
    legal: bool = True
    four: bool = False
    six: bool = False
    wicket: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """What a tick saw of a match: the next one is compared with it."""

    status: str
    score: tuple[InningsScore, ...]
    batting: tuple[BattingLine, ...]
    bowling: tuple[BowlingLine, ...]
    balls: tuple[Ball, ...] = field(default=())
    ball_id: int | None = None


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

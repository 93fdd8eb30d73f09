"""Facts that models learn from, each with the time it became known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeAlias

from grandstand.apps.bets.domain.types import PricedOutcome
from grandstand.core.errors import InvalidInput

ScoreStatus: TypeAlias = Literal["final", "postponed", "abandoned", "void"]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def to_epoch_us(instant: datetime) -> int:
    """Return a time as microseconds since 1970.

    Raises InvalidInput if the time has no zone.
    """
    if instant.tzinfo is None:
        raise InvalidInput(f"{instant.isoformat()} has no time zone. Add a UTC offset.")
    return (instant - EPOCH) // _MICROSECOND


def from_epoch_us(epoch_us: int) -> datetime:
    return EPOCH + timedelta(microseconds=int(epoch_us))


@dataclass(frozen=True, slots=True)
class Fixture:
    """A scheduled game; a later fixture with the same id is a schedule change.

    Teams are slugs. The sport is the feed's key, such as basketball_nba.
    """

    game_id: str
    sport: str
    home: str
    away: str
    commence_time: datetime
    known_at: datetime
    neutral: bool = False


@dataclass(frozen=True, slots=True)
class Quote:
    """A bookmaker's prices of one market at one time, with outcomes named as the feed names them.

    The order of the outcomes has no meaning. `participant` is the player of a prop market.
    """

    game_id: str
    book: str
    market: str
    captured_at: datetime
    outcomes: tuple[PricedOutcome, ...]
    known_at: datetime
    participant: str | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """The result of a game; a corrected score is a later record of the same game."""

    game_id: str
    home_score: int
    away_score: int
    completed_at: datetime
    known_at: datetime
    status: ScoreStatus = "final"
    corrected: bool = False


@dataclass(frozen=True, slots=True)
class TeamGameStats:
    """A team's stats in a game or on a date."""

    sport: str
    team: str
    stats: Mapping[str, float]
    played_at: datetime
    known_at: datetime
    game_id: str | None = None


@dataclass(frozen=True, slots=True)
class PlayerGameStats:
    """A player's stats in one game."""

    sport: str
    player: str
    team: str
    opponent: str
    game_id: str
    stats: Mapping[str, float]
    played_at: datetime
    known_at: datetime


@dataclass(frozen=True, slots=True)
class InjuryReport:
    """A report on a player's fitness; the latest report per player applies.

    `impact` is the share of the team's strength that is missing, 0 to 1.
    """

    sport: str
    team: str
    player: str
    status: str
    impact: float
    reported_at: datetime
    known_at: datetime


@dataclass(frozen=True, slots=True)
class CustomDataRow:
    """A row of a user's own dataset about a team or player, identified by slug."""

    dataset: str
    subject: str
    stats: Mapping[str, float]
    described_at: datetime
    known_at: datetime


@dataclass(frozen=True, slots=True)
class VerifiedForecast:
    """A forecast compared with the result: the input of calibration and ensemble weights.

    `outcome` is 1 for a win, 0 for a loss and between for half wins; pushes and voids are not
    verified. `sources` are the signals of a user model, in log-odds toward its pick.
    """

    model: str
    sport: str
    market: str
    game_id: str
    raw: float
    probability: float
    fair: float | None
    outcome: float
    predicted_at: datetime
    known_at: datetime
    sources: tuple[tuple[str, float], ...] = ()

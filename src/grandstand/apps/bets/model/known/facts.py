"""Kept here: what models are told, each fact with the moment it became known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from grandstand.apps.bets.model import PricedOutcome
from grandstand.apps.bets.model.refusals import NaiveMoment

if TYPE_CHECKING:
    from grandstand.apps.bets.model.prices.paths import QuotePath

ScoreStatus: TypeAlias = Literal["final", "postponed", "abandoned", "void"]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def micros(moment: datetime) -> int:
    """A moment as whole microseconds since 1970; raises NaiveMoment when it names no zone."""
    if moment.tzinfo is None:
        raise NaiveMoment(moment)
    return (moment - EPOCH) // _MICROSECOND


def moment_of(stamp: int) -> datetime:
    """The moment of a number of microseconds since 1970, in UTC."""
    return EPOCH + timedelta(microseconds=int(stamp))


@dataclass(frozen=True, slots=True)
class Fixture:
    """A game to be played; a later fixture of the same id is a change of the schedule.

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
    """A bookmaker's prices of one market of a game at one moment, named as the feed names them.

    The order of the outcomes means nothing. The participant is a player, in prop markets alone.
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
    """How a game ended; a corrected score is a later row of the same game."""

    game_id: str
    home_score: int
    away_score: int
    completed_at: datetime
    known_at: datetime
    status: ScoreStatus = "final"
    corrected: bool = False


@dataclass(frozen=True, slots=True)
class TeamFigures:
    """A team's figures, of the game they were made in or of a date."""

    sport: str
    team: str
    figures: Mapping[str, float]
    played_at: datetime
    known_at: datetime
    game_id: str | None = None


@dataclass(frozen=True, slots=True)
class PlayerFigures:
    """A player's figures in one game."""

    sport: str
    player: str
    team: str
    opponent: str
    game_id: str
    figures: Mapping[str, float]
    played_at: datetime
    known_at: datetime


@dataclass(frozen=True, slots=True)
class InjuryReport:
    """What was said of a player's fitness; the latest report of a player holds.

    The impact is the share of a team's strength that is missing, 0 to 1.
    """

    sport: str
    team: str
    player: str
    status: str
    impact: float
    reported_at: datetime
    known_at: datetime


@dataclass(frozen=True, slots=True)
class CustomRow:
    """A row of a person's own data about a team or a player, named by a slug."""

    dataset: str
    subject: str
    figures: Mapping[str, float]
    described_at: datetime
    known_at: datetime


@dataclass(frozen=True, slots=True)
class Verified:
    """A prediction that was compared with the result: what calibration and weights learn from.

    The outcome is 1 for a win, 0 for a loss and between for halves; pushes and voids are not
    verified. The sources are what a user model counted, as log-odds towards its pick.
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


Fact: TypeAlias = (
    "Fixture | Quote | QuotePath | Score | TeamFigures | PlayerFigures | InjuryReport"
    " | CustomRow | Verified"
)

"""Kept here: what feeds tell: games with prices, scores, figures and injuries, names as given."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from grandstand.apps.bets.model import InjuryStatus, PricedOutcome


@dataclass(frozen=True, slots=True)
class FedPrice:
    """One bookmaker's price of one market; `player` names whom a prop is about."""

    bookmaker: str
    market_key: str
    outcomes: tuple[PricedOutcome, ...]
    updated_at: datetime | None = None
    player: str | None = None


@dataclass(frozen=True, slots=True)
class FedGame:
    """A game as a feed has it, with whatever prices it gave."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    prices: tuple[FedPrice, ...] = ()


@dataclass(frozen=True, slots=True)
class FedScore:
    """How a game stands; the scores are there once it is completed, matched to teams by name."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    completed: bool
    home_score: Decimal | None = None
    away_score: Decimal | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FedTeamFigures:
    """A team's figures up to a date of a season, and since when they were known."""

    sport: str
    team: str
    season: str
    stat_date: date
    stats: dict[str, Decimal]
    known_at: datetime


@dataclass(frozen=True, slots=True)
class FedPlayerFigures:
    """A player's figures in one game.

    A feed whose games have ids of their own tells whom they were against and when.
    """

    sport: str
    player: str
    team: str
    game_id: str
    stats: dict[str, Decimal]
    known_at: datetime
    opponent: str | None = None
    starts_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FedInjury:
    """A player's injury as reported on a date."""

    sport: str
    team: str
    player: str
    reported_on: date
    status: InjuryStatus
    injury: str
    known_at: datetime
    impact: Decimal = Decimal("0.5")


@dataclass(frozen=True, slots=True)
class FedMeeting:
    """A game on a team's schedule."""

    sport: str
    team: str
    opponent: str
    starts_at: datetime
    is_home: bool
    known_at: datetime


@dataclass(frozen=True, slots=True)
class Refused:
    """What a feed told that cannot be used, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Spent:
    """What a request took of a quota, as the source says; None where it does not."""

    credits: int | None = None
    used: int | None = None
    left: int | None = None


@dataclass(frozen=True, slots=True)
class FedGames:
    """Games and prices of one request, what of it was refused, and what it cost."""

    games: tuple[FedGame, ...]
    refused: tuple[Refused, ...] = ()
    spent: Spent = Spent()


@dataclass(frozen=True, slots=True)
class FedScores:
    """Scores of one request, what of it was refused, and what it cost."""

    scores: tuple[FedScore, ...]
    refused: tuple[Refused, ...] = ()
    spent: Spent = Spent()


@dataclass(frozen=True, slots=True)
class FedStats:
    """Figures, schedules and injuries of one request, and what of it was refused."""

    teams: tuple[FedTeamFigures, ...] = ()
    players: tuple[FedPlayerFigures, ...] = ()
    injuries: tuple[FedInjury, ...] = ()
    meetings: tuple[FedMeeting, ...] = ()
    refused: tuple[Refused, ...] = ()


@dataclass(frozen=True, slots=True)
class PastGame:
    """A game of an imported season: its result, and prices with the moment each stands for."""

    game: FedGame
    score: FedScore
    opening: tuple[FedPrice, ...] = ()
    closing: tuple[FedPrice, ...] = ()


@dataclass(frozen=True, slots=True)
class PastSeason:
    """The games of a file, and the lines of it that could not be used."""

    games: tuple[PastGame, ...]
    refused: tuple[Refused, ...] = ()

"""Records that feeds and data files deliver: games, prices, scores, stats and injuries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from grandstand.apps.bets.domain.types import InjuryStatus, PricedOutcome


@dataclass(frozen=True, slots=True)
class FeedPrice:
    """One bookmaker's price of one market; `player` is set for props."""

    bookmaker: str
    market_key: str
    outcomes: tuple[PricedOutcome, ...]
    updated_at: datetime | None = None
    player: str | None = None


@dataclass(frozen=True, slots=True)
class FeedGame:
    """A game with the prices the feed returned for it."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    prices: tuple[FeedPrice, ...] = ()


@dataclass(frozen=True, slots=True)
class FeedScore:
    """The state of a game; scores are set once it is completed, matched to teams by name."""

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
class FeedTeamStats:
    """A team's stats up to a date of a season, and when they became known."""

    sport: str
    team: str
    season: str
    stat_date: date
    stats: dict[str, Decimal]
    known_at: datetime


@dataclass(frozen=True, slots=True)
class FeedPlayerStats:
    """A player's stats in one game.

    `opponent` and `starts_at` are set by feeds whose game ids differ from ours.
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
class FeedInjury:
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
class FeedFixture:
    """A game on a team's schedule."""

    sport: str
    team: str
    opponent: str
    starts_at: datetime
    is_home: bool
    known_at: datetime


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that cannot be used, and why."""

    row: str
    reason: str


@dataclass(frozen=True, slots=True)
class QuotaUsage:
    """Credits a request cost, and credits used and left; None where the source does not say."""

    credits: int | None = None
    used: int | None = None
    left: int | None = None


@dataclass(frozen=True, slots=True)
class FeedGames:
    """Games and prices of one request, with rejected rows and the credits spent."""

    games: tuple[FeedGame, ...]
    rejected: tuple[RejectedRow, ...] = ()
    usage: QuotaUsage = QuotaUsage()


@dataclass(frozen=True, slots=True)
class FeedScores:
    """Scores of one request, with rejected rows and the credits spent."""

    scores: tuple[FeedScore, ...]
    rejected: tuple[RejectedRow, ...] = ()
    usage: QuotaUsage = QuotaUsage()


@dataclass(frozen=True, slots=True)
class FeedStats:
    """Stats, schedules and injuries of one request, with rejected rows."""

    teams: tuple[FeedTeamStats, ...] = ()
    players: tuple[FeedPlayerStats, ...] = ()
    injuries: tuple[FeedInjury, ...] = ()
    fixtures: tuple[FeedFixture, ...] = ()
    rejected: tuple[RejectedRow, ...] = ()


@dataclass(frozen=True, slots=True)
class ArchivedGame:
    """A game of an imported season: its result, and its opening and closing prices."""

    game: FeedGame
    score: FeedScore
    opening: tuple[FeedPrice, ...] = ()
    closing: tuple[FeedPrice, ...] = ()


@dataclass(frozen=True, slots=True)
class ArchivedSeason:
    """The games of a file, and its rejected lines."""

    games: tuple[ArchivedGame, ...]
    rejected: tuple[RejectedRow, ...] = ()

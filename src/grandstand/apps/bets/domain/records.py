"""Records of games, prices, results and stats, as feeds deliver them and as models see them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from grandstand.core.errors import InvalidInput

AnalysisType: TypeAlias = Literal["game", "prop"]
VerifiedType: TypeAlias = Literal["game", "game#inverse", "prop", "prop#inverse"]
Recommendation: TypeAlias = Literal["ORIGINAL", "INVERSE", "AVOID"]
Evidence: TypeAlias = Literal["INSUFFICIENT_DATA"]
ModelStatus: TypeAlias = Literal["active", "paused"]
BetStatus: TypeAlias = Literal["pending", "won", "lost", "push", "void"]
InjuryStatus: TypeAlias = Literal["out", "questionable", "doubtful", "active"]
ScoreStatus: TypeAlias = Literal["final", "postponed", "abandoned", "void"]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_SEPARATORS: Final = re.compile(r"[\W_]+")
_SPORTS: Final = {
    "basketball_nba": "NBA",
    "basketball_wnba": "WNBA",
    "basketball_ncaab": "College basketball",
    "americanfootball_nfl": "NFL",
    "americanfootball_ncaaf": "College football",
    "baseball_mlb": "MLB",
    "icehockey_nhl": "NHL",
    "soccer_epl": "Premier League",
}
_MODELS: Final = {
    "hot_cold": "Hot and cold",
    "rest_schedule": "Rest and schedule",
    "injury_aware": "Injuries",
    "player_stats": "Player stats",
    "dixon_coles": "Dixon-Coles",
    "elo": "Elo",
    "benny": "Benny",
}


@dataclass(frozen=True, slots=True)
class PricedOutcome:
    """One side of a market: its American price and its line, if it has one."""

    name: str
    price: int
    point: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    wins: int
    total: int


@dataclass(frozen=True, slots=True)
class GameRef:
    """The id, sport, teams and start of a game."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its 95% confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """A bin of a reliability diagram; the win rate lies between `low` and `high`."""

    low: float
    high: float
    count: int
    mean_probability: float
    share_won: float


@lru_cache(maxsize=65_536)
def slug(name: str) -> str:
    """Return a name as keys write it: `Los Angeles Lakers` becomes `los_angeles_lakers`.

    Accents are dropped. A slug is its own slug, so either form can be used where a key is built.
    """
    decomposed = unicodedata.normalize("NFKD", name)
    text = "".join(char for char in decomposed if not unicodedata.combining(char))
    return _SEPARATORS.sub("_", text.lower()).strip("_")


def matchup_key(team: str, other: str) -> str:
    """Return the same key for two teams whichever is at home: both slugs, sorted."""
    return "#".join(sorted((slug(team), slug(other))))


def sport_name(sport: str) -> str:
    return _SPORTS.get(sport) or humanize_key(sport.partition("_")[2] or sport)


def model_name(model: str) -> str:
    return _MODELS.get(model) or humanize_key(model)


def humanize_key(key: str) -> str:
    return key.replace("_", " ").strip().capitalize()


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


@dataclass(frozen=True, slots=True)
class FeedPrice:
    """One bookmaker's price of one market; `player` is set for props."""

    bookmaker: str
    market_key: str
    outcomes: tuple[PricedOutcome, ...]
    updated_at: datetime | None = None
    player: str | None = None


@dataclass(frozen=True, slots=True)
class FeedGame(GameRef):
    """A game with the prices the feed returned for it."""

    prices: tuple[FeedPrice, ...] = ()


@dataclass(frozen=True, slots=True)
class FeedScore(GameRef):
    """The state of a game; scores are set once it is completed, matched to teams by name."""

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

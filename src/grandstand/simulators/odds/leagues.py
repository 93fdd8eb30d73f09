"""Simulated leagues, bookmakers and game calendars."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from grandstand.core.errors import InvalidInput, NotFound

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Kind: TypeAlias = Literal["points", "goals"]

_BASKETBALL: Final = (
    "Atlanta Hawks|Boston Celtics|Brooklyn Nets|Charlotte Hornets|Chicago Bulls|"
    "Cleveland Cavaliers|Dallas Mavericks|Denver Nuggets|Detroit Pistons|Golden State Warriors|"
    "Houston Rockets|Indiana Pacers|Los Angeles Clippers|Los Angeles Lakers|Memphis Grizzlies|"
    "Miami Heat|Milwaukee Bucks|Minnesota Timberwolves|New Orleans Pelicans|New York Knicks|"
    "Oklahoma City Thunder|Orlando Magic|Philadelphia 76ers|Phoenix Suns|Portland Trail Blazers|"
    "Sacramento Kings|San Antonio Spurs|Toronto Raptors|Utah Jazz|Washington Wizards"
)
_FOOTBALL: Final = (
    "Arizona Cardinals|Atlanta Falcons|Baltimore Ravens|Buffalo Bills|Carolina Panthers|"
    "Chicago Bears|Cincinnati Bengals|Cleveland Browns|Dallas Cowboys|Denver Broncos|"
    "Detroit Lions|Green Bay Packers|Houston Texans|Indianapolis Colts|Jacksonville Jaguars|"
    "Kansas City Chiefs|Las Vegas Raiders|Los Angeles Chargers|Los Angeles Rams|Miami Dolphins|"
    "Minnesota Vikings|New England Patriots|New Orleans Saints|New York Giants|New York Jets|"
    "Philadelphia Eagles|Pittsburgh Steelers|San Francisco 49ers|Seattle Seahawks|"
    "Tampa Bay Buccaneers|Tennessee Titans|Washington Commanders"
)
_SOCCER: Final = (
    "Arsenal|Aston Villa|Bournemouth|Brentford|Brighton and Hove Albion|Burnley|Chelsea|"
    "Crystal Palace|Everton|Fulham|Leeds United|Liverpool|Manchester City|Manchester United|"
    "Newcastle United|Nottingham Forest|Sunderland|Tottenham Hotspur|West Ham United|"
    "Wolverhampton Wanderers"
)

HOUR_US: Final = 3_600_000_000
DAY_US: Final = 24 * HOUR_US
MAX_REST_DAYS: Final = 7
_BREAK_DAYS: Final = 90
_SLOTS_PER_EVENING: Final = 9
_SLOTS_PER_DAY: Final = 48


@dataclass(frozen=True, slots=True)
class TeamStat:
    """A box score stat: its usual value, the effects of strength and margin, and its noise."""

    name: str
    usual: float
    by_strength: float
    by_margin: float
    chance: float


@dataclass(frozen=True, slots=True)
class PlayerStat:
    """A player stat: its prop market, and its usual value and noise for a whole share."""

    name: str
    market: str
    usual: float
    chance: float


@dataclass(frozen=True, slots=True)
class League:
    """A league and its parameters. Strengths and effects are in points, or in log goals.

    In a `points` league the margin is normal with `margin_sd` around the difference of strengths;
    in a `goals` league goals are Poisson, with low-scoring draws slightly likelier (`rho`).
    """

    key: str
    group: str
    title: str
    path: str
    kind: Kind
    teams: tuple[str, ...]
    season_games: int
    days_between_rounds: int
    hours: float
    first_hour: int
    strength_sd: float
    drift_sd: float
    home_advantage: float
    rest_effect: float
    margin_sd: float
    total_mean: float
    total_sd: float
    news_sd: float
    hidden_sd: float
    rho: float
    key_margins: tuple[tuple[int, float], ...]
    players: int
    star_impact: float
    counts: tuple[TeamStat, ...]
    props: tuple[PlayerStat, ...]

    @property
    def has_draws(self) -> bool:
        return self.kind == "goals"


BASKETBALL: Final = League(
    key="basketball_nba",
    group="Basketball",
    title="NBA",
    path="basketball/nba",
    kind="points",
    teams=tuple(_BASKETBALL.split("|")),
    season_games=1230,
    days_between_rounds=2,
    hours=2.4,
    first_hour=23,
    strength_sd=4.6,
    drift_sd=0.22,
    home_advantage=2.4,
    rest_effect=0.8,
    margin_sd=12.0,
    total_mean=226.0,
    total_sd=17.0,
    news_sd=1.6,
    hidden_sd=0.4,
    rho=0.0,
    key_margins=(),
    players=8,
    star_impact=3.4,
    counts=(
        TeamStat("field_goal_pct", 46.8, 0.22, 0.11, 3.4),
        TeamStat("three_point_pct", 36.2, 0.16, 0.13, 5.2),
        TeamStat("rebounds", 43.6, 0.20, 0.09, 4.6),
        TeamStat("assists", 26.4, 0.18, 0.08, 3.9),
        TeamStat("turnovers", 13.4, -0.12, -0.03, 3.0),
        TeamStat("pace", 99.5, 0.0, 0.0, 2.2),
    ),
    props=(
        PlayerStat("PTS", "player_points", 112.0, 1.0),
        PlayerStat("REB", "player_rebounds", 43.6, 1.0),
        PlayerStat("AST", "player_assists", 26.4, 1.0),
        PlayerStat("3PM", "player_threes", 12.8, 1.0),
    ),
)

FOOTBALL: Final = League(
    key="americanfootball_nfl",
    group="American Football",
    title="NFL",
    path="football/nfl",
    kind="points",
    teams=tuple(_FOOTBALL.split("|")),
    season_games=272,
    days_between_rounds=7,
    hours=3.2,
    first_hour=18,
    strength_sd=4.2,
    drift_sd=0.18,
    home_advantage=1.9,
    rest_effect=0.35,
    margin_sd=12.8,
    total_mean=45.0,
    total_sd=10.0,
    news_sd=1.4,
    hidden_sd=0.4,
    rho=0.0,
    key_margins=((3, 2.6), (7, 1.9), (10, 1.3), (6, 1.2), (14, 1.2), (4, 1.15), (1, 0.7), (2, 0.7)),
    players=5,
    star_impact=3.8,
    counts=(
        TeamStat("total_yards", 335.0, 6.0, 1.6, 62.0),
        TeamStat("passing_yards", 222.0, 4.2, 0.9, 58.0),
        TeamStat("rushing_yards", 113.0, 1.6, 0.9, 38.0),
        TeamStat("turnovers", 1.4, -0.05, -0.025, 1.0),
        TeamStat("third_down_pct", 39.5, 0.5, 0.15, 11.0),
    ),
    props=(
        PlayerStat("PASS_YDS", "player_pass_yds", 235.0, 9.0),
        PlayerStat("RUSH_YDS", "player_rush_yds", 115.0, 5.0),
        PlayerStat("REC_YDS", "player_reception_yds", 225.0, 7.0),
    ),
)

SOCCER: Final = League(
    key="soccer_epl",
    group="Soccer",
    title="EPL",
    path="soccer/eng.1",
    kind="goals",
    teams=tuple(_SOCCER.split("|")),
    season_games=380,
    days_between_rounds=7,
    hours=1.9,
    first_hour=12,
    strength_sd=0.24,
    drift_sd=0.012,
    home_advantage=0.25,
    rest_effect=0.012,
    margin_sd=0.0,
    total_mean=0.13,
    total_sd=0.0,
    news_sd=0.10,
    hidden_sd=0.025,
    rho=-0.06,
    key_margins=(),
    players=5,
    star_impact=0.14,
    counts=(
        TeamStat("shots", 12.8, 9.0, 0.5, 3.6),
        TeamStat("shots_on_target", 4.4, 3.6, 0.5, 1.8),
        TeamStat("possession_pct", 50.0, 14.0, 0.0, 7.0),
        TeamStat("corners", 5.1, 2.2, 0.0, 2.4),
        TeamStat("tackles", 17.0, 0.0, 0.0, 4.0),
    ),
    props=(
        PlayerStat("SHOTS", "player_shots", 12.8, 1.0),
        PlayerStat("SOT", "player_shots_on_target", 4.4, 1.0),
    ),
)

LEAGUES: Final[dict[str, League]] = {
    league.key: league for league in (BASKETBALL, FOOTBALL, SOCCER)
}


@dataclass(frozen=True, slots=True)
class Book:
    """A bookmaker.

    `margin` is the overround. Prices follow the news after `lag_minutes` and miss it by `noise`
    (relative to the league's news). `home_bias` shifts prices toward home, on the same scale;
    `longshot` above 1 shortens long shots. Prices are multiples of `step`.
    """

    key: str
    title: str
    region: str
    margin: float
    lag_minutes: float
    noise: float
    home_bias: float
    longshot: float
    step: int
    limit_dollars: int


BOOKS: Final = (
    Book("pinnacle", "Pinnacle", "eu", 0.022, 0.0, 0.05, 0.0, 1.0, 1, 20_000),
    Book("fanduel", "FanDuel", "us", 0.045, 6.0, 0.12, 0.02, 1.0, 2, 5_000),
    Book("draftkings", "DraftKings", "us", 0.046, 8.0, 0.14, 0.02, 1.0, 1, 5_000),
    Book("betmgm", "BetMGM", "us", 0.050, 20.0, 0.20, 0.05, 1.02, 5, 2_000),
    Book("caesars", "Caesars", "us", 0.052, 25.0, 0.22, 0.05, 1.02, 5, 2_000),
    Book("fanatics", "Fanatics", "us", 0.055, 40.0, 0.26, 0.08, 1.03, 5, 1_000),
    Book("bovada", "Bovada", "us", 0.048, 30.0, 0.20, 0.0, 1.0, 5, 2_500),
    Book("betrivers", "BetRivers", "us", 0.058, 60.0, 0.30, 0.10, 1.04, 1, 750),
    Book("williamhill", "William Hill", "uk", 0.060, 45.0, 0.28, 0.06, 1.03, 1, 1_000),
    Book("unibet", "Unibet", "uk", 0.056, 90.0, 0.34, 0.12, 1.04, 1, 500),
)


class UnknownLeague(NotFound):
    """There is no league of that key."""

    code = "unknown-league"

    def __init__(self, sport: str, known: tuple[str, ...]) -> None:
        super().__init__(f"Unknown league {sport!r}. Use {', '.join(known)}.")


class SeasonTooShort(InvalidInput):
    """A season needs at least one game, and a path at least two prices."""

    code = "season-too-short"


@dataclass(frozen=True, slots=True)
class Calendar:
    """Games in order of their start: teams by number, starts, and full days of rest."""

    home: npt.NDArray[np.int64]
    away: npt.NDArray[np.int64]
    commence_us: npt.NDArray[np.int64]
    rest_home: npt.NDArray[np.int64]
    rest_away: npt.NDArray[np.int64]
    season: npt.NDArray[np.int64]


def make_calendar(
    league: League,
    games: int,
    starts_at: datetime,
    random: np.random.Generator,
    *,
    all_day: bool = False,
) -> Calendar:
    """Return a calendar of so many games; after a season comes a break, then the next season.

    With `all_day` games start at any hour of any day between two rounds.
    """
    teams, per_season = len(league.teams), league.season_games
    per_round = teams // 2
    rounds = -(-games // per_round)
    rounds_a_season = per_season // per_round
    pairs = np.concatenate([_round(at, league, random) for at in range(rounds)])[:games]
    number = np.repeat(np.arange(rounds), per_round)[:games]
    season = number // rounds_a_season
    days = number * league.days_between_rounds + season * _BREAK_DAYS
    between = league.days_between_rounds
    days = days + random.integers(0, between if all_day else min(2, between), games)
    slots = random.integers(0, _SLOTS_PER_DAY if all_day else _SLOTS_PER_EVENING, games)
    first_hour = 0 if all_day else league.first_hour
    base = int(starts_at.timestamp()) * 1_000_000
    start = base + days * DAY_US + first_hour * HOUR_US + slots * (HOUR_US // 2)
    order = np.lexsort((np.arange(games), start))
    pairs, start, season = pairs[order], start[order], season[order]
    rest = _rest(pairs, start - first_hour * HOUR_US, teams)
    return Calendar(pairs[:, 0], pairs[:, 1], start, rest[:, 0], rest[:, 1], season)


def _round(number: int, league: League, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Pair all teams once: round robin in leagues of two halves, random elsewhere."""
    teams = len(league.teams)
    if league.kind == "points":
        return random.permutation(teams).reshape(-1, 2)
    turn, half = number % (teams - 1), number // (teams - 1) % 2
    ring = np.concatenate(([0], 1 + (np.arange(teams - 1) + turn) % (teams - 1)))
    first, second = ring[: teams // 2], ring[::-1][: teams // 2]
    swapped = (np.arange(teams // 2) + turn + half) % 2 == 1
    return np.where(swapped[:, None], np.stack((second, first), 1), np.stack((first, second), 1))


def _rest(
    pairs: npt.NDArray[np.int64], start: npt.NDArray[np.int64], teams: int
) -> npt.NDArray[np.int64]:
    """Return the full days between a team's games, 0 for a back-to-back, 7 before the first."""
    last = np.full(teams, np.iinfo(np.int64).min // 2)
    rest = np.empty_like(pairs)
    for index, (pair, start_us) in enumerate(zip(pairs, start, strict=True)):
        days = start_us // DAY_US - last[pair] // DAY_US - 1
        rest[index] = np.clip(days, 0, MAX_REST_DAYS)
        last[pair] = start_us
    return rest

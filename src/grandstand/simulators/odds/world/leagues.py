"""Kept here: the leagues that can be played: their teams, their laws of chance, what is counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

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


@dataclass(frozen=True, slots=True)
class Count:
    """A figure of a box score: its usual size, what strength adds to it, and what chance does."""

    name: str
    usual: float
    by_strength: float
    by_margin: float
    chance: float


@dataclass(frozen=True, slots=True)
class PropCount:
    """A figure of a player: the market about it, and its size and chance for a whole share."""

    name: str
    market: str
    usual: float
    chance: float


@dataclass(frozen=True, slots=True)
class League:
    """A league and its laws. Strengths and effects are in points, or in log goals.

    In a `points` league the margin is normal with `margin_sd` about the difference of strengths; in
    a `goals` league the goals follow Poisson laws with few-goal draws a little likelier (`rho`).
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
    counts: tuple[Count, ...]
    props: tuple[PropCount, ...]

    @property
    def has_draws(self) -> bool:
        """Whether a game can end level."""
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
        Count("field_goal_pct", 46.8, 0.22, 0.11, 3.4),
        Count("three_point_pct", 36.2, 0.16, 0.13, 5.2),
        Count("rebounds", 43.6, 0.20, 0.09, 4.6),
        Count("assists", 26.4, 0.18, 0.08, 3.9),
        Count("turnovers", 13.4, -0.12, -0.03, 3.0),
        Count("pace", 99.5, 0.0, 0.0, 2.2),
    ),
    props=(
        PropCount("PTS", "player_points", 112.0, 1.0),
        PropCount("REB", "player_rebounds", 43.6, 1.0),
        PropCount("AST", "player_assists", 26.4, 1.0),
        PropCount("3PM", "player_threes", 12.8, 1.0),
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
        Count("total_yards", 335.0, 6.0, 1.6, 62.0),
        Count("passing_yards", 222.0, 4.2, 0.9, 58.0),
        Count("rushing_yards", 113.0, 1.6, 0.9, 38.0),
        Count("turnovers", 1.4, -0.05, -0.025, 1.0),
        Count("third_down_pct", 39.5, 0.5, 0.15, 11.0),
    ),
    props=(
        PropCount("PASS_YDS", "player_pass_yds", 235.0, 9.0),
        PropCount("RUSH_YDS", "player_rush_yds", 115.0, 5.0),
        PropCount("REC_YDS", "player_reception_yds", 225.0, 7.0),
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
        Count("shots", 12.8, 9.0, 0.5, 3.6),
        Count("shots_on_target", 4.4, 3.6, 0.5, 1.8),
        Count("possession_pct", 50.0, 14.0, 0.0, 7.0),
        Count("corners", 5.1, 2.2, 0.0, 2.4),
        Count("tackles", 17.0, 0.0, 0.0, 4.0),
    ),
    props=(
        PropCount("SHOTS", "player_shots", 12.8, 1.0),
        PropCount("SOT", "player_shots_on_target", 4.4, 1.0),
    ),
)

LEAGUES: Final[dict[str, League]] = {each.key: each for each in (BASKETBALL, FOOTBALL, SOCCER)}

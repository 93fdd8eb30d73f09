"""Margins and totals: score distributions by sport, prices of bets on them, team strengths."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache, partial
from statistics import NormalDist
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.domain.history import AsOfView, PlayedGame, ResultFold
from grandstand.apps.bets.domain.records import Fixture
from grandstand.apps.bets.domain.selections import InvalidSelection, Selection, SettlementForm
from grandstand.apps.bets.domain.settlement import quarters_won
from grandstand.core.errors import InvalidInput

Reals: TypeAlias = npt.NDArray[np.float64]

_SUM_TOLERANCE: Final = 1e-9
_REACH: Final = 6.0
_MAX_TILTS: Final = 12
_MAX_ITERATIONS: Final = 60
_TOLERANCE: Final = 1e-10
_MARGIN_MARKETS: Final = frozenset({"h2h", "h2h_3way", "spreads", "draw_no_bet"})
# In football one game in seven is decided by 3 points and one in ten by 7.
_FOOTBALL_KEYS: Final = ((0, 0.05), (3, 2.5), (4, 1.1), (6, 1.2), (7, 1.7), (10, 1.25), (14, 1.3))
# Near even chances one standard deviation is worth this many log-odds: 4 / sqrt(2 pi).
LOGIT_PER_SD: Final = 1.596
# Home advantage and mean total in points: rounded long-run values of each sport's large leagues.
_HOME_ADVANTAGE_AND_TOTAL: Final = {
    "basketball": (2.5, 224.0),
    "americanfootball": (1.8, 45.0),
    "baseball": (0.15, 8.8),
    "icehockey": (0.25, 6.1),
    "soccer": (0.35, 2.75),
}
_OFFSEASON: Final = timedelta(days=60)
_OFFSEASON_CARRYOVER: Final = 0.7
_MIN_RATE: Final = 0.045
_FIRST_GAMES: Final = 10.0
_PRIOR_GAMES: Final = 60.0
_LEAGUE_RATE: Final = 0.01


@dataclass(frozen=True, slots=True)
class VerdictChances:
    """The probability of each verdict; they sum to 1."""

    win: float
    half_win: float
    push: float
    half_loss: float
    loss: float

    @property
    def won(self) -> float:
        """The expected share of the stake that wins."""
        return self.win + self.half_win / 2.0

    @property
    def lost(self) -> float:
        """The expected share of the stake that is lost."""
        return self.loss + self.half_loss / 2.0

    @property
    def probability(self) -> float:
        """The probability of winning given a decision, as a price without margin implies."""
        decided = self.won + self.lost
        return self.won / decided if decided else 0.5

    def value(self, decimal: float) -> float:
        """Return the expected profit of one unit at a price."""
        return self.won * (decimal - 1.0) - self.lost


def verdict_chances(quarters: npt.NDArray[np.int64], masses: Reals) -> VerdictChances:
    """Return the chances of a bet that wins by these quarters, each with its probability."""
    verdicts = np.clip(quarters, -2, 2).ravel() + 2
    loss, half_loss, push, half_win, win = np.bincount(
        verdicts, weights=masses.ravel(), minlength=5
    ).tolist()
    return VerdictChances(win, half_win, push, half_loss, loss)


@dataclass(frozen=True, slots=True, eq=False)
class ScoreGrid:
    """The probability of every score: home goals down, away goals across.

    Raises InvalidInput unless cells are non-negative and sum to 1.
    """

    cells: Reals

    def __post_init__(self) -> None:
        total = float(self.cells.sum())
        if self.cells.ndim != 2 or not np.isfinite(total) or self.cells.min() < 0.0:
            raise InvalidInput("A score grid must have two dimensions and no negative cell.")
        if abs(total - 1.0) > _SUM_TOLERANCE:
            raise InvalidInput(f"The cells of the score grid sum to {total} instead of 1.")

    @property
    def home(self) -> float:
        return float(np.tril(self.cells, -1).sum())

    @property
    def draw(self) -> float:
        return float(np.trace(self.cells))

    @property
    def away(self) -> float:
        return float(np.triu(self.cells, 1).sum())

    def exact(self, home: int, away: int) -> float:
        """Return the probability of a score, 0 beyond the grid."""
        rows, columns = self.cells.shape
        inside = 0 <= home < rows and 0 <= away < columns
        return float(self.cells[home, away]) if inside else 0.0

    def chances(self, selection: Selection) -> VerdictChances:
        """Return the chances of a bet on the score.

        Raises InvalidSelection for other markets.
        """
        form = selection.form
        if form is None or selection.market == "prop":
            raise InvalidSelection(f"A score grid cannot price {selection.market}.")
        home, away = np.indices(self.cells.shape, dtype=np.int64)[:]
        return verdict_chances(quarters_won(form, home, away), self.cells)


@dataclass(frozen=True, slots=True, eq=False)
class ScoreLattice:
    """The probability of every whole number from `first` on: of a margin or a total."""

    first: int
    masses: Reals

    @property
    def values(self) -> npt.NDArray[np.int64]:
        return np.arange(self.first, self.first + self.masses.size, dtype=np.int64)

    @property
    def mean(self) -> float:
        return float(self.values @ self.masses)

    def at(self, value: int) -> float:
        place = value - self.first
        return float(self.masses[place]) if 0 <= place < self.masses.size else 0.0

    def chances(self, form: SettlementForm) -> VerdictChances:
        """Return the chances of a bet that counts this number in place of the home score."""
        values = self.values
        return verdict_chances(quarters_won(form, values, np.zeros_like(values)), self.masses)


@dataclass(frozen=True, slots=True)
class ScoreShape:
    """How margins and totals of a sport scatter around their means.

    `keys` gives the frequency of key margins relative to a normal curve; a key of 0 below 1 means
    draws are rare, 0 that there are none.
    """

    margin_deviation: float
    total_deviation: float
    keys: tuple[tuple[int, float], ...] = ()

    @property
    def drawn(self) -> bool:
        return dict(self.keys).get(0, 1.0) > 0.0


_SHAPES: Final[dict[str, ScoreShape]] = {
    "basketball": ScoreShape(12.0, 18.0, ((0, 0.0),)),
    "americanfootball": ScoreShape(13.5, 13.5, _FOOTBALL_KEYS),
    "baseball": ScoreShape(4.3, 4.4, ((0, 0.0), (1, 1.5))),
    "icehockey": ScoreShape(2.4, 2.3, ((0, 0.0), (1, 1.5))),
    "soccer": ScoreShape(1.75, 1.65),
}


def score_shape(sport: str) -> ScoreShape:
    """Return the shape of a sport by its key, such as `basketball_nba`; basketball if unknown."""
    return _SHAPES.get(sport.split("_", 1)[0], _SHAPES["basketball"])


def margin_lattice(mean: float, shape: ScoreShape) -> ScoreLattice:
    """Return the probability of every home margin with this mean."""
    reach = math.ceil(abs(mean) + _REACH * shape.margin_deviation)
    normal = _normal(mean, shape.margin_deviation, -reach, reach)
    if not shape.keys:
        return normal
    masses = normal.masses.copy()
    for key, factor in shape.keys:
        for index in {reach + key, reach - key}:
            if 0 <= index < masses.size:
                masses[index] *= factor
    return _tilt(ScoreLattice(-reach, masses / masses.sum()), mean)


def total_lattice(mean: float, shape: ScoreShape) -> ScoreLattice:
    """Return the probability of every total with this mean."""
    reach = _REACH * shape.total_deviation
    low = max(0, math.floor(mean - reach))
    return _normal(mean, shape.total_deviation, low, math.ceil(mean + reach))


def margin_chances(selection: Selection, mean: float, shape: ScoreShape) -> VerdictChances:
    """Return the chances of a bet on the winner or spread for an expected home margin.

    Raises InvalidSelection for other markets.
    """
    form = selection.form
    if form is None or selection.market not in _MARGIN_MARKETS:
        raise InvalidSelection(f"Margins cannot price {selection.market}.")
    return margin_lattice(mean, shape).chances(form)


def total_chances(selection: Selection, mean: float, shape: ScoreShape) -> VerdictChances:
    """Return the chances of a bet on the total.

    Raises InvalidSelection for other markets.
    """
    form = selection.form
    if form is None or selection.market != "totals":
        raise InvalidSelection(f"Totals cannot price {selection.market}.")
    return total_lattice(mean, shape).chances(form)


def implied_mean(selection: Selection, probability: float, shape: ScoreShape) -> float:
    """Return the mean margin or total at which a bet has this probability of winning."""
    if not 0.0 < probability < 1.0:
        raise InvalidInput(f"Invalid probability {probability!r}. Use a value between 0 and 1.")
    point = float(selection.point or 0)
    z = NormalDist().inv_cdf(probability)
    if selection.market == "totals":
        sign = 1.0 if (selection.side == "over") != selection.lay else -1.0
        start = max(point + sign * z * shape.total_deviation, 0.5)
        return _find_root(
            lambda mean: total_chances(selection, mean, shape).probability - probability,
            start,
            sign * shape.total_deviation,
        )
    sign = 1.0 if (selection.side == "home") != selection.lay else -1.0
    side = 1.0 if selection.side == "home" else -1.0
    return _find_root(
        lambda mean: margin_chances(selection, mean, shape).probability - probability,
        -side * point + sign * z * shape.margin_deviation,
        sign * shape.margin_deviation,
    )


def _find_root(function: Callable[[float], float], start: float, scale: float) -> float:
    """Return the root of a function that rises in the direction of `scale`, starting at `start`."""
    low, high = start - scale / 4.0, start + scale / 4.0
    below, above = function(low), function(high)
    while below > 0.0 or above < 0.0:
        low, high = low - scale, high + scale
        below, above = function(low), function(high)
    side = 0
    for _ in range(_MAX_ITERATIONS):
        # Regula falsi with the Illinois modification.
        middle = high - above * (high - low) / (above - below) if above != below else low
        value = function(middle)
        if abs(value) <= _TOLERANCE:
            return middle
        if value > 0.0:
            high, above = middle, value
            below = below / 2.0 if side > 0 else below
            side = 1
        else:
            low, below = middle, value
            above = above / 2.0 if side < 0 else above
            side = -1
    return (low + high) / 2.0


def _normal(mean: float, deviation: float, low: int, high: int) -> ScoreLattice:
    if not (math.isfinite(mean) and deviation > 0.0):
        raise InvalidInput(f"Invalid distribution: mean {mean!r}, deviation {deviation!r}.")
    scale = deviation * math.sqrt(2.0)
    edges = np.array(
        [math.erf((edge - 0.5 - mean) / scale) for edge in range(low, high + 2)], dtype=np.float64
    )
    masses = np.diff(edges) / 2.0
    return ScoreLattice(low, masses / masses.sum())


def _tilt(lattice: ScoreLattice, mean: float) -> ScoreLattice:
    """Return the lattice tilted to this mean, key margins staying in place."""
    values = lattice.values.astype(np.float64)
    masses = lattice.masses
    for _ in range(_MAX_TILTS):
        current = float(values @ masses)
        spread = float((values - current) ** 2 @ masses)
        if abs(current - mean) <= _TOLERANCE:
            break
        masses = masses * np.exp((mean - current) / spread * (values - current))
        masses = masses / masses.sum()
    return ScoreLattice(lattice.first, masses)


@dataclass(frozen=True, slots=True)
class SportScale:
    """Spread of margins and totals in points, home advantage and mean total of a sport.

    `goals` is true for low-scoring sports.
    """

    margin_sd: float
    total_sd: float
    home_points: float
    mean_total: float
    goals: bool


@lru_cache(maxsize=64)
def sport_scale(sport: str) -> SportScale:
    """Return the scale of a sport by the first word of its key."""
    kind = sport.split("_", maxsplit=1)[0]
    shape = score_shape(sport)
    home, total = _HOME_ADVANTAGE_AND_TOTAL.get(kind, (2.0, 200.0))
    return SportScale(
        shape.margin_deviation, shape.total_deviation, home, total, kind in ("soccer", "icehockey")
    )


def winner_market(sport: str) -> str:
    """Return the winner market: three-way in soccer, where a draw is a result."""
    return "h2h_3way" if sport.startswith("soccer") else "h2h"


@dataclass(slots=True)
class TeamStrength:
    """Points a team scores above the mean, and points it allows above it."""

    attack: float = 0.0
    defense: float = 0.0
    games: int = 0
    last: datetime | None = None


@dataclass(slots=True)
class LeagueStrengths:
    """Team strengths, mean score, home advantage and variances of a league."""

    mean: float
    home: float
    margin_variance: float
    total_variance: float
    teams: dict[str, TeamStrength] = field(default_factory=dict)
    games: int = 0


@dataclass(frozen=True, slots=True)
class ExpectedScore:
    """The expected margin and total of a game, and the fewest games either team has played."""

    margin: float
    total: float
    min_games: int
    shape: ScoreShape


def expected_score(game: Fixture, view: AsOfView) -> ExpectedScore | None:
    """Return the expected score by the results so far, None before both teams have played."""
    start = partial(_start_league, game.sport)
    league = view.fold(ResultFold("strengths", game.sport, start, _update_league))
    home, away = league.teams.get(game.home), league.teams.get(game.away)
    if home is None or away is None:
        return None
    home_points, away_points = _points(league, home, away, neutral=game.neutral)
    shape = replace(
        score_shape(game.sport),
        margin_deviation=league.margin_variance**0.5,
        total_deviation=league.total_variance**0.5,
    )
    return ExpectedScore(
        home_points - away_points, home_points + away_points, min(home.games, away.games), shape
    )


def _start_league(sport: str) -> LeagueStrengths:
    scale = sport_scale(sport)
    return LeagueStrengths(
        scale.mean_total / 2.0, scale.home_points, scale.margin_sd**2, scale.total_sd**2
    )


def _points(
    league: LeagueStrengths, home: TeamStrength, away: TeamStrength, *, neutral: bool
) -> tuple[float, float]:
    edge = 0.0 if neutral else league.home / 2.0
    return (
        league.mean + edge + home.attack + away.defense,
        league.mean - edge + away.attack + home.defense,
    )


def _update_league(league: LeagueStrengths, played: PlayedGame) -> None:
    game, score = played.game, played.score
    home = _after_break(league.teams.setdefault(game.home, TeamStrength()), game.commence_time)
    away = _after_break(league.teams.setdefault(game.away, TeamStrength()), game.commence_time)
    home_points, away_points = _points(league, home, away, neutral=game.neutral)
    home_error, away_error = score.home_score - home_points, score.away_score - away_points
    margin, total = home_error - away_error, home_error + away_error
    rate = 1.0 / (_PRIOR_GAMES + min(league.games, 1_000))
    league.margin_variance += rate * (margin * margin - league.margin_variance)
    league.total_variance += rate * (total * total - league.total_variance)
    for team, scored, allowed in ((home, home_error, away_error), (away, away_error, home_error)):
        rate = max(_MIN_RATE, 0.5 / (team.games + _FIRST_GAMES))
        team.attack += rate * scored
        team.defense += rate * allowed
        team.games += 1
    rate = max(_LEAGUE_RATE / 4.0, _LEAGUE_RATE * 10.0 / (league.games + 10.0))
    league.mean += rate * total / 2.0
    if not game.neutral:
        league.home += rate * margin
    league.games += 1


def _after_break(team: TeamStrength, now: datetime) -> TeamStrength:
    if team.last is not None and now - team.last > _OFFSEASON:
        team.attack *= _OFFSEASON_CARRYOVER
        team.defense *= _OFFSEASON_CARRYOVER
    team.last = now
    return team


def shift_line(
    taken: Selection, closed: Selection, fair_close: float, shape: ScoreShape
) -> VerdictChances:
    """Return the chances of one line by the fair probability of another on the same side.

    Raises InvalidSelection if market or side differ.
    """
    if (taken.market, taken.side, taken.lay) != (closed.market, closed.side, closed.lay):
        raise InvalidSelection("Lines can only be compared for the same market and side.")
    mean = implied_mean(closed, fair_close, shape)
    if taken.market == "totals":
        return total_chances(taken, mean, shape)
    return margin_chances(taken, mean, shape)

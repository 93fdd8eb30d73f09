"""Elo ratings of teams, computed over results in the order they were played.

A rating after a game depends only on the games before it. A game cannot be counted twice: each must
be later, by start and id, than the last one counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from grandstand.core.errors import Conflict

START_RATING: Final = 1500.0
SCALE: Final = 400.0
_EPSILON: Final = 1e-12


@dataclass(frozen=True, slots=True)
class EloRules:
    """Rating parameters of a sport.

    `draw_rate` is how common draws are between equals, in Davidson's model: 0 where there are none,
    1 where a third of such games is drawn. `season_carryover` is the share of a team's distance
    from 1500 that carries over to the next season.
    """

    k_factor: float = 20.0
    home_advantage: float = 65.0
    season_carryover: float = 0.75
    draw_rate: float = 0.0
    by_margin: bool = True


_RULES: Final[dict[str, EloRules]] = {
    "basketball": EloRules(k_factor=16.0, home_advantage=70.0),
    "americanfootball": EloRules(k_factor=20.0, home_advantage=48.0, season_carryover=2 / 3),
    "baseball": EloRules(k_factor=4.0, home_advantage=24.0, season_carryover=2 / 3),
    "icehockey": EloRules(k_factor=6.0, home_advantage=35.0, season_carryover=0.7),
    "soccer": EloRules(k_factor=16.0, home_advantage=65.0, season_carryover=0.8, draw_rate=0.75),
}


def elo_rules_for(sport: str) -> EloRules:
    """Return the parameters of a sport by its key, before they are fitted to its results."""
    return _RULES.get(sport.split("_", 1)[0], EloRules())


@dataclass(frozen=True, slots=True)
class RatedGame:
    """A result to be rated."""

    game_id: str
    start: datetime
    season: str
    home: str
    away: str
    home_score: int
    away_score: int
    neutral: bool = False

    @property
    def order_key(self) -> tuple[datetime, str]:
        """The sort key of games."""
        return self.start, self.game_id


@dataclass(frozen=True, slots=True)
class ResultProbabilities:
    """The probabilities of the three results; a draw has 0 where the sport has none."""

    home: float
    draw: float
    away: float


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings and seasons by team, and the last game counted."""

    by_team: Mapping[str, tuple[float, str]]
    last: tuple[datetime, str] | None = None

    def of(self, team: str, season: str | None, rules: EloRules) -> float:
        """Return a team's rating, pulled toward 1500 in a new season; 1500 if unknown."""
        rating, last_season = self.by_team.get(team, (START_RATING, season))
        if season is not None and last_season != season:
            return START_RATING + rules.season_carryover * (rating - START_RATING)
        return rating


NO_RATINGS: Final = Ratings({})


def win_probabilities(advantage: float, rules: EloRules) -> ResultProbabilities:
    """Return the probabilities for a rating advantage of home, home advantage included."""
    # Beyond this distance nothing changes, and the powers stay finite.
    odds = 10.0 ** (max(-4000.0, min(4000.0, advantage)) / (2.0 * SCALE))
    total = odds + 1.0 / odds + rules.draw_rate
    return ResultProbabilities(odds / total, rules.draw_rate / total, 1.0 / (odds * total))


def game_probabilities(
    ratings: Ratings,
    home: str,
    away: str,
    rules: EloRules,
    *,
    season: str | None = None,
    neutral: bool = False,
) -> ResultProbabilities:
    """Return the probabilities of a game at home's or a neutral venue."""
    ahead = ratings.of(home, season, rules) - ratings.of(away, season, rules)
    return win_probabilities(ahead + (0.0 if neutral else rules.home_advantage), rules)


def advance(ratings: Ratings, game: RatedGame, rules: EloRules) -> Ratings:
    """Return the ratings after one more game.

    Raises Conflict if it is not later than the last game counted.
    """
    if ratings.last is not None and game.order_key <= ratings.last:
        raise Conflict(
            f"Game {game.game_id} is not later than game {ratings.last[1]}, the last one rated."
        )
    teams = dict(ratings.by_team)
    _step(ratings, teams, game, rules)
    return Ratings(teams, game.order_key)


def sort_games(games: Iterable[RatedGame]) -> list[RatedGame]:
    """Return distinct games by start and id.

    Raises Conflict for two results of one game.
    """
    by_id: dict[str, RatedGame] = {}
    for game in games:
        if by_id.setdefault(game.game_id, game) != game:
            raise Conflict(f"Game {game.game_id} has two different results.")
    return sorted(by_id.values(), key=lambda game: game.order_key)


def walk_ratings(
    games: Sequence[RatedGame], rules: EloRules
) -> list[tuple[RatedGame, ResultProbabilities]]:
    """Return each game, in order, with its probabilities by the games before it."""
    teams: dict[str, tuple[float, str]] = {}
    ratings = Ratings(teams)
    walked = []
    for game in sort_games(games):
        edge = ratings.of(game.home, game.season, rules) - ratings.of(game.away, game.season, rules)
        walked.append((game, win_probabilities(edge + _home_advantage(game, rules), rules)))
        _step(ratings, teams, game, rules)
    return walked


def mean_log_loss(games: Sequence[RatedGame], rules: EloRules, *, skip: int = 0) -> float:
    """Return the mean log loss of the forecasts from a game on."""
    losses = [
        -math.log(max(_result_probability(game, chances), _EPSILON))
        for game, chances in walk_ratings(games, rules)[skip:]
    ]
    return math.fsum(losses) / len(losses) if losses else 0.0


def fit_rules(games: Sequence[RatedGame], rules: EloRules, *, rounds: int = 3) -> EloRules:
    """Return the k-factor, home advantage and draw rate that predict these games best.

    Each is tried a step up and a step down in turn, with smaller steps every round. The first fifth
    of the games only warms up the ratings.
    """
    warm_up = len(games) // 5
    best, best_loss = rules, mean_log_loss(games, rules, skip=warm_up)
    for round_number in range(rounds):
        factor = 1.0 + 0.5 / (round_number + 1)
        for name in ("k_factor", "home_advantage", "draw_rate"):
            for multiplier in (factor, 1.0 / factor):
                candidate = _scaled(best, name, multiplier)
                loss = mean_log_loss(games, candidate, skip=warm_up)
                while loss < best_loss:
                    best, best_loss = candidate, loss
                    candidate = _scaled(best, name, multiplier)
                    loss = mean_log_loss(games, candidate, skip=warm_up)
    return best


def _scaled(rules: EloRules, name: str, times: float) -> EloRules:
    if name == "k_factor":
        return replace(rules, k_factor=rules.k_factor * times)
    if name == "draw_rate":
        return replace(rules, draw_rate=rules.draw_rate * times)
    return replace(rules, home_advantage=rules.home_advantage * times)


def _step(
    ratings: Ratings, teams: dict[str, tuple[float, str]], game: RatedGame, rules: EloRules
) -> None:
    """Update the ratings in `teams`, which `ratings` wraps, by one game."""
    home = ratings.of(game.home, game.season, rules)
    away = ratings.of(game.away, game.season, rules)
    change = _rating_change(home, away, game, rules)
    teams[game.home] = (home + change, game.season)
    teams[game.away] = (away - change, game.season)


def _home_advantage(game: RatedGame, rules: EloRules) -> float:
    return 0.0 if game.neutral else rules.home_advantage


def _rating_change(home: float, away: float, game: RatedGame, rules: EloRules) -> float:
    edge = home - away + _home_advantage(game, rules)
    chances = win_probabilities(edge, rules)
    margin = game.home_score - game.away_score
    result = 0.5 if margin == 0 else float(margin > 0)
    multiplier = 1.0
    if rules.by_margin:
        winner_edge = edge if margin > 0 else -edge if margin < 0 else 0.0
        # A draw moves ratings like a win by one; otherwise it would not move them at all.
        multiplier = math.log(max(abs(margin), 1) + 1.0) * 2.2 / max(0.001 * winner_edge + 2.2, 0.2)
    return rules.k_factor * multiplier * (result - chances.home - chances.draw / 2.0)


def _result_probability(game: RatedGame, chances: ResultProbabilities) -> float:
    if game.home_score == game.away_score:
        # Where the sport has no draws, one counts as half a win for each side.
        return chances.draw or math.sqrt(chances.home * chances.away)
    return chances.home if game.home_score > game.away_score else chances.away

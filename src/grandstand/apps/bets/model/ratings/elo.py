"""Kept here: ratings of teams as a fold over results, in the order they were played.

A rating after a game depends on nothing but the games before it. A game cannot be counted twice:
each must be later, by start and id, than the last one counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from grandstand.apps.bets.model.errors import GameOutOfTurn

START: Final = 1500.0
SCALE: Final = 400.0
_LEAST: Final = 1e-12


@dataclass(frozen=True, slots=True)
class EloRules:
    """What the ratings of a sport are made with.

    `draws` is how common draws are between equals, in the sense of Davidson: 0 where there are
    none, 1 where a third of such games is drawn. `kept` is the share of a team's distance from
    1500 that outlasts the end of a season.
    """

    pace: float = 20.0
    home_advantage: float = 65.0
    kept: float = 0.75
    draws: float = 0.0
    by_margin: bool = True


_RULES: Final[dict[str, EloRules]] = {
    "basketball": EloRules(pace=16.0, home_advantage=70.0),
    "americanfootball": EloRules(pace=20.0, home_advantage=48.0, kept=2 / 3),
    "baseball": EloRules(pace=4.0, home_advantage=24.0, kept=2 / 3),
    "icehockey": EloRules(pace=6.0, home_advantage=35.0, kept=0.7),
    "soccer": EloRules(pace=16.0, home_advantage=65.0, kept=0.8, draws=0.75),
}


def rules_for(sport: str) -> EloRules:
    """The rules of a sport by its key, before they are fitted to its results."""
    return _RULES.get(sport.split("_", 1)[0], EloRules())


@dataclass(frozen=True, slots=True)
class RatedGame:
    """A result as ratings see it."""

    game_id: str
    start: datetime
    season: str
    home: str
    away: str
    home_score: int
    away_score: int
    neutral: bool = False

    @property
    def turn(self) -> tuple[datetime, str]:
        """Its place in the order of games."""
        return self.start, self.game_id


@dataclass(frozen=True, slots=True)
class Outlook:
    """The chances of the three results; a draw has none where the rules know none."""

    home: float
    draw: float
    away: float


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings and seasons by team, and the last game that was counted."""

    by_team: Mapping[str, tuple[float, str]]
    last: tuple[datetime, str] | None = None

    def of(self, team: str, season: str | None, rules: EloRules) -> float:
        """A team's rating, drawn towards 1500 when a new season has begun; 1500 if unknown."""
        rating, seen = self.by_team.get(team, (START, season))
        if season is not None and seen != season:
            return START + rules.kept * (rating - START)
        return rating


EMPTY: Final = Ratings({})


def outlook(edge: float, rules: EloRules) -> Outlook:
    """The chances when home is ahead by so many rating points, its advantage included."""
    # Beyond this distance nothing changes, and the powers stay finite.
    lean = 10.0 ** (max(-4000.0, min(4000.0, edge)) / (2.0 * SCALE))
    total = lean + 1.0 / lean + rules.draws
    return Outlook(lean / total, rules.draws / total, 1.0 / (lean * total))


def expect(
    ratings: Ratings,
    home: str,
    away: str,
    rules: EloRules,
    *,
    season: str | None = None,
    neutral: bool = False,
) -> Outlook:
    """The chances of a game at home's ground, or at nobody's."""
    ahead = ratings.of(home, season, rules) - ratings.of(away, season, rules)
    return outlook(ahead + (0.0 if neutral else rules.home_advantage), rules)


def advance(ratings: Ratings, game: RatedGame, rules: EloRules) -> Ratings:
    """The ratings after one more game.

    Raises GameOutOfTurn when it is not later than the last one counted.
    """
    if ratings.last is not None and game.turn <= ratings.last:
        raise GameOutOfTurn(f"Game {game.game_id} is not later than {ratings.last[1]}.")
    teams = dict(ratings.by_team)
    _step(ratings, teams, game, rules)
    return Ratings(teams, game.turn)


def in_order(games: Iterable[RatedGame]) -> list[RatedGame]:
    """Each game once, by start and id; raises GameOutOfTurn for two results of one game."""
    by_id: dict[str, RatedGame] = {}
    for game in games:
        if by_id.setdefault(game.game_id, game) != game:
            raise GameOutOfTurn(f"Game {game.game_id} has two results; give the one that counts.")
    return sorted(by_id.values(), key=lambda game: game.turn)


def rate(games: Iterable[RatedGame], rules: EloRules) -> Ratings:
    """The ratings after all games, in whatever order and however often they are given.

    Raises GameOutOfTurn for two different results of one game.
    """
    teams: dict[str, tuple[float, str]] = {}
    last: tuple[datetime, str] | None = None
    for game in in_order(games):
        _step(Ratings(teams), teams, game, rules)
        last = game.turn
    return Ratings(teams, last)


def foretold(games: Sequence[RatedGame], rules: EloRules) -> list[tuple[RatedGame, Outlook]]:
    """Each game, in order, with its chances by the games before it."""
    teams: dict[str, tuple[float, str]] = {}
    seen = Ratings(teams)
    told = []
    for game in in_order(games):
        edge = seen.of(game.home, game.season, rules) - seen.of(game.away, game.season, rules)
        told.append((game, outlook(edge + _ground(game, rules), rules)))
        _step(seen, teams, game, rules)
    return told


def surprise(games: Sequence[RatedGame], rules: EloRules, *, after: int = 0) -> float:
    """The mean log loss of the forecasts from the given game on."""
    losses = [
        -math.log(max(_happened(game, chances), _LEAST))
        for game, chances in foretold(games, rules)[after:]
    ]
    return math.fsum(losses) / len(losses) if losses else 0.0


def fitted(games: Sequence[RatedGame], rules: EloRules, *, rounds: int = 3) -> EloRules:
    """The rules with pace, home advantage and draws that foretell these games best.

    Each is tried a step up and a step down in turn, with smaller steps every round. The first fifth
    of the games only warms the ratings up.
    """
    warm = len(games) // 5
    best, least = rules, surprise(games, rules, after=warm)
    for at in range(rounds):
        grow = 1.0 + 0.5 / (at + 1)
        for name in ("pace", "home_advantage", "draws"):
            for times in (grow, 1.0 / grow):
                tried = _scaled(best, name, times)
                loss = surprise(games, tried, after=warm)
                while loss < least:
                    best, least = tried, loss
                    tried = _scaled(best, name, times)
                    loss = surprise(games, tried, after=warm)
    return best


def _scaled(rules: EloRules, name: str, times: float) -> EloRules:
    if name == "pace":
        return replace(rules, pace=rules.pace * times)
    if name == "draws":
        return replace(rules, draws=rules.draws * times)
    return replace(rules, home_advantage=rules.home_advantage * times)


def _step(
    seen: Ratings, teams: dict[str, tuple[float, str]], game: RatedGame, rules: EloRules
) -> None:
    """Count a game in the ratings that `seen` looks at."""
    home = seen.of(game.home, game.season, rules)
    away = seen.of(game.away, game.season, rules)
    moved = _moved(home, away, game, rules)
    teams[game.home] = (home + moved, game.season)
    teams[game.away] = (away - moved, game.season)


def _ground(game: RatedGame, rules: EloRules) -> float:
    return 0.0 if game.neutral else rules.home_advantage


def _moved(home: float, away: float, game: RatedGame, rules: EloRules) -> float:
    edge = home - away + _ground(game, rules)
    chances = outlook(edge, rules)
    margin = game.home_score - game.away_score
    scored = 0.5 if margin == 0 else float(margin > 0)
    times = 1.0
    if rules.by_margin:
        ahead = edge if margin > 0 else -edge if margin < 0 else 0.0
        # A draw moves ratings like a win by one; otherwise it would not move them at all.
        times = math.log(max(abs(margin), 1) + 1.0) * 2.2 / max(0.001 * ahead + 2.2, 0.2)
    return rules.pace * times * (scored - chances.home - chances.draw / 2.0)


def _happened(game: RatedGame, chances: Outlook) -> float:
    if game.home_score == game.away_score:
        # Where the rules know no draws, one counts as half of each.
        return chances.draw or math.sqrt(chances.home * chances.away)
    return chances.home if game.home_score > game.away_score else chances.away

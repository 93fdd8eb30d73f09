"""Kept here: the player model: a prop's line against what a player has been doing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture, PlayerFigures
from grandstand.apps.bets.model.models.injury_aware import SEVERITY
from grandstand.apps.bets.model.predicting.forecasting import Belief, Forecast, Part
from grandstand.apps.bets.model.predicting.making import believed_prop
from grandstand.apps.bets.model.prices.fair import fair_at
from grandstand.apps.bets.model.props import counted

_LEAST_GAMES: Final = 5
_GAMES: Final = 20
_LAST: Final = 5
_LEAST_MINUTES: Final = 20.0
_AGAINST: Final = 2
_NORMAL: Final = NormalDist()
_SITS_OUT: Final = 0.8


@dataclass(frozen=True, slots=True)
class PlayerStats:
    """Over or under, by a player's last games, weighed to the newest, and by this opponent.

    It looks at no position in a list and at no price to find its side.
    """

    name: str = "player_stats"

    def predict(self, game: Fixture, view: AsOf, market: str, participant: str) -> Forecast | None:
        """Its likelier side of the line; None with under five real games, or a player who sits."""
        fair = fair_at(view, game.game_id, market, participant)
        if fair is None or fair.point is None or _sits_out(game, view, participant):
            return None
        rows = view.player_games(game.sport, participant, _GAMES)
        games = [row for row in rows if row.figures.get("MIN", _LEAST_MINUTES) >= _LEAST_MINUTES]
        values = [found for row in games if (found := counted(market, row.figures)) is not None]
        if len(values) < _LEAST_GAMES:
            return None
        mean = _mean(games, values, game, market)
        spread = max(_deviation(values), math.sqrt(max(mean, 1.0)))
        chance = min(max(1.0 - _NORMAL.cdf((fair.point - mean) / spread), 0.02), 0.98)
        belief = Belief(market, fair.sides, (chance, 1.0 - chance), fair.point, 0)
        text = f"{mean:.1f} expected after {len(values)} games, the line is {fair.point:g}"
        part = Part("player_stats", text, math.log(chance / (1.0 - chance)), games[-1].known_at)
        return believed_prop((self.name, participant), game, view, belief, [part])


def _mean(games: list[PlayerFigures], values: list[float], game: Fixture, market: str) -> float:
    """The newest five count half as much as all, meetings with this opponent a fifth."""
    overall = sum(values) / len(values)
    newest = values[-_LAST:]
    mean = 0.5 * sum(newest) / len(newest) + 0.5 * overall
    opponents = {game.home, game.away}
    met = [
        found
        for row in games
        if row.team != row.opponent
        and row.opponent in opponents
        and (found := counted(market, row.figures)) is not None
    ]
    return mean if len(met) < _AGAINST else 0.8 * mean + 0.2 * sum(met) / len(met)


def _deviation(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _sits_out(game: Fixture, view: AsOf, player: str) -> bool:
    reports = (*view.injuries(game.sport, game.home), *view.injuries(game.sport, game.away))
    return any(
        report.player == player and SEVERITY.get(report.status, 0.0) >= _SITS_OUT
        for report in reports
    )

"""Kept here: the rest and schedule model: who is fresher, by the games each has just played."""

from __future__ import annotations

from dataclasses import dataclass

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture
from grandstand.apps.bets.model.predicting.forecasting import TEAM_MARKETS, Forecast, Part
from grandstand.apps.bets.model.predicting.making import signalled

_FULL_REST = 4.0
_TIRING = 1.5


@dataclass(frozen=True, slots=True)
class RestSchedule:
    """The team with more rest since its last game."""

    name: str = "rest_schedule"
    markets: tuple[str, ...] = TEAM_MARKETS
    weight: float = 0.06
    back_to_back: float = 0.12

    def predict(self, game: Fixture, view: AsOf, market: str = "h2h") -> Forecast | None:
        """The rested side; None when both rested alike or a schedule is not known."""
        parts = rest_parts(game, view, self.weight, self.back_to_back)
        return signalled(self.name, game, view, market, parts) if parts else None


def rest_parts(game: Fixture, view: AsOf, weight: float, back_to_back: float) -> list[Part]:
    """What rest does for each side, in log-odds; none when a schedule is not known."""
    home = view.rest_days(game.sport, game.home, game.commence_time)
    away = view.rest_days(game.sport, game.away, game.commence_time)
    if home is None or away is None:
        return []
    return [
        Part("rest_schedule", _said(game.home, home), _freshness(home, weight, back_to_back)),
        Part("rest_schedule", _said(game.away, away), -_freshness(away, weight, back_to_back)),
    ]


def _freshness(days: float, weight: float, back_to_back: float) -> float:
    tired = back_to_back if days < _TIRING else 0.0
    return weight * min(round(days), _FULL_REST) - tired


def _said(team: str, days: float) -> str:
    return f"{team} last started {days:.1f} days before"

"""Kept here: the injury model: how much of each team's strength is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture, InjuryReport
from grandstand.apps.bets.model.predicting.forecasting import TEAM_MARKETS, Forecast, Part
from grandstand.apps.bets.model.predicting.making import signalled

# How likely a player of each status is to be missing.
SEVERITY: Final = {"out": 1.0, "doubtful": 0.8, "questionable": 0.4, "day_to_day": 0.2}


@dataclass(frozen=True, slots=True)
class InjuryAware:
    """The team that misses less."""

    name: str = "injury_aware"
    markets: tuple[str, ...] = TEAM_MARKETS
    weight: float = 0.4

    def predict(self, game: Fixture, view: AsOf, market: str = "h2h") -> Forecast | None:
        """The fitter side; None when both miss the same, which includes nobody."""
        parts = injury_parts(game, view, self.weight)
        return signalled(self.name, game, view, market, parts)


def injury_parts(game: Fixture, view: AsOf, weight: float) -> list[Part]:
    """What is missing on each side, as log-odds towards home."""
    parts = []
    for team, sign in ((game.home, -1.0), (game.away, 1.0)):
        reports = view.injuries(game.sport, team)
        missing = missing_share(reports)
        if missing:
            names = ", ".join(f"{each.player} {each.status}" for each in reports if _severity(each))
            known = max(each.known_at for each in reports)
            text = f"{team} misses {missing:.0%}: {names}"
            parts.append(Part("injuries", text, sign * weight * missing, known))
    return parts


def missing_share(reports: Sequence[InjuryReport]) -> float:
    """The share of a team's strength that is missing, at most all of it."""
    return min(1.0, sum(_severity(report) * report.impact for report in reports))


def _severity(report: InjuryReport) -> float:
    return SEVERITY.get(report.status.lower().replace("-", "_").replace(" ", "_"), 0.0)

"""Kept here: who predicts: the built-in models, calibrated, with the ensemble of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from grandstand.apps.bets.model.known.windows import DEFAULT, Windows
from grandstand.apps.bets.model.models.consensus import Consensus
from grandstand.apps.bets.model.models.contrarian import Contrarian
from grandstand.apps.bets.model.models.elo import Elo
from grandstand.apps.bets.model.models.fundamentals import Fundamentals
from grandstand.apps.bets.model.models.goals import Goals
from grandstand.apps.bets.model.models.hot_cold import HotCold
from grandstand.apps.bets.model.models.injury_aware import InjuryAware
from grandstand.apps.bets.model.models.margin import Margin
from grandstand.apps.bets.model.models.matchup import Matchup
from grandstand.apps.bets.model.models.momentum import Momentum
from grandstand.apps.bets.model.models.rest_schedule import RestSchedule
from grandstand.apps.bets.model.models.value import Value
from grandstand.apps.bets.model.predicting.ensemble import Ensemble
from grandstand.apps.bets.model.predicting.forecasting import Predictor
from grandstand.apps.bets.model.predicting.learning import Calibrated

BUILT_IN: Final[dict[str, Callable[[], Predictor]]] = {
    "consensus": Consensus,
    "value": Value,
    "momentum": Momentum,
    "contrarian": Contrarian,
    "hot_cold": HotCold,
    "rest_schedule": RestSchedule,
    "matchup": Matchup,
    "injury_aware": InjuryAware,
    "fundamentals": Fundamentals,
    "elo": Elo,
    "goals": Goals,
    "margin": Margin,
}
ENSEMBLE: Final = "ensemble"
MODEL_NAMES: Final = (*BUILT_IN, ENSEMBLE)


@dataclass(frozen=True, slots=True)
class Panel:
    """The models that are asked about every game, each by its name."""

    predictors: tuple[Predictor, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The models' names, in order."""
        return tuple(each.name for each in self.predictors)

    def of(self, name: str) -> Predictor | None:
        """The model of a name; None when the panel has none."""
        return next((each for each in self.predictors if each.name == name), None)


def standard_panel(windows: Windows | None = None) -> Panel:
    """Every built-in model, calibrated by its own record, and the ensemble of them."""
    learnt = windows or DEFAULT
    members = tuple(Calibrated(make(), learnt) for make in BUILT_IN.values())
    return Panel((*members, Calibrated(Ensemble(members, learnt), learnt)))

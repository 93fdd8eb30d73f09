"""Kept here: who predicts about players, and how: calibrated like the models of games."""

from __future__ import annotations

from typing import Final, Protocol

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture
from grandstand.apps.bets.model.known.windows import DEFAULT, Windows
from grandstand.apps.bets.model.models.consensus import Consensus
from grandstand.apps.bets.model.models.player_stats import PlayerStats
from grandstand.apps.bets.model.models.value import Value
from grandstand.apps.bets.model.predicting.forecasting import Forecast
from grandstand.apps.bets.model.predicting.inverse import inverse
from grandstand.apps.bets.model.predicting.learning import calibrated, learnt_at
from grandstand.apps.bets.model.refusals import TooLate


class PropPredictor(Protocol):
    """A model of bets on players: at most one forecast for a market and a player."""

    @property
    def name(self) -> str:
        """What the scoreboard calls it."""
        ...

    def predict(self, game: Fixture, view: AsOf, market: str, participant: str) -> Forecast | None:
        """Its forecast as of the view's instant, or None when it has nothing to say."""
        ...


PROP_PREDICTORS: Final[tuple[PropPredictor, ...]] = (Consensus(), Value(), PlayerStats())


def predict_props(
    game: Fixture,
    view: AsOf,
    predictors: tuple[PropPredictor, ...] = PROP_PREDICTORS,
    windows: Windows = DEFAULT,
) -> tuple[Forecast, ...]:
    """Every model's forecast of every prop of a game that is quoted, each with its inverse.

    Raises TooLate at or after the start.
    """
    if view.instant >= game.commence_time:
        raise TooLate(game.game_id, view.instant, game.commence_time)
    found: list[Forecast] = []
    for market, player in view.props(game.game_id):
        for predictor in predictors:
            part = view.anew()
            forecast = predictor.predict(game, part, market, player)
            if forecast is not None:
                learnt = learnt_at(part, windows, (game.sport, market, predictor.name))
                stated = calibrated(forecast, learnt, part)
                found += [stated, inverse(stated, part)]
    return tuple(found)

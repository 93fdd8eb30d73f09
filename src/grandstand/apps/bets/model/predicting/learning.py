"""Kept here: how a model's own probability becomes one to stake on, by its record until then."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture
from grandstand.apps.bets.model.known.windows import DEFAULT, Window, Windows
from grandstand.apps.bets.model.predicting.calibration import Calibration, calibrate
from grandstand.apps.bets.model.predicting.forecasting import Forecast, Predictor

_EVEN = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """A model whose probabilities are corrected by its own verified predictions.

    With few of them the answer stays near the market. What is learnt holds for one window, and only
    results known before that window enter.
    """

    model: Predictor
    windows: Windows = DEFAULT

    @property
    def name(self) -> str:
        """The model's own name."""
        return self.model.name

    @property
    def markets(self) -> tuple[str, ...]:
        """The model's own markets."""
        return self.model.markets

    def predict(self, game: Fixture, view: AsOf, market: str = "h2h") -> Forecast | None:
        """The model's forecast with a calibrated probability; asked again, the same."""
        return view.once(
            ("forecast", self, game.game_id, market),
            lambda part: self._predict(game, part, market),
        )

    def _predict(self, game: Fixture, view: AsOf, market: str) -> Forecast | None:
        forecast = self.model.predict(game, view, market)
        if forecast is None:
            return None
        learnt = learnt_at(view, self.windows, (game.sport, market, self.name))
        return calibrated(forecast, learnt, view)


def learnt_at(view: AsOf, windows: Windows, whose: tuple[str, str, str]) -> Calibration:
    """The calibration in force at a view's moment; `whose` is sport, market and model."""
    window = windows.at(view.instant)
    return view.remembered(
        ("calibration", whose, window), window.until, partial(_learnt, whose, window)
    )


def _learnt(whose: tuple[str, str, str], window: Window, view: AsOf) -> Calibration:
    record = view.record(*whose, window.since)
    return calibrate([row.raw for row in record], [row.outcome > _EVEN for row in record])


def calibrated(forecast: Forecast, learnt: Calibration, view: AsOf) -> Forecast:
    """The forecast with what its record makes of it; without a market and a record, as it is."""
    if forecast.fair is None and not learnt.results:
        return forecast
    chance = learnt.probability(forecast.raw, forecast.fair)
    return replace(forecast, probability=chance, learnt_from=learnt.results, used=view.used)

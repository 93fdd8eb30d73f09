"""A back-test is summed up as the scoreboard is: by what was won or lost."""

from decimal import Decimal

import pytest

from grandstand.apps.bets.domain.evaluation import ForecastOutcome
from grandstand.apps.bets.domain.forecasts import Forecast
from grandstand.apps.bets.domain.selections import Selection
from grandstand.apps.bets.domain.settlement import PUSH, WIN
from grandstand.apps.bets.services.backtests import backtest_performance
from tests.apps.bets.domain.games import BEGUN, SPORT

FORECAST = Forecast(
    model="mine",
    game_id="g1",
    sport=SPORT,
    market="spreads",
    selection=Selection("spreads", "home", Decimal(-3)),
    raw=0.6,
    probability=0.6,
    fair=0.5,
    price=-110,
    book="alpha",
    reasons=(),
    used=(),
    as_of=BEGUN,
)
WON = ForecastOutcome(FORECAST, WIN, 0.55, 100 / 110, BEGUN, True)
PUSHED = ForecastOutcome(FORECAST, PUSH, 0.9, 0.0, BEGUN, None)


def test_a_push_counts_as_predicted_and_for_no_rate_or_return() -> None:
    found = backtest_performance([WON, PUSHED, WON], "mine", SPORT, 1)

    assert (found.predictions, found.decided, found.correct) == (3, 2, 2)
    assert found.profit_units == pytest.approx(200 / 110)
    assert found.roi is not None
    assert found.roi.value == pytest.approx(100 / 110, abs=1e-4)
    assert found.clv is not None
    assert found.clv.value == pytest.approx(0.55 * 210 / 110 - 1)

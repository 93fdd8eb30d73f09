"""Inverse forecasts and their prices."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from grandstand.apps.bets.domain.forecasts import invert_forecast
from grandstand.apps.bets.domain.history import Fact, History
from grandstand.apps.bets.domain.models import ConsensusModel
from grandstand.apps.bets.domain.settlement import FinalResult, settle_bet
from tests.apps.bets.domain.games import HOUR, fixture, h2h, spread, total

GAME = fixture(0, "ants", "bears")
AT = GAME.commence_time - 3 * HOUR
QUOTES: dict[str, Fact] = {
    "h2h": h2h(GAME, "alpha", AT, -150, 130),
    "h2h_3way": h2h(GAME, "alpha", AT, 110, 240, draw=230),
    "spreads": spread(GAME, "alpha", AT, "-3.5", (-115, -105)),
    "totals": total(GAME, "alpha", AT, "221.5", (-105, -115)),
}


@pytest.mark.parametrize("market", sorted(QUOTES))
@pytest.mark.parametrize("result", [(120, 110), (110, 120), (112, 110), (1, 1)])
def test_of_a_forecast_and_its_inverse_one_is_right(market: str, result: tuple[int, int]) -> None:
    view = History([GAME, QUOTES[market]]).as_of(AT + HOUR)
    forecast = ConsensusModel().predict(GAME, view, market)
    assert forecast is not None

    turned = invert_forecast(forecast, view)

    verdicts = [
        settle_bet(each.selection, FinalResult(*result)).correct for each in (forecast, turned)
    ]
    assert sorted(verdicts, key=str) in ([False, True], [None, None])
    assert math.isclose(forecast.probability + turned.probability, 1.0)


def test_the_inverse_of_a_two_way_pick_is_the_other_side_at_its_price() -> None:
    view = History([GAME, QUOTES["spreads"]]).as_of(AT + HOUR)
    forecast = ConsensusModel().predict(GAME, view, "spreads")
    assert forecast is not None

    turned = invert_forecast(forecast, view)

    assert (turned.selection.side, turned.selection.point) == ("away", Decimal("3.5"))
    assert (turned.price, turned.book, turned.inverse_of) == (-105, "alpha", "consensus")
    assert turned.reasons[0].contribution == -forecast.reasons[0].contribution


def test_the_inverse_of_a_three_way_pick_is_its_lay_at_the_price_of_all_others() -> None:
    view = History([GAME, QUOTES["h2h_3way"]]).as_of(AT + HOUR)
    forecast = ConsensusModel().predict(GAME, view, "h2h_3way")
    assert forecast is not None

    turned = invert_forecast(forecast, view)

    assert (turned.selection.side, turned.lay) == ("home", True)
    # Backing 3.3 and 3.4 together returns 1 / (1/3.3 + 1/3.4) = 1.6746.
    assert turned.price == -148

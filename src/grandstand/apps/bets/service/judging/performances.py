"""Kept here: decided predictions summed up, live and in back-tests alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from grandstand.apps.bets.model.prices.odds import decimal_of, implied
from grandstand.apps.bets.service.judging.intervals import (
    bins_of,
    mean_interval,
    rate_interval,
    roi_interval,
)
from grandstand.apps.bets.service.values import Performance

_UNIT: Final = 10_000
_LEAST: Final = 2


@dataclass(frozen=True, slots=True)
class Decided:
    """A prediction that won or lost: its chance, its price and what a unit on it brought by that.

    `clv` is what the price was worth by the close.
    """

    probability: float
    won: bool
    price: int | None
    profit: float | None
    clv: float | None


def summed_up(blank: Performance, decided: Sequence[Decided]) -> Performance:
    """Answer a performance with all that decided predictions say of it; as it is without any."""
    if not decided:
        return blank
    from grandstand.apps.bets.model.judging.scoring import brier, calibration_error, log_loss

    stated = [each.probability for each in decided]
    won = [each.won for each in decided]
    scored = replace(
        blank,
        accuracy=rate_interval(sum(won), len(won)),
        mean_probability=sum(stated) / len(stated),
        brier=brier(stated, won),
        log_loss=log_loss(stated, won),
        calibration_error=calibration_error(stated, won),
        calibration=bins_of(stated, won),
        clv=mean_interval([each.clv for each in decided if each.clv is not None]),
    )
    return _priced(scored, decided, sum(won) / len(won))


def _priced(scored: Performance, decided: Sequence[Decided], rate: float) -> Performance:
    """Add what a unit on each prediction that had a price would have brought."""
    from grandstand.apps.bets.model.judging.significance import bets_needed, sharpe

    prices = [each.price for each in decided if each.price is not None]
    returns = [each.profit for each in decided if each.profit is not None]
    if not prices:
        return scored
    even = sum(map(implied, prices)) / len(prices)
    return replace(
        scored,
        break_even=even,
        roi=roi_interval([(_UNIT, round(each * _UNIT)) for each in returns]),
        profit_units=sum(returns),
        bets_needed=bets_needed(rate, even),
        mean_price=sum(map(decimal_of, prices)) / len(prices),
        sharpe=sharpe(returns) if len(returns) >= _LEAST else None,
    )

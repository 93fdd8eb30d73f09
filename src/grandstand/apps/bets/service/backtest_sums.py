"""Kept here: what a walk found, summed up as a back-test shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final

from grandstand.apps.bets.model.odds import decimal_of, implied
from grandstand.apps.bets.model.selections import code
from grandstand.apps.bets.service.figures import (
    bins_of,
    mean_interval,
    rate_interval,
    roi_interval,
)
from grandstand.apps.bets.service.model_values import BacktestView, Tested, WalkWish, WindowResult
from grandstand.apps.bets.service.values import Performance

if TYPE_CHECKING:
    from grandstand.apps.bets.model.verifying import Judged

_UNIT: Final = 10_000
_SHOWN: Final = 100
_LEAST: Final = 2
_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class About:
    """What is walked: a model under the name it is shown by, in a sport, and how."""

    sport: str
    model: str
    name: str
    wish: WalkWish


def summed(judged: Sequence[Judged], about: About, games: int) -> BacktestView:
    """Answer a walk's forecasts in sum, by window, and the first hundred of them."""
    wish = about.wish
    return BacktestView(
        "",
        about.model,
        about.name,
        about.sport,
        wish,
        _NEVER,
        games,
        performance_of(judged, about.model, about.sport, (wish.end - wish.start).days),
        tuple(_windows(judged, wish)),
        0,
        None,
        tuple(tested_of(each) for each in judged[:_SHOWN]),
    )


def performance_of(judged: Sequence[Judged], model: str, sport: str, days: int) -> Performance:
    """Answer how forecasts came out at the prices they were made at."""
    from grandstand.apps.bets.model.scoring import brier, calibration_error, log_loss
    from grandstand.apps.bets.model.significance import bets_needed, sharpe

    decided = [each for each in judged if each.correct is not None]
    won = [bool(each.correct) for each in decided]
    blank = Performance(model, sport, "game", False, days, len(judged), len(decided), sum(won))
    if not decided:
        return blank
    stated = [each.forecast.probability for each in decided]
    prices = [each.forecast.price for each in decided if each.forecast.price is not None]
    returns = [each.profit for each in judged if each.profit is not None]
    even = sum(implied(price) for price in prices) / len(prices) if prices else None
    return replace(
        blank,
        accuracy=rate_interval(sum(won), len(won)),
        break_even=even,
        mean_probability=sum(stated) / len(stated),
        brier=brier(stated, won),
        log_loss=log_loss(stated, won),
        calibration_error=calibration_error(stated, won),
        calibration=bins_of(stated, won),
        roi=roi_interval([(_UNIT, round(each * _UNIT)) for each in returns]),
        profit_units=sum(returns),
        clv=mean_interval([each for each in map(clv_of, judged) if each is not None]),
        bets_needed=None if even is None else bets_needed(sum(won) / len(won), even),
        mean_price=sum(map(decimal_of, prices)) / len(prices) if prices else None,
        sharpe=sharpe(returns) if len(returns) >= _LEAST else None,
    )


def clv_of(judged: Judged) -> float | None:
    """Answer what a price was worth by the close; None without one."""
    if judged.closing is None or judged.forecast.price is None:
        return None
    return decimal_of(judged.forecast.price) * judged.closing - 1.0


def tested_of(judged: Judged) -> Tested:
    """Answer one forecast of a back-test."""
    made = judged.forecast
    return Tested(
        made.game_id,
        made.as_of,
        code(made.selection),
        made.market,
        made.probability,
        made.price,
        judged.verdict.name,
        judged.profit,
        clv_of(judged),
    )


def _windows(judged: Sequence[Judged], wish: WalkWish) -> list[WindowResult]:
    found: list[WindowResult] = []
    begin: date = wish.start
    while begin <= wish.end:
        end = min(begin + timedelta(days=wish.test_days - 1), wish.end)
        part = [each for each in judged if begin <= each.forecast.as_of.date() <= end]
        if part:
            one = performance_of(part, "", "", 0)
            roi = None if one.roi is None else one.roi.value
            found.append(WindowResult(begin, end, len(part), roi, one.brier))
        begin = end + timedelta(days=1)
    return found

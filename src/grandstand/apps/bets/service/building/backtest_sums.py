"""Kept here: what a walk found, summed up as a back-test shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final

from grandstand.apps.bets.model.prices.odds import decimal_of
from grandstand.apps.bets.model.selections import code
from grandstand.apps.bets.service.judging.performances import Decided, summed_up
from grandstand.apps.bets.service.model_values import BacktestView, Tested, WalkWish, WindowResult
from grandstand.apps.bets.service.values import Performance

if TYPE_CHECKING:
    from grandstand.apps.bets.model.judging.verifying import Judged

_SHOWN: Final = 100
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
    decided = [
        Decided(
            each.forecast.probability,
            each.correct,
            each.forecast.price,
            each.profit,
            clv_of(each),
        )
        for each in judged
        if each.correct is not None
    ]
    right = sum(each.won for each in decided)
    blank = Performance(model, sport, "game", False, days, len(judged), len(decided), right)
    return summed_up(blank, decided)


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

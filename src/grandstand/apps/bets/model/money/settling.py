"""Kept here: the same settlement for very many bets at once, in columns of whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final as Constant
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.model.errors import PriceImpossible, StakeImpossible
from grandstand.apps.bets.model.money.settlement import (
    BY_QUARTERS,
    PENDING,
    VOID,
    Final,
    Result,
    Rules,
    Verdict,
    VerdictName,
    counted,
    pay,
    settle,
)
from grandstand.apps.bets.model.prices.odds import EVEN
from grandstand.apps.bets.model.selections import BOTH, COUNT, LEVEL, Form, Selection

Whole: TypeAlias = npt.NDArray[np.int64]

NAMES: Constant[tuple[VerdictName, ...]] = (
    *(each.name for each in BY_QUARTERS),
    VOID.name,
    PENDING.name,
    "dead_heat",
)
_CODES: Constant = {name: at for at, name in enumerate(NAMES)}
_WIN_HALVES: Constant = np.array([0, 0, 0, 1, 2], dtype=np.int64)
_PUSH_HALVES: Constant = np.array([0, 1, 2, 1, 0], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class TypedBet:
    """A bet with its result: what `settle_many` is given."""

    selection: Selection
    result: Result
    stake_cents: int
    american: int


@dataclass(frozen=True, slots=True)
class Settled:
    """The verdicts, as places in `NAMES`, and the cents, in the order of the bets.

    A pending bet has paid nothing and lost nothing yet.
    """

    verdicts: npt.NDArray[np.int8]
    payout_cents: Whole
    profit_cents: Whole

    def name(self, at: int) -> VerdictName:
        """The verdict on one bet."""
        return NAMES[int(self.verdicts[at])]


def settle_many(bets: Sequence[TypedBet], rules: Rules | None = None) -> Settled:
    """Decide and pay all bets, each exactly as `settle` and `pay` would.

    Raises what they raise, for the first bet at fault.
    """
    agreed = rules or Rules()
    quick: list[int] = []
    slow: list[int] = []
    columns: list[int] = []
    for at, bet in enumerate(bets):
        form, result = bet.selection.form, bet.result
        if type(result) is not Final or form is None or form.shape == COUNT:
            slow.append(at)
            continue
        home, away = counted(result, agreed) if result.regulation else (result.home, result.away)
        columns += (*form, home, away, bet.stake_cents, bet.american)
        quick.append(at)
    settled = _blank(len(bets))
    if quick:
        table = np.array(columns, dtype=np.int64).reshape(len(quick), -1).T
        _put(settled, np.array(quick, dtype=np.int64), settle_columns(table))
    for at in slow:
        _put_one(settled, at, bets[at], agreed)
    return settled


def settle_columns(table: Whole) -> Settled:
    """Decide and pay bets given as eight rows of whole numbers.

    They are the four of `Form`, the home and away scores, the stake and the American price. Raises
    PriceImpossible and StakeImpossible for the first bet at fault.
    """
    stakes, prices = table[6], table[7]
    if (bad := np.abs(prices) < EVEN).any():
        raise PriceImpossible(f"{int(prices[bad][0])} is no American price.")
    if (bad := stakes <= 0).any():
        raise StakeImpossible(f"A stake of {int(stakes[bad][0])} cents cannot be placed.")
    codes = np.clip(quarters_won_columns(table[:4], table[4], table[5]), -2, 2) + 2
    above = prices > 0
    won = np.where(above, prices, EVEN)
    per = np.where(above, EVEN, -prices)
    halves = _WIN_HALVES[codes] * (won + per) + _PUSH_HALVES[codes] * per
    payouts = (stakes * halves + per) // (2 * per)
    return Settled(codes.astype(np.int8), payouts, payouts - stakes)


def quarters_won_columns(forms: Whole, home: Whole, away: Whole) -> Whole:
    """By how many quarters each bet wins, for forms in rows."""
    shape, first, second, quarters = forms
    won: Whole = 4 * (first * home + second * away) + quarters
    won = np.where(shape == LEVEL, first * (2 - 4 * np.abs(home - away)), won)
    return np.where(shape == BOTH, first * (4 * np.minimum(home, away) - 2), won)


def quarters_over(form: Form, home: Whole, away: Whole) -> Whole:
    """By how many quarters one bet wins at each of many scores."""
    if form.shape == LEVEL:
        won: Whole = form.home * (2 - 4 * np.abs(home - away))
    elif form.shape == BOTH:
        won = form.home * (4 * np.minimum(home, away) - 2)
    else:
        won = 4 * (form.home * home + form.away * away) + form.quarters
    return won


def _blank(count: int) -> Settled:
    return Settled(
        np.zeros(count, dtype=np.int8),
        np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
    )


def _put(settled: Settled, places: Whole, part: Settled) -> None:
    settled.verdicts[places] = part.verdicts
    settled.payout_cents[places] = part.payout_cents
    settled.profit_cents[places] = part.profit_cents


def _put_one(settled: Settled, at: int, bet: TypedBet, rules: Rules) -> None:
    verdict: Verdict = settle(bet.selection, bet.result, rules)
    settled.verdicts[at] = _CODES[verdict.name]
    if verdict.name != PENDING.name:
        paid = pay(verdict, bet.stake_cents, bet.american)
        settled.payout_cents[at] = paid.payout_cents
        settled.profit_cents[at] = paid.profit_cents

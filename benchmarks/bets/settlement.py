"""How many typed bets a second are settled to the cent."""

from __future__ import annotations

import random
from decimal import Decimal

import numpy as np

from benchmarks.harness.rows import Limit, Row
from benchmarks.harness.timing import per_second
from grandstand.apps.bets.model.money.settlement import Final, pay, settle
from grandstand.apps.bets.model.money.settling import TypedBet, settle_columns, settle_many
from grandstand.apps.bets.model.selections import Selection

_BETS = 200_000
_ONE_BY_ONE = 20_000
_PER_SECOND = 200_000


def rows(*, full: bool) -> list[Row]:
    """Bets on every market of scores, as values, as columns, and one by one."""
    bets = placed(_BETS * (10 if full else 1))
    few = bets[:_ONE_BY_ONE]
    settled = settle_many(bets)
    singly = [pay(settle(b.selection, b.result), b.stake_cents, b.american) for b in few]
    assert [each.profit_cents for each in singly] == settled.profit_cents[: len(few)].tolist()
    table = _table(bets)
    return [
        Row(
            f"typed bets settled and paid, {len(bets):,} at once",
            "bets/s",
            per_second(lambda: settle_many(bets), count=len(bets)),
            aim=Limit(_PER_SECOND),
        ),
        Row(
            "the same, already in columns",
            "bets/s",
            per_second(lambda: settle_columns(table), count=len(bets)),
            aim=Limit(_PER_SECOND),
        ),
        Row("the same, one by one", "bets/s", per_second(lambda: _one_by_one(few), count=len(few))),
    ]


def placed(count: int) -> list[TypedBet]:
    """Bets of all kinds on made-up scores."""
    chance = random.Random(4)
    lines = [Decimal(quarters) / 4 for quarters in range(-30, 31)]
    kinds = [
        *(Selection("spreads", "home", line) for line in lines),
        *(Selection("spreads", "away", line) for line in lines),
        *(Selection("totals", "over", line + 45) for line in lines),
        *(Selection("totals", "under", line + 45) for line in lines),
        Selection("h2h", "home"),
        Selection("draw_no_bet", "away"),
        Selection("h2h_3way", "draw"),
        Selection("h2h_3way", "away", lay=True),
        Selection("btts", "yes"),
    ]
    prices = (-250, -150, -110, -105, 100, 130, 240)
    return [
        TypedBet(
            chance.choice(kinds),
            Final(chance.randint(0, 45), chance.randint(0, 45)),
            chance.randint(100, 10_000),
            chance.choice(prices),
        )
        for _ in range(count)
    ]


def _one_by_one(bets: list[TypedBet]) -> None:
    for bet in bets:
        pay(settle(bet.selection, bet.result), bet.stake_cents, bet.american)


def _table(bets: list[TypedBet]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    rows_of = []
    for bet in bets:
        assert isinstance(bet.result, Final)
        assert bet.selection.form is not None
        scores = (bet.result.home, bet.result.away)
        rows_of.append((*bet.selection.form, *scores, bet.stake_cents, bet.american))
    return np.ascontiguousarray(np.array(rows_of, dtype=np.int64).T)

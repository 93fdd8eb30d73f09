"""How many bets per second are settled and paid to the cent."""

from __future__ import annotations

import random
from dataclasses import dataclass
from decimal import Decimal

from benchmarks.harness.rows import Row
from benchmarks.harness.timing import per_second
from grandstand.apps.bets.domain.selections import Selection
from grandstand.apps.bets.domain.settlement import FinalResult, pay_bet, settle_bet

_BETS = 20_000


@dataclass(frozen=True, slots=True)
class PlacedBet:
    """A bet with the score that decides it."""

    selection: Selection
    result: FinalResult
    stake_cents: int
    american: int


def rows(*, full: bool) -> list[Row]:
    """Measure bets on every market that a final score decides."""
    bets = placed(_BETS * (10 if full else 1))
    rate = per_second(lambda: _settle_all(bets), count=len(bets))
    return [Row(f"bets settled and paid, {len(bets):,}", "bets/s", rate)]


def placed(count: int) -> list[PlacedBet]:
    """Return bets of all kinds on random scores."""
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
        PlacedBet(
            chance.choice(kinds),
            FinalResult(chance.randint(0, 45), chance.randint(0, 45)),
            chance.randint(100, 10_000),
            chance.choice(prices),
        )
        for _ in range(count)
    ]


def _settle_all(bets: list[PlacedBet]) -> None:
    for bet in bets:
        pay_bet(settle_bet(bet.selection, bet.result), bet.stake_cents, bet.american)

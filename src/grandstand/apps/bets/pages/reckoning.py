"""Kept here: the calculators: fair odds by five methods, Kelly, arbitrage and middles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from grandstand.apps.bets.model.errors import PriceImpossible


@dataclass(frozen=True, slots=True)
class FairRow:
    """One way to take the margin out: the chance and the fair decimal price of each side."""

    method: str
    chances: tuple[float, ...]
    decimals: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class FairTable:
    """The same prices by every method, and the margin that is in them."""

    decimals: tuple[float, ...]
    margin: float
    rows: tuple[FairRow, ...]


@dataclass(frozen=True, slots=True)
class KellyStake:
    """What a bet is worth, and how much of a bankroll it deserves."""

    break_even: float
    expected_return: float
    full_share: float
    share: float
    stake_cents: int


@dataclass(frozen=True, slots=True)
class SplitLeg:
    """One side of a split stake, and what it pays if it wins."""

    decimal: float
    stake_cents: int
    payout_cents: int


@dataclass(frozen=True, slots=True)
class Split:
    """A stake split over all sides so that each pays alike; `profit_cents` is the worst case."""

    legs: tuple[SplitLeg, ...]
    booked: float
    staked_cents: int
    profit_cents: int


@dataclass(frozen=True, slots=True)
class MiddleBet:
    """Two bets with a gap: what both winning brings, what missing costs, and how often it must hit.

    `width` is how many points lie between the lines; below nought both can lose.
    """

    width: float
    stakes_cents: tuple[int, int]
    hit_cents: int
    missed_cents: int
    needed: float | None


def fair_table(decimals: Sequence[float]) -> FairTable:
    """Take the margin out of prices by every method; raises PriceImpossible."""
    from grandstand.apps.bets.model.prices.devig import METHODS, devig, margin

    rows = []
    for method in METHODS:
        chances = devig(decimals, method)
        if min(chances) <= 0.0:
            raise PriceImpossible("One side is so long that nothing is left of its chance.")
        rows.append(FairRow(method, chances, tuple(1.0 / each for each in chances)))
    return FairTable(tuple(decimals), margin(decimals), tuple(rows))


def kelly_stake(chance: float, decimal: float, bankroll_cents: int, fraction: float) -> KellyStake:
    """Weigh a bet; raises ForecastImpossible and PriceImpossible."""
    from grandstand.apps.bets.model.money.kelly import expected_value, kelly, stake_cents

    full = kelly(chance, decimal)
    share = full * fraction
    return KellyStake(
        break_even=1.0 / decimal,
        expected_return=expected_value(chance, decimal),
        full_share=full,
        share=share,
        stake_cents=stake_cents(bankroll_cents, share),
    )


def split(decimals: Sequence[float], total_cents: int) -> Split:
    """Split a stake over all sides of a market so that each pays alike, in whole cents."""
    booked = math.fsum(1.0 / each for each in decimals)
    stakes = [round(total_cents / each / booked) for each in decimals]
    legs = tuple(
        SplitLeg(each, stake, math.floor(stake * each + 1e-9))
        for each, stake in zip(decimals, stakes, strict=True)
    )
    staked = sum(stakes)
    return Split(legs, booked, staked, min(leg.payout_cents for leg in legs) - staked)


def middle(
    lines: tuple[float, float], decimals: tuple[float, float], total_cents: int
) -> MiddleBet:
    """Weigh a bet over the first line with one under the second, staked so that either pays alike.

    `needed` is how often the result must fall between to break even; None when nothing is risked.
    """
    both = split(decimals, total_cents)
    (first, second), staked = both.legs, both.staked_cents
    hit = first.payout_cents + second.payout_cents - staked
    missed = min(first.payout_cents, second.payout_cents) - staked
    needed = -missed / (hit - missed) if missed < 0 < hit else None
    stakes = (first.stake_cents, second.stake_cents)
    return MiddleBet(lines[1] - lines[0], stakes, hit, missed, needed)

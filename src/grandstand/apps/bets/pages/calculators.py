"""The calculators: fair odds, Kelly stakes, arbitrages and middles."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.bets.domain.odds import InvalidPrice
from grandstand.apps.bets.pages.base import (
    METHODS,
    BetsPagesBase,
    FormFields,
    ParsedPrice,
    parse_price,
)
from grandstand.core.errors import InvalidInput
from grandstand.kit.routes import CurrentCaller, page


@dataclass(frozen=True, slots=True)
class FairRow:
    """The probability and fair price of each outcome by one method."""

    method: str
    chances: tuple[float, ...]
    decimals: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class FairTable:
    """The fair odds by every method, and the margin."""

    decimals: tuple[float, ...]
    margin: float
    rows: tuple[FairRow, ...]


@dataclass(frozen=True, slots=True)
class KellyStake:
    """The value of a bet and its Kelly stake."""

    break_even: float
    expected_return: float
    full_share: float
    share: float
    stake_cents: int


@dataclass(frozen=True, slots=True)
class SplitLeg:
    """The stake on one outcome and its payout."""

    decimal: float
    stake_cents: int
    payout_cents: int


@dataclass(frozen=True, slots=True)
class Split:
    """A stake split so that every outcome pays the same; `profit_cents` is the worst case."""

    legs: tuple[SplitLeg, ...]
    booked: float
    staked_cents: int
    profit_cents: int


@dataclass(frozen=True, slots=True)
class MiddleBet:
    """The result of a middle if it hits or misses, and the hit rate it needs.

    `width` is the distance between the lines; if negative, both bets can lose.
    """

    width: float
    stakes_cents: tuple[int, int]
    hit_cents: int
    missed_cents: int
    needed: float | None


def fair_table(decimals: Sequence[float]) -> FairTable:
    """Remove the margin by every method.

    Raises InvalidPrice if the prices are not those of one market.
    """
    from grandstand.apps.bets.domain.odds import DEVIG_METHODS, devig, overround

    rows = []
    for method in DEVIG_METHODS:
        chances = devig(decimals, method)
        if min(chances) <= 0.0:
            raise InvalidPrice(
                "An outcome would have no probability left. The prices are not those of one market."
            )
        rows.append(FairRow(method, chances, tuple(1.0 / probability for probability in chances)))
    return FairTable(tuple(decimals), overround(decimals), tuple(rows))


def kelly_stake(chance: float, decimal: float, bankroll_cents: int, fraction: float) -> KellyStake:
    from grandstand.apps.bets.domain.kelly import expected_value, kelly_fraction, stake_cents

    full = kelly_fraction(chance, decimal)
    share = full * fraction
    return KellyStake(
        break_even=1.0 / decimal,
        expected_return=expected_value(chance, decimal),
        full_share=full,
        share=share,
        stake_cents=stake_cents(bankroll_cents, share),
    )


def split(decimals: Sequence[float], total_cents: int) -> Split:
    """Split a stake over all outcomes so that each pays the same, in whole cents."""
    booked = math.fsum(1.0 / decimal for decimal in decimals)
    stakes = [round(total_cents / decimal / booked) for decimal in decimals]
    legs = tuple(
        SplitLeg(decimal, stake, math.floor(stake * decimal + 1e-9))
        for decimal, stake in zip(decimals, stakes, strict=True)
    )
    staked = sum(stakes)
    return Split(legs, booked, staked, min(leg.payout_cents for leg in legs) - staked)


def middle(
    lines: tuple[float, float], decimals: tuple[float, float], total_cents: int
) -> MiddleBet:
    """Return the result of betting over the first line and under the second.

    `needed` is the hit rate to break even; None if nothing is at risk.
    """
    stakes_split = split(decimals, total_cents)
    (first, second), staked = stakes_split.legs, stakes_split.staked_cents
    hit = first.payout_cents + second.payout_cents - staked
    missed = min(first.payout_cents, second.payout_cents) - staked
    needed = -missed / (hit - missed) if missed < 0 < hit else None
    stakes = (first.stake_cents, second.stake_cents)
    return MiddleBet(lines[1] - lines[0], stakes, hit, missed, needed)


_DEFAULTS: Final = {
    "prices": "1.87 1.99",
    "chance": "55",
    "price": "1.95",
    "bankroll": "1000",
    "fraction": "25",
    "offers": "2.10 2.05",
    "total": "100",
    "over": "219.5",
    "over_price": "1.91",
    "under": "223.5",
    "under_price": "1.91",
    "middle_total": "100",
}
_SEPARATOR: Final = re.compile(r"[\s,;]+")
_MIN_PRICES, _MAX_PRICES = 2, 40


@dataclass(frozen=True, slots=True)
class CalculatorResults:
    """The results of all calculators, and errors by field."""

    texts: dict[str, str]
    errors: dict[str, str] = field(default_factory=dict)
    fair: FairTable | None = None
    kelly: KellyStake | None = None
    split: Split | None = None
    middle: MiddleBet | None = None


class CalculatorPages(BetsPagesBase):
    """The calculators page. All inputs are in its address; nothing is stored."""

    @page("/calculators")
    async def calculators(self, request: Request, who: CurrentCaller) -> Response:
        del who
        return self._render(
            request,
            "calculators",
            here="calculators",
            results=calculate(request.query_params),
            methods=METHODS,
        )


def calculate(query: Mapping[str, str]) -> CalculatorResults:
    """Calculate with the given inputs, and with examples where there are none."""
    texts = {name: query.get(name, usual)[:400] for name, usual in _DEFAULTS.items()}
    form = FormFields(texts)
    fair = _fair(form)
    kelly = _kelly(form)
    arbitrage = _split(form)
    between = _middle(form)
    return CalculatorResults(texts, form.errors, fair, kelly, arbitrage, between)


def _prices(form: FormFields, name: str) -> tuple[float, ...]:
    texts = [text for text in _SEPARATOR.split(form.texts[name].strip()) if text]
    parsed = [parse_price(text) for text in texts]
    if not _MIN_PRICES <= len(texts) <= _MAX_PRICES:
        form.add_error(name, "Enter the prices of all outcomes of a market, at least two.")
    for text, price in zip(texts, parsed, strict=True):
        if price is None:
            form.add_error(name, f"“{text[:20]}” is not a price. Use -110, 1.91 or 10/11.")
    valid: list[ParsedPrice] = [price for price in parsed if price is not None]
    return () if name in form.errors else tuple(price.decimal for price in valid)


def _fair(form: FormFields) -> FairTable | None:
    prices = _prices(form, "prices")
    try:
        return fair_table(prices) if prices else None
    except InvalidInput as refused:
        form.add_error("prices", str(refused))
        return None


def _kelly(form: FormFields) -> KellyStake | None:
    chance, price = form.percentage("chance", 0, 100), form.price("price")
    bankroll, fraction = form.cents("bankroll", required=True), form.percentage("fraction", 1, 100)
    if chance is None or price is None or bankroll is None or fraction is None:
        return None
    return kelly_stake(float(chance), price.decimal, bankroll, float(fraction))


def _split(form: FormFields) -> Split | None:
    prices, total = _prices(form, "offers"), form.cents("total", required=True)
    return split(prices, total) if prices and total is not None else None


def _middle(form: FormFields) -> MiddleBet | None:
    over, under = form.line("over"), form.line("under")
    prices = form.price("over_price"), form.price("under_price")
    total = form.cents("middle_total", required=True)
    for name, line in (("over", over), ("under", under)):
        if line is None:
            form.add_error(name, "This field is required.")
    first, second = prices
    if over is None or under is None or first is None or second is None or total is None:
        return None
    lines = (float(over), float(under))
    return middle(lines, (first.decimal, second.decimal), total)

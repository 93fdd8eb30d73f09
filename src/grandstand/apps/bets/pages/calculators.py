"""Kept here: the page of calculators; everything it reckons with stands in its address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from grandstand.apps.bets.pages.forms import Given, GivenPrice, price_of
from grandstand.apps.bets.pages.part import PagesPart
from grandstand.apps.bets.pages.reckoning import (
    FairTable,
    KellyStake,
    MiddleBet,
    Split,
    fair_table,
    kelly_stake,
    middle,
    split,
)
from grandstand.apps.bets.pages.words import METHODS
from grandstand.base.errors import InvalidInput
from grandstand.kit.routes import Who, page

_USUAL: Final = {
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
_BETWEEN: Final = re.compile(r"[\s,;]+")
_LEAST, _MOST = 2, 40


@dataclass(frozen=True, slots=True)
class Reckoned:
    """What came of all fields: results where they could be read, and reasons where not."""

    texts: dict[str, str]
    errors: dict[str, str] = field(default_factory=dict)
    fair: FairTable | None = None
    kelly: KellyStake | None = None
    split: Split | None = None
    middle: MiddleBet | None = None


class CalculatorPages(PagesPart):
    """Sums anybody can check; nothing of them is kept."""

    @page("/calculators")
    async def calculators(self, request: Request, who: Who) -> Response:
        """Fair odds, Kelly, arbitrage and middles."""
        del who
        return self._render(
            request,
            "calculators",
            here="calculators",
            done=reckoned(request.query_params),
            methods=METHODS,
        )


def reckoned(asked: Mapping[str, str]) -> Reckoned:
    """Reckon with what was asked, and with examples where nothing was."""
    texts = {name: asked.get(name, usual)[:400] for name, usual in _USUAL.items()}
    given = Given(texts)
    fair = _fair(given)
    kelly = _kelly(given)
    arbitrage = _split(given)
    between = _middle(given)
    return Reckoned(texts, given.errors, fair, kelly, arbitrage, between)


def _prices(given: Given, name: str) -> tuple[float, ...]:
    words = [word for word in _BETWEEN.split(given.texts[name].strip()) if word]
    found = [price_of(word) for word in words]
    if not _LEAST <= len(words) <= _MOST:
        given.refuse(name, "Write the prices of all sides of one market, at least two.")
    for word, price in zip(words, found, strict=True):
        if price is None:
            given.refuse(name, f"“{word[:20]}” is no price: write -110, 1.91 or 10/11.")
    known: list[GivenPrice] = [price for price in found if price is not None]
    return () if name in given.errors else tuple(price.decimal for price in known)


def _fair(given: Given) -> FairTable | None:
    prices = _prices(given, "prices")
    try:
        return fair_table(prices) if prices else None
    except InvalidInput as refused:
        given.refuse("prices", str(refused))
        return None


def _kelly(given: Given) -> KellyStake | None:
    chance, price = given.share("chance", 0, 100), given.price("price")
    bankroll, fraction = given.cents("bankroll", required=True), given.share("fraction", 1, 100)
    if chance is None or price is None or bankroll is None or fraction is None:
        return None
    return kelly_stake(float(chance), price.decimal, bankroll, float(fraction))


def _split(given: Given) -> Split | None:
    prices, total = _prices(given, "offers"), given.cents("total", required=True)
    return split(prices, total) if prices and total is not None else None


def _middle(given: Given) -> MiddleBet | None:
    over, under = given.point("over"), given.point("under")
    prices = given.price("over_price"), given.price("under_price")
    total = given.cents("middle_total", required=True)
    for name, line in (("over", over), ("under", under)):
        if line is None:
            given.refuse(name, "This is needed.")
    first, second = prices
    if over is None or under is None or first is None or second is None or total is None:
        return None
    lines = (float(over), float(under))
    return middle(lines, (first.decimal, second.decimal), total)

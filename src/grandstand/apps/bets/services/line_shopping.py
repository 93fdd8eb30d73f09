"""Line shopping: best prices, arbitrages, middles, stale lines and fair odds."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, Final

from grandstand.apps.bets.domain.odds import (
    InvalidPrice,
    american_to_decimal,
    implied_probability,
    parse_american,
    probability_to_american,
)
from grandstand.apps.bets.domain.records import GameRef, PricedOutcome
from grandstand.apps.bets.domain.selections import Selection, encode_selection
from grandstand.apps.bets.services.database import (
    Database,
    ExactNumber,
    Outcome,
    check_sport,
    copy_as,
)
from grandstand.apps.bets.services.games import last_confirmed_at, load_game_infos
from grandstand.apps.bets.services.predictions import row_selections
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.store.games import GameOdds

if TYPE_CHECKING:
    from grandstand.apps.bets.domain.odds import DevigMethod

_WAYS: Final = {"h2h": 2, "h2h_3way": 3, "spreads": 2, "totals": 2, "draw_no_bet": 2}
_STALE_EDGE: Final = 0.02
_STALE_BOOKS: Final = 3
_STALE_LAG: Final = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class BestPrice:
    """The best price for an outcome; `fair` is its probability without the margin."""

    game_id: str
    home_team: str
    away_team: str
    commence_time: datetime
    market_key: str
    name: str
    point: ExactNumber | None
    price: int
    bookmaker: str
    age_seconds: int
    fair: float | None
    expected_return: float | None


@dataclass(frozen=True, slots=True)
class Leg:
    """One bet of an arbitrage or middle; `share` is its fraction of the total stake."""

    bookmaker: str
    outcome: Outcome
    share: float
    age_seconds: int


@dataclass(frozen=True, slots=True)
class Arbitrage(GameRef):
    """Bets at several bookmakers that return more than they cost whatever the result."""

    market_key: str
    profit_share: float
    legs: tuple[Leg, ...]


@dataclass(frozen=True, slots=True)
class Middle(GameRef):
    """Two bets that both win if the result falls between their lines."""

    market_key: str
    low: ExactNumber
    high: ExactNumber
    cost_share: float
    legs: tuple[Leg, Leg]


@dataclass(frozen=True, slots=True)
class StaleLine(GameRef):
    """A price that has not moved for `age_seconds` while other bookmakers moved."""

    bookmaker: str
    market_key: str
    outcome: Outcome
    fair: float
    edge: float
    age_seconds: int


@dataclass(frozen=True, slots=True)
class FairOdds:
    """Probabilities, decimal and American odds without the margin."""

    method: str
    margin: float
    probabilities: tuple[float, ...]
    decimals: tuple[float, ...]
    americans: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PricedSelection:
    """An outcome at one bookmaker with the age of its price and its fair probability there."""

    row: GameOdds
    selection: Selection
    outcome: PricedOutcome
    age_seconds: int
    fair: float

    @property
    def decimal(self) -> float:
        return american_to_decimal(self.outcome.price)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineShopping:
    """Compares the latest prices of all bookmakers, except those older than `stale_minutes`."""

    db: Database
    settings: BetsSettings

    async def best_prices(self, sport: str, game_id: str | None = None) -> tuple[BestPrice, ...]:
        """Return the best price of each outcome, by game, market and outcome."""
        prices: list[BestPrice] = []
        for priced in (await self._games(sport)).values():
            if game_id is not None and priced[0].row.game_id != game_id:
                continue
            for quotes in _by_selection(priced).values():
                best = max(quotes, key=lambda forecast: forecast.decimal)
                fair = sum(forecast.fair for forecast in quotes) / len(quotes)
                prices.append(
                    copy_as(
                        BestPrice,
                        best.row,
                        name=best.outcome.name,
                        point=best.outcome.point,
                        price=best.outcome.price,
                        age_seconds=best.age_seconds,
                        fair=fair,
                        expected_return=fair * best.decimal - 1.0,
                    )
                )
        return tuple(
            sorted(
                prices,
                key=lambda item: (item.commence_time, item.game_id, item.market_key, item.name),
            )
        )

    async def arbitrages(self, sport: str) -> tuple[Arbitrage, ...]:
        """Return the arbitrages of a sport, most profitable first."""
        arbitrages = [
            arbitrage
            for priced in (await self._games(sport)).values()
            for arbitrage in _find_arbitrages(priced)
        ]
        return tuple(sorted(arbitrages, key=lambda item: -item.profit_share))

    async def middles(self, sport: str) -> tuple[Middle, ...]:
        """Return the middles of a sport, cheapest first.

        Of the middles of a game with the same lines only the cheapest is returned.
        """
        middles = [
            middle
            for priced in (await self._games(sport)).values()
            for middle in _find_middles(priced)
        ]
        return tuple(sorted(middles, key=lambda item: item.cost_share))

    async def stale_lines(self, sport: str) -> tuple[StaleLine, ...]:
        """Return prices that stood still while three or more moved, largest edge first."""
        games, now = await self._games(sport), self.db.now()
        lines = [line for priced in games.values() for line in _find_stale_lines(priced, now)]
        return tuple(sorted(lines, key=lambda item: -item.edge))

    async def _games(self, sport: str) -> dict[str, list[PricedSelection]]:
        """Return the recently confirmed prices of upcoming games, by game."""
        from grandstand.apps.bets.domain.odds import devig

        now = self.db.now()
        oldest = now - timedelta(minutes=self.settings.stale_minutes)
        query = GameOdds.upcoming(check_sport(self.settings, sport), now)
        rows = [row async for row in self.db.each(query)]
        infos = await load_game_infos(self.db, {row.game_id for row in rows})
        by_game: dict[str, list[PricedSelection]] = defaultdict(list)
        for row in rows:
            confirmed_at = last_confirmed_at(row, infos.get(row.game_id))
            if confirmed_at < oldest:
                continue
            age = int((now - confirmed_at).total_seconds())
            chances = devig([american_to_decimal(outcome.price) for outcome in row.outcomes])
            for outcome, selection, fair in zip(
                row.outcomes, row_selections(row), chances, strict=True
            ):
                by_game[row.game_id].append(PricedSelection(row, selection, outcome, age, fair))
        return by_game


def fair_odds(prices: Sequence[int], method: str = "power") -> FairOdds:
    """Remove the margin from American prices.

    Raises InvalidPrice if the method is unknown or the prices are not those of one market.
    """
    from grandstand.apps.bets.domain.odds import DEVIG_METHODS, devig, overround

    chosen: DevigMethod | None = next((name for name in DEVIG_METHODS if name == method), None)
    if chosen is None:
        raise InvalidPrice(f"Unknown method {method!r}. Methods: {', '.join(DEVIG_METHODS)}.")
    decimals = [american_to_decimal(parse_american(price)) for price in prices]
    chances = devig(decimals, chosen)
    if min(chances) <= 0.0 or max(chances) >= 1.0:
        raise InvalidPrice(
            "These prices are not those of one market: an outcome would have no chance."
        )
    return FairOdds(
        method,
        overround(decimals),
        chances,
        tuple(1.0 / probability for probability in chances),
        tuple(probability_to_american(probability) for probability in chances),
    )


def _by_selection(priced: Sequence[PricedSelection]) -> dict[str, list[PricedSelection]]:
    by_selection: dict[str, list[PricedSelection]] = defaultdict(list)
    for quote in priced:
        by_selection[encode_selection(quote.selection)].append(quote)
    return by_selection


def _find_arbitrages(priced: Sequence[PricedSelection]) -> list[Arbitrage]:
    markets: dict[tuple[str, Decimal | None], dict[str, PricedSelection]] = defaultdict(dict)
    for quote in priced:
        best = markets[quote.selection.market, _line(quote.selection)]
        side = quote.selection.side or ""
        if side not in best or quote.decimal > best[side].decimal:
            best[side] = quote
    arbitrages: list[Arbitrage] = []
    for (market, _), sides in markets.items():
        cost = sum(1.0 / outcome.decimal for outcome in sides.values())
        if len(sides) == _WAYS.get(market) and cost < 1.0:
            row = next(iter(sides.values())).row
            legs = tuple(_leg(outcome, 1.0 / outcome.decimal / cost) for outcome in sides.values())
            arbitrages.append(copy_as(Arbitrage, row, profit_share=1.0 / cost - 1.0, legs=legs))
    return arbitrages


def _find_middles(priced: Sequence[PricedSelection]) -> list[Middle]:
    """Find pairs of lines with a gap between them: over 210 and under 213, or -3 and +6."""
    cheapest: dict[tuple[str, Decimal, Decimal], Middle] = {}
    for market, first, second in (("totals", "over", "under"), ("spreads", "home", "away")):
        lows = [
            quote
            for quote in priced
            if (quote.selection.market, quote.selection.side) == (market, first)
        ]
        highs = [
            quote
            for quote in priced
            if (quote.selection.market, quote.selection.side) == (market, second)
        ]
        for low, high in product(lows, highs):
            bounds = _bounds(low.selection, high.selection)
            if not _has_gap(*bounds, low):
                continue
            middle = _middle(low, high, bounds)
            cheapest_so_far = cheapest.get((market, *bounds))
            if cheapest_so_far is None or middle.cost_share < cheapest_so_far.cost_share:
                cheapest[market, *bounds] = middle
    return [*cheapest.values()]


def _has_gap(bottom: Decimal, top: Decimal, priced: PricedSelection) -> bool:
    """Return whether a result can fall between the lines; a margin of 0 only with draws."""
    from grandstand.apps.bets.domain.margins import score_shape

    between = range(math.floor(bottom) + 1, math.ceil(top))
    level = priced.selection.market == "totals" or score_shape(priced.row.sport).drawn
    return any(number or level for number in between)


def _middle(low: PricedSelection, high: PricedSelection, bounds: tuple[Decimal, Decimal]) -> Middle:
    row, cost = low.row, 1.0 / low.decimal + 1.0 / high.decimal
    return copy_as(
        Middle,
        row,
        market_key=low.selection.market,
        low=bounds[0],
        high=bounds[1],
        cost_share=1.0 - 1.0 / cost,
        legs=(_leg(low, 1.0 / low.decimal / cost), _leg(high, 1.0 / high.decimal / cost)),
    )


def _bounds(low: Selection, high: Selection) -> tuple[Decimal, Decimal]:
    """Return the bounds of the total, or of the home margin, between which both bets win."""
    first, second = low.point or Decimal(0), high.point or Decimal(0)
    return (first, second) if low.market == "totals" else (-first, second)


def _find_stale_lines(priced: Sequence[PricedSelection], now: datetime) -> list[StaleLine]:
    lines: list[StaleLine] = []
    for quotes in _by_selection(priced).values():
        for quote in quotes:
            fresher = [
                other
                for other in quotes
                if other.row.bookmaker != quote.row.bookmaker
                and other.row.captured_at - quote.row.captured_at >= _STALE_LAG
            ]
            if len(fresher) < _STALE_BOOKS:
                continue
            fair = sum(other.fair for other in fresher) / len(fresher)
            edge = fair - implied_probability(quote.outcome.price)
            if edge >= _STALE_EDGE:
                age = int((now - quote.row.captured_at).total_seconds())
                lines.append(
                    copy_as(
                        StaleLine,
                        quote.row,
                        outcome=quote.outcome,
                        fair=fair,
                        edge=edge,
                        age_seconds=age,
                    )
                )
    return lines


def _line(selection: Selection) -> Decimal | None:
    """Return the line from the home team's side, so that both sides of a market match."""
    if selection.point is None or selection.market != "spreads":
        return selection.point
    return selection.point if selection.side == "home" else -selection.point


def _leg(priced: PricedSelection, share: float) -> Leg:
    return Leg(priced.row.bookmaker, priced.outcome, share, priced.age_seconds)

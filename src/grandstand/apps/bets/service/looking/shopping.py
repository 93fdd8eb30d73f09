"""Kept here: shopping for prices: the best, those that always pay, and those left behind."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, Final

from grandstand.apps.bets.model import PricedOutcome
from grandstand.apps.bets.model.errors import PriceImpossible
from grandstand.apps.bets.model.prices.odds import american_at, decimal_of, implied, parse_american
from grandstand.apps.bets.model.selections import Selection, code
from grandstand.apps.bets.service.looking.board import notes_of, told_at
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.money_values import (
    Arbitrage,
    BestPrice,
    FairOdds,
    Leg,
    Middle,
    StaleLine,
)
from grandstand.apps.bets.service.predicting.publishing import selections_in
from grandstand.apps.bets.store import GameOdds

if TYPE_CHECKING:
    from grandstand.apps.bets.model.prices.devig import Method

_WAYS: Final = {"h2h": 2, "h2h_3way": 3, "spreads": 2, "totals": 2, "draw_no_bet": 2}
_STALE_EDGE: Final = 0.02
_STALE_BOOKS: Final = 3
_STALE_BEHIND: Final = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Priced:
    """One side at one bookmaker, with how old its price is and its fair chance there."""

    row: GameOdds
    selection: Selection
    outcome: PricedOutcome
    age_seconds: int
    fair: float

    @property
    def decimal(self) -> float:
        """The decimal price."""
        return decimal_of(self.outcome.price)


class Shopping:
    """Compares the bookmakers' latest prices; those older than the settings allow are left out."""

    def __init__(self, means: Means) -> None:
        self._means = means

    async def best_prices(self, sport: str, game_id: str | None) -> tuple[BestPrice, ...]:
        """Answer the best price of each side, by game, market and side."""
        found: list[BestPrice] = []
        for priced in (await self._games(sport)).values():
            if game_id is not None and priced[0].row.game_id != game_id:
                continue
            for same in _by_selection(priced).values():
                best = max(same, key=lambda each: each.decimal)
                fair = sum(each.fair for each in same) / len(same)
                row = best.row
                found.append(
                    BestPrice(
                        row.game_id,
                        row.home_team,
                        row.away_team,
                        row.commence_time,
                        row.market_key,
                        best.outcome.name,
                        best.outcome.point,
                        best.outcome.price,
                        row.bookmaker,
                        best.age_seconds,
                        fair,
                        fair * best.decimal - 1.0,
                    )
                )
        return tuple(
            sorted(found, key=lambda e: (e.commence_time, e.game_id, e.market_key, e.name))
        )

    async def arbitrages(self, sport: str) -> tuple[Arbitrage, ...]:
        """Answer sets of bets that pay more than they cost, best first."""
        found = [
            one for priced in (await self._games(sport)).values() for one in _arbitrages_of(priced)
        ]
        return tuple(sorted(found, key=lambda each: -each.profit_share))

    async def middles(self, sport: str) -> tuple[Middle, ...]:
        """Answer pairs of bets that both win between their lines, cheapest first.

        Of those with the same lines of a game only the cheapest is answered.
        """
        found = [
            one for priced in (await self._games(sport)).values() for one in _middles_of(priced)
        ]
        return tuple(sorted(found, key=lambda each: each.cost_share))

    async def stale_lines(self, sport: str) -> tuple[StaleLine, ...]:
        """Answer prices that stood still while at least three others moved, best first."""
        games, now = await self._games(sport), self._means.now()
        found = [one for priced in games.values() for one in _stale_of(priced, now)]
        return tuple(sorted(found, key=lambda each: -each.edge))

    def fair(self, prices: Sequence[int], method: str) -> FairOdds:
        """Take the margin out of prices; raise PriceImpossible."""
        from grandstand.apps.bets.model.prices.devig import METHODS, devig, margin

        chosen: Method | None = next((each for each in METHODS if each == method), None)
        if chosen is None:
            message = f"There is no method {method}; there are {', '.join(METHODS)}"
            raise PriceImpossible(message)
        decimals = [decimal_of(parse_american(each)) for each in prices]
        chances = devig(decimals, chosen)
        if min(chances) <= 0.0 or max(chances) >= 1.0:
            message = "These prices leave a side no chance: they are not of one market"
            raise PriceImpossible(message)
        return FairOdds(
            method,
            margin(decimals),
            chances,
            tuple(1.0 / each for each in chances),
            tuple(american_at(each) for each in chances),
        )

    async def _games(self, sport: str) -> dict[str, list[Priced]]:
        """Answer every price of the games to come that was told lately, by game."""
        from grandstand.apps.bets.model.prices.devig import devig

        now = self._means.now()
        oldest = now - timedelta(minutes=self._means.settings.stale_minutes)
        reading = GameOdds.upcoming(self._means.sport(sport), now)
        rows = [row async for row in self._means.each(reading)]
        notes = await notes_of(self._means, {row.game_id for row in rows})
        found: dict[str, list[Priced]] = defaultdict(list)
        for row in rows:
            told = told_at(row, notes.get(row.game_id))
            if told < oldest:
                continue
            age = int((now - told).total_seconds())
            chances = devig([decimal_of(each.price) for each in row.outcomes])
            for outcome, selection, fair in zip(
                row.outcomes, selections_in(row), chances, strict=True
            ):
                found[row.game_id].append(Priced(row, selection, outcome, age, fair))
        return found


def _by_selection(priced: Sequence[Priced]) -> dict[str, list[Priced]]:
    found: dict[str, list[Priced]] = defaultdict(list)
    for each in priced:
        found[code(each.selection)].append(each)
    return found


def _arbitrages_of(priced: Sequence[Priced]) -> list[Arbitrage]:
    markets: dict[tuple[str, Decimal | None], dict[str, Priced]] = defaultdict(dict)
    for each in priced:
        best = markets[each.selection.market, _line(each.selection)]
        side = each.selection.side or ""
        if side not in best or each.decimal > best[side].decimal:
            best[side] = each
    found: list[Arbitrage] = []
    for (market, _), sides in markets.items():
        cost = sum(1.0 / each.decimal for each in sides.values())
        if len(sides) == _WAYS.get(market) and cost < 1.0:
            row = next(iter(sides.values())).row
            legs = tuple(_leg(each, 1.0 / each.decimal / cost) for each in sides.values())
            found.append(
                Arbitrage(
                    row.game_id,
                    row.sport,
                    row.home_team,
                    row.away_team,
                    row.commence_time,
                    row.market_key,
                    1.0 / cost - 1.0,
                    legs,
                )
            )
    return found


def _middles_of(priced: Sequence[Priced]) -> list[Middle]:
    """Two lines of one market with room between: over 210 and under 213, or -3 and +6."""
    cheapest: dict[tuple[str, Decimal, Decimal], Middle] = {}
    for market, first, second in (("totals", "over", "under"), ("spreads", "home", "away")):
        lows = [e for e in priced if (e.selection.market, e.selection.side) == (market, first)]
        highs = [e for e in priced if (e.selection.market, e.selection.side) == (market, second)]
        for low, high in product(lows, highs):
            bounds = _bounds(low.selection, high.selection)
            if not _has_room(*bounds, low):
                continue
            made = _middle(low, high, bounds)
            known = cheapest.get((market, *bounds))
            if known is None or made.cost_share < known.cost_share:
                cheapest[market, *bounds] = made
    return [*cheapest.values()]


def _has_room(bottom: Decimal, top: Decimal, priced: Priced) -> bool:
    """Tell whether a score can lie between: no game of basketball is decided by nought points."""
    from grandstand.apps.bets.model.ratings.margins import shape_for

    between = range(math.floor(bottom) + 1, math.ceil(top))
    level = priced.selection.market == "totals" or shape_for(priced.row.sport).drawn
    return any(number or level for number in between)


def _middle(low: Priced, high: Priced, bounds: tuple[Decimal, Decimal]) -> Middle:
    row, cost = low.row, 1.0 / low.decimal + 1.0 / high.decimal
    return Middle(
        row.game_id,
        row.sport,
        row.home_team,
        row.away_team,
        row.commence_time,
        low.selection.market,
        *bounds,
        1.0 - 1.0 / cost,
        (_leg(low, 1.0 / low.decimal / cost), _leg(high, 1.0 / high.decimal / cost)),
    )


def _bounds(low: Selection, high: Selection) -> tuple[Decimal, Decimal]:
    """Answer between what the total, or the home side's margin, wins both bets."""
    first, second = low.point or Decimal(0), high.point or Decimal(0)
    return (first, second) if low.market == "totals" else (-first, second)


def _stale_of(priced: Sequence[Priced], now: datetime) -> list[StaleLine]:
    found: list[StaleLine] = []
    for same in _by_selection(priced).values():
        for each in same:
            others = [o for o in same if o.row.bookmaker != each.row.bookmaker]
            fresher = [
                o for o in others if o.row.captured_at - each.row.captured_at >= _STALE_BEHIND
            ]
            if len(fresher) < _STALE_BOOKS:
                continue
            fair = sum(o.fair for o in fresher) / len(fresher)
            edge = fair - implied(each.outcome.price)
            if edge >= _STALE_EDGE:
                row = each.row
                found.append(
                    StaleLine(
                        row.game_id,
                        row.sport,
                        row.home_team,
                        row.away_team,
                        row.commence_time,
                        row.bookmaker,
                        row.market_key,
                        each.outcome,
                        fair,
                        edge,
                        int((now - row.captured_at).total_seconds()),
                    )
                )
    return found


def _line(selection: Selection) -> Decimal | None:
    """Answer the line as the home side has it, so that both sides of a market meet."""
    if selection.point is None or selection.market != "spreads":
        return selection.point
    return selection.point if selection.side == "home" else -selection.point


def _leg(priced: Priced, share: float) -> Leg:
    return Leg(priced.row.bookmaker, priced.outcome, share, priced.age_seconds)

"""Kept here: the routes that shop for prices and take margins out, and what they tell."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from grandstand.apps.bets.api.asking import GameRef, MaybeSport, RoutesPart
from grandstand.apps.bets.api.game_models import OutcomeModel
from grandstand.apps.bets.api.shapes import Number, Told
from grandstand.apps.bets.model.errors import PriceImpossible
from grandstand.apps.bets.service import SportUnknown
from grandstand.kit.routes import get

Prices = Annotated[
    list[Annotated[int, Field(ge=-100_000, le=100_000)]],
    Query(min_length=2, max_length=20, examples=[[-150, 130]], description="American prices."),
]
Devig = Literal["multiplicative", "additive", "power", "shin", "odds_ratio"]


class BestPriceModel(Told):
    """The best price of one side; `fair` is its chance without margin, a mean of all books."""

    game_id: str
    home_team: str
    away_team: str
    commence_time: datetime
    market_key: str
    name: str
    point: Number | None
    price: int
    bookmaker: str
    age_seconds: int
    fair: float | None
    expected_return: float | None


class BestPriceList(Told):
    """Best prices by game, market and side."""

    prices: tuple[BestPriceModel, ...]


class LegModel(Told):
    """One bet of several; `share` is its part of the whole stake."""

    bookmaker: str
    outcome: OutcomeModel
    share: float
    age_seconds: int


class ArbitrageModel(Told):
    """Bets that pay more than they cost however the game ends."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    market_key: str
    profit_share: float
    legs: tuple[LegModel, ...]


class ArbitrageList(Told):
    """Arbitrages, best first."""

    arbitrages: tuple[ArbitrageModel, ...]


class MiddleModel(Told):
    """Two bets that both win between their lines; `cost_share` is lost outside of them."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    market_key: str
    low: Number
    high: Number
    cost_share: float
    legs: tuple[LegModel, ...]


class MiddleList(Told):
    """Middles, cheapest first."""

    middles: tuple[MiddleModel, ...]


class StaleLineModel(Told):
    """A price that stood still while the others moved; `edge` in shares over its own chance."""

    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    bookmaker: str
    market_key: str
    outcome: OutcomeModel
    fair: float
    edge: float
    age_seconds: int


class StaleLineList(Told):
    """Stale lines, the widest first."""

    lines: tuple[StaleLineModel, ...]


class FairModel(Told):
    """Prices without their margin, in the order they were given."""

    method: str
    margin: float
    probabilities: tuple[float, ...]
    decimals: tuple[float, ...]
    americans: tuple[int, ...]


class ToolRoutes(RoutesPart):
    """Shopping for prices."""

    @get("/tools/best-prices", summary="The best price of each side", problems=(SportUnknown,))
    async def best_prices(self, sport: MaybeSport = None, game_id: GameRef = None) -> BestPriceList:
        """The best price of each side of a game, or of all games to come, and where it is."""
        found = await self._bets.best_prices(self._sport(sport), game_id)
        return BestPriceList(prices=tuple(map(BestPriceModel.model_validate, found)))

    @get("/tools/arbitrages", summary="Bets that always pay", problems=(SportUnknown,))
    async def arbitrages(self, sport: MaybeSport = None) -> ArbitrageList:
        """Bets at several bookmakers that pay however the game ends, best first."""
        found = await self._bets.arbitrages(self._sport(sport))
        return ArbitrageList(arbitrages=tuple(map(ArbitrageModel.model_validate, found)))

    @get("/tools/middles", summary="Bets that may both win", problems=(SportUnknown,))
    async def middles(self, sport: MaybeSport = None) -> MiddleList:
        """Pairs of bets that both win between their lines, cheapest first."""
        found = await self._bets.middles(self._sport(sport))
        return MiddleList(middles=tuple(map(MiddleModel.model_validate, found)))

    @get("/tools/stale-lines", summary="Prices left behind", problems=(SportUnknown,))
    async def stale_lines(self, sport: MaybeSport = None) -> StaleLineList:
        """Prices that stood still while at least three others moved."""
        found = await self._bets.stale_lines(self._sport(sport))
        return StaleLineList(lines=tuple(map(StaleLineModel.model_validate, found)))

    @get(
        "/tools/fair-odds",
        summary="Prices without their margin",
        problems=(PriceImpossible,),
        example={
            "method": "multiplicative",
            "margin": 0.034783,
            "probabilities": [0.579832, 0.420168],
            "decimals": [1.724638, 2.38],
            "americans": [-138, 138],
        },
    )
    async def fair_odds(self, prices: Prices, method: Devig = "power") -> FairModel:
        """Each side's chance and fair price, by one of five ways to share the margin out."""
        return FairModel.model_validate(self._bets.fair_odds(prices, method))

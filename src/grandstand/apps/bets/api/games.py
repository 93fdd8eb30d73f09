"""Routes for games, odds, predictions and line shopping."""

from __future__ import annotations

from dataclasses import dataclass

from grandstand.apps.bets.api import parameters as params
from grandstand.apps.bets.domain.odds import InvalidPrice
from grandstand.apps.bets.services import line_shopping
from grandstand.apps.bets.services.games import GameSummary, GameView, PlayerProp
from grandstand.apps.bets.services.predictions import Pick
from grandstand.core.errors import NotFound
from grandstand.kit.routes import CurrentCaller, get


@dataclass(frozen=True, slots=True)
class SportList:
    """The enabled sports."""

    sports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BookmakerList:
    """The bookmakers with odds."""

    bookmakers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GameList:
    """Games, soonest first."""

    games: tuple[GameSummary, ...]
    count: int
    cursor: str | None


@dataclass(frozen=True, slots=True)
class PropFilters:
    """The filters of the request."""

    sport: str
    bookmaker: str | None
    prop_type: str | None


@dataclass(frozen=True, slots=True)
class PropList:
    """Player props of upcoming games."""

    props: tuple[PlayerProp, ...]
    count: int
    filters: PropFilters
    cursor: str | None


@dataclass(frozen=True, slots=True)
class AnalysisList:
    """Predictions for upcoming games."""

    analyses: tuple[Pick, ...]
    count: int
    cursor: str | None


@dataclass(frozen=True, slots=True)
class TopAnalysis:
    """The prediction with the highest expected return; null if there is none."""

    top_analysis: Pick | None


@dataclass(frozen=True, slots=True)
class BestPriceList:
    """Best prices by game, market and outcome."""

    prices: tuple[line_shopping.BestPrice, ...]


@dataclass(frozen=True, slots=True)
class ArbitrageList:
    """Arbitrages, most profitable first."""

    arbitrages: tuple[line_shopping.Arbitrage, ...]


@dataclass(frozen=True, slots=True)
class MiddleList:
    """Middles, cheapest first."""

    middles: tuple[line_shopping.Middle, ...]


@dataclass(frozen=True, slots=True)
class StaleLineList:
    """Stale lines, largest edge first."""

    lines: tuple[line_shopping.StaleLine, ...]


class GameRoutes(params.BetsRoutes):
    """Games, odds, predictions and line shopping."""

    @get("/sports", summary="List the enabled sports")
    async def sports(self) -> SportList:
        return SportList(self._bets.settings.sports)

    @get("/bookmakers", summary="List the bookmakers with odds", problems=(NotFound,))
    async def bookmakers(self, sport: params.OptionalSport = None) -> BookmakerList:
        """The bookmakers of a sport, or of all sports, by name."""
        sports = self._bets.settings.sports if sport is None else (sport,)
        names = {name for key in sports for name in await self._bets.games.bookmakers(key)}
        return BookmakerList(tuple(sorted(names)))

    @get("/games", summary="List upcoming games", problems=(NotFound,))
    async def games(
        self,
        who: CurrentCaller,
        sport: params.Sport,
        *,
        bookmaker: params.OptionalBookmaker = None,
        limit: params.Limit = 20,
        cursor: params.Cursor = None,
    ) -> GameList:
        """Upcoming games and those started in the last three hours, soonest first, with odds."""
        query = f"bets.games/{sport}/{bookmaker}"
        after = self._cursors.read(who, query, cursor)
        page = await self._bets.games.upcoming(sport, bookmaker=bookmaker, limit=limit, after=after)
        return GameList(page.items, len(page.items), self._cursors.write(who, query, page.cursor))

    @get("/games/{game_id}", summary="Get a game", problems=(NotFound,))
    async def game(self, game_id: params.GameId) -> GameView:
        """A game with its line history, predictions, form, head-to-head results and injuries."""
        return await self._bets.games.get(game_id)

    @get("/player-props", summary="List player props", problems=(NotFound,))
    async def player_props(
        self,
        who: CurrentCaller,
        sport: params.Sport,
        *,
        bookmaker: params.OptionalBookmaker = None,
        prop_type: params.PropType = None,
        limit: params.Limit = 20,
        cursor: params.Cursor = None,
    ) -> PropList:
        """Player props of upcoming games; `prop_type` is a market such as player_points."""
        query = f"bets.props/{sport}/{bookmaker}/{prop_type}"
        after = self._cursors.read(who, query, cursor)
        page = await self._bets.games.props(
            sport, bookmaker=bookmaker, market_key=prop_type, limit=limit, after=after
        )
        filters = PropFilters(sport, bookmaker, prop_type)
        return PropList(
            page.items, len(page.items), filters, self._cursors.write(who, query, page.cursor)
        )

    @get("/analyses", summary="List a model's predictions", problems=(NotFound,))
    async def analyses(
        self,
        who: CurrentCaller,
        bookmaker: params.Bookmaker,
        model: params.ModelName,
        *,
        sport: params.OptionalSport = None,
        kind: params.Kind = "game",
        limit: params.Limit = 20,
        cursor: params.Cursor = None,
    ) -> AnalysisList:
        """Predictions of a built-in model for upcoming games, at a bookmaker's prices.

        `confidence` is a calibrated probability, `roi` the expected return in percent.
        """
        query = f"bets.analyses/{sport}/{bookmaker}/{model}/{kind}"
        picks = self._bets.predictions.picks
        after = self._cursors.read(who, query, cursor)
        page = await picks(
            self._sport(sport), bookmaker, model, analysis_type=kind, limit=limit, after=after
        )
        return AnalysisList(
            page.items, len(page.items), self._cursors.write(who, query, page.cursor)
        )

    @get("/top-analysis", summary="Get the best prediction", problems=(NotFound,))
    async def top_analysis(
        self, sport: params.OptionalSport = None, bookmaker: params.Bookmaker = "fanduel"
    ) -> TopAnalysis:
        """The prediction of any model with the highest expected return at a bookmaker."""
        return TopAnalysis(await self._bets.predictions.top_pick(self._sport(sport), bookmaker))

    @get("/tools/best-prices", summary="List the best prices", problems=(NotFound,))
    async def best_prices(
        self, sport: params.OptionalSport = None, game_id: params.OptionalGameId = None
    ) -> BestPriceList:
        """The best price of each outcome of a game, or of all upcoming games."""
        return BestPriceList(
            await self._bets.line_shopping.best_prices(self._sport(sport), game_id)
        )

    @get("/tools/arbitrages", summary="List arbitrages", problems=(NotFound,))
    async def arbitrages(self, sport: params.OptionalSport = None) -> ArbitrageList:
        """Bets at several bookmakers that profit whatever the result, most profitable first."""
        return ArbitrageList(await self._bets.line_shopping.arbitrages(self._sport(sport)))

    @get("/tools/middles", summary="List middles", problems=(NotFound,))
    async def middles(self, sport: params.OptionalSport = None) -> MiddleList:
        """Pairs of bets that both win between their lines, cheapest first."""
        return MiddleList(await self._bets.line_shopping.middles(self._sport(sport)))

    @get("/tools/stale-lines", summary="List stale lines", problems=(NotFound,))
    async def stale_lines(self, sport: params.OptionalSport = None) -> StaleLineList:
        """Prices that stood still while at least three other bookmakers moved."""
        return StaleLineList(await self._bets.line_shopping.stale_lines(self._sport(sport)))

    @get("/tools/fair-odds", summary="Calculate fair odds", problems=(InvalidPrice,))
    async def fair_odds(
        self, prices: params.Prices, method: params.DevigMethod = "power"
    ) -> line_shopping.FairOdds:
        """The probability and fair price of each outcome, without the bookmaker's margin."""
        return line_shopping.fair_odds(prices, method)

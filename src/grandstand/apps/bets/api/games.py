"""Routes for games, odds, predictions and line shopping."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from grandstand.apps.bets.api.parameters import (
    ANALYSIS_EXAMPLE,
    GAME_EXAMPLE,
    BetsRoutes,
    Bookmaker,
    Cursor,
    DevigMethod,
    GameId,
    Kind,
    Limit,
    ModelName,
    OptionalBookmaker,
    OptionalGameId,
    OptionalSport,
    Prices,
    PropType,
    Sport,
)
from grandstand.apps.bets.domain.odds import InvalidPrice
from grandstand.apps.bets.services.database import Outcome
from grandstand.apps.bets.services.games import (
    FinalScore,
    GameSummary,
    GameView,
    InjuryView,
    LineHistory,
    MarketOdds,
    PastResult,
    PlayerProp,
)
from grandstand.apps.bets.services.line_shopping import (
    Arbitrage,
    BestPrice,
    FairOdds,
    Middle,
    StaleLine,
    fair_odds,
)
from grandstand.apps.bets.services.predictions import Pick
from grandstand.core.errors import NotFound
from grandstand.kit.app import ExchangePrice
from grandstand.kit.routes import CurrentCaller, get


@dataclass(frozen=True, slots=True)
class Game:
    """An upcoming game with its odds by bookmaker and market.

    `captured_at` is the time since which the odds stand; `age_seconds` counts from their last
    confirmation.
    """

    game_id: str
    sport: str
    home_team: str
    away_team: str
    commence_time: datetime
    updated_at: datetime | None
    odds: dict[str, dict[str, tuple[Outcome, ...]]]
    captured_at: dict[str, dict[str, datetime]]
    age_seconds: dict[str, dict[str, int]]
    exchange: tuple[ExchangePrice, ...] = ()


@dataclass(frozen=True, slots=True)
class GameDetails:
    """Everything about a game."""

    game: Game
    props: tuple[PlayerProp, ...]
    lines: tuple[LineHistory, ...]
    closing: tuple[MarketOdds, ...]
    analyses: tuple[Pick, ...]
    home_form: tuple[PastResult, ...]
    away_form: tuple[PastResult, ...]
    meetings: tuple[PastResult, ...]
    injuries: tuple[InjuryView, ...]
    score: FinalScore | None


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

    games: tuple[Game, ...]
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

    prices: tuple[BestPrice, ...]


@dataclass(frozen=True, slots=True)
class ArbitrageList:
    """Arbitrages, most profitable first."""

    arbitrages: tuple[Arbitrage, ...]


@dataclass(frozen=True, slots=True)
class MiddleList:
    """Middles, cheapest first."""

    middles: tuple[Middle, ...]


@dataclass(frozen=True, slots=True)
class StaleLineList:
    """Stale lines, largest edge first."""

    lines: tuple[StaleLine, ...]


class GameRoutes(BetsRoutes):
    """Games, odds, predictions and line shopping."""

    @get("/sports", summary="List the enabled sports")
    async def sports(self) -> SportList:
        """The keys of the sports."""
        return SportList(self._bets.settings.sports)

    @get("/bookmakers", summary="List the bookmakers with odds", problems=(NotFound,))
    async def bookmakers(self, sport: OptionalSport = None) -> BookmakerList:
        """The bookmakers of a sport, or of all sports, by name."""
        sports = self._bets.settings.sports if sport is None else (sport,)
        names = {name for key in sports for name in await self._bets.games.bookmakers(key)}
        return BookmakerList(tuple(sorted(names)))

    @get(
        "/games",
        summary="List upcoming games",
        problems=(NotFound,),
        example={"games": [GAME_EXAMPLE], "count": 1, "cursor": None},
    )
    async def games(
        self,
        who: CurrentCaller,
        sport: Sport,
        *,
        bookmaker: OptionalBookmaker = None,
        limit: Limit = 20,
        cursor: Cursor = None,
    ) -> GameList:
        """Upcoming games and those started in the last three hours, soonest first, with odds."""
        query = f"bets.games/{sport}/{bookmaker}"
        after = self._position(who, query, cursor)
        page = await self._bets.games.upcoming(sport, bookmaker=bookmaker, limit=limit, after=after)
        games = tuple(map(to_game, page.items))
        return GameList(games, len(games), self._cursor(who, query, page.cursor))

    @get("/games/{game_id}", summary="Get a game", problems=(NotFound,))
    async def game(self, game_id: GameId) -> GameDetails:
        """A game with its line history, predictions, form, head-to-head results and injuries."""
        return to_details(await self._bets.games.get(game_id))

    @get("/player-props", summary="List player props", problems=(NotFound,))
    async def player_props(
        self,
        who: CurrentCaller,
        sport: Sport,
        *,
        bookmaker: OptionalBookmaker = None,
        prop_type: PropType = None,
        limit: Limit = 20,
        cursor: Cursor = None,
    ) -> PropList:
        """Player props of upcoming games; `prop_type` is a market such as player_points."""
        query = f"bets.props/{sport}/{bookmaker}/{prop_type}"
        page = await self._bets.games.props(
            sport,
            bookmaker=bookmaker,
            market_key=prop_type,
            limit=limit,
            after=self._position(who, query, cursor),
        )
        filters = PropFilters(sport, bookmaker, prop_type)
        next_cursor = self._cursor(who, query, page.cursor)
        return PropList(page.items, len(page.items), filters, next_cursor)

    @get(
        "/analyses",
        summary="List a model's predictions",
        problems=(NotFound,),
        example={"analyses": [ANALYSIS_EXAMPLE], "count": 1, "cursor": None},
    )
    async def analyses(
        self,
        who: CurrentCaller,
        bookmaker: Bookmaker,
        model: ModelName,
        *,
        sport: OptionalSport = None,
        kind: Kind = "game",
        limit: Limit = 20,
        cursor: Cursor = None,
    ) -> AnalysisList:
        """Predictions of a built-in model for upcoming games, at a bookmaker's prices.

        `confidence` is a calibrated probability, `roi` the expected return in percent.
        """
        query = f"bets.analyses/{sport}/{bookmaker}/{model}/{kind}"
        page = await self._bets.predictions.picks(
            self._sport(sport),
            bookmaker,
            model,
            analysis_type=kind,
            limit=limit,
            after=self._position(who, query, cursor),
        )
        next_cursor = self._cursor(who, query, page.cursor)
        return AnalysisList(page.items, len(page.items), next_cursor)

    @get("/top-analysis", summary="Get the best prediction", problems=(NotFound,))
    async def top_analysis(
        self, sport: OptionalSport = None, bookmaker: Bookmaker = "fanduel"
    ) -> TopAnalysis:
        """The prediction of any model with the highest expected return at a bookmaker."""
        return TopAnalysis(await self._bets.predictions.top_pick(self._sport(sport), bookmaker))

    @get("/tools/best-prices", summary="List the best prices", problems=(NotFound,))
    async def best_prices(
        self, sport: OptionalSport = None, game_id: OptionalGameId = None
    ) -> BestPriceList:
        """The best price of each outcome of a game, or of all upcoming games."""
        return BestPriceList(
            await self._bets.line_shopping.best_prices(self._sport(sport), game_id)
        )

    @get("/tools/arbitrages", summary="List arbitrages", problems=(NotFound,))
    async def arbitrages(self, sport: OptionalSport = None) -> ArbitrageList:
        """Bets at several bookmakers that profit whatever the result, most profitable first."""
        return ArbitrageList(await self._bets.line_shopping.arbitrages(self._sport(sport)))

    @get("/tools/middles", summary="List middles", problems=(NotFound,))
    async def middles(self, sport: OptionalSport = None) -> MiddleList:
        """Pairs of bets that both win between their lines, cheapest first."""
        return MiddleList(await self._bets.line_shopping.middles(self._sport(sport)))

    @get("/tools/stale-lines", summary="List stale lines", problems=(NotFound,))
    async def stale_lines(self, sport: OptionalSport = None) -> StaleLineList:
        """Prices that stood still while at least three other bookmakers moved."""
        return StaleLineList(await self._bets.line_shopping.stale_lines(self._sport(sport)))

    @get(
        "/tools/fair-odds",
        summary="Calculate fair odds",
        problems=(InvalidPrice,),
        example={
            "method": "multiplicative",
            "margin": 0.034783,
            "probabilities": [0.579832, 0.420168],
            "decimals": [1.724638, 2.38],
            "americans": [-138, 138],
        },
    )
    async def fair_odds(self, prices: Prices, method: DevigMethod = "power") -> FairOdds:
        """The probability and fair price of each outcome, without the bookmaker's margin."""
        return fair_odds(prices, method)


def to_game(game: GameSummary) -> Game:
    """Group the odds by bookmaker and market; player props are left out."""
    quotes = [quote for quote in game.quotes if quote.player is None]
    odds: dict[str, dict[str, tuple[Outcome, ...]]] = {}
    captured: dict[str, dict[str, datetime]] = {}
    ages: dict[str, dict[str, int]] = {}
    for quote in quotes:
        odds.setdefault(quote.bookmaker, {})[quote.market_key] = quote.outcomes
        captured.setdefault(quote.bookmaker, {})[quote.market_key] = quote.captured_at
        ages.setdefault(quote.bookmaker, {})[quote.market_key] = quote.age_seconds
    return Game(
        game.game_id,
        game.sport,
        game.home_team,
        game.away_team,
        game.commence_time,
        max((quote.captured_at for quote in quotes), default=None),
        odds,
        captured,
        ages,
        game.exchange,
    )


def to_details(view: GameView) -> GameDetails:
    return GameDetails(
        game=to_game(view.game),
        props=tuple(_props(view.game)),
        lines=view.lines,
        closing=view.closing,
        analyses=view.picks,
        home_form=view.home_form,
        away_form=view.away_form,
        meetings=view.meetings,
        injuries=view.injuries,
        score=view.score,
    )


def _props(game: GameSummary) -> Iterable[PlayerProp]:
    for quote in game.quotes:
        if quote.player is not None:
            yield PlayerProp(
                game.game_id,
                game.sport,
                game.home_team,
                game.away_team,
                game.commence_time,
                quote.player,
                quote.bookmaker,
                quote.market_key,
                quote.outcomes,
                quote.captured_at,
            )

"""Kept here: the routes of games, prices and predictions."""

from __future__ import annotations

from grandstand.apps.bets.api import examples
from grandstand.apps.bets.api.asking import (
    Book,
    Cursor,
    GameId,
    Kind,
    Limit,
    MarketKey,
    MaybeBook,
    MaybeSport,
    Model,
    RoutesPart,
    Sport,
)
from grandstand.apps.bets.api.game_models import (
    AnalysisList,
    AnalysisModel,
    BookmakerList,
    GameDetail,
    GameList,
    GameModel,
    NameList,
    PropFilters,
    PropList,
    PropModel,
    TopAnalysis,
)
from grandstand.apps.bets.service import GameUnknown, ModelUnknown, SportUnknown
from grandstand.kit.routes import Who, get


class GameRoutes(RoutesPart):
    """Games, prices and predictions."""

    @get("/sports", summary="The sports that are followed")
    async def sports(self) -> NameList:
        """The sports, by the keys the other routes take."""
        return NameList(sports=self._bets.sports())

    @get("/bookmakers", summary="Who has given prices", problems=(SportUnknown,))
    async def bookmakers(self, sport: MaybeSport = None) -> BookmakerList:
        """The bookmakers of a sport, or of all without one, by name."""
        sports = self._bets.sports() if sport is None else (sport,)
        found = {name for each in sports for name in await self._bets.bookmakers(each)}
        return BookmakerList(bookmakers=tuple(sorted(found)))

    @get(
        "/games",
        summary="Games to come",
        problems=(SportUnknown,),
        example={"games": [examples.GAME], "count": 1, "cursor": None},
    )
    async def games(
        self,
        who: Who,
        sport: Sport,
        *,
        bookmaker: MaybeBook = None,
        limit: Limit = 20,
        cursor: Cursor = None,
    ) -> GameList:
        """Games to come and those begun within three hours, soonest first, with all prices."""
        question = f"bets.games/{sport}/{bookmaker}"
        after = self._cursors.read(who, question, cursor)
        page = await self._bets.games(sport, bookmaker=bookmaker, limit=limit, after=after)
        return GameList(
            games=tuple(map(GameModel.of, page.items)),
            count=len(page.items),
            cursor=self._cursors.write(who, question, page.position),
        )

    @get("/games/{game_id}", summary="Everything about a game", problems=(GameUnknown,))
    async def game(self, game_id: GameId) -> GameDetail:
        """A game with every price it ever had, each model's view, form, meetings and injuries."""
        return GameDetail.of(await self._bets.game(game_id))

    @get("/player-props", summary="Prices about players", problems=(SportUnknown,))
    async def player_props(
        self,
        who: Who,
        sport: Sport,
        *,
        bookmaker: MaybeBook = None,
        prop_type: MarketKey = None,
        limit: Limit = 20,
        cursor: Cursor = None,
    ) -> PropList:
        """Prices about players in games to come; `prop_type` is a market such as player_points."""
        question = f"bets.props/{sport}/{bookmaker}/{prop_type}"
        page = await self._bets.props(
            sport,
            bookmaker=bookmaker,
            market_key=prop_type,
            limit=limit,
            after=self._cursors.read(who, question, cursor),
        )
        return PropList(
            props=tuple(PropModel.of(game, quote) for game, quote in page.items),
            count=len(page.items),
            filters=PropFilters(sport=sport, bookmaker=bookmaker, prop_type=prop_type),
            cursor=self._cursors.write(who, question, page.position),
        )

    @get(
        "/analyses",
        summary="A model's predictions",
        problems=(SportUnknown, ModelUnknown),
        example={"analyses": [examples.ANALYSIS], "count": 1, "cursor": None},
    )
    async def analyses(
        self,
        who: Who,
        bookmaker: Book,
        model: Model,
        *,
        sport: MaybeSport = None,
        kind: Kind = "game",
        limit: Limit = 20,
        cursor: Cursor = None,
    ) -> AnalysisList:
        """What a built-in model says of games to come, at a bookmaker's prices."""
        question = f"bets.analyses/{sport}/{bookmaker}/{model}/{kind}"
        page = await self._bets.analyses(
            self._sport(sport),
            bookmaker,
            model,
            analysis_type=kind,
            limit=limit,
            after=self._cursors.read(who, question, cursor),
        )
        return AnalysisList(
            analyses=tuple(map(AnalysisModel.model_validate, page.items)),
            count=len(page.items),
            cursor=self._cursors.write(who, question, page.position),
        )

    @get("/top-analysis", summary="The best prediction there is", problems=(SportUnknown,))
    async def top_analysis(
        self, sport: MaybeSport = None, bookmaker: Book = "fanduel"
    ) -> TopAnalysis:
        """The prediction of any model with the greatest expected return at a bookmaker."""
        found = await self._bets.top_analysis(self._sport(sport), bookmaker)
        told = None if found is None else AnalysisModel.model_validate(found)
        return TopAnalysis(top_analysis=told)

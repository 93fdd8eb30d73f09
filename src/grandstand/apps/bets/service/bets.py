"""Kept here: everything bets can do, one method each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime

from grandstand.apps.bets.model import AnalysisType
from grandstand.apps.bets.service.benny.showing import BennyDesk
from grandstand.apps.bets.service.building.backtesting import Backtesting
from grandstand.apps.bets.service.building.datasets import Datasets
from grandstand.apps.bets.service.chores import Chores
from grandstand.apps.bets.service.incoming.importing import Importing
from grandstand.apps.bets.service.judging.auditing import Auditing
from grandstand.apps.bets.service.judging.calibrating import Calibrating
from grandstand.apps.bets.service.judging.scoring import Scoring
from grandstand.apps.bets.service.looking.board import Board
from grandstand.apps.bets.service.looking.searching import Searching
from grandstand.apps.bets.service.looking.shopping import Shopping
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.model_values import (
    BacktestView,
    DatasetView,
    ModelDraft,
    ModelView,
    WalkWish,
)
from grandstand.apps.bets.service.money_values import (
    Arbitrage,
    BennyBetView,
    BennyView,
    BestPrice,
    FairOdds,
    Favourite,
    LedgerProof,
    LimitsDraft,
    LimitsView,
    Middle,
    StaleLine,
    WagerDraft,
    WagersImported,
    WagerSummary,
    WagerView,
)
from grandstand.apps.bets.service.people.belongings import BetsBelongings
from grandstand.apps.bets.service.people.favourites import Favourites
from grandstand.apps.bets.service.values import (
    Adjustment,
    Audit,
    Collected,
    Comparison,
    GameSummary,
    GameView,
    Page,
    Performance,
    Pick,
    Quoted,
)
from grandstand.kit.app import Calibrated, Found
from grandstand.kit.who.caller import Caller


class Bets(Chores):
    """Odds come in, models predict, results verify, and Benny bets virtual money in public.

    What belongs to a person is theirs alone: everything of others is not found, whoever asks.
    """

    def __init__(self, means: Means) -> None:
        super().__init__(means)
        self.settings = means.settings
        self.cursors = means.cursors
        self.belongings = BetsBelongings(means)
        self._means = means
        self._board = Board(means)
        self._scoring = Scoring(means)
        self._datasets = Datasets(means)
        self._backtesting = Backtesting(means, self._models, self._datasets)
        self._auditing = Auditing(means)
        self._importing = Importing(means)
        self._shopping = Shopping(means)
        self._favourites = Favourites(means)
        self._desk = BennyDesk(means, self._trading)
        self._searching = Searching(means)
        self._calibrating = Calibrating(means, self._scoring)

    def now(self) -> datetime:
        """Answer the present moment as the table keeps it: to the second."""
        return self._means.now()

    def sports(self) -> tuple[str, ...]:
        """Answer the sports that are followed."""
        return self.settings.sports

    def models(self) -> tuple[str, ...]:
        """Answer the names of the built-in models, Benny included."""
        return self._scoring.models()

    async def search(self, sought: str) -> tuple[Found, ...]:
        """Answer the teams and games some words are about."""
        return await self._searching.run(sought)

    async def today(self) -> tuple[int, Found | None]:
        """Answer how many games begin within a day, and the next of all."""
        return await self._searching.today()

    async def calibration(self, caller: Caller) -> tuple[Calibrated, ...]:
        """Answer the chances the caller, Benny and the models gave, and what came of them."""
        return await self._calibrating.run(caller)

    async def bookmakers(self, sport: str) -> tuple[str, ...]:
        """Answer the bookmakers that have given prices in a sport, by name."""
        return await self._board.bookmakers(sport)

    async def games(
        self, sport: str, *, bookmaker: str | None = None, limit: int = 20, after: str | None = None
    ) -> Page[GameSummary]:
        """Answer games to come, and those begun within three hours, soonest first.

        Each has its latest prices, the path of the home side's chance and every model's pick.
        Raises SportUnknown.
        """
        return await self._board.games(sport, bookmaker=bookmaker, limit=limit, after=after)

    async def game(self, game_id: str) -> GameView:
        """Answer everything about one game; raise GameUnknown."""
        return await self._board.game(game_id)

    async def props(
        self,
        sport: str,
        *,
        bookmaker: str | None = None,
        market_key: str | None = None,
        limit: int = 20,
        after: str | None = None,
    ) -> Page[tuple[GameSummary, Quoted]]:
        """Answer prices about players in games to come; raise SportUnknown."""
        return await self._board.props(
            sport, bookmaker=bookmaker, market_key=market_key, limit=limit, after=after
        )

    async def analyses(
        self,
        sport: str,
        bookmaker: str,
        model: str,
        *,
        analysis_type: AnalysisType = "game",
        limit: int = 20,
        after: str | None = None,
    ) -> Page[Pick]:
        """Answer a built-in model's picks for games to come; raise SportUnknown, ModelUnknown."""
        return await self._board.analyses(
            sport, bookmaker, model, analysis_type=analysis_type, limit=limit, after=after
        )

    async def top_analysis(self, sport: str, bookmaker: str) -> Pick | None:
        """Answer the pick of any model with the greatest expected return; None without any."""
        return await self._board.top(sport, bookmaker)

    async def performance(
        self,
        sport: str,
        model: str,
        *,
        days: int = 30,
        analysis_type: AnalysisType = "game",
        inverse: bool = False,
    ) -> Performance:
        """Answer how a built-in model has done; raise SportUnknown, ModelUnknown."""
        return await self._scoring.performance(
            sport, model, days=days, analysis_type=analysis_type, inverse=inverse
        )

    async def comparison(
        self, caller: Caller, sport: str, *, days: int = 90, analysis_type: AnalysisType = "game"
    ) -> tuple[Comparison, ...]:
        """Answer all models and the caller's own beside each other, best first."""
        return await self._scoring.comparison(caller, sport, days=days, analysis_type=analysis_type)

    async def adjustments(
        self, sport: str, analysis_type: AnalysisType = "game"
    ) -> tuple[Adjustment, ...]:
        """Answer what to do with each model: those worked out within a day, or worked out now."""
        return await self._adjusting.of_sport(sport, analysis_type)

    async def user_models(self, caller: Caller) -> tuple[ModelView, ...]:
        """Answer the caller's models."""
        return await self._models.of(caller)

    async def user_model(self, caller: Caller, model_id: str) -> ModelView:
        """Answer one of the caller's models; raise ModelUnknown."""
        return await self._models.read(caller, model_id)

    async def create_model(self, caller: Caller, draft: ModelDraft) -> ModelView:
        """Keep a new model; raise ModelRefused, and TooManyModels at the sixth."""
        return await self._models.create(caller, draft)

    async def revise_model(self, caller: Caller, model_id: str, draft: ModelDraft) -> ModelView:
        """Change a model; raise ModelUnknown, ModelRefused."""
        return await self._models.revise(caller, model_id, draft)

    async def turn_model(self, caller: Caller, model_id: str, *, paused: bool) -> ModelView:
        """Pause a model, or let it go on; raise ModelUnknown."""
        return await self._models.turn(caller, model_id, paused=paused)

    async def remove_model(self, caller: Caller, model_id: str) -> None:
        """Remove a model; what it predicted stays scored. Raises ModelUnknown."""
        await self._models.remove(caller, model_id)

    async def user_model_picks(
        self, caller: Caller, model_id: str, *, limit: int = 20, after: str | None = None
    ) -> Page[Pick]:
        """Answer what one of the caller's models predicts; raise ModelUnknown."""
        return await self._models.picks(caller, model_id, limit=limit, after=after)

    async def user_model_performance(
        self, caller: Caller, model_id: str, *, days: int = 90
    ) -> Performance:
        """Answer how one of the caller's models has done; raise ModelUnknown."""
        model = await self._models.read(caller, model_id)
        return await self._scoring.of_user_model(model, days=days)

    async def backtest(
        self,
        caller: Caller,
        model_id: str,
        wish: WalkWish,
        told: Callable[[int, int], None] | None = None,
    ) -> BacktestView:
        """Walk one of the caller's models forward over kept seasons and keep the result.

        `told` hears how many games of how many are done. Raises ModelUnknown, WalkRefused.
        """
        return await self._backtesting.run(caller, model_id, wish, told)

    async def try_model(self, caller: Caller, draft: ModelDraft, wish: WalkWish) -> BacktestView:
        """Do the same with a model that is not kept, without keeping the result; it counts."""
        return await self._backtesting.attempt(caller, draft, wish)

    async def walk_model(
        self,
        caller: Caller,
        model: str,
        sport: str,
        wish: WalkWish,
        told: Callable[[int, int], None] | None = None,
    ) -> BacktestView:
        """Do the same with a built-in model; raise ModelUnknown, SportUnknown, WalkRefused."""
        return await self._backtesting.built_in(caller, model, sport, wish, told)

    async def backtests(
        self,
        caller: Caller,
        model_id: str | None = None,
        *,
        limit: int = 20,
        after: str | None = None,
    ) -> Page[BacktestView]:
        """Answer the caller's back-tests, newest first, without their predictions."""
        return await self._backtesting.of(caller, model_id, limit=limit, after=after)

    async def read_backtest(self, caller: Caller, backtest_id: str) -> BacktestView:
        """Answer one of the caller's back-tests; raise BacktestUnknown."""
        return await self._backtesting.read(caller, backtest_id)

    async def datasets(self, caller: Caller) -> tuple[DatasetView, ...]:
        """Answer the tables of figures the caller brought."""
        return await self._datasets.of(caller)

    async def add_dataset(
        self, caller: Caller, name: str, sport: str, content: bytes
    ) -> DatasetView:
        """Keep a table of figures, CSV or JSON; raise DatasetRefused saying which line is wrong."""
        return await self._datasets.add(caller, name, sport, content)

    async def remove_dataset(self, caller: Caller, dataset_id: str) -> None:
        """Remove a table of figures; raise DatasetUnknown."""
        await self._datasets.remove(caller, dataset_id)

    async def audit(self, sport: str, *, days: int = 7, most: int = 200) -> Audit:
        """Run past predictions again with the data as it was, and name what leaked."""
        return await self._auditing.run(sport, days=days, most=most)

    async def import_season(self, sport: str, name: str, content: bytes) -> Collected:
        """Take in a season of football-data.co.uk: results, opening and closing prices.

        The same file again writes nothing. Raises FileRefused when it is no such file.
        """
        return await self._importing.football_data(sport, name, content)

    async def import_stats(self, sport: str, name: str, content: bytes) -> Collected:
        """Take in a documented file of figures, schedules or injuries; raise FileRefused."""
        return await self._importing.stat_file(sport, name, content)

    async def benny(self) -> BennyView:
        """Answer Benny's dashboard."""
        return await self._desk.view()

    async def benny_bets(self, *, limit: int = 20, after: str | None = None) -> Page[BennyBetView]:
        """Answer Benny's bets, newest first."""
        return await self._desk.bets(limit=limit, after=after)

    async def shadow_bets(
        self, *, rule: str | None = None, limit: int = 20, after: str | None = None
    ) -> Page[BennyBetView]:
        """Answer what Benny did not bet, and the rule that kept it out, newest first."""
        return await self._desk.shadow(rule=rule, limit=limit, after=after)

    async def verify_ledger(self, book: str = "benny") -> LedgerProof:
        """Recompute every balance and link of a book of the ledger."""
        return await self._ledgers.verify(book)

    def verify_every_ledger(self) -> AsyncIterator[LedgerProof]:
        """Do the same for every book there is."""
        return self._ledgers.verify_all()

    async def wagers(
        self, caller: Caller, *, limit: int = 20, after: str | None = None
    ) -> Page[WagerView]:
        """Answer the caller's bets, newest first."""
        return await self._wagering.of(caller, limit=limit, after=after)

    async def record_wager(self, caller: Caller, draft: WagerDraft) -> WagerView:
        """Record a bet the caller made; the same token records it once.

        Raises WagerRefused, GameUnknown, and StakeLimit, LossLimit or TimedOut when a limit of
        the caller's own stands against it; nothing is written then.
        """
        return await self._wagering.record(caller, draft)

    async def import_wagers(self, caller: Caller, content: bytes) -> WagersImported:
        """Record the bets of a CSV file line by line; the same line again is known.

        Raises FileRefused when the header is not the documented one.
        """
        return await self._wagering.record_file(caller, content)

    async def remove_wager(self, caller: Caller, wager_id: str) -> None:
        """Take back an open bet, its stake with it; raise WagerUnknown, WagerClosed."""
        await self._wagering.remove(caller, wager_id)

    async def wager_summary(self, caller: Caller) -> WagerSummary:
        """Answer the caller's bets in sum."""
        return await self._wagering.summary(caller)

    async def limits(self, caller: Caller) -> LimitsView:
        """Answer what the caller allows themselves, and how much of it is used."""
        return await self._wagering.limits(caller)

    async def set_limits(self, caller: Caller, draft: LimitsDraft) -> LimitsView:
        """Change limits: tighter ones at once, looser ones a day later; raise LimitsRefused."""
        return await self._wagering.set_limits(caller, draft)

    async def time_out(self, caller: Caller, until: datetime) -> LimitsView:
        """Take no bets until a moment; it can be made longer and not shorter."""
        return await self._wagering.time_out(caller, until)

    async def favourites(self, caller: Caller) -> tuple[Favourite, ...]:
        """Answer the teams the caller likes."""
        return await self._favourites.of(caller)

    async def like(self, caller: Caller, sport: str, team: str) -> Favourite:
        """Like a team, and be told of its games; raise SportUnknown, TeamRefused."""
        return await self._favourites.like(caller, sport, team)

    async def unlike(self, caller: Caller, sport: str, team: str) -> bool:
        """Like a team no longer; False when it was not liked."""
        return await self._favourites.unlike(caller, sport, team)

    async def best_prices(self, sport: str, game_id: str | None = None) -> tuple[BestPrice, ...]:
        """Answer the best price of each side, where it is, and its expected return."""
        return await self._shopping.best_prices(sport, game_id)

    async def arbitrages(self, sport: str) -> tuple[Arbitrage, ...]:
        """Answer bets that pay more than they cost however the game ends, best first."""
        return await self._shopping.arbitrages(sport)

    async def middles(self, sport: str) -> tuple[Middle, ...]:
        """Answer pairs of bets that both win between their lines, cheapest first."""
        return await self._shopping.middles(sport)

    async def stale_lines(self, sport: str) -> tuple[StaleLine, ...]:
        """Answer prices that stood still while the others moved."""
        return await self._shopping.stale_lines(sport)

    def fair_odds(self, prices: Sequence[int], method: str = "power") -> FairOdds:
        """Take the margin out of American prices; raise PriceImpossible."""
        return self._shopping.fair(prices, method)

"""Kept here: back-tests: a model walked forward over kept seasons, each try counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import msgspec

from grandstand.apps.bets.model.known.facts import Fact, Fixture
from grandstand.apps.bets.model.names import sport_name
from grandstand.apps.bets.service.building.backtest_sums import About, summed
from grandstand.apps.bets.service.building.datasets import Datasets
from grandstand.apps.bets.service.building.user_models import UserModels
from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.model_values import BacktestView, ModelDraft, WalkWish
from grandstand.apps.bets.service.money.settled import rounded
from grandstand.apps.bets.service.predicting.engine import user_model_name, user_predictor
from grandstand.apps.bets.service.predicting.loading import Loading, Span
from grandstand.apps.bets.service.refusals import BacktestUnknown, ModelUnknown, WalkRefused
from grandstand.apps.bets.service.values import Page
from grandstand.apps.bets.store import Backtest, Trials, UserModel
from grandstand.base.ids import new_id
from grandstand.kit.who.caller import Caller

if TYPE_CHECKING:
    from grandstand.apps.bets.model.judging.verifying import Judged
    from grandstand.apps.bets.model.known.history import History
    from grandstand.apps.bets.model.known.windows import Windows
    from grandstand.apps.bets.model.predicting.panel import Panel

_MOST_DAYS: Final = 3700


class Backtesting:
    """Runs back-tests with the engine that predicts live, and keeps what they found."""

    def __init__(self, means: Means, models: UserModels, datasets: Datasets) -> None:
        self._means = means
        self._models = models
        self._datasets = datasets
        self._loading = Loading(means)

    async def run(
        self,
        caller: Caller,
        model_id: str,
        wish: WalkWish,
        told: Callable[[int, int], None] | None,
    ) -> BacktestView:
        """Walk one of a person's models and keep the result; see `Bets.backtest`."""
        row = await self._models.row(caller, model_id)
        found = await self._person(caller, row, wish, told)
        await self._keep(caller, found, model_id)
        return found

    async def attempt(self, caller: Caller, draft: ModelDraft, wish: WalkWish) -> BacktestView:
        """Walk a model that is not kept; the try counts all the same."""
        row = await self._models.checked(caller, draft, "draft")
        return await self._person(caller, row, wish, None)

    async def built_in(
        self,
        caller: Caller,
        model: str,
        sport: str,
        wish: WalkWish,
        told: Callable[[int, int], None] | None,
    ) -> BacktestView:
        """Walk a built-in model and keep the result; raise ModelUnknown."""
        from grandstand.apps.bets.model.predicting.panel import MODEL_NAMES, Panel, standard_panel

        if model not in MODEL_NAMES:
            message = f"There is no model {model}; there are {', '.join(MODEL_NAMES)}"
            raise ModelUnknown(message)
        windows = windows_of(wish)
        predictor = standard_panel(windows).of(model)
        assert predictor is not None  # noqa: S101 - it is one of the panel's names
        history = await self._history(self._means.sport(sport), wish, ())
        about = About(sport, model, model, wish)
        found = await self._walked(caller, history, Panel((predictor,)), about, told)
        await self._keep(caller, found, model)
        return found

    async def _person(
        self,
        caller: Caller,
        row: UserModel,
        wish: WalkWish,
        told: Callable[[int, int], None] | None,
    ) -> BacktestView:
        from grandstand.apps.bets.model.predicting.panel import Panel

        history = await self._history(row.sport, wish, tuple(row.datasets or {}), caller.user_id)
        panel = Panel((user_predictor(row, windows_of(wish)),))
        about = About(row.sport, user_model_name(row.model_id), row.name, wish)
        return await self._walked(caller, history, panel, about, told)

    async def _history(
        self, sport: str, wish: WalkWish, datasets: Sequence[str], user_id: str = ""
    ) -> History:
        """Read a season's results, prices and figures; raise WalkRefused."""
        from grandstand.apps.bets.model.known.history import History

        span = span_of(wish)
        facts: list[Fact] = []
        games: list[str] = []
        teams: set[str] = set()
        async for fact in self._loading.results(sport, span):
            facts.append(fact)
            if isinstance(fact, Fixture):
                games.append(fact.game_id)
                teams |= {fact.home, fact.away}
        most = self._means.settings.backtest_games
        if not games or len(games) > most:
            message = (
                f"There are {len(games)} games of the {sport_name(sport)} from {wish.start} to "
                f"{wish.end}; a back-test goes through 1 to {most}"
            )
            raise WalkRefused(message)
        for game_id in games:
            facts += [fact async for fact in self._loading.prices(game_id)]
        for team in sorted(teams):
            facts += [
                fact
                async for fact in self._loading.of_team(sport, team, span)
                if not isinstance(fact, Fixture)
            ]
        for dataset in datasets:
            facts += [fact async for fact in self._datasets.facts(user_id, dataset)]
        return await asyncio.to_thread(History, facts)

    async def _walked(
        self,
        caller: Caller,
        history: History,
        panel: Panel,
        about: About,
        told: Callable[[int, int], None] | None,
    ) -> BacktestView:
        games = len(history.games())
        judged = await asyncio.to_thread(walked, history, panel, about.wish, told)
        if told is not None:
            told(games, games)
        view = summed(judged, about, games)
        tried = await self._count(caller, about.sport, view)
        backtest_id = new_id(self._means.clock, self._means.random)
        return finished(view, backtest_id, self._means.now(), tried, judged)

    async def _count(self, caller: Caller, sport: str, view: BacktestView) -> Trials:
        ratio = rounded(view.performance.sharpe or 0.0)
        return await self._means.store(Trials.count(caller.user_id, sport, ratio))

    async def _keep(self, caller: Caller, view: BacktestView, model: str) -> None:
        await self._means.store(
            Backtest(
                user_id=caller.user_id,
                backtest_id=view.backtest_id,
                model=model,
                name=view.name,
                sport=view.sport,
                created_at=view.created_at,
                content=msgspec.json.encode(view).decode(),
            ).record()
        )

    async def of(
        self, caller: Caller, model_id: str | None, *, limit: int, after: str | None
    ) -> Page[BacktestView]:
        """Answer a person's back-tests, newest first, without their predictions."""
        reading = Backtest.of_user(caller.user_id)
        if model_id is not None:
            reading = reading.where(Backtest.model == model_id)
        page = await self._means.store.page(reading, limit, after=after)
        return Page(tuple(replace(read(row), predictions=()) for row in page.items), page.cursor)

    async def read(self, caller: Caller, backtest_id: str) -> BacktestView:
        """Answer one of a person's back-tests; raise BacktestUnknown."""
        found = await self._means.store(Backtest.one(caller.user_id, backtest_id))
        if found is None:
            message = f"There is no back-test {backtest_id}"
            raise BacktestUnknown(message)
        return read(found)


def walked(
    history: History,
    panel: Panel,
    wish: WalkWish,
    told: Callable[[int, int], None] | None = None,
) -> tuple[Judged, ...]:
    """Walk a history and answer the forecasts of the days wished for, without inverses.

    `told` hears, from the thread this runs in, how many games of how many are predicted.
    """
    from grandstand.apps.bets.model.predicting.walking import Plan, walk

    span = span_of(wish)
    found = walk(history, panel, Plan(since=span.since, until=span.until), told).judged
    first = datetime.combine(wish.start, time(), UTC)
    return tuple(
        each for each in found if each.forecast.inverse_of is None and each.forecast.as_of >= first
    )


def windows_of(wish: WalkWish) -> Windows:
    """Answer the windows of a wish; raise WalkRefused."""
    from grandstand.apps.bets.model.known.windows import Windows

    span_of(wish)
    return Windows(
        "anchored" if wish.anchored else "rolling",
        timedelta(days=wish.train_days),
        timedelta(days=wish.test_days),
        timedelta(days=wish.purge_days),
    )


def span_of(wish: WalkWish) -> Span:
    """Answer the days that are read, those to learn from included; raise WalkRefused."""
    if not wish.start < wish.end or (wish.end - wish.start).days > _MOST_DAYS:
        message = f"A back-test goes over 1 to {_MOST_DAYS} days, the earlier first"
        raise WalkRefused(message)
    if wish.train_days < 1 or wish.test_days < 1 or wish.purge_days < 0:
        message = "Training and testing take at least a day each, purging none or more"
        raise WalkRefused(message)
    since = datetime.combine(wish.start, time(), UTC) - timedelta(days=wish.train_days)
    return Span(since, datetime.combine(wish.end, time.max, UTC).replace(microsecond=0))


def finished(
    view: BacktestView,
    backtest_id: str,
    created_at: datetime,
    tried: Trials,
    judged: Sequence[Judged],
) -> BacktestView:
    """Answer a back-test with its name, its moment and what trying so often makes of it."""
    from grandstand.apps.bets.model.judging.significance import deflated_sharpe

    decided = [each for each in judged if each.correct is not None]
    returns = [each.profit for each in decided if each.profit is not None]
    spread = deviation_of(tried)
    deflated = (
        deflated_sharpe(returns, tried.tries, trial_deviation=spread)
        if len(returns) > 1 and view.performance.sharpe
        else None
    )
    return replace(
        view,
        backtest_id=backtest_id,
        created_at=created_at,
        trials=tried.tries,
        deflated_sharpe=deflated,
    )


def deviation_of(tried: Trials) -> float | None:
    """Answer how far the Sharpe ratios of all tries lie apart; None for one."""
    if tried.tries <= 1:
        return None
    mean = tried.sharpe_sum / tried.tries
    square = tried.sharpe_squares / tried.tries - mean * mean
    return float(max(square, Decimal(0)).sqrt()) or None


def read(row: Backtest) -> BacktestView:
    """Answer a back-test as it was kept."""
    return msgspec.json.decode(row.content, type=BacktestView)

"""The analysis generator, and the picks it publishes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from grandstand.apps.bets.domain.odds import american_to_decimal
from grandstand.apps.bets.domain.records import AnalysisType, GameRef, PricedOutcome, slug
from grandstand.apps.bets.domain.selections import (
    Selection,
    decode_selection,
    encode_selection,
    format_selection,
    is_prop,
    opposite_of,
    parse_outcomes,
    parse_prop,
)
from grandstand.apps.bets.services.database import (
    Database,
    ExactNumber,
    PercentRatio,
    check_sport,
    copy_as,
    round4,
    round4_or_none,
)
from grandstand.apps.bets.services.forecasts import (
    HistoryLoader,
    model_forecasts,
    model_names,
    user_forecasts,
    user_predictor,
    with_inverses,
)
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.store.games import GameInfo, GameOdds, PropOdds
from grandstand.apps.bets.store.predictions import Analysis, Prediction, StoredReason
from grandstand.apps.bets.store.user_models import UserModel
from grandstand.core.errors import NotFound
from grandstand.kit.cursors import Page
from grandstand.kit.live import Publisher

if TYPE_CHECKING:
    from grandstand.apps.bets.domain.forecasts import Forecast, Predictor
    from grandstand.apps.bets.domain.history import History
    from grandstand.apps.bets.services.user_models import DatasetService

_MAX_TEXT: Final = 200
_MAX_REASONS: Final = 12


@dataclass(frozen=True, slots=True)
class Contribution:
    """How far one input moved a prediction, in log-odds toward the pick."""

    source: str
    contribution: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class Pick(GameRef):
    """A published prediction and its result.

    `probability` is calibrated; `price` is the American price at publication.
    """

    model: str
    analysis_type: AnalysisType
    bookmaker: str
    market_key: str
    side: str
    point: ExactNumber | None
    prediction: str
    probability: Annotated[float, Field(serialization_alias="confidence")]
    reasoning: str
    created_at: datetime
    player_name: str | None = None
    price: Annotated[int | None, Field(serialization_alias="odds")] = None
    expected_return: Annotated[PercentRatio, Field(serialization_alias="roi")] = None
    risk_level: str = ""
    is_inverse: bool = False
    original_prediction: str | None = None
    reasons: tuple[Contribution, ...] = ()
    verdict: str | None = None
    correct: Annotated[bool | None, Field(serialization_alias="analysis_correct")] = None
    closing_probability: float | None = None


@dataclass(frozen=True, slots=True)
class AnalysisReport:
    sport: str
    games: int
    published: int
    frozen: int


@dataclass(frozen=True, slots=True)
class OfferedPrices:
    """The current prices of a game by bookmaker and selection, and the names of its players."""

    prices: Mapping[str, Mapping[str, int]]
    players: Mapping[str, str]

    def price(self, bookmaker: str, selection: Selection) -> int | None:
        return self.prices.get(bookmaker, {}).get(encode_selection(selection))

    def quotes(self, bookmaker: str, selection: Selection) -> bool:
        return self.price(bookmaker, selection) is not None


async def load_prices(db: Database, game_id: str) -> list[GameOdds | PropOdds]:
    """Return every price of a game, player props included."""
    rows: list[GameOdds | PropOdds] = [row async for row in db.each(GameOdds.of_game(game_id))]
    return rows + [row async for row in db.each(PropOdds.of_game(game_id))]


def player_of(row: GameOdds | PropOdds) -> str | None:
    return row.player if isinstance(row, PropOdds) else None


def offered_prices(rows: Iterable[GameOdds | PropOdds]) -> OfferedPrices:
    prices: dict[str, dict[str, int]] = {}
    players: dict[str, str] = {}
    for row in rows:
        if not row.latest:
            continue
        by_selection = prices.setdefault(row.bookmaker, {})
        if isinstance(row, PropOdds):
            players[slug(row.player)] = row.player
        for outcome, selection in zip(row.outcomes, row_selections(row), strict=True):
            by_selection[encode_selection(selection)] = outcome.price
    return OfferedPrices(prices, players)


def row_selections(row: GameOdds | PropOdds) -> tuple[Selection, ...]:
    """Return the selection of each outcome of a row."""
    return outcome_selections(
        row.market_key, row.outcomes, row.home_team, row.away_team, player_of(row)
    )


def outcome_selections(
    market_key: str,
    outcomes: Sequence[PricedOutcome],
    home: str,
    away: str,
    player: str | None = None,
) -> tuple[Selection, ...]:
    """Return the selection of each outcome, identified by its name."""
    if player is not None or is_prop(market_key):
        return tuple(
            parse_prop(market_key, player or "", outcome.name, outcome.point)
            for outcome in outcomes
        )
    return parse_outcomes(market_key, outcomes, home, away)


def analysis_key(row: Analysis) -> str:
    """Return what identifies a pick within its game and bookmaker."""
    return f"{row.model}#{row.analysis_type}#{row.slot}"


def is_unchanged(published: Analysis | None, row: Analysis) -> bool:
    """Return whether pick, probability, price and start are the same."""
    if published is None:
        return False
    before = (published.selection, published.confidence, published.price, published.commence_time)
    return before == (row.selection, row.confidence, row.price, row.commence_time)


def to_analysis(
    info: GameInfo, forecast: Forecast, bookmaker: str, offered: OfferedPrices, now: datetime
) -> Analysis:
    """Return a forecast as a row, at a bookmaker's price."""
    selection, prop = forecast.selection, forecast.selection.market == "prop"
    kind: AnalysisType = "prop" if prop else "game"
    player = offered.players.get(selection.participant or "", selection.participant)
    against = describe_selection(opposite_of(selection), info) if forecast.inverse_of else None
    price = offered.price(bookmaker, selection)
    if price is None and bookmaker == forecast.book:
        price = forecast.price
    return copy_as(
        Analysis,
        info,
        model=forecast.model,
        analysis_type=kind,
        bookmaker=bookmaker,
        player_name=player if prop else None,
        market_key=stored_market_key(selection),
        prediction=describe_selection(selection, info),
        confidence=round4(forecast.probability),
        reasoning=describe_reasoning(forecast, info),
        created_at=now,
        is_inverse=True if forecast.inverse_of else None,
        original_prediction=against,
        selection=encode_selection(selection),
        raw=round4(forecast.raw),
        fair=round4_or_none(forecast.fair),
        price=price,
        as_of=forecast.as_of,
        reasons=tuple(
            StoredReason(reason.source, round4(reason.contribution), reason.text[:_MAX_TEXT])
            for reason in forecast.reasons[:_MAX_REASONS]
        ),
    )


def to_prediction(row: Analysis) -> Prediction:
    """Return the archive row of a published pick."""
    return copy_as(Prediction, row)


def stored_market_key(selection: Selection) -> str | None:
    """Return the market key of the row; None for the winner of a game."""
    if selection.market == "prop":
        return selection.stat
    return None if selection.market in {"h2h", "h2h_3way"} else selection.market


def describe_selection(selection: Selection, info: GameInfo) -> str:
    """Return a pick as text: a team, a team with its line, or `Over 25.5`."""
    if selection.market == "prop":
        return f"{(selection.side or '').capitalize()} {selection.point}"
    return format_selection(selection, info.home_team, info.away_team)


def describe_reasoning(forecast: Forecast, info: GameInfo) -> str:
    """Return the reasons of a forecast as text, the strongest first."""
    reasons = "; ".join(reason.text for reason in forecast.reasons[:3] if reason.text)
    text = reasons or f"{forecast.model}: {forecast.probability:.0%}"
    if forecast.inverse_of is None:
        return text
    return f"INVERSE of: {describe_selection(opposite_of(forecast.selection), info)}: {text}"


def expected_return(probability: float, price: int | None) -> float | None:
    """Return the expected profit per unit staked; None without a price."""
    return None if price is None else probability * american_to_decimal(price) - 1


def risk_level(probability: float) -> str:
    if probability >= 0.65:
        return "conservative"
    return "moderate" if probability >= 0.55 else "aggressive"


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionService:
    """Published picks of the built-in models."""

    db: Database
    settings: BetsSettings

    async def picks(
        self,
        sport: str,
        bookmaker: str,
        model: str,
        *,
        analysis_type: AnalysisType = "game",
        limit: int = 20,
        after: str | None = None,
    ) -> Page[Pick]:
        """Return a model's picks for upcoming games.

        Raises NotFound if the sport or the model does not exist.
        """
        if model not in model_names() or "#" in bookmaker:
            names = ", ".join(model_names())
            raise NotFound(f"Unknown model {model!r}. Models: {names}.")
        sport, now = check_sport(self.settings, sport), self.db.now()
        query = Analysis.picks(sport, bookmaker, model, now, analysis_type)
        page = await self.db.store.page(query, limit, after=after)
        return Page(tuple(to_pick(row) for row in page.items), page.cursor)

    async def top_pick(self, sport: str, bookmaker: str) -> Pick | None:
        """Return the pick of any model with the highest expected return, if there is one."""
        picks: list[Pick] = []
        now = self.db.now()
        for model in model_names():
            query = Analysis.picks(check_sport(self.settings, sport), bookmaker, model, now)
            picks += [to_pick(row) async for row in self.db.each(query)]
        priced = [pick for pick in picks if pick.expected_return is not None]
        return max(priced, key=lambda pick: pick.expected_return or 0.0, default=None)

    async def for_game(self, sport: str, game_id: str) -> tuple[Pick, ...]:
        """Return every model's pick of a game, at the first bookmaker that has one."""
        picks: dict[str, Pick] = {}
        names = set(model_names())
        for bookmaker in self.settings.bookmakers:
            for row in await self.db.store(Analysis.of_game(sport, game_id, bookmaker)):
                if row.model in names and not row.is_inverse:
                    picks.setdefault(f"{row.model}#{row.subject}", to_pick(row))
        return tuple(sorted(picks.values(), key=lambda pick: (pick.market_key, pick.model)))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisGenerator:
    """Runs all models for upcoming games and publishes their picks."""

    db: Database
    settings: BetsSettings
    publisher: Publisher
    history: HistoryLoader
    datasets: DatasetService

    async def run(self, sport: str) -> AnalysisReport:
        """Publish every model's picks for the upcoming games of a sport.

        Raises NotFound if the sport is not enabled.
        """
        now = self.db.now()
        end = now + timedelta(days=self.settings.horizon_days)
        games = await self.history.upcoming_games(check_sport(self.settings, sport), now, end)
        games = [info for info in games if info.commence_time > now]
        if not games:
            return AnalysisReport(sport, 0, 0, 0)
        models = self.db.each(UserModel.of_sport(sport))
        rows = [model async for model in models if model.status == "active"]
        user_models = [user_predictor(row) for row in rows]
        names = [*model_names(), *(model.name for model in user_models)]
        history = await self.history.season(sport, now, names)
        await self._add_datasets(history, rows)
        published, frozen = 0, 0
        for info in games:
            count, refused = await self._publish_game(history, info, user_models)
            published, frozen = published + count, frozen + refused
            await self.db.sleep(0)
        self.publisher.publish(f"bets/games/{sport}", {"published": published})
        return AnalysisReport(sport, len(games), published, frozen)

    async def forecasts(
        self, history: History, info: GameInfo, user_models: Sequence[Predictor] = ()
    ) -> list[Forecast]:
        """Return the current forecasts of all models for a game, inverses included."""
        from grandstand.apps.bets.domain.registry import predict_props

        now = self.db.now()
        game = await self.history.add_game(history, info, now)
        view = history.as_of(now)
        forecasts = await asyncio.to_thread(model_forecasts, game, view)
        forecasts += await asyncio.to_thread(user_forecasts, game, view, user_models)
        return [*forecasts, *await asyncio.to_thread(predict_props, game, view)]

    async def _publish_game(
        self, history: History, info: GameInfo, user_models: Sequence[Predictor]
    ) -> tuple[int, int]:
        forecasts = await self.forecasts(history, info, user_models)
        offered = await self.offered(info.game_id)
        published_rows = await self._published(info, offered)
        published, frozen = 0, 0
        for pair in with_inverses(forecasts):
            count, refused = await self._publish(info, pair, offered, published_rows)
            published, frozen = published + count, frozen + refused
        return published, frozen

    async def _publish(
        self,
        info: GameInfo,
        pair: tuple[Forecast, Forecast],
        offered: OfferedPrices,
        published_rows: Mapping[tuple[str, str], Analysis],
    ) -> tuple[int, int]:
        """Publish a forecast and its inverse at every configured bookmaker with a price.

        Returns the number of published pairs and the number refused because the game has started.
        Unchanged picks are left alone.
        """
        published, frozen, forecast, now = 0, 0, pair[0], self.db.now()
        bookmakers = [
            name for name in self.settings.bookmakers if offered.quotes(name, forecast.selection)
        ]
        if not bookmakers and forecast.book is not None:
            bookmakers = [forecast.book]
        for bookmaker in bookmakers:
            rows = [to_analysis(info, item, bookmaker, offered, now) for item in pair]
            if all(
                is_unchanged(published_rows.get((bookmaker, analysis_key(row))), row)
                for row in rows
            ):
                continue
            writes = [w for row in rows for w in (to_prediction(row).record(), row.publish(now))]
            if await self.db.try_transaction(*writes):
                published += 1
            else:
                frozen += 1
        return published, frozen

    async def offered(self, game_id: str) -> OfferedPrices:
        """Return the current prices of a game."""
        return offered_prices(await load_prices(self.db, game_id))

    async def _published(
        self, info: GameInfo, offered: OfferedPrices
    ) -> dict[tuple[str, str], Analysis]:
        rows_by_key: dict[tuple[str, str], Analysis] = {}
        followed = [name for name in self.settings.bookmakers if name in offered.prices]
        for bookmaker in followed:
            rows = Analysis.of_game(info.sport, info.game_id, bookmaker)
            async for row in self.db.each(rows):
                rows_by_key[bookmaker, analysis_key(row)] = row
        return rows_by_key

    async def _add_datasets(self, history: History, models: Sequence[UserModel]) -> None:
        """Add the datasets the user models weight."""
        datasets = {(model.user_id, name) for model in models for name in model.datasets or {}}
        for user_id, dataset_id in sorted(datasets):
            async for fact in self.datasets.facts(user_id, dataset_id):
                history.add(fact)


def to_pick(row: Analysis) -> Pick:
    probability = float(row.confidence)
    selection = None if row.selection is None else decode_selection(row.selection)
    market = "h2h" if selection is None else selection.stat or selection.market
    return copy_as(
        Pick,
        row,
        market_key=row.market_key or market,
        side="" if selection is None else selection.side or "",
        point=None if selection is None else selection.point,
        probability=probability,
        expected_return=expected_return(probability, row.price),
        risk_level=risk_level(probability),
        is_inverse=bool(row.is_inverse),
        reasons=tuple(
            Contribution(reason.source, float(reason.contribution), reason.text)
            for reason in row.reasons or ()
        ),
        correct=row.analysis_correct,
        closing_probability=None if row.closing is None else float(row.closing),
    )

"""Audit of past predictions: rerun them with the data known at the time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from grandstand.apps.bets.services.database import Database, check_sport, round4
from grandstand.apps.bets.services.forecasts import (
    HistoryLoader,
    model_forecasts,
    model_names,
)
from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.bets.store.games import GameInfo, ResultRecord
from grandstand.apps.bets.store.predictions import Prediction

if TYPE_CHECKING:
    from grandstand.apps.bets.domain.forecasts import Forecast
    from grandstand.apps.bets.domain.history import History

_MAX_REPORTED: Final = 50
# Of each game; to trace one, its model is run a dozen times.
_MAX_TRACED: Final = 5
_DATA: Final = "data"


@dataclass(frozen=True, slots=True)
class DataLeak:
    """A fact used by a prediction before it was known."""

    model: str
    game_id: str
    made_at: datetime
    row: str
    known_at: datetime


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Predictions that were rerun: how many match, which differ, and which data leaked."""

    sport: str
    checked: int
    same: int
    differing: tuple[str, ...]
    leaks: tuple[DataLeak, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionAudit:
    """Reruns past predictions and traces differences to the rows that cause them."""

    db: Database
    settings: BetsSettings
    history: HistoryLoader

    async def run(self, sport: str, *, days: int = 7, limit: int = 200) -> AuditReport:
        """Audit the predictions of games completed in the last `days` days.

        Raises NotFound if the sport is not enabled.
        """
        now = self.db.now()
        since = now - timedelta(days=days)
        lines = ResultRecord.since(check_sport(self.settings, sport), since)
        games = {line.game_id: line async for line in self.db.each(lines)}
        checked, matching, differing = 0, 0, list[str]()
        leaks: list[DataLeak] = []
        for line in games.values():
            if checked >= limit:
                break
            audit = await self._game(line, now)
            checked += audit.checked
            matching += audit.same
            differing += audit.differing
            leaks += audit.leaks
        return AuditReport(
            sport, checked, matching, tuple(differing[:_MAX_REPORTED]), _deduplicate(leaks)
        )

    async def _game(self, line: ResultRecord, now: datetime) -> AuditReport:
        predictions = await self._predictions(line)
        moments = sorted({row.as_of for row in predictions if row.as_of is not None})
        checked, matching, leaks = 0, 0, list[DataLeak]()
        differing: list[tuple[Prediction, Forecast | None]] = []
        if not moments:
            return AuditReport(line.sport, 0, 0, (), ())
        history = await self._history(line, now)
        leaks += _early_rows(history, line)
        for moment in moments:
            forecasts = await asyncio.to_thread(_rerun, history, line, moment)
            for row in (row for row in predictions if row.as_of == moment):
                checked += 1
                forecast = forecasts.get((row.model, row.selection or ""))
                leak = _leak(row, forecast)
                if leak is not None:
                    leaks.append(leak)
                elif forecast is not None and round4(forecast.raw) == row.raw:
                    matching += 1
                else:
                    differing.append((row, forecast))
        for row, _ in differing[:_MAX_TRACED]:
            leaks += await asyncio.to_thread(_trace_leak, history, row)
        descriptions = tuple(_describe_difference(row, forecast) for row, forecast in differing)
        return AuditReport(line.sport, checked, matching, descriptions, tuple(leaks))

    async def _predictions(self, line: ResultRecord) -> list[Prediction]:
        """Return the built-in models' predictions of a game at the first configured bookmaker."""
        names = set(model_names())
        for bookmaker in self.settings.bookmakers:
            query = Prediction.of_game(line.sport, line.game_id, bookmaker)
            rows = [
                row
                async for row in self.db.each(query)
                if row.model in names
                and not row.is_inverse
                and row.raw is not None
                and row.analysis_type == "game"
                and row.model != "benny"
            ]
            if rows:
                return rows
        return []

    async def _history(self, line: ResultRecord, now: datetime) -> History:
        """Load everything stored now, later results included; the as-of view must hide them."""
        from grandstand.apps.bets.domain.history import History

        since = now - timedelta(days=self.settings.history_days)
        facts = [fact async for fact in self.history.results(line.sport, since, now)]
        facts += await self.history.records(line.sport, model_names(), since)
        history = History(facts)
        info = await self.db.store(GameInfo.of_game(line.game_id))
        if info is not None:
            await self.history.add_game(history, info, now)
        return history


def _rerun(
    history: History, line: ResultRecord, moment: datetime
) -> dict[tuple[str, str], Forecast]:
    from grandstand.apps.bets.domain.selections import encode_selection

    short = history.truncate(moment)
    view = short.as_of(moment)
    game = view.fixture(line.game_id)
    if game is None or moment >= game.commence_time:
        return {}
    return {
        (forecast.model, encode_selection(forecast.selection)): forecast
        for forecast in model_forecasts(game, view)
        if forecast.inverse_of is None
    }


def _describe_difference(row: Prediction, forecast: Forecast | None) -> str:
    outcome = "has no such pick" if forecast is None else f"says {forecast.raw:.4f}"
    at = "" if row.as_of is None else f" at {row.as_of.isoformat()}"
    return f"{row.model} on {row.game_id}{at}: stored {row.raw}, the rerun {outcome}"


def _trace_leak(history: History, row: Prediction) -> list[DataLeak]:
    """Return the later row a prediction depends on, if there is one."""
    from grandstand.apps.bets.domain.leakage_audit import ForecastQuery, trace_leak
    from grandstand.apps.bets.domain.registry import build_standard_panel

    model = build_standard_panel().of(row.model)
    if model is None or row.as_of is None or row.selection is None:
        return []
    query = ForecastQuery(row.game_id, row.selection.partition("|")[0], row.as_of)
    trace = trace_leak(query, history, lambda _: model)
    return [] if trace is None else [DataLeak(row.model, row.game_id, row.as_of, *trace)]


def _early_rows(history: History, line: ResultRecord) -> list[DataLeak]:
    """Return the rows whose timestamp is before the event they describe."""
    from grandstand.apps.bets.domain.leakage_audit import find_early_timestamps

    return [
        DataLeak(_DATA, line.game_id, early.happened_at, early.row, early.known_at)
        for early in find_early_timestamps(history)
    ]


def _deduplicate(leaks: list[DataLeak]) -> tuple[DataLeak, ...]:
    """Deduplicate leaks. A row read by many games' models is reported for the first of them."""
    unique: dict[tuple[object, ...], DataLeak] = {}
    for leak in leaks:
        game = "" if leak.model == _DATA else leak.game_id
        unique.setdefault((leak.model, game, leak.made_at, leak.row, leak.known_at), leak)
    return tuple(unique.values())


def _leak(row: Prediction, forecast: Forecast | None) -> DataLeak | None:
    if row.as_of is not None and row.as_of >= row.commence_time:
        return DataLeak(
            row.model, row.game_id, row.as_of, "the start of the game", row.commence_time
        )
    future = [fact for fact in forecast.used if fact.known_at > forecast.as_of] if forecast else []
    if forecast is None or not future:
        return None
    used = future[0]
    return DataLeak(
        row.model, row.game_id, forecast.as_of, f"{used.kind} {used.row}", used.known_at
    )

"""Kept here: the audit of what was predicted: made again with the data as it was."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from grandstand.apps.bets.service.means import Means
from grandstand.apps.bets.service.money.settled import rounded
from grandstand.apps.bets.service.predicting.engine import forecasts_of, model_names
from grandstand.apps.bets.service.predicting.loading import Loading, Span
from grandstand.apps.bets.service.values import Audit, Leak
from grandstand.apps.bets.store import GameNote, Prediction, ResultLine

if TYPE_CHECKING:
    from grandstand.apps.bets.model.known.history import History
    from grandstand.apps.bets.model.predicting.forecasting import Forecast

_MOST_NAMED: Final = 50
# Of each game; to trace one, its model is run a dozen times.
_MOST_TRACED: Final = 5
_ROWS: Final = "data"


class Auditing:
    """Runs past predictions again and says what differs, and which row a forecast knew early."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._loading = Loading(means)

    async def run(self, sport: str, *, days: int, most: int) -> Audit:
        """Audit the predictions of games that ended within some days; raise SportUnknown."""
        now = self._means.now()
        since = now - timedelta(days=days)
        lines = ResultLine.since(self._means.sport(sport), since)
        games = {line.game_id: line async for line in self._means.each(lines)}
        checked, same, differing = 0, 0, list[str]()
        leaks: list[Leak] = []
        for line in games.values():
            if checked >= most:
                break
            found = await self._game(line, now)
            checked += found.checked
            same += found.same
            differing += found.differing
            leaks += found.leaks
        return Audit(sport, checked, same, tuple(differing[:_MOST_NAMED]), _once(leaks))

    async def _game(self, line: ResultLine, now: datetime) -> Audit:
        kept = await self._kept(line)
        moments = sorted({row.as_of for row in kept if row.as_of is not None})
        checked, same, leaks = 0, 0, list[Leak]()
        differing: list[tuple[Prediction, Forecast | None]] = []
        if not moments:
            return Audit(line.sport, 0, 0, (), ())
        history = await self._history(line, now)
        leaks += _early(history, line)
        for moment in moments:
            made = await asyncio.to_thread(_again, history, line, moment)
            for row in (one for one in kept if one.as_of == moment):
                checked += 1
                forecast = made.get((row.model, row.selection or ""))
                leak = _leak(row, forecast)
                if leak is not None:
                    leaks.append(leak)
                elif forecast is not None and rounded(forecast.raw) == row.raw:
                    same += 1
                else:
                    differing.append((row, forecast))
        for row, _ in differing[:_MOST_TRACED]:
            leaks += await asyncio.to_thread(_behind, history, row)
        told = tuple(_differs(row, forecast) for row, forecast in differing)
        return Audit(line.sport, checked, same, told, tuple(leaks))

    async def _kept(self, line: ResultLine) -> list[Prediction]:
        """Answer the built-in models' predictions of a game at the first followed bookmaker."""
        names = set(model_names())
        for bookmaker in self._means.settings.bookmakers:
            reading = Prediction.of_game(line.sport, line.game_id, bookmaker)
            rows = [
                row
                async for row in self._means.each(reading)
                if row.model in names
                and not row.is_inverse
                and row.raw is not None
                and row.analysis_type == "game"
                and row.model != "benny"
            ]
            if rows:
                return rows
        return []

    async def _history(self, line: ResultLine, now: datetime) -> History:
        """Read everything that is kept now, later results included; the view must hide them."""
        from grandstand.apps.bets.model.known.history import History

        since = now - timedelta(days=self._means.settings.history_days)
        facts = [each async for each in self._loading.results(line.sport, Span(since, now))]
        facts += await self._loading.records(line.sport, model_names(), since)
        history = History(facts)
        note = await self._means.store(GameNote.of_game(line.game_id))
        if note is not None:
            await self._loading.add_game(history, note, now)
        return history


def _again(history: History, line: ResultLine, moment: datetime) -> dict[tuple[str, str], Forecast]:
    from grandstand.apps.bets.model.selections import code

    short = history.truncated(moment)
    view = short.as_of(moment)
    game = view.fixture(line.game_id)
    if game is None or moment >= game.commence_time:
        return {}
    return {
        (each.model, code(each.selection)): each
        for each in forecasts_of(game, view)
        if each.inverse_of is None
    }


def _differs(row: Prediction, forecast: Forecast | None) -> str:
    said = "makes no such pick" if forecast is None else f"says {forecast.raw:.4f}"
    made = "" if row.as_of is None else f" at {row.as_of.isoformat()}"
    return f"{row.model} on {row.game_id}{made}: kept {row.raw}, with the data as it was it {said}"


@dataclass(frozen=True, slots=True)
class _Question:
    model: str
    game_id: str
    market: str
    as_of: datetime


def _behind(history: History, row: Prediction) -> list[Leak]:
    """Answer the later row that a model looks at for a prediction; none when it looks at none."""
    from grandstand.apps.bets.model.judging.leaks import traced
    from grandstand.apps.bets.model.predicting.panel import standard_panel

    model = standard_panel().of(row.model)
    if model is None or row.as_of is None or row.selection is None:
        return []
    asked = _Question(row.model, row.game_id, row.selection.partition("|")[0], row.as_of)
    found = traced(asked, history, lambda _: model)
    if found.kind != "later_data" or found.known_at is None:
        return []
    return [Leak(row.model, row.game_id, row.as_of, found.row, found.known_at)]


def _early(history: History, line: ResultLine) -> list[Leak]:
    """Answer the rows a game's models read that say they were known before what they tell of."""
    from grandstand.apps.bets.model.known.stamps import early_stamps

    return [
        Leak(_ROWS, line.game_id, each.happened_at, each.row, each.known_at)
        for each in early_stamps(history)
    ]


def _once(leaks: list[Leak]) -> tuple[Leak, ...]:
    """Answer each leak once; a row many games' models read is named with the first of them."""
    found: dict[tuple[object, ...], Leak] = {}
    for leak in leaks:
        game = "" if leak.model == _ROWS else leak.game_id
        found.setdefault((leak.model, game, leak.made_at, leak.row, leak.known_at), leak)
    return tuple(found.values())


def _leak(row: Prediction, forecast: Forecast | None) -> Leak | None:
    if row.as_of is not None and row.as_of >= row.commence_time:
        return Leak(row.model, row.game_id, row.as_of, "the start of the game", row.commence_time)
    late = [each for each in forecast.used if each.known_at > forecast.as_of] if forecast else []
    if forecast is None or not late:
        return None
    used = late[0]
    return Leak(row.model, row.game_id, forecast.as_of, f"{used.kind} {used.row}", used.known_at)

"""Kept here: one engine for live, paper and back-test: ask, wait for results, learn, go on."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from grandstand.apps.bets.model.judging.scorecards import Scorecard, scorecards
from grandstand.apps.bets.model.judging.verifying import Judge, Judged, verdict_of, verified
from grandstand.apps.bets.model.known.asof import AsOf
from grandstand.apps.bets.model.known.facts import Fixture
from grandstand.apps.bets.model.known.history import History
from grandstand.apps.bets.model.predicting.forecasting import GAME_MARKETS, Forecast
from grandstand.apps.bets.model.predicting.inverse import inverse
from grandstand.apps.bets.model.predicting.panel import Panel
from grandstand.apps.bets.model.ratings.sports import winner_market
from grandstand.apps.bets.model.refusals import FromTheFuture, PlanRefused, TooLate

_NOTHING = timedelta(0)


@dataclass(frozen=True, slots=True)
class Plan:
    """Which games are walked through, how long before their start, and what was tried before.

    Raises PlanRefused.
    """

    lead: timedelta = timedelta(hours=1)
    since: datetime | None = None
    until: datetime | None = None
    markets: tuple[str, ...] = GAME_MARKETS
    trials_before: int = 0
    inverses: bool = True

    def __post_init__(self) -> None:
        if self.lead <= _NOTHING:
            raise PlanRefused("Predictions are made before the start: give a lead above nothing.")
        if self.since and self.until and self.since >= self.until:
            raise PlanRefused("The walk ends before it begins.")


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk found; `trials` counts every model and market tried, those before included.

    The history is the one walked through, with what was learnt on the way, for the audit.
    """

    judged: tuple[Judged, ...]
    scorecards: tuple[Scorecard, ...]
    trials: int
    history: History

    @property
    def forecasts(self) -> tuple[Forecast, ...]:
        """Every forecast made and judged, inverses included."""
        return tuple(each.forecast for each in self.judged)


def predict_game(
    game: Fixture,
    view: AsOf,
    panel: Panel,
    markets: Sequence[str] = GAME_MARKETS,
    *,
    inverses: bool = True,
) -> tuple[Forecast, ...]:
    """Every model's forecast of a game's markets as of the view, each with its inverse if wanted.

    Of the markets given those count that are quoted by then, or, when nobody quotes the game yet,
    who wins. Raises TooLate at or after the start, and FromTheFuture when a model used what was
    not known.
    """
    if view.instant >= game.commence_time:
        raise TooLate(game.game_id, view.instant, game.commence_time)
    found: list[Forecast] = []
    for market in _open_markets(game, view, markets):
        for predictor in panel.predictors:
            if market in predictor.markets:
                part = view.anew()
                forecast = predictor.predict(game, part, market)
                if forecast is not None:
                    _check(forecast)
                    found.append(forecast)
                    found += [inverse(forecast, part)] if inverses else []
    return tuple(found)


def _open_markets(game: Fixture, view: AsOf, wanted: Sequence[str]) -> list[str]:
    quoted = view.markets(game.game_id)
    return [market for market in wanted if market in (quoted or [winner_market(game.sport)])]


def _check(forecast: Forecast) -> None:
    for row in forecast.used:
        if row.known_at > forecast.as_of:
            raise FromTheFuture(f"{row.kind} {row.row}", row.known_at, forecast.as_of)


def walk(
    history: History,
    panel: Panel,
    plan: Plan | None = None,
    told: Callable[[int, int], None] | None = None,
) -> Walk:
    """Predict each game when its time comes, learning only from results known by then.

    The history given is not changed. Cost grows with the number of games. `told` hears how many
    games of how many are predicted.
    """
    planned = plan or Plan()
    working = history.branch()
    judge = Judge(working)
    waiting: list[tuple[datetime, int, Fixture, tuple[Forecast, ...]]] = []
    judged: list[Judged] = []
    moments = [*_moments(working, planned)]
    for number, (as_of, game) in enumerate(moments):
        if told is not None:
            told(number, len(moments))
        _hear(working, judge, waiting, judged, until=as_of)
        view = working.as_of(as_of)
        wanted = planned.markets
        forecasts = predict_game(game, view, panel, wanted, inverses=planned.inverses)
        score = working.first_final(game.game_id)
        if forecasts and score is not None:
            heapq.heappush(waiting, (score.known_at, number, game, forecasts))
    _hear(working, judge, waiting, judged, until=None)
    settled = _corrected(working, judge, judged)
    tried = {(each.forecast.model, each.forecast.market) for each in settled}
    trials = planned.trials_before + len(tried)
    return Walk(settled, scorecards(settled, trials), trials, working)


def _moments(history: History, plan: Plan) -> Iterator[tuple[datetime, Fixture]]:
    """When each game is predicted: a lead before its start, as it was announced at that time."""
    found = []
    for game in history.announcements():
        as_of = game.commence_time - plan.lead
        known = history.as_of(as_of).fixture(game.game_id)
        wanted = (plan.since is None or as_of >= plan.since) and (
            plan.until is None or as_of < plan.until
        )
        if known is game and wanted:
            found.append((as_of, game))
    yield from sorted(found, key=lambda each: (each[0], each[1].game_id))


def _hear(
    history: History,
    judge: Judge,
    waiting: list[tuple[datetime, int, Fixture, tuple[Forecast, ...]]],
    judged: list[Judged],
    *,
    until: datetime | None,
) -> None:
    """Take in the results that became known until a moment: settle, and keep what is learnt."""
    while waiting and (until is None or waiting[0][0] <= until):
        known_at, _, game, forecasts = heapq.heappop(waiting)
        score = history.first_final(game.game_id)
        if score is None:
            continue
        for forecast in forecasts:
            verdict = verdict_of(forecast, game, score)
            found = judge.with_verdict(forecast, verdict, known_at)
            judged.append(found)
            lesson = verified(found)
            if lesson is not None:
                history.add(lesson)


def _corrected(history: History, judge: Judge, judged: Sequence[Judged]) -> tuple[Judged, ...]:
    """The same by the last score of each game: corrections count in what is scored."""
    settled = []
    for each in judged:
        score = history.result(each.forecast.game_id)
        game = history.announced_at(each.forecast.game_id, each.forecast.as_of)
        if score is not None and score.corrected and game is not None:
            verdict = verdict_of(each.forecast, game, score)
            settled.append(judge.with_verdict(each.forecast, verdict, each.known_at))
        else:
            settled.append(each)
    return tuple(settled)

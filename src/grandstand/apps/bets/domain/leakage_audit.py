"""Leakage audit: repeats past forecasts with only the data known then, and names what leaked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Literal, Protocol, TypeAlias

import numpy as np

from grandstand.apps.bets.domain.forecasts import Forecast, Predictor
from grandstand.apps.bets.domain.history import Fact, History
from grandstand.apps.bets.domain.records import (
    CustomDataRow,
    Fixture,
    InjuryReport,
    PlayerGameStats,
    Quote,
    Score,
    TeamGameStats,
    VerifiedForecast,
    from_epoch_us,
    to_epoch_us,
)
from grandstand.apps.bets.domain.selections import encode_selection

LeakKind: TypeAlias = Literal["after_the_start", "late_row", "later_data", "not_reproducible"]
PredictorFactory: TypeAlias = Callable[[History], Predictor]
Signature: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class EarlyTimestamp:
    """A record whose known_at is before what it describes happened."""

    row: str
    known_at: datetime
    happened_at: datetime

    @property
    def reason(self) -> str:
        return (
            f"{self.row} is stamped {self.known_at.isoformat()},"
            f" before {self.happened_at.isoformat()}"
        )


def find_early_timestamps(history: History) -> Iterator[EarlyTimestamp]:
    """Return every record whose known_at cannot be right; models reading it see the future."""
    for fact in history.simple_facts():
        happened = _happened_at(fact, history)
        if happened is not None and fact.known_at < happened:
            yield EarlyTimestamp(describe_fact(fact), fact.known_at, happened)
    for table in history.quote_tables():
        for row in np.flatnonzero(table.known_at < table.captured_at):
            known, captured = (
                from_epoch_us(table.known_at[row]),
                from_epoch_us(table.captured_at[row]),
            )
            yield EarlyTimestamp(describe_fact(table), known, captured)


def _happened_at(fact: Fact, history: History) -> datetime | None:
    match fact:
        case Score():
            start = _scheduled_start(fact.game_id, history)
            completed = fact.completed_at if fact.status == "final" else None
            return max((time for time in (start, completed) if time and completed), default=None)
        case TeamGameStats() | PlayerGameStats():
            start = None if fact.game_id is None else _scheduled_start(fact.game_id, history)
            return fact.played_at if start is None else max(fact.played_at, start)
        case InjuryReport():
            return fact.reported_at
        case CustomDataRow():
            return fact.described_at
        case VerifiedForecast():
            return _result_known_at(fact.game_id, history) or fact.predicted_at
    return None


def _scheduled_start(game_id: str, history: History) -> datetime | None:
    game = history.latest_fixture(game_id)
    return None if game is None else game.commence_time


def _result_known_at(game_id: str, history: History) -> datetime | None:
    score = history.first_score(game_id)
    return None if score is None else score.known_at


def describe_fact(fact: Fact) -> str:
    """Return a readable name of a record."""
    match fact:
        case Fixture():
            return f"fixture {fact.game_id} {fact.home} – {fact.away}"
        case Score():
            corrected = "corrected score" if fact.corrected else "score"
            return f"{corrected} {fact.game_id} {fact.home_score}:{fact.away_score}"
        case TeamGameStats():
            return f"team stats {fact.team} {fact.played_at.isoformat()}"
        case PlayerGameStats():
            return f"player {fact.player} in {fact.game_id}"
        case InjuryReport():
            return f"injury {fact.player} of {fact.team}: {fact.status}"
        case CustomDataRow():
            return f"custom {fact.dataset}/{fact.subject}"
        case VerifiedForecast():
            return f"verified {fact.model} {fact.market} {fact.game_id}"
        case Quote():
            return f"quote {fact.game_id}/{fact.market}/{fact.book}"
    return f"quote {fact.game_id}/{fact.market}/{fact.book}"


@dataclass(frozen=True, slots=True)
class Leak:
    """Information a forecast could not have had: the record it came from, and how it was found."""

    kind: LeakKind
    model: str
    game_id: str
    market: str
    as_of: datetime
    row: str
    known_at: datetime | None
    reason: str


@dataclass(frozen=True, slots=True)
class LeakageAudit:
    """The number of forecasts checked, and every leak found."""

    checked: int
    leaks: tuple[Leak, ...]

    @property
    def clean(self) -> bool:
        return not self.leaks


class ForecastQuery(Protocol):
    """What a model was asked to forecast, and when; every forecast is one."""

    @property
    def model(self) -> str: ...

    @property
    def game_id(self) -> str: ...

    @property
    def market(self) -> str: ...

    @property
    def as_of(self) -> datetime: ...


def audit_forecasts(
    history: History, factories: Mapping[str, PredictorFactory], forecasts: Sequence[Forecast]
) -> LeakageAudit:
    """Repeat each forecast on a history truncated at its time, and compare.

    A forecast that differs has read something later; the record is found by restoring what became
    known afterwards until the forecast changes. Inverses, and forecasts of models without a
    factory, are skipped.
    """
    repeatable = [
        forecast
        for forecast in forecasts
        if forecast.inverse_of is None and forecast.model in factories
    ]
    ordered = sorted(
        repeatable,
        key=lambda forecast: (forecast.as_of, forecast.model, forecast.game_id, forecast.market),
    )
    leaks: list[Leak] = []
    for as_of, group in groupby(ordered, key=lambda forecast: forecast.as_of):
        truncated = history.truncate(as_of)
        predictors: dict[str, Predictor] = {}
        for forecast in group:
            if forecast.model not in predictors:
                predictors[forecast.model] = factories[forecast.model](truncated)
            leak = _visible_leak(forecast, history) or _hidden_leak(
                forecast, history, truncated, predictors[forecast.model], factories[forecast.model]
            )
            leaks += [leak] if leak else []
    return LeakageAudit(len(ordered), tuple(leaks))


def forecast_signature(forecast: Forecast | None) -> Signature:
    """Return what must be identical to the last bit: pick, probabilities, price and reasons."""
    if forecast is None:
        return (None,)
    return (
        encode_selection(forecast.selection),
        forecast.raw,
        forecast.probability,
        forecast.fair,
        forecast.price,
        forecast.book,
        tuple((reason.source, reason.contribution) for reason in forecast.reasons),
    )


def trace_leak(query: ForecastQuery, history: History, factory: PredictorFactory) -> Leak:
    """Return the record known later that changes what a model forecasts.

    Its kind is `not_reproducible` if there is no such record.
    """
    truncated = history.truncate(query.as_of)
    return _locate_leak(
        query, history, factory, _repeat_signature(query, truncated, factory(truncated))
    )


def _visible_leak(forecast: Forecast, history: History) -> Leak | None:
    game = history.fixture(forecast.game_id, to_epoch_us(forecast.as_of))
    if game is not None and forecast.as_of >= game.commence_time:
        reason = f"the game started at {game.commence_time.isoformat()}"
        return _leak("after_the_start", forecast, forecast.game_id, None, reason)
    late_rows = [row for row in forecast.used if row.known_at > forecast.as_of]
    if late_rows:
        row = min(late_rows, key=lambda row: row.known_at)
        reason = "the forecast lists it among the rows it used"
        return _leak("late_row", forecast, f"{row.kind} {row.row}", row.known_at, reason)
    return None


def _hidden_leak(
    forecast: Forecast,
    history: History,
    truncated: History,
    predictor: Predictor,
    factory: PredictorFactory,
) -> Leak | None:
    before = _repeat_signature(forecast, truncated, predictor)
    if before == forecast_signature(forecast):
        return None
    return _locate_leak(forecast, history, factory, before)


def _repeat_signature(query: ForecastQuery, history: History, predictor: Predictor) -> Signature:
    view = history.as_of(query.as_of)
    game = view.fixture(query.game_id)
    if game is None:
        return ("no such game",)
    return forecast_signature(predictor.predict(game, view.fork(), query.market))


def _locate_leak(
    query: ForecastQuery, history: History, factory: PredictorFactory, before: Signature
) -> Leak:
    """Return the first record after the query's time that changes the forecast."""

    def changed(at_us: int) -> bool:
        extended = history.truncate(from_epoch_us(at_us))
        return _repeat_signature(query, extended, factory(extended)) != before

    known_times = history.known_times()
    later = known_times[bisect_right(known_times, to_epoch_us(query.as_of)) :]
    if not later or not changed(later[-1]):
        reason = (
            "no row of the history changes the forecast: the model keeps state, or a row is gone"
        )
        return _leak("not_reproducible", query, "a row that is not in the history", None, reason)
    low, high = -1, len(later) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if changed(later[middle]) else (middle, high)
    row = _responsible_row(query, history, factory, (later[high], before))
    reason = "without it the forecast differs"
    return _leak("later_data", query, row, from_epoch_us(later[high]), reason)


def _responsible_row(
    query: ForecastQuery, history: History, factory: PredictorFactory, at: tuple[int, Signature]
) -> str:
    at_us, before = at
    facts = list(history.facts_at(at_us))
    for fact in _by_relevance(facts, query):
        extended = history.truncate(from_epoch_us(at_us - 1))
        extended.add(fact)
        if _repeat_signature(query, extended, factory(extended)) != before:
            return describe_fact(fact)
    return " and ".join(describe_fact(fact) for fact in facts)


def _by_relevance(facts: Sequence[Fact], query: ForecastQuery) -> Iterator[Fact]:
    """Yield fixtures first, then records of the query's own game."""
    yield from sorted(
        facts,
        key=lambda fact: (
            not isinstance(fact, Fixture),
            getattr(fact, "game_id", None) != query.game_id,
        ),
    )


def _leak(
    kind: LeakKind, query: ForecastQuery, row: str, known_at: datetime | None, reason: str
) -> Leak:
    return Leak(
        kind,
        query.model,
        query.game_id,
        query.market,
        query.as_of,
        row,
        known_at,
        reason,
    )

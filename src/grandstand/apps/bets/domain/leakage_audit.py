"""Leakage audit: repeats past forecasts with only the data known then, and names what leaked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

import numpy as np

from grandstand.apps.bets.domain.forecasts import Forecast, Predictor
from grandstand.apps.bets.domain.history import Fact, History
from grandstand.apps.bets.domain.records import (
    CustomDataRow,
    Fixture,
    InjuryReport,
    PlayerGameStats,
    Score,
    TeamGameStats,
    VerifiedForecast,
    from_epoch_us,
    to_epoch_us,
)
from grandstand.apps.bets.domain.selections import encode_selection

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
            if fact.status != "final":
                return None
            start = _scheduled_start(fact.game_id, history)
            return fact.completed_at if start is None else max(fact.completed_at, start)
        case TeamGameStats() | PlayerGameStats():
            start = None if fact.game_id is None else _scheduled_start(fact.game_id, history)
            return fact.played_at if start is None else max(fact.played_at, start)
        case InjuryReport():
            return fact.reported_at
        case CustomDataRow():
            return fact.described_at
        case VerifiedForecast():
            score = history.first_score(fact.game_id)
            return fact.predicted_at if score is None else score.known_at
    return None


def _scheduled_start(game_id: str, history: History) -> datetime | None:
    game = history.latest_fixture(game_id)
    return None if game is None else game.commence_time


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
    return f"quote {fact.game_id}/{fact.market}/{fact.book}"


@dataclass(frozen=True, slots=True)
class ForecastQuery:
    """A game and market to forecast, and when."""

    game_id: str
    market: str
    as_of: datetime


def trace_leak(
    query: ForecastQuery, history: History, factory: PredictorFactory
) -> tuple[str, datetime] | None:
    """Return the first record known later that changes what a model forecasts, and its time.

    None if there is no such record: the model keeps state, or the record is gone.
    """

    def repeat(known: History) -> Signature:
        return repeat_signature(query, known, factory(known))

    def changes(known: History) -> bool:
        return repeat(known) != before

    before = repeat(history.truncate(query.as_of))
    known_times = history.known_times()
    later = known_times[bisect_right(known_times, to_epoch_us(query.as_of)) :]
    if not later or not changes(history.truncate(from_epoch_us(later[-1]))):
        return None
    low, high = -1, len(later) - 1
    while high - low > 1:
        middle = (low + high) // 2
        changed = changes(history.truncate(from_epoch_us(later[middle])))
        low, high = (low, middle) if changed else (middle, high)
    at_us = later[high]
    # Fixtures first, then records of the game itself
    facts = sorted(
        history.facts_at(at_us),
        key=lambda fact: (
            not isinstance(fact, Fixture),
            getattr(fact, "game_id", None) != query.game_id,
        ),
    )
    for fact in facts:
        extended = history.truncate(from_epoch_us(at_us - 1))
        extended.add(fact)
        if changes(extended):
            return describe_fact(fact), from_epoch_us(at_us)
    return " and ".join(map(describe_fact, facts)), from_epoch_us(at_us)


def repeat_signature(query: ForecastQuery, history: History, predictor: Predictor) -> Signature:
    """Forecast again and return the signature."""
    view = history.as_of(query.as_of)
    game = view.fixture(query.game_id)
    if game is None:
        return ("no such game",)
    return forecast_signature(predictor.predict(game, view.fork(), query.market))


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

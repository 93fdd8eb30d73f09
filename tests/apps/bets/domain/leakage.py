"""An audit of many forecasts: repeat each with the data known then, and name what leaked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Literal

from grandstand.apps.bets.domain.forecasts import Forecast, Predictor
from grandstand.apps.bets.domain.history import History
from grandstand.apps.bets.domain.leakage_audit import (
    ForecastQuery,
    PredictorFactory,
    forecast_signature,
    repeat_signature,
    trace_leak,
)
from grandstand.apps.bets.domain.records import to_epoch_us


@dataclass(frozen=True)
class Leak:
    """Information a forecast could not have had, and the record it came from."""

    kind: Literal["after_the_start", "late_row", "later_data", "not_reproducible"]
    model: str
    row: str
    known_at: datetime | None


@dataclass(frozen=True)
class LeakageAudit:
    """The number of forecasts checked, and every leak."""

    checked: int
    leaks: tuple[Leak, ...]


def audit_forecasts(
    history: History, factories: Mapping[str, PredictorFactory], forecasts: Sequence[Forecast]
) -> LeakageAudit:
    """Repeat each forecast on a history truncated at its time, and compare.

    Inverses, and forecasts of models without a factory, are skipped.
    """
    ordered = sorted(
        (item for item in forecasts if item.inverse_of is None and item.model in factories),
        key=lambda forecast: (forecast.as_of, forecast.model, forecast.game_id, forecast.market),
    )
    leaks: list[Leak] = []
    for as_of, group in groupby(ordered, key=lambda forecast: forecast.as_of):
        truncated = history.truncate(as_of)
        predictors: dict[str, Predictor] = {}
        for forecast in group:
            factory = factories[forecast.model]
            if forecast.model not in predictors:
                predictors[forecast.model] = factory(truncated)
            leak = visible_leak(forecast, history) or hidden_leak(
                forecast, history, truncated, predictors[forecast.model], factory
            )
            leaks += [leak] if leak else []
    return LeakageAudit(len(ordered), tuple(leaks))


def visible_leak(forecast: Forecast, history: History) -> Leak | None:
    game = history.fixture(forecast.game_id, to_epoch_us(forecast.as_of))
    if game is not None and forecast.as_of >= game.commence_time:
        return Leak("after_the_start", forecast.model, forecast.game_id, None)
    late_rows = [row for row in forecast.used if row.known_at > forecast.as_of]
    if late_rows:
        row = min(late_rows, key=lambda row: row.known_at)
        return Leak("late_row", forecast.model, f"{row.kind} {row.row}", row.known_at)
    return None


def hidden_leak(
    forecast: Forecast,
    history: History,
    truncated: History,
    predictor: Predictor,
    factory: PredictorFactory,
) -> Leak | None:
    query = ForecastQuery(forecast.game_id, forecast.market, forecast.as_of)
    if repeat_signature(query, truncated, predictor) == forecast_signature(forecast):
        return None
    trace = trace_leak(query, history, factory)
    if trace is None:
        return Leak("not_reproducible", forecast.model, "", None)
    return Leak("later_data", forecast.model, *trace)

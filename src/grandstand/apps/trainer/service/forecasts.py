"""Kept here: a person's forecasts, and what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from grandstand.apps.trainer.model import Forecast
from grandstand.apps.trainer.model.forecasts import Resolved, brier_score, calibration
from grandstand.apps.trainer.service.values import ForecastPoint, ForecastRecord
from grandstand.apps.trainer.store import Attempt, Scenario


def has_forecast(attempt: Attempt) -> bool:
    """Tell whether something was forecast in an attempt that was handed in."""
    said = (each.probability_percent for each in attempt.answers)
    return attempt.submitted_at is not None and any(each is not None for each in said)


def forecast_record(
    attempts: Iterable[Attempt], scenarios: Mapping[str, Scenario]
) -> ForecastRecord:
    """Answer the record of one person's submitted attempts.

    Only the first answer to a question is a forecast: after it, the outcome was told.
    """
    points: list[ForecastPoint] = []
    resolved: list[Resolved] = []
    asked: set[tuple[str, str]] = set()
    for attempt in sorted(attempts, key=lambda each: (each.timestamp, each.attempt_id)):
        forecasts = _forecasts(scenarios.get(attempt.scenario_id))
        for answer in attempt.answers if attempt.submitted_at is not None else ():
            place, percent = (attempt.scenario_id, answer.question_id), answer.probability_percent
            forecast = forecasts.get(answer.question_id)
            if percent is None or forecast is None or place in asked:
                continue
            asked.add(place)
            if forecast.happened is not None:
                resolved.append(Resolved(percent, forecast.happened))
            points.append(
                ForecastPoint(
                    attempt_id=attempt.attempt_id,
                    scenario_id=attempt.scenario_id,
                    question_id=answer.question_id,
                    event=forecast.event,
                    said_at=attempt.submitted_at or attempt.timestamp,
                    probability_percent=percent,
                    happened=forecast.happened,
                    brier_so_far=brier_score(resolved),
                )
            )
    return ForecastRecord(
        tuple(points), len(resolved), brier_score(resolved), calibration(resolved)
    )


def _forecasts(scenario: Scenario | None) -> dict[str, Forecast]:
    questions = () if scenario is None else scenario.questions
    return {each.question_id: each.forecast for each in questions if each.forecast is not None}

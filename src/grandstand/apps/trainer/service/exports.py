"""Kept here: a person's history in forms to take along."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Final

import msgspec

from grandstand.apps.trainer.model.rubric import NAMES
from grandstand.apps.trainer.store import Attempt, Profile
from grandstand.kit.plain import plain

_COLUMNS: Final = (
    "attemptId",
    "scenarioId",
    "scenario",
    "timestamp",
    "status",
    "durationSeconds",
    "words",
    "overallScore",
    *NAMES,
    "modelId",
    "evaluatedAt",
    "revisionOf",
)
# What a spreadsheet would take for a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


async def as_json(
    attempts: AsyncIterator[Attempt], profiles: AsyncIterator[Profile], made_at: datetime
) -> AsyncIterator[bytes]:
    """Answer one JSON document, a piece at a time."""
    yield b'{"madeAt":' + msgspec.json.encode(plain(made_at)) + b',"attempts":['
    comma = b""
    async for attempt in attempts:
        yield comma + msgspec.json.encode(plain(attempt))
        comma = b","
    yield b'],"profiles":['
    comma = b""
    async for profile in profiles:
        yield comma + msgspec.json.encode(plain(profile))
        comma = b","
    yield b"]}\n"


async def as_csv(
    attempts: AsyncIterator[Attempt], titles: Mapping[str, str]
) -> AsyncIterator[bytes]:
    """Answer a line for each attempt, after a line of headings."""
    yield _line(_COLUMNS)
    async for attempt in attempts:
        yield _line(_cells(attempt, titles))


def _cells(attempt: Attempt, titles: Mapping[str, str]) -> tuple[object, ...]:
    evaluation = attempt.evaluation
    scores = {} if evaluation is None else {d.name: d.score for d in evaluation.dimensions}
    return (
        attempt.attempt_id,
        attempt.scenario_id,
        titles.get(attempt.scenario_id, ""),
        plain(attempt.timestamp),
        attempt.status,
        attempt.duration_seconds,
        sum(each.word_count for each in attempt.answers),
        "" if evaluation is None else evaluation.overall_score,
        *(scores.get(name, "") for name in NAMES),
        "" if evaluation is None else evaluation.model_id,
        "" if evaluation is None else plain(evaluation.evaluated_at),
        attempt.revision_of or "",
    )


def _line(cells: tuple[object, ...]) -> bytes:
    written = io.StringIO()
    csv.writer(written, lineterminator="\r\n").writerow([_safe(cell) for cell in cells])
    return written.getvalue().encode()


def _safe(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell

"""Exports of a person's data: JSON, CSV, the printed report, and personal data."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec

from grandstand.apps.trainer.domain.evaluation import DIMENSION_NAMES
from grandstand.apps.trainer.services.attempts import AttemptService
from grandstand.apps.trainer.services.evaluation import AttemptRecord
from grandstand.apps.trainer.services.profiles import (
    ForecastRecord,
    ProfileRecord,
    ProfileService,
)
from grandstand.apps.trainer.services.scenarios import ScenarioService
from grandstand.apps.trainer.store import Attempt, Profile, TrainerStore, UserTotals
from grandstand.kit.auth.caller import Caller
from grandstand.kit.auth.personal_data import to_jsonable
from grandstand.storage.tables.errors import ConditionFailed

_REPORT_ATTEMPTS: Final = 100
# DynamoDB's indexes are usually up to date within a second.
_INDEX_LAG_SECONDS: Final = 1.0
_COLUMNS: Final = (
    "attemptId",
    "scenarioId",
    "scenario",
    "timestamp",
    "status",
    "durationSeconds",
    "words",
    "overallScore",
    *DIMENSION_NAMES,
    "modelId",
    "evaluatedAt",
    "revisionOf",
)
# A spreadsheet would evaluate a cell that starts with one of these as a formula.
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Report:
    """The printed report of one person; attempts are newest first."""

    name: str
    created_at: datetime
    profile: ProfileRecord | None
    attempts: tuple[AttemptRecord, ...]
    titles: dict[str, str]
    forecasts: ForecastRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportService:
    """Exports a person's history."""

    store: TrainerStore
    scenarios: ScenarioService
    attempts: AttemptService
    profiles: ProfileService

    async def export_json(self, user_id: str) -> AsyncIterator[bytes]:
        """Yield one JSON document with all attempts and profiles."""
        created_at = msgspec.json.encode(to_jsonable(self.store.now()))
        yield b'{"createdAt":' + created_at + b',"attempts":['
        comma = b""
        async for attempt in self._stored_attempts(user_id):
            yield comma + msgspec.json.encode(to_jsonable(attempt))
            comma = b","
        yield b'],"profiles":['
        comma = b""
        async for profile in self.store.iterate(Profile.history(user_id)):
            yield comma + msgspec.json.encode(to_jsonable(profile))
            comma = b","
        yield b"]}\n"

    async def export_csv(self, user_id: str) -> AsyncIterator[bytes]:
        """Yield a header line, and a line for each attempt."""
        titles = {each.scenario_id: each.title for each in await self.scenarios.active()}
        yield _csv_line(_COLUMNS)
        async for attempt in self._stored_attempts(user_id):
            yield _csv_line(_csv_cells(attempt, titles))

    async def report(self, caller: Caller) -> Report:
        """Return the report of the caller's last 100 attempts."""
        page = await self.attempts.page(caller.user_id, _REPORT_ATTEMPTS)
        scenarios = await self.scenarios.find_many(each.scenario_id for each in page.attempts)
        return Report(
            name=caller.name,
            created_at=self.store.now(),
            profile=await self.profiles.latest(caller.user_id),
            attempts=page.attempts,
            titles={name: scenario.title for name, scenario in scenarios.items()},
            forecasts=await self.profiles.forecasts(caller.user_id),
        )

    async def _stored_attempts(self, user_id: str) -> AsyncIterator[Attempt]:
        async for attempt in self.store.iterate(Attempt.of_user(user_id)):
            if attempt.withdrawn_at is None:
                yield attempt


@dataclass(frozen=True, slots=True)
class TrainerPersonalData:
    """The personal data of one person: attempts, profiles and totals."""

    store: TrainerStore

    async def export(self, user_id: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Yield everything stored about a person, as (kind, JSON-ready record)."""
        async for attempt in self.store.iterate(Attempt.of_user(user_id)):
            yield "attempt", to_jsonable(attempt)
        async for profile in self.store.iterate(Profile.history(user_id)):
            yield "profile", to_jsonable(profile)
        totals = await self.store.tables(UserTotals.of_user(user_id))
        if totals is not None:
            yield "totals", to_jsonable(totals)

    async def erase(self, user_id: str) -> int:
        """Erase everything stored about a person and return the number of records."""
        tables, erased = self.store.tables, await self._erase_attempts(user_id)
        if self.store.is_remote:
            await self.store.sleep(_INDEX_LAG_SECONDS)
            erased += await self._erase_attempts(user_id)
        # The totals go before the profiles: without them no new profile is made.
        if await tables(UserTotals.of_user(user_id)) is not None:
            await tables(UserTotals.erase(user_id))
            erased += 1
        profiles = await tables(Profile.history(user_id))
        await tables(Profile.erase(user_id, tuple(each.timestamp for each in profiles)))
        return erased + len(profiles)

    async def _erase_attempts(self, user_id: str) -> int:
        erased = 0
        async for attempt in self.store.iterate(Attempt.of_user(user_id)):
            try:
                await self.store.tables(Attempt.erase(attempt.attempt_id, user_id))
            except ConditionFailed:
                continue
            erased += 1
        return erased


def _csv_cells(attempt: Attempt, titles: Mapping[str, str]) -> tuple[object, ...]:
    evaluation = attempt.evaluation
    scores = {} if evaluation is None else {d.name: d.score for d in evaluation.dimensions}
    return (
        attempt.attempt_id,
        attempt.scenario_id,
        titles.get(attempt.scenario_id, ""),
        to_jsonable(attempt.timestamp),
        attempt.status,
        attempt.duration_seconds,
        sum(answer.word_count for answer in attempt.answers),
        "" if evaluation is None else evaluation.overall_score,
        *(scores.get(name, "") for name in DIMENSION_NAMES),
        "" if evaluation is None else evaluation.model_id,
        "" if evaluation is None else to_jsonable(evaluation.evaluated_at),
        attempt.revision_of or "",
    )


def _csv_line(cells: tuple[object, ...]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow(
        [
            f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) else cell
            for cell in cells
        ]
    )
    return buffer.getvalue().encode()

"""Profiles that follow a person's attempts, and their forecasts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from grandstand.apps.trainer.domain import profiles
from grandstand.apps.trainer.domain.evaluation import DIMENSION_NAMES
from grandstand.apps.trainer.services.scenarios import (
    ScenarioRecord,
    ScenarioService,
    suggest_scenario,
)
from grandstand.apps.trainer.store import Attempt, Profile, TrainerStore, UserTotals, to_record
from grandstand.core.errors import NotFound, Unavailable
from grandstand.core.logging import get_logger
from grandstand.kit.app import CalibrationSeries
from grandstand.kit.auth.caller import Caller
from grandstand.kit.calibration import ResolvedForecast
from grandstand.kit.live import Publisher
from grandstand.storage.tables.changes import AsyncChangeFeed, follow_async
from grandstand.storage.tables.errors import ChangesLost, ConditionFailed, StoredItemInvalid
from grandstand.storage.tables.requests import Change

FEED_NAME: Final = "trainer-profiles"
_MAX_CONFLICTS: Final = 8
_INDEX_LAG_SECONDS: Final = 0.25

logger = get_logger("trainer")


class ProfileUnstable(Unavailable):
    """A person's attempts keep changing, or the index lags, so no profile can be computed now."""

    code = "profile-unstable"


@dataclass(frozen=True, slots=True)
class ProfileRecord:
    """A person's strengths and weaknesses at one moment."""

    user_id: str
    timestamp: datetime
    attempt_count: int
    overall_average: profiles.ExactNumber
    dimensions: tuple[profiles.DimensionStatistics, ...]
    weaknesses: tuple[profiles.Weakness, ...]
    improvements: tuple[profiles.Improvement, ...]
    recommendations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProfileHistory:
    """The latest profile, None before the first evaluation, and a page of the history."""

    latest: ProfileRecord | None
    history: tuple[ProfileRecord, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class RebuildResult:
    """The differences that a rebuild found and corrected for one person."""

    user_id: str
    attempt_count: int
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForecastPoint:
    """One forecast, and the mean Brier score up to it.

    `happened` is None while the outcome is open.
    """

    attempt_id: str
    scenario_id: str
    question_id: str
    event: str
    forecast_at: datetime
    probability_percent: int
    happened: bool | None
    brier_so_far: float | None


@dataclass(frozen=True, slots=True)
class ForecastRecord:
    """A person's forecasts, oldest first, with their Brier score and calibration."""

    points: tuple[ForecastPoint, ...]
    resolved: int
    brier: float | None
    calibration: tuple[profiles.CalibrationBin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileService:
    """Keeps every person's latest profile consistent with their attempts.

    A profile is computed from what is stored at that moment, and written only if the totals have
    not changed meanwhile. So changes may arrive late, twice or out of order, and a process may die
    half way, as long as each change is delivered again.
    """

    store: TrainerStore
    scenarios: ScenarioService
    publisher: Publisher
    window: int

    async def latest(self, user_id: str) -> ProfileRecord | None:
        """Return the latest profile; None before the first evaluation."""
        profile = await self._latest(user_id)
        return None if profile is None else to_record(ProfileRecord, profile)

    async def history(
        self, user_id: str, limit: int = 50, cursor: str | None = None
    ) -> ProfileHistory:
        """Return the latest profile and a page of all profiles, newest first."""
        page = await self.store.tables.page(Profile.history(user_id), limit, after=cursor)
        history = tuple(to_record(ProfileRecord, each) for each in page.items)
        return ProfileHistory(await self.latest(user_id), history, page.cursor)

    async def forecasts(self, user_id: str) -> ForecastRecord:
        """Return the forecasts with their outcomes, Brier score and calibration."""
        attempts = [
            attempt
            async for attempt in self.store.iterate(Attempt.of_user(user_id))
            if attempt.submitted_at is not None
            and attempt.withdrawn_at is None
            and any(answer.probability_percent is not None for answer in attempt.answers)
        ]
        scenarios = await self.scenarios.find_many(each.scenario_id for each in attempts)
        return forecast_record(attempts, scenarios)

    async def calibration(self, caller: Caller) -> tuple[CalibrationSeries, ...]:
        """Return the caller's resolved forecasts for the shared scoreboard."""
        record = await self.forecasts(caller.user_id)
        resolved = tuple(
            ResolvedForecast(point.probability_percent / 100, point.happened)
            for point in record.points
            if point.happened is not None
        )
        about = "Scenarios whose outcome is known"
        return (CalibrationSeries("yours", "Your forecasts", about, "/trainer/profile", resolved),)

    def follow(self) -> AsyncChangeFeed[Attempt]:
        """Open the change feed of attempts where reading stopped."""
        return follow_async(self.store.tables, Attempt, name=FEED_NAME, invalid=_log_invalid)

    async def catch_up(self, feed: AsyncChangeFeed[Attempt]) -> int:
        """Apply all new changes to the profiles, and return how many there were.

        Raises PositionStale if another process has taken over the feed.
        """
        count = 0
        try:
            async for batch in feed.batches():
                await self.apply(each.new for each in batch.changes if each.new is not None)
                await feed.done(batch)
                count += len(batch.changes)
        except ChangesLost:
            logger.warning("attempt_changes_lost", action="rebuild_all_profiles")
            await feed.restart(self.rebuild_all)
        return count

    async def apply(self, attempts: Iterable[Attempt]) -> None:
        """Update the profiles for changed attempts, then remove the deleted ones."""
        changed = {
            each.attempt_id: each
            for each in attempts
            if each.status == "completed" or each.withdrawn_at
        }
        for user_id in sorted({each.user_id for each in changed.values()}):
            try:
                await self.update(user_id)
            except ProfileUnstable:
                await self.rebuild(user_id)
        for attempt in changed.values():
            if attempt.withdrawn_at is not None:
                await self._erase_attempt(attempt)

    async def update(self, user_id: str) -> ProfileRecord | None:
        """Make the latest profile consistent; None if nothing is evaluated.

        Raises ProfileUnstable if the attempts keep changing.
        """
        for _ in range(_MAX_CONFLICTS):
            totals = await self.store.tables(UserTotals.of_user(user_id))
            if totals is None:
                return None
            latest = await self._latest(user_id)
            if latest is not None and latest.revision == totals.revision:
                return to_record(ProfileRecord, latest)
            attempts = await self._newest(user_id)
            statistics = profiles.profile_statistics(attempts, self.window)
            if not self._is_complete(attempts, totals):
                await self.store.sleep(_INDEX_LAG_SECONDS)
                continue
            if statistics is None:
                await self._erase_all(user_id, totals.revision)
                return None
            profile = await self._profile(totals, statistics, attempts)
            if await self._write(profile, totals):
                return to_record(ProfileRecord, profile)
        raise ProfileUnstable(f"The attempts of {user_id} keep changing. Try again later.")

    async def rebuild(self, user_id: str) -> RebuildResult:
        """Recount a person's attempts, and correct their totals and profile.

        Raises ProfileUnstable if the attempts keep changing.
        """
        for _ in range(_MAX_CONFLICTS):
            totals = await self.store.tables(UserTotals.of_user(user_id))
            first, counted = await self._count(user_id), await self._count(user_id)
            if first != counted:
                continue
            stored = (0, 0) if totals is None else (totals.attempt_count, totals.score_sum)
            if stored == counted:
                return await self._rebuild_profile(user_id, counted[0], ())
            revision = 0 if totals is None else totals.revision
            if await self._write_totals(user_id, counted, revision):
                difference = f"the totals were {_totals_text(stored)}, now {_totals_text(counted)}"
                return await self._rebuild_profile(user_id, counted[0], (difference,))
        raise ProfileUnstable(f"The attempts of {user_id} keep changing. Rebuild later.")

    async def rebuild_all(self) -> tuple[RebuildResult, ...]:
        """Rebuild everybody who has totals or attempts."""
        user_ids = {each.user_id async for each in self.store.iterate(UserTotals.all_totals())}
        async for attempt in self.store.iterate(Attempt.all_attempts()):
            if attempt.withdrawn_at is not None:
                await self._erase_attempt(attempt)
            elif attempt.status == "completed":
                user_ids.add(attempt.user_id)
        return tuple([await self.rebuild(user_id) for user_id in sorted(user_ids)])

    async def _latest(self, user_id: str) -> Profile | None:
        snapshots = await self.store.tables(Profile.latest(user_id))
        return snapshots[0] if snapshots else None

    async def _rebuild_profile(
        self, user_id: str, count: int, differences: tuple[str, ...]
    ) -> RebuildResult:
        before = await self._latest(user_id)
        totals = await self.store.tables(UserTotals.of_user(user_id))
        if totals is not None and before is not None and before.revision == totals.revision:
            statistics = profiles.profile_statistics(await self._newest(user_id), self.window)
            if statistics is None or not _matches(before, totals, statistics):
                differences = (*differences, "the profile did not match the attempts")
                await self._erase_all(user_id, totals.revision)
        elif totals is not None and (before is not None or count):
            differences = (*differences, "the profile was out of date")
        await self.update(user_id)
        return RebuildResult(user_id, count, differences)

    async def _count(self, user_id: str) -> tuple[int, int]:
        count = score_sum = 0
        async for attempt in self.store.iterate(Attempt.of_user(user_id)):
            evaluated = _evaluated(attempt)
            if evaluated is not None:
                count, score_sum = count + 1, score_sum + evaluated.overall_score
        return count, score_sum

    async def _write_totals(self, user_id: str, counted: tuple[int, int], revision: int) -> bool:
        count, score_sum = counted
        totals = UserTotals(
            user_id=user_id, attempt_count=count, score_sum=score_sum, revision=revision + 1
        )
        try:
            await self.store.tables(totals.recount(revision))
        except ConditionFailed:
            return False
        return True

    async def _newest(self, user_id: str) -> list[profiles.EvaluatedAttempt]:
        """Return the last evaluated attempts, two windows of them, in their current state."""
        limit, tables = 2 * self.window, self.store.tables
        completed: list[Attempt] = []
        cursor = None
        while len(completed) < limit:
            page = await tables.page(Attempt.of_user(user_id), limit, after=cursor)
            completed += [each for each in page.items if each.status == "completed"]
            cursor = page.cursor
            if cursor is None:
                break
        completed = completed[:limit]
        if self.store.is_remote:
            # The index may lag, so it only says which attempts to read.
            gets = [Attempt.by_id(each.attempt_id) for each in completed]
            completed = [each for each in await tables.get_many(gets) if each is not None]
        evaluated = [_evaluated(each) for each in completed]
        return [each for each in evaluated if each is not None]

    def _is_complete(self, attempts: list[profiles.EvaluatedAttempt], totals: UserTotals) -> bool:
        """Return whether the attempts are those in the totals, as far as that can be checked."""
        limit = 2 * self.window
        if len(attempts) != min(limit, totals.attempt_count):
            return False
        if totals.attempt_count > limit:
            return True
        return sum(each.overall_score for each in attempts) == totals.score_sum

    async def _profile(
        self,
        totals: UserTotals,
        statistics: profiles.ProfileStatistics,
        attempts: list[profiles.EvaluatedAttempt],
    ) -> Profile:
        tried = {each.scenario_id for each in attempts}
        weak = [each.dimension for each in statistics.weaknesses]
        suggestion = suggest_scenario(await self.scenarios.active(), weak, tried)
        advice = None
        if suggestion is not None:
            advice = f"Try “{suggestion.scenario.title}”: {suggestion.reason}"
        return Profile(
            user_id=totals.user_id,
            timestamp=statistics.taken_at,
            attempt_count=totals.attempt_count,
            dimensions=statistics.dimensions,
            weaknesses=statistics.weaknesses,
            improvements=statistics.improvements,
            recommendations=profiles.recommendations(statistics.weaknesses, advice),
            overall_average=profiles.overall_average(totals.score_sum, totals.attempt_count),
            source_attempt_id=statistics.source_attempt_id,
            digest=statistics.digest,
            revision=totals.revision,
        )

    async def _write(self, profile: Profile, totals: UserTotals) -> bool:
        """Write a snapshot and remove later ones; False if the totals have changed."""
        user_id, tables = profile.user_id, self.store.tables
        if not await self.store.try_transaction(profile.record(), totals.unchanged()):
            existing = await tables(Profile.at(user_id, profile.timestamp))
            if existing is None or existing.revision != totals.revision:
                return False
        later = await tables(Profile.after(user_id, profile.timestamp))
        await self._erase(user_id, later, totals.revision)
        self.publisher.publish(f"trainer/profile/user/{user_id}", {"changed": True})
        return True

    async def _erase_all(self, user_id: str, revision: int) -> None:
        snapshots = await self.store.tables(Profile.history(user_id))
        await self._erase(user_id, snapshots, revision)

    async def _erase(self, user_id: str, snapshots: Iterable[Profile], revision: int) -> None:
        """Remove snapshots, except those that another process wrote for later totals."""
        old = [each.timestamp for each in snapshots if (each.revision or 0) <= revision]
        if old:
            await self.store.tables(Profile.erase(user_id, tuple(old)))

    async def _erase_attempt(self, attempt: Attempt) -> None:
        try:
            await self.store.tables(Attempt.erase(attempt.attempt_id, attempt.user_id))
        except ConditionFailed:
            return


def resolve_user(caller: Caller, user_id: str) -> str:
    """Return the user whose profile is meant; `me` is the caller.

    Raises NotFound for another person, unless the caller is an administrator.
    """
    if user_id in ("me", caller.user_id):
        return caller.user_id
    if not caller.admin:
        raise NotFound(f"There is no user {user_id}.")
    return user_id


def forecast_record(
    attempts: Iterable[Attempt], scenarios: Mapping[str, ScenarioRecord]
) -> ForecastRecord:
    """Return the forecasts in submitted attempts.

    Only the first answer to a question counts: after it, the outcome is shown.
    """
    points: list[ForecastPoint] = []
    resolved: list[profiles.ForecastOutcome] = []
    seen: set[tuple[str, str]] = set()
    for attempt in sorted(attempts, key=lambda each: (each.timestamp, each.attempt_id)):
        scenario = scenarios.get(attempt.scenario_id)
        questions = () if scenario is None else scenario.questions
        forecasts = {each.question_id: each.forecast for each in questions}
        for answer in attempt.answers:
            key, percent = (attempt.scenario_id, answer.question_id), answer.probability_percent
            forecast = forecasts.get(answer.question_id)
            if percent is None or forecast is None or key in seen:
                continue
            seen.add(key)
            if forecast.happened is not None:
                resolved.append(profiles.ForecastOutcome(percent, forecast.happened))
            points.append(
                ForecastPoint(
                    attempt_id=attempt.attempt_id,
                    scenario_id=attempt.scenario_id,
                    question_id=answer.question_id,
                    event=forecast.event,
                    forecast_at=attempt.submitted_at or attempt.timestamp,
                    probability_percent=percent,
                    happened=forecast.happened,
                    brier_so_far=profiles.brier_score(resolved),
                )
            )
    return ForecastRecord(
        tuple(points),
        len(resolved),
        profiles.brier_score(resolved),
        profiles.calibration_bins(resolved),
    )


def _matches(profile: Profile, totals: UserTotals, statistics: profiles.ProfileStatistics) -> bool:
    average = profiles.overall_average(totals.score_sum, totals.attempt_count)
    stored = (profile.digest, profile.timestamp, profile.attempt_count, profile.overall_average)
    return stored == (statistics.digest, statistics.taken_at, totals.attempt_count, average)


def _totals_text(counted: tuple[int, int]) -> str:
    return f"{counted[0]} attempts and {counted[1]} points"


def _evaluated(attempt: Attempt) -> profiles.EvaluatedAttempt | None:
    """Return what profiles use of an attempt; None unless all dimensions are scored."""
    evaluation = attempt.evaluation
    if attempt.status != "completed" or evaluation is None:
        return None
    scores = {each.name: each.score for each in evaluation.dimensions}
    if scores.keys() != set(DIMENSION_NAMES):
        return None
    return profiles.EvaluatedAttempt(
        attempt_id=attempt.attempt_id,
        scenario_id=attempt.scenario_id,
        submitted_at=attempt.submitted_at or attempt.timestamp,
        evaluated_at=evaluation.evaluated_at,
        overall_score=evaluation.overall_score,
        scores=scores,
    )


def _log_invalid(change: Change, error: StoredItemInvalid) -> None:
    logger.error("stored_attempt_invalid", keys=dict(change.keys), error=str(error))

"""Scenarios: the active ones, progress in them, and which one to try next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import ClassVar, Final, Literal, TypeAlias

from grandstand.apps.trainer.domain.evaluation import DIMENSIONS_BY_NAME
from grandstand.apps.trainer.domain.scenarios import (
    DIFFICULTIES,
    Difficulty,
    ScenarioDraft,
)
from grandstand.apps.trainer.settings import TrainerSettings
from grandstand.apps.trainer.sources.scenario_files import load_library, read_scenario_file
from grandstand.apps.trainer.store import Attempt, Profile, Scenario, TrainerStore, to_record
from grandstand.core.errors import NotFound
from grandstand.kit.app import HomeCard, SearchHit
from grandstand.kit.auth.caller import Caller
from grandstand.kit.text_search import MAX_HITS, best_matches
from grandstand.net.retry import retry
from grandstand.storage.tables.attribute_values import item_size
from grandstand.storage.tables.capacity import write_units
from grandstand.storage.tables.errors import Throttled

ProgressState: TypeAlias = Literal["new", "draft", "waiting", "done"]

_MAX_WRITE_ATTEMPTS: Final = 8
_PROGRESS_ATTEMPTS: Final = 100


class ScenarioNotFound(NotFound):
    """The scenario does not exist or is not active."""

    code: ClassVar[str] = "scenario-not-found"


@dataclass(frozen=True, slots=True)
class ScenarioRecord(ScenarioDraft):
    """A stored scenario; notes and outcomes are left out before submission."""

    active: bool
    created_at: datetime

    @classmethod
    def from_stored(cls, scenario: Scenario) -> ScenarioRecord:
        """Return the record of a stored scenario."""
        return replace(to_record(cls, scenario), tags=tuple(sorted(scenario.tags)))

    def without_solutions(self) -> ScenarioRecord:
        """Return the scenario without notes, model answers and outcomes."""
        questions = tuple(
            replace(
                each, notes=None, forecast=each.forecast and replace(each.forecast, happened=None)
            )
            for each in self.questions
        )
        return replace(self, questions=questions)

    @property
    def focus_areas(self) -> tuple[str, ...]:
        """The dimensions that the questions exercise, with repetitions."""
        return tuple(area for question in self.questions for area in question.focus_areas)


@dataclass(frozen=True, slots=True)
class Progress:
    """A person's progress in one scenario; `draft_id` is the open draft."""

    state: ProgressState = "new"
    completed: int = 0
    best_score: int | None = None
    draft_id: str | None = None
    last_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ScenarioWithProgress:
    """An active scenario without its solutions, and the caller's progress."""

    scenario: ScenarioRecord
    progress: Progress


@dataclass(frozen=True, slots=True)
class LoadResult:
    """The ids of the scenarios that were written, and of those that had not changed."""

    written: tuple[str, ...]
    unchanged: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The scenario to try next, and why."""

    scenario: ScenarioRecord
    reason: str


@dataclass(slots=True, kw_only=True)
class ScenarioService:
    """Lists, loads and suggests scenarios; they are cached for `settings.scenario_seconds`."""

    store: TrainerStore
    settings: TrainerSettings
    library: Callable[[], Sequence[ScenarioDraft]] = load_library
    _active: tuple[ScenarioRecord, ...] = field(default=(), init=False)
    _others: dict[str, ScenarioRecord | None] = field(default_factory=dict, init=False)
    _cached_until: float = field(default=float("-inf"), init=False)

    async def list(
        self, user_id: str, difficulty: Difficulty | None = None
    ) -> tuple[ScenarioWithProgress, ...]:
        """Return the active scenarios, easiest first, with progress by the last 100 attempts."""
        progress = await self._progress(user_id)
        return tuple(
            ScenarioWithProgress(
                scenario.without_solutions(), progress.get(scenario.scenario_id, Progress())
            )
            for scenario in await self.active()
            if difficulty in (None, scenario.difficulty)
        )

    async def get(self, user_id: str, scenario_id: str) -> ScenarioWithProgress:
        """Return one active scenario.

        Raises ScenarioNotFound.
        """
        scenario = await self.get_active(scenario_id)
        progress = await self._progress(user_id)
        return ScenarioWithProgress(
            scenario.without_solutions(), progress.get(scenario_id, Progress())
        )

    async def suggest(self, user_id: str) -> Suggestion | None:
        """Return the scenario to try next; None if none is active."""
        profiles = await self.store.tables(Profile.latest(user_id))
        weak = [each.dimension for each in profiles[0].weaknesses] if profiles else []
        progress = await self._progress(user_id)
        tried = {name for name, each in progress.items() if each.state != "draft"}
        best = suggest_scenario(await self.active(), weak, tried)
        return None if best is None else replace(best, scenario=best.scenario.without_solutions())

    async def home_card(self, caller: Caller) -> HomeCard:
        """Return the trainer's card on the home page."""
        suggestion = await self.suggest(caller.user_id)
        if suggestion is None:
            return HomeCard("No scenarios yet", "They are loaded when the jobs run.", "/trainer")
        profiles = await self.store.tables(Profile.latest(caller.user_id))
        headline = "Not started yet"
        if profiles:
            count = profiles[0].attempt_count
            attempts = "attempt" if count == 1 else "attempts"
            headline = f"{profiles[0].overall_average} of 100 over {count} {attempts}"
        scenario = suggestion.scenario
        detail = f"Next: {scenario.title} ({suggestion.reason})"
        return HomeCard(headline, detail, f"/trainer/scenarios/{scenario.scenario_id}")

    async def search(self, query: str, caller: Caller) -> tuple[SearchHit, ...]:
        """Return the active scenarios that match a query, matching titles and tags first."""
        del caller
        active = await self.active()
        by_title = best_matches(query, active, lambda each: (each.title, *each.tags))
        by_text = best_matches(
            query, active, lambda each: (each.title, *each.tags, each.description)
        )
        unique = {each.scenario_id: each for each in (*by_title, *by_text)}
        return tuple(
            SearchHit(
                "scenario",
                each.title,
                f"{each.difficulty.capitalize()}, about {each.estimated_minutes} min",
                f"/trainer/scenarios/{each.scenario_id}",
            )
            for each in unique.values()
        )[:MAX_HITS]

    async def active(self) -> tuple[ScenarioRecord, ...]:
        """Return the active scenarios with their solutions, by difficulty, then title."""
        if self.store.clock.monotonic() >= self._cached_until:
            stored = await self.store.tables(Scenario.all_active())
            self._active = tuple(
                sorted(
                    map(ScenarioRecord.from_stored, stored),
                    key=lambda s: (DIFFICULTIES.index(s.difficulty), s.title, s.scenario_id),
                )
            )
            self._others = {}
            self._cached_until = self.store.clock.monotonic() + self.settings.scenario_seconds
        return self._active

    async def find(self, scenario_id: str) -> ScenarioRecord | None:
        """Return a scenario with its solutions, active or not; None if it does not exist."""
        for scenario in await self.active():
            if scenario.scenario_id == scenario_id:
                return scenario
        if scenario_id not in self._others:
            stored = await self.store.tables(Scenario.by_id(scenario_id))
            record = None if stored is None else ScenarioRecord.from_stored(stored)
            self._others[scenario_id] = record
        return self._others[scenario_id]

    async def find_many(self, scenario_ids: Iterable[str]) -> dict[str, ScenarioRecord]:
        """Return those of these scenarios that exist, by id."""
        found = {name: await self.find(name) for name in sorted(set(scenario_ids))}
        return {name: scenario for name, scenario in found.items() if scenario is not None}

    async def get_active(self, scenario_id: str) -> ScenarioRecord:
        """Return an active scenario with its solutions.

        Raises ScenarioNotFound.
        """
        scenario = await self.find(scenario_id)
        if scenario is None or not scenario.active:
            raise ScenarioNotFound(f"There is no active scenario {scenario_id!r}.")
        return scenario

    async def load(self, drafts: Sequence[ScenarioDraft]) -> LoadResult:
        """Write the scenarios that are new or have changed, at the table's write capacity.

        `created_at` and `active` keep their values. Raises Throttled if a write is refused
        repeatedly; loading again continues there.
        """
        written, unchanged = [], []
        for draft in drafts:
            before = await self.store.tables(Scenario.by_id(draft.scenario_id))
            after = Scenario(
                scenario_id=draft.scenario_id,
                title=draft.title,
                description=draft.description,
                difficulty=draft.difficulty,
                tags=frozenset(draft.tags),
                questions=draft.questions,
                active=True if before is None else before.active,
                created_at=self.store.now() if before is None else before.created_at,
                estimated_minutes=draft.estimated_minutes,
            )
            if after == before:
                unchanged.append(draft.scenario_id)
                continue
            await self._write(after)
            written.append(draft.scenario_id)
        self._cached_until = float("-inf")
        return LoadResult(tuple(written), tuple(unchanged))

    async def load_file(self, path: Path | None = None) -> LoadResult:
        """Load the scenarios of a file, or the built-in library."""
        if path is None:
            return await self.load(await asyncio.to_thread(self.library))
        return await self.load(await asyncio.to_thread(read_scenario_file, path))

    async def _write(self, scenario: Scenario) -> None:
        rate = self.settings.scenario_write_units
        size = item_size(Scenario.__plan__.encode(scenario))
        is_paced = rate > 0 and self.store.is_remote
        pause_seconds = float(write_units(0, size)) / rate if is_paced else 0.0

        def wait_seconds(error: Exception, failures: int) -> float | None:
            is_final = failures == _MAX_WRITE_ATTEMPTS or not isinstance(error, Throttled)
            return None if is_final else max(pause_seconds, 1.0)

        await retry(lambda: self.store.tables(scenario.load()), wait_seconds, self.store.sleep)
        if pause_seconds:
            await self.store.sleep(pause_seconds)

    async def _progress(self, user_id: str) -> dict[str, Progress]:
        page = await self.store.tables.page(Attempt.of_user(user_id), _PROGRESS_ATTEMPTS)
        return progress_by_scenario(each for each in page.items if each.withdrawn_at is None)


def validate_file(path: Path) -> tuple[str, ...]:
    """Return the ids of the scenarios in a file.

    Raises NotFound, InvalidInput or InvalidScenarioFile.
    """
    return tuple(draft.scenario_id for draft in read_scenario_file(path))


def progress_by_scenario(attempts: Iterable[Attempt]) -> dict[str, Progress]:
    """Return a person's progress in each scenario they tried.

    `attempts` are newest first. An open draft or evaluation takes precedence over `done`.
    """
    progress: dict[str, Progress] = {}
    for attempt in attempts:
        if attempt.status != "abandoned":
            before = progress.get(attempt.scenario_id, Progress())
            progress[attempt.scenario_id] = _add_attempt(before, attempt)
    return progress


def _add_attempt(before: Progress, attempt: Attempt) -> Progress:
    after = replace(before, last_at=before.last_at or attempt.timestamp)
    if attempt.evaluation is not None:
        best = max(attempt.evaluation.overall_score, before.best_score or 0)
        state = "done" if before.state == "new" else before.state
        return replace(after, state=state, completed=before.completed + 1, best_score=best)
    if attempt.submitted_at is not None:
        return after if before.state == "draft" else replace(after, state="waiting")
    if before.draft_id is not None:
        return after
    return replace(after, state="draft", draft_id=attempt.attempt_id)


def suggest_scenario(
    scenarios: Sequence[ScenarioRecord], weak: Sequence[str], tried: Collection[str]
) -> Suggestion | None:
    """Return the scenario that best exercises the weak dimensions, weakest first.

    Untried scenarios come first, then easier ones, then by id; None without scenarios.
    """
    weights = {name: len(weak) - at for at, name in enumerate(weak)}
    ranked = sorted(
        scenarios,
        key=lambda scenario: (
            scenario.scenario_id in tried,
            -sum(weights.get(area, 0) for area in scenario.focus_areas),
            DIFFICULTIES.index(scenario.difficulty),
            scenario.scenario_id,
        ),
    )
    return Suggestion(ranked[0], _reason(ranked[0], weak, tried)) if ranked else None


def _reason(scenario: ScenarioRecord, weak: Sequence[str], tried: Collection[str]) -> str:
    exercised = [
        DIMENSIONS_BY_NAME[name].title.lower() for name in weak if name in scenario.focus_areas
    ]
    if exercised:
        return f"it exercises {_join(exercised)}"
    if scenario.scenario_id in tried:
        return "you have tried them all; see how you do now"
    return f"a case you have not tried, {scenario.difficulty}"


def _join(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

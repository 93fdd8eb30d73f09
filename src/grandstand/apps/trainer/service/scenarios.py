"""Kept here: the scenarios on offer: remembered for a while, loaded at the tables' pace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from grandstand.apps.trainer.model import DIFFICULTIES, Difficulty, Question
from grandstand.apps.trainer.model.scenarios import ScenarioDraft
from grandstand.apps.trainer.service.means import Means
from grandstand.apps.trainer.service.refusals import ScenarioNotFound
from grandstand.apps.trainer.service.values import Loaded
from grandstand.apps.trainer.store import Scenario
from grandstand.storage.tables.capacity import write_units
from grandstand.storage.tables.errors import Throttled
from grandstand.storage.tables.values import item_size

_TRIES: Final = 8


class Scenarios:
    """Reads scenarios, few of them and often; a change is seen after the time they are kept."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._active: tuple[Scenario, ...] = ()
        self._others: dict[str, Scenario | None] = {}
        self._fresh_until = float("-inf")

    async def active(self) -> tuple[Scenario, ...]:
        """Answer what is on offer with all that belongs to it, easiest first, then by title."""
        if self._means.clock.monotonic() >= self._fresh_until:
            found = await self._means.store(Scenario.all_active())
            self._active = tuple(sorted(found, key=_place))
            self._others = {}
            self._remember()
        return self._active

    async def find(self, scenario_id: str) -> Scenario | None:
        """Answer a scenario, on offer or not, with all that belongs to it; None for none."""
        for scenario in await self.active():
            if scenario.scenario_id == scenario_id:
                return scenario
        if scenario_id not in self._others:
            self._others[scenario_id] = await self._means.store(Scenario.by_id(scenario_id))
        return self._others[scenario_id]

    async def offered(self, scenario_id: str) -> Scenario:
        """Answer a scenario that is on offer, with all that belongs to it; raise otherwise.

        Raises ScenarioNotFound.
        """
        found = await self.find(scenario_id)
        if found is None or not found.active:
            message = f"There is no scenario {scenario_id!r} on offer"
            raise ScenarioNotFound(message)
        return found

    async def load(self, drafts: Sequence[ScenarioDraft]) -> Loaded:
        """Write what is new or has changed, and nothing else, no faster than the table takes it.

        When it began and whether it is on offer stay as they were. A scenario whose writing was
        refused again and again raises Throttled; loading again goes on from there.
        """
        written, unchanged = [], []
        for draft in drafts:
            before = await self._means.store(Scenario.by_id(draft.scenario_id))
            wanted = self._wanted(draft, before)
            if wanted == before:
                unchanged.append(draft.scenario_id)
                continue
            await self._write(wanted)
            written.append(draft.scenario_id)
        self._fresh_until = float("-inf")
        return Loaded(tuple(written), tuple(unchanged))

    def _wanted(self, draft: ScenarioDraft, before: Scenario | None) -> Scenario:
        return Scenario(
            scenario_id=draft.scenario_id,
            title=draft.title,
            description=draft.description,
            difficulty=draft.difficulty,
            tags=frozenset(draft.tags),
            questions=draft.questions,
            active=True if before is None else before.active,
            created_at=self._means.now() if before is None else before.created_at,
            estimated_minutes=draft.estimated_minutes,
        )

    async def _write(self, scenario: Scenario) -> None:
        means = self._means
        rate = means.settings.scenario_write_units
        paced = rate > 0 and means.store.store.session.engine.remote
        size = item_size(Scenario.__plan__.encode(scenario))
        rest = float(write_units(0, size)) / rate if paced else 0.0
        for tries_left in reversed(range(_TRIES)):
            try:
                await means.store(scenario.load())
            except Throttled:
                if not tries_left:
                    raise
                await means.sleep(max(rest, 1.0))
            else:
                break
        if rest:
            await means.sleep(rest)

    def _remember(self) -> None:
        seconds = self._means.settings.scenario_seconds
        self._fresh_until = self._means.clock.monotonic() + seconds


def for_practice(scenario: Scenario) -> Scenario:
    """Answer a scenario without what is shown after submission only."""
    return scenario.replace(questions=tuple(_bare(each) for each in scenario.questions))


def of_difficulty(
    scenarios: Sequence[Scenario], difficulty: Difficulty | None
) -> tuple[Scenario, ...]:
    """Keep the scenarios of one difficulty; None keeps all."""
    return tuple(each for each in scenarios if difficulty in (None, each.difficulty))


def _bare(question: Question) -> Question:
    asked = question.forecast
    hidden = None if asked is None else replace(asked, happened=None)
    return replace(question, notes=None, forecast=hidden)


def _place(scenario: Scenario) -> tuple[int, str, str]:
    return DIFFICULTIES.index(scenario.difficulty), scenario.title, scenario.scenario_id

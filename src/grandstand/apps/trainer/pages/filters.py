"""Filters of the scenario list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from grandstand.apps.trainer.domain.evaluation import DIMENSION_NAMES, DIMENSIONS_BY_NAME
from grandstand.apps.trainer.domain.scenarios import DIFFICULTIES
from grandstand.apps.trainer.services.scenarios import ScenarioWithProgress

PROGRESS_LABELS: Final = {
    "new": "Not tried",
    "draft": "Draft",
    "waiting": "Waiting for scores",
    "done": "Done",
}


@dataclass(frozen=True, slots=True)
class ScenarioGroup:
    """The scenarios of one difficulty."""

    difficulty: str
    scenarios: tuple[ScenarioWithProgress, ...]
    done: int


@dataclass(frozen=True, slots=True)
class ScenarioFilter:
    """The selected filters; an empty one does not filter."""

    difficulty: str = ""
    topic: str = ""
    exercise: str = ""
    progress: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> ScenarioFilter:
        """Read the filters from a query; unknown values are ignored."""
        difficulty, progress = query.get("difficulty", ""), query.get("progress", "")
        exercise = query.get("exercise", "")
        return cls(
            difficulty if difficulty in DIFFICULTIES else "",
            query.get("topic", "")[:64],
            exercise if exercise in DIMENSIONS_BY_NAME else "",
            progress if progress in PROGRESS_LABELS else "",
        )

    @property
    def is_active(self) -> bool:
        """Whether any filter is selected."""
        return self != ScenarioFilter()

    def matches(self, item: ScenarioWithProgress) -> bool:
        """Return whether a scenario passes all filters."""
        scenario = item.scenario
        return (
            self.difficulty in ("", scenario.difficulty)
            and (not self.topic or self.topic in scenario.tags)
            and (not self.exercise or self.exercise in scenario.focus_areas)
            and self.progress in ("", item.progress.state)
        )

    def group(self, items: Iterable[ScenarioWithProgress]) -> tuple[ScenarioGroup, ...]:
        """Group the matching scenarios by difficulty, easiest first, without empty groups."""
        matching = [item for item in items if self.matches(item)]
        groups = (
            (name, tuple(item for item in matching if item.scenario.difficulty == name))
            for name in DIFFICULTIES
        )
        return tuple(
            ScenarioGroup(name, members, sum(each.progress.completed > 0 for each in members))
            for name, members in groups
            if members
        )


def filter_options(items: Iterable[ScenarioWithProgress]) -> dict[str, list[tuple[str, str]]]:
    """Return the values of each filter with their labels."""
    topics = sorted({tag for item in items for tag in item.scenario.tags})
    return {
        "difficulty": [("", "Any"), *((name, name.capitalize()) for name in DIFFICULTIES)],
        "topic": [("", "Any"), *((tag, tag.replace("-", " ").capitalize()) for tag in topics)],
        "exercise": [
            ("", "Any"),
            *((name, DIMENSIONS_BY_NAME[name].title) for name in DIMENSION_NAMES),
        ],
        "progress": [("", "Any"), *PROGRESS_LABELS.items()],
    }

"""Kept here: choosing among scenarios: what may be asked for, and what is left then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from grandstand.apps.trainer.model import DIFFICULTIES
from grandstand.apps.trainer.model.rubric import BY_NAME, NAMES
from grandstand.apps.trainer.service import Offered

STATES: Final = {
    "new": "Not tried",
    "draft": "Begun",
    "waiting": "Being judged",
    "done": "Done",
}


@dataclass(frozen=True, slots=True)
class Shelf:
    """The scenarios of one difficulty."""

    difficulty: str
    offered: tuple[Offered, ...]
    done: int


@dataclass(frozen=True, slots=True)
class Choice:
    """What somebody wants to see of the scenarios; what is empty leaves none out."""

    difficulty: str = ""
    topic: str = ""
    exercise: str = ""
    progress: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Choice:
        """Read a choice from a query; what nobody offers is left out."""
        difficulty, progress = query.get("difficulty", ""), query.get("progress", "")
        exercise = query.get("exercise", "")
        return cls(
            difficulty if difficulty in DIFFICULTIES else "",
            query.get("topic", "")[:64],
            exercise if exercise in BY_NAME else "",
            progress if progress in STATES else "",
        )

    @property
    def any(self) -> bool:
        """Whether anything is left out."""
        return self != Choice()

    def kept(self, offered: Iterable[Offered]) -> tuple[Offered, ...]:
        """Keep what was asked for."""
        return tuple(each for each in offered if self._wants(each))

    def shelves(self, offered: Iterable[Offered]) -> tuple[Shelf, ...]:
        """Put what was asked for on shelves, easiest first; there are no empty ones."""
        kept = self.kept(offered)
        by_difficulty = {
            name: tuple(each for each in kept if each.scenario.difficulty == name)
            for name in DIFFICULTIES
        }
        return tuple(
            Shelf(name, held, sum(each.progress.completed > 0 for each in held))
            for name, held in by_difficulty.items()
            if held
        )

    def _wants(self, offered: Offered) -> bool:
        scenario = offered.scenario
        exercised = {area for each in scenario.questions for area in each.focus_areas}
        return (
            self.difficulty in ("", scenario.difficulty)
            and (not self.topic or self.topic in scenario.tags)
            and (not self.exercise or self.exercise in exercised)
            and self.progress in ("", offered.progress.state)
        )


def choices(offered: Iterable[Offered]) -> dict[str, list[tuple[str, str]]]:
    """Answer what may be chosen, each a value and its name."""
    topics = sorted({tag for each in offered for tag in each.scenario.tags})
    return {
        "difficulty": [("", "Any"), *((name, name.capitalize()) for name in DIFFICULTIES)],
        "topic": [("", "Any"), *((tag, tag.replace("-", " ").capitalize()) for tag in topics)],
        "exercise": [("", "Any"), *((name, BY_NAME[name].title) for name in NAMES)],
        "progress": [("", "Any"), *STATES.items()],
    }

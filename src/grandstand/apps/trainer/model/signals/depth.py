"""Kept here: how far an answer goes into its case, which every dimension builds on in part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from grandstand.apps.trainer.model.rubric import MOST
from grandstand.apps.trainer.model.signals.passages import Passage, Reading
from grandstand.apps.trainer.model.signals.sums import figures_of
from grandstand.apps.trainer.model.signals.topic import Topic
from grandstand.apps.trainer.model.signals.words import listed

_PART: Final = 0.4
_LEAST_SHARED: Final = 2
_LONGEST_POINT: Final = 7
_MOVES: Final = listed(
    """
    reason consequence condition contrast care scrutiny assumption probe alternative weighing
    grading revision definition
    """
)
# What each part is worth at its fullest, and how much of it is full.
_LENGTH: Final = (0.85, 1.0)
_POINTS: Final = (0.15, 3.0)
_HOPED: Final = (0.75, 12.0)
_HOPED_A_WORD: Final = (0.85, 0.1)
_BREADTH: Final = (0.75, 30.0)
_WORKED: Final = (0.4, 4.0)
_KEY: Final = (0.35, 4.0)
_VARIETY: Final = (0.3, 13.0)
_VARIETY_A_WORD: Final = (0.95, 0.1)
_OVERCLAIMED: Final = (0.8, 0.5)
_FEWEST_WORDS: Final = 25


@dataclass(frozen=True, slots=True)
class Depth:
    """How deep an answer goes, 0 to 4, and what that was drawn from."""

    level: float
    ideas: int
    own_ideas: int
    figures: frozenset[float]
    worked: frozenset[float]
    best: Passage | None

    @property
    def says(self) -> str:
        """The measure in words."""
        worked = f", {len(self.worked)} figures worked out" if self.worked else ""
        return f"It takes up {self.ideas} ideas of the case and {self.own_ideas} beyond it{worked}"


def matched(reading: Reading, hoped: tuple[frozenset[str], ...]) -> list[tuple[float, Passage]]:
    """Answer for each hoped-for point that is made how fully, and the sentence that makes it."""
    made = []
    for stems in hoped:
        enough = min(len(stems), _LONGEST_POINT)
        best, where = 0.0, None
        for passage in reading.counted:
            shared = len(stems & passage.stems)
            if shared >= _LEAST_SHARED and shared / enough > best:
                best, where = shared / enough, passage
        if where is not None and best >= _PART:
            made.append((min(1.0, best), where))
    return made


def depth_of(reading: Reading, topic: Topic, target_words: int) -> Depth:
    """Measure the depth: nothing that does not count in a reading can raise it."""
    counted = reading.counted
    stems = frozenset[str]().union(*(each.stems for each in counted))
    figures = frozenset[float]().union(*(figures_of(reading.passage(each)) for each in counted))
    points = matched(reading, (*topic.assumptions, *topic.alternatives, *topic.traps))
    moves = frozenset[str]().union(*(each.families for each in counted)) & _MOVES
    own = stems & topic.hoped
    words = max(_FEWEST_WORDS, reading.words)
    parts = (
        _part(_LENGTH, reading.words / max(1, target_words)),
        _part(_POINTS, sum(how for how, _ in points)),
        _part(_HOPED, len(own)),
        _part(_HOPED_A_WORD, len(own) / words),
        _part(_BREADTH, len(stems & topic.stems)),
        _part(_WORKED, len(figures - topic.figures)),
        _part(_KEY, len((figures & topic.key_figures) - topic.figures)),
        _part(_VARIETY, len(moves)),
        _part(_VARIETY_A_WORD, len(moves) / words),
        -_part(_OVERCLAIMED, len(reading.overclaiming) / max(1, len(counted))),
    )
    return Depth(
        level=max(0.0, min(float(MOST), sum(parts))),
        ideas=len(stems & topic.stems) - len(own),
        own_ideas=len(own),
        figures=figures,
        worked=figures - topic.figures,
        best=max(counted, key=lambda each: len(each.topical), default=None),
    )


def _part(worth: tuple[float, float], amount: float) -> float:
    most, full = worth
    return most * min(1.0, amount / full)

"""Kept here: how signals add up to a level from 0 to 4, and what holds a level down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from grandstand.apps.trainer.model.rubric import MOST
from grandstand.apps.trainer.model.signals.passages import Passage

_KINDS_FOR_FOUR: Final = 2


@dataclass(frozen=True, slots=True)
class Signal:
    """One thing noticed: how much it counts (against, when negative), in words, and where."""

    kind: str
    points: float
    says: str
    at: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """The signals of one dimension in one answer; `missing` is what would have counted more."""

    signals: tuple[Signal, ...]
    missing: tuple[str, ...]
    cap: float = MOST
    capped_by: str = ""

    @property
    def level(self) -> float:
        """The sum of all points between 0 and the cap; one kind of signal alone earns no 4."""
        kinds = len({signal.kind for signal in self.signals if signal.points > 0})
        cap = min(self.cap, MOST if kinds >= _KINDS_FOR_FOUR else MOST - 1)
        return max(0.0, min(cap, sum(signal.points for signal in self.signals)))


@dataclass
class Tallying:
    """Signals of one dimension as they are noticed."""

    signals: list[Signal] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    cap: float = MOST

    def noted(self, kind: str, points: float, says: str, at: Passage | None = None) -> None:
        """Count something; what counts nothing is not noted."""
        if points:
            where = None if at is None else (at.start, at.end)
            self.signals.append(Signal(kind, points, says, where))

    def each(self, kind: str, worth: Sequence[float], says: str, found: Sequence[Passage]) -> None:
        """Count the first of what was found, each for its own worth; those beyond, nothing."""
        for points, passage in zip(worth, found, strict=False):
            self.noted(kind, points, says, passage)

    def wanted(self, says: str, *, unless: bool) -> None:
        """Say what would have counted more, unless it is there."""
        if not unless:
            self.missing.append(says)

    def needs(self, *kinds: str, else_at_most: float) -> None:
        """Hold the level down when no signal of these kinds was noted."""
        if not any(signal.kind in kinds for signal in self.signals):
            self.cap = min(self.cap, else_at_most)

    def done(self) -> Tally:
        """The tally so far."""
        return Tally(tuple(self.signals), tuple(self.missing), self.cap)

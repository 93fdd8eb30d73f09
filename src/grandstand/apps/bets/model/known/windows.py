"""Kept here: which past a model may learn from at a moment: windows, and the gap before them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from grandstand.apps.bets.model.known.facts import EPOCH
from grandstand.apps.bets.model.refusals import PlanRefused

WindowKind: TypeAlias = Literal["rolling", "anchored"]
_NOTHING = timedelta(0)


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of the past to learn from; it has no beginning when it is anchored."""

    since: datetime | None
    until: datetime


@dataclass(frozen=True, slots=True)
class Windows:
    """How the past is cut: what was learnt holds for `test`, then it is learnt anew.

    A rolling window looks `train` back, an anchored one to the beginning. Results that became known
    less than `embargo` before the test began are left out, and so is, by the way records are kept,
    every prediction whose result was still open then (the purge). Raises PlanRefused.
    """

    kind: WindowKind = "rolling"
    train: timedelta = timedelta(days=365)
    test: timedelta = timedelta(days=14)
    embargo: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        if self.test <= _NOTHING or self.train <= _NOTHING:
            raise PlanRefused("A window needs time to train and to test: give more than nothing.")
        if self.embargo < _NOTHING:
            raise PlanRefused("An embargo cannot be shorter than nothing.")

    def at(self, instant: datetime) -> Window:
        """The window in force at a moment; it is the same for all moments of one test."""
        begun = EPOCH + (instant - EPOCH) // self.test * self.test
        until = begun - self.embargo
        return Window(None if self.kind == "anchored" else until - self.train, until)


DEFAULT: Final = Windows()

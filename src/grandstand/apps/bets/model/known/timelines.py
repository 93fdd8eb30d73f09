"""Kept here: rows in the order in which they became known, and how a fold follows them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from grandstand.apps.bets.model.known.facts import Fixture, Score

Row = TypeVar("Row")
State = TypeVar("State")


class Timeline(Generic[Row]):
    """Rows with their stamps; rows that come late are put in their place when next asked for."""

    __slots__ = ("_ordered", "rows", "stamps")

    def __init__(self) -> None:
        self.stamps: list[int] = []
        self.rows: list[Row] = []
        self._ordered = True

    def add(self, stamp: int, row: Row) -> None:
        """Keep a row that became known at a stamp."""
        if self.stamps and stamp < self.stamps[-1]:
            self._ordered = False
        self.stamps.append(stamp)
        self.rows.append(row)

    def count(self, stamp: int) -> int:
        """How many rows were known at a stamp."""
        if not self._ordered:
            order = sorted(range(len(self.stamps)), key=self.stamps.__getitem__)
            self.stamps = [self.stamps[index] for index in order]
            self.rows = [self.rows[index] for index in order]
            self._ordered = True
        return bisect_right(self.stamps, stamp)

    def known(self, stamp: int, limit: int | None = None) -> list[Row]:
        """The rows known at a stamp, oldest first; with a limit the newest of them."""
        end = self.count(stamp)
        return self.rows[0 if limit is None else max(0, end - limit) : end]


@dataclass(frozen=True, slots=True)
class Played:
    """A game and how it ended, as known at a moment."""

    game: Fixture
    score: Score

    @property
    def margin(self) -> int:
        """The home side's points above the away side's."""
        return self.score.home_score - self.score.away_score

    @property
    def total(self) -> int:
        """The points of both sides."""
        return self.score.home_score + self.score.away_score

    def for_team(self, team: str) -> tuple[int, int]:
        """A team's points and its opponent's."""
        if team == self.game.home:
            return self.score.home_score, self.score.away_score
        return self.score.away_score, self.score.home_score


@dataclass(frozen=True, slots=True)
class Fold(Generic[State]):
    """How a state is made of results, one after the other: a rating system, for instance.

    The name says which fold it is, with all that its outcome depends on.
    """

    name: Hashable
    sport: str
    start: Callable[[], State]
    step: Callable[[State, Played], None]


@dataclass(slots=True)
class Progress:
    """How far a fold has come: its state, the results in it, and the corrections it has seen."""

    state: Any
    results: int = 0
    corrections: int = 0

"""Kept here: the values of keiba: races, runners, form, parents and jockeys; None is unknown."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Literal, TypeAlias

Surface: TypeAlias = Literal["turf", "dirt", "jump"]


@dataclass(frozen=True, slots=True)
class RaceEntry:
    """One race of a day, as the day's list names it."""

    track_name: str
    race_number: int
    race_id: str


@dataclass(frozen=True, slots=True)
class Runner:
    """A horse on the card; it has no frame and no number before the draw."""

    horse_id: str
    horse_name: str
    jockey_id: str | None = None
    jockey_name: str | None = None
    frame_number: int | None = None
    horse_number: int | None = None
    carried_weight: Decimal | None = None


@dataclass(frozen=True, slots=True)
class RaceCard:
    """A race with its runners."""

    race_id: str
    race_name: str
    horses: tuple[Runner, ...]
    distance: int | None = None
    track_type: Surface | None = None
    track_name: str | None = None


@dataclass(frozen=True, slots=True)
class PastRun:
    """One earlier race of a horse; a non-finisher has no position."""

    run_on: date = field(metadata={"attribute": "date"})
    track: str
    race_name: str
    distance: int | None = None
    position: int | None = None
    time: str | None = None
    margin: str | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """A horse's earlier races, newest first; none for one that never ran."""

    horse_id: str
    horse_name: str
    recent_results: tuple[PastRun, ...]


@dataclass(frozen=True, slots=True)
class Parent:
    """A sire or dam and its own record; earnings are in units of ten thousand yen."""

    id: str | None = None
    name: str | None = None
    earnings: Decimal | None = None
    first: int | None = None
    second: int | None = None
    third: int | None = None
    fourth_or_lower: int | None = None


@dataclass(frozen=True, slots=True)
class Parents:
    """A horse's sire and dam."""

    horse_id: str
    sire: Parent
    dam: Parent


@dataclass(frozen=True, slots=True)
class JockeyFigures:
    """Rides and places of a span of time; rates are per cent, place_rate counts the first three."""

    wins: int
    seconds: int
    thirds: int
    total_races: int
    win_rate: Decimal | None = None
    top2_rate: Decimal | None = None
    place_rate: Decimal | None = None


@dataclass(frozen=True, slots=True)
class JockeyRecord:
    """A jockey's career and recent years."""

    jockey_id: str
    jockey_name: str
    overall_stats: JockeyFigures
    recent_5year_stats: JockeyFigures | None = None

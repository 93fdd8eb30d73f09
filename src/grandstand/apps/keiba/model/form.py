"""Kept here: figures of a runner derived from its earlier races, always against the race date."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final

from grandstand.apps.keiba.model.background import Background, Record, record_of, started
from grandstand.apps.keiba.model.circumstances import Circumstance, Mean, Speed, alike, gain
from grandstand.apps.keiba.model.classes import class_of_card, class_of_run
from grandstand.apps.keiba.model.people import Form, JockeyRecord, Parents, PastRun
from grandstand.apps.keiba.model.races import RaceCard, Runner

# A run counts half as much after so many days.
_HALF_LIFE_DAYS: Final = 700.0
# How much a figure on turf says of dirt, and the other way round.
_OTHER_SURFACE: Final = 0.8
_RECENT: Final = 5
_LEAST_FOR_TREND: Final = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """A runner with what is known of it; what could not be had is None."""

    runner: Runner
    form: Form | None = None
    jockey: JockeyRecord | None = None
    parents: Parents | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """A runner's figures for one race; None, or a record without starts, where nothing is known.

    Gains are points by which it should run above its own mean in such circumstances.
    `class_move` is in steps of class and `carried_change` in kilograms, above zero for a rise
    against earlier runs. `finishing` is 1 for first and 0 for last.
    """

    horse_id: str
    runs: int
    days_since_last_run: int | None
    career: Record
    at_distance: Record
    on_surface: Record
    on_going: Record
    on_course: Record
    speeds: tuple[Speed, ...]
    speed: Mean | None
    trend: Mean | None
    distance_gain: Mean | None
    surface_gain: Mean | None
    going_gain: Mean | None
    course_gain: Mean | None
    finishing: Mean | None
    class_move: Mean | None
    carried_change: Mean | None
    body_weight_change: int | None
    jockey: Mean | None
    jockey_on_course: Record
    jockey_gain: Mean | None
    sire: Record


def figures(entry: Entry, card: RaceCard, background: Background, *, on: date) -> Figures:
    """A runner's figures for a race on a date; runs of that date or later are not looked at."""
    runs = _runs_before(entry.form, on)
    speeds = _speeds(runs, card, background, on)

    def record(circumstance: Circumstance) -> Record:
        return record_of(run for run in runs if alike(circumstance, run, card))

    jockey = entry.runner.jockey_id or ""
    return Figures(
        horse_id=entry.runner.horse_id,
        runs=len(runs),
        days_since_last_run=(on - runs[0].run_on).days if runs else None,
        career=record_of(runs),
        at_distance=record("distance"),
        on_surface=record("surface"),
        on_going=record("going"),
        on_course=record("course"),
        speeds=speeds,
        speed=_mean((each.points, each.weight) for each in speeds),
        trend=_trend(speeds),
        distance_gain=gain("distance", speeds, card),
        surface_gain=gain("surface", speeds, card),
        going_gain=gain("going", speeds, card),
        course_gain=gain("course", speeds, card),
        finishing=_finishing(runs, on),
        class_move=_class_move(runs, card, on),
        carried_change=_carried_change(runs, entry.runner, on),
        body_weight_change=entry.runner.body_weight_change,
        jockey=_jockey(entry.jockey, background.jockeys.get(jockey)),
        jockey_on_course=background.jockeys_by_track.get((jockey, card.track_name or ""), Record()),
        jockey_gain=_jockey_gain(jockey, card, background),
        sire=_sire(entry.parents, card, background),
    )


def _runs_before(form: Form | None, on: date) -> tuple[PastRun, ...]:
    known = () if form is None else form.recent_results
    earlier = [run for run in known if run.run_on < on and started(run)]
    return tuple(sorted(earlier, key=lambda run: run.run_on, reverse=True))


def _speeds(
    runs: Sequence[PastRun], card: RaceCard, background: Background, on: date
) -> tuple[Speed, ...]:
    return tuple(
        Speed(run, points, weight)
        for run in runs
        if (points := background.standards.figure(run)) is not None
        and (weight := _weight(run, card, on)) > 0
    )


def _weight(run: PastRun, card: RaceCard, on: date) -> float:
    """How much a run says of this race; one over jumps says nothing of one on the flat."""
    if card.track_type in {None, run.track_type}:
        return _freshness(run, on)
    if "jump" in {card.track_type, run.track_type}:
        return 0.0
    return _freshness(run, on) * _OTHER_SURFACE


def _freshness(run: PastRun, on: date) -> float:
    return _fresh_after((on - run.run_on).days)


@lru_cache(maxsize=8192)
def _fresh_after(days: int) -> float:
    return math.exp2(-days / _HALF_LIFE_DAYS)


def _trend(speeds: Sequence[Speed]) -> Mean | None:
    """Points by which the last run was above the recent ones before it."""
    if len(speeds) < _LEAST_FOR_TREND:
        return None
    earlier = [each.points for each in speeds[1 : _RECENT + 1]]
    return Mean(speeds[0].points - sum(earlier) / len(earlier), float(len(earlier)))


def _finishing(runs: Sequence[PastRun], on: date) -> Mean | None:
    return _mean(
        ((run.runner_count - run.position) / (run.runner_count - 1), _freshness(run, on))
        for run in runs
        if run.position is not None
        and run.runner_count is not None
        and 1 <= run.position <= run.runner_count
        and run.runner_count > 1
    )


def _class_move(runs: Sequence[PastRun], card: RaceCard, on: date) -> Mean | None:
    today = class_of_card(card)
    if today is None:
        return None
    return _mean(
        (float(today - step), _freshness(run, on))
        for run in runs
        if (step := class_of_run(run)) is not None
    )


def _carried_change(runs: Sequence[PastRun], runner: Runner, on: date) -> Mean | None:
    """Kilograms carried above what was carried so far."""
    today = runner.carried_weight
    if today is None:
        return None
    return _mean(
        (float(today - run.carried_weight), _freshness(run, on))
        for run in runs
        if run.carried_weight is not None
    )


def _jockey(record: JockeyRecord | None, seen: Record | None) -> Mean | None:
    """The jockey's share of rides among the first three, from the page or from runs seen."""
    if record is not None:
        for stats in (record.recent_5year_stats, record.overall_stats):
            if stats is not None and stats.total_races > 0:
                placed = stats.wins + stats.seconds + stats.thirds
                return Mean(placed / stats.total_races, float(stats.total_races))
    rate = None if seen is None else seen.top3_rate
    return None if seen is None or rate is None else Mean(rate, float(seen.starts))


def _jockey_gain(jockey: str, card: RaceCard, background: Background) -> Mean | None:
    """How much more often this jockey is placed on this track than on all."""
    here = background.jockeys_by_track.get((jockey, card.track_name or ""))
    overall = background.jockeys.get(jockey)
    if here is None or overall is None:
        return None
    rate, mean = here.top3_rate, overall.top3_rate
    return None if rate is None or mean is None else Mean(rate - mean, float(here.starts))


def _sire(parents: Parents | None, card: RaceCard, background: Background) -> Record:
    sire = None if parents is None else parents.sire.id
    if sire is None or card.track_type is None:
        return Record()
    return background.sires_by_surface.get((sire, card.track_type), Record())


def _mean(values: Iterable[tuple[float, float]]) -> Mean | None:
    weighed = tuple(values)
    total = math.fsum(weight for _, weight in weighed)
    if total <= 0:
        return None
    return Mean(math.fsum(value * weight for value, weight in weighed) / total, total)

"""Figures of a runner derived from past races, as of the race date."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Final, Literal, TypeAlias, TypeVar

from grandstand.apps.keiba.domain.horses import Form, JockeyRecord, Parents, PastRun
from grandstand.apps.keiba.domain.races import Going, RaceCard, Runner, Surface
from grandstand.apps.keiba.domain.speed_figures import (
    StandardTimes,
    class_of_card,
    class_of_run,
    learn_standard_times,
)

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Record:
    """Starts, wins, and finishes in the top two and top three."""

    starts: int = 0
    wins: int = 0
    top2: int = 0
    top3: int = 0

    @property
    def top3_rate(self) -> float | None:
        """The share of top-three finishes; None without starts."""
        return self.top3 / self.starts if self.starts else None

    @property
    def placings(self) -> str:
        """Firsts, seconds, thirds and others, such as 2-3-1-4."""
        counts = self.wins, self.top2 - self.wins, self.top3 - self.top2, self.starts - self.top3
        return "-".join(map(str, counts))


@dataclass(frozen=True, slots=True)
class Background:
    """What is learned from runs before a date; sires have the records of their offspring."""

    standards: StandardTimes = field(default_factory=StandardTimes)
    jockeys: Mapping[str, Record] = field(default_factory=dict)
    jockeys_by_track: Mapping[tuple[str, str], Record] = field(default_factory=dict)
    sires_by_surface: Mapping[tuple[str, Surface], Record] = field(default_factory=dict)


def learn_background(
    forms: Sequence[Form], *, before: date, parents: Iterable[Parents] = ()
) -> Background:
    """Learn standard times and records from the runs of these horses before a date.

    The horses of one card are enough; more horses make the estimates more reliable.
    """
    runs = [
        (form.horse_id, run)
        for form in forms
        for run in form.recent_results
        if run.run_on < before and did_start(run)
    ]
    sires = {known.horse_id: known.sire.id for known in parents}
    ridden = [(run.jockey_id, run) for _, run in runs if run.jockey_id is not None]
    return Background(
        standards=learn_standard_times(forms, before=before),
        jockeys=_records((jockey, run) for jockey, run in ridden),
        jockeys_by_track=_records(((jockey, run.track), run) for jockey, run in ridden),
        sires_by_surface=_records(
            ((sire, run.track_type), run)
            for horse, run in runs
            if (sire := sires.get(horse)) is not None and run.track_type is not None
        ),
    )


def did_start(run: PastRun) -> bool:
    """Whether the horse started; withdrawn and excluded horses did not."""
    return run.outcome not in {"withdrawn", "excluded"}


def record_of(runs: Iterable[PastRun]) -> Record:
    """Return the record of the runs in which the horse started."""
    return _records(("", run) for run in runs if did_start(run)).get("", Record())


def _records(runs: Iterable[tuple[K, PastRun]]) -> dict[K, Record]:
    """Count started runs by key in one pass."""
    tallies: dict[K, list[int]] = {}
    for key, run in runs:
        tally = tallies.get(key)
        if tally is None:
            tally = tallies[key] = [0, 0, 0, 0]
        tally[0] += 1
        position = run.position
        if position is not None and position <= 3:
            tally[3] += 1
            tally[2] += position <= 2
            tally[1] += position <= 1
    return {key: Record(*tally) for key, tally in tallies.items()}


Circumstance: TypeAlias = Literal["distance", "surface", "going", "course"]

# From driest to wettest.
_GOINGS: Final[Mapping[Going, int]] = {"firm": 0, "good": 1, "yielding": 2, "soft": 3}

# What counts as similar: distances within about an eighth, and adjacent going.
_SIMILAR: Final[Mapping[Circumstance, float]] = {
    "distance": 0.12,
    "surface": 0.0,
    "going": 1.0,
    "course": 0.0,
}

# Shrinkage by circumstance, in squared units of difference: the variance of single runs over the
# variance of true preferences.
_SHRINKAGE: Final[Mapping[Circumstance, float]] = {
    "distance": 1.3,
    "surface": 4.5,
    "going": 60.0,
    "course": 20.0,
}


@dataclass(frozen=True, slots=True)
class WeightedMean:
    """A weighted mean and the weight behind it."""

    value: float
    weight: float


@dataclass(frozen=True, slots=True)
class SpeedFigure:
    """The speed figure of one run: points above the standard of its course, day and race."""

    run: PastRun
    points: float
    weight: float


def is_similar(circumstance: Circumstance, run: PastRun, card: RaceCard) -> bool:
    """Whether a run was similar in a circumstance; unknown values are not similar."""
    difference = _DIFFERENCES[circumstance](run, card)
    return difference is not None and abs(difference) <= _SIMILAR[circumstance]


def expected_gain(
    circumstance: Circumstance, speeds: Sequence[SpeedFigure], card: RaceCard
) -> WeightedMean | None:
    """Return the points by which a horse should run above its own mean in this race.

    A line is fitted through its figures over the difference from the race, shrunk toward flat if
    the runs hardly differ. None if no run can be compared.
    """
    difference_of = _DIFFERENCES[circumstance]
    samples = [
        (difference, speed.points, speed.weight)
        for speed in speeds
        if (difference := difference_of(speed.run, card)) is not None
    ]
    total = sum(weight for _, _, weight in samples)
    if total <= 0:
        return None
    mean_difference = sum(each * weight for each, _, weight in samples) / total
    mean_points = sum(points * weight for _, points, weight in samples) / total
    variance = sum(weight * (each - mean_difference) ** 2 for each, _, weight in samples)
    covariance = sum(
        weight * (each - mean_difference) * (points - mean_points)
        for each, points, weight in samples
    )
    return WeightedMean(
        -mean_difference * covariance / (variance + _SHRINKAGE[circumstance]), total
    )


def _distance(run: PastRun, card: RaceCard) -> float | None:
    if not run.distance or not card.distance:
        return None
    return math.log(run.distance / card.distance)


def _surface(run: PastRun, card: RaceCard) -> float | None:
    if run.track_type is None or card.track_type is None:
        return None
    return float(run.track_type != card.track_type)


def _going(run: PastRun, card: RaceCard) -> float | None:
    if run.going is None or card.going is None:
        return None
    return float(_GOINGS[run.going] - _GOINGS[card.going])


def _course(run: PastRun, card: RaceCard) -> float | None:
    return None if card.track_name is None else float(run.track != card.track_name)


# Distances differ by the logarithm of their ratio, negative for a shorter run; goings by the steps
# between them, negative for drier; surfaces and courses by 0 or 1.
_DIFFERENCES: Final[Mapping[Circumstance, Callable[[PastRun, RaceCard], float | None]]] = {
    "distance": _distance,
    "surface": _surface,
    "going": _going,
    "course": _course,
}


_HALF_LIFE_DAYS: Final = 700.0
# Weight of a figure on turf for dirt and vice versa.
_OTHER_SURFACE_WEIGHT: Final = 0.8


@dataclass(frozen=True, slots=True)
class Entry:
    """A runner with its form, jockey and parents; missing parts are None."""

    runner: Runner
    form: Form | None = None
    jockey: JockeyRecord | None = None
    parents: Parents | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """A runner's figures for one race; None, or a record without starts, if unknown.

    Gains are points by which it should run above its own mean in these circumstances.
    `class_move` is in classes and `carried_change` in kilograms, positive for a rise compared with
    past runs. `finishing` is 1 for first and 0 for last.
    """

    horse_id: str
    runs: int
    days_since_last_run: int | None
    career: Record
    at_distance: Record
    on_surface: Record
    on_going: Record
    on_course: Record
    speeds: tuple[SpeedFigure, ...]
    speed: WeightedMean | None
    trend: WeightedMean | None
    distance_gain: WeightedMean | None
    surface_gain: WeightedMean | None
    going_gain: WeightedMean | None
    course_gain: WeightedMean | None
    finishing: WeightedMean | None
    class_move: WeightedMean | None
    carried_change: WeightedMean | None
    body_weight_change: int | None
    jockey: WeightedMean | None
    jockey_on_course: Record
    jockey_gain: WeightedMean | None
    sire: Record


def compute_figures(entry: Entry, card: RaceCard, background: Background, *, on: date) -> Figures:
    """Return a runner's figures for a race on a date; runs on or after that date are ignored."""
    runs = _runs_before(entry.form, on)
    speeds = _speeds(runs, card, background, on)

    def record(circumstance: Circumstance) -> Record:
        return record_of(run for run in runs if is_similar(circumstance, run, card))

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
        distance_gain=expected_gain("distance", speeds, card),
        surface_gain=expected_gain("surface", speeds, card),
        going_gain=expected_gain("going", speeds, card),
        course_gain=expected_gain("course", speeds, card),
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
    earlier = [run for run in known if run.run_on < on and did_start(run)]
    return tuple(sorted(earlier, key=lambda run: run.run_on, reverse=True))


def _speeds(
    runs: Sequence[PastRun], card: RaceCard, background: Background, on: date
) -> tuple[SpeedFigure, ...]:
    return tuple(
        SpeedFigure(run, points, weight)
        for run in runs
        if (points := background.standards.figure(run)) is not None
        and (weight := _weight(run, card, on)) > 0
    )


def _weight(run: PastRun, card: RaceCard, on: date) -> float:
    """Return the weight of a run for this race; jump races do not count for flat races."""
    if card.track_type in {None, run.track_type}:
        return _recency_weight(run, on)
    if "jump" in {card.track_type, run.track_type}:
        return 0.0
    return _recency_weight(run, on) * _OTHER_SURFACE_WEIGHT


def _recency_weight(run: PastRun, on: date) -> float:
    return _time_weight((on - run.run_on).days)


@lru_cache(maxsize=8192)
def _time_weight(days: int) -> float:
    return math.exp2(-days / _HALF_LIFE_DAYS)


def _trend(speeds: Sequence[SpeedFigure]) -> WeightedMean | None:
    """Return the points by which the last run was above the recent ones before it."""
    if len(speeds) < 3:
        return None
    earlier = [each.points for each in speeds[1 : 5 + 1]]
    return WeightedMean(speeds[0].points - sum(earlier) / len(earlier), float(len(earlier)))


def _finishing(runs: Sequence[PastRun], on: date) -> WeightedMean | None:
    return _mean(
        ((run.runner_count - run.position) / (run.runner_count - 1), _recency_weight(run, on))
        for run in runs
        if run.position is not None
        and run.runner_count is not None
        and 1 <= run.position <= run.runner_count
        and run.runner_count > 1
    )


def _class_move(runs: Sequence[PastRun], card: RaceCard, on: date) -> WeightedMean | None:
    today = class_of_card(card)
    if today is None:
        return None
    return _mean(
        (float(today - step), _recency_weight(run, on))
        for run in runs
        if (step := class_of_run(run)) is not None
    )


def _carried_change(runs: Sequence[PastRun], runner: Runner, on: date) -> WeightedMean | None:
    """Return the kilograms carried above the mean of past runs."""
    today = runner.carried_weight
    if today is None:
        return None
    return _mean(
        (float(today - run.carried_weight), _recency_weight(run, on))
        for run in runs
        if run.carried_weight is not None
    )


def _jockey(record: JockeyRecord | None, seen: Record | None) -> WeightedMean | None:
    """Return the jockey's top-three rate, from the page or from past runs."""
    if record is not None:
        for stats in (record.recent_5year_stats, record.overall_stats):
            if stats is not None and stats.total_races > 0:
                placed = stats.wins + stats.seconds + stats.thirds
                return WeightedMean(placed / stats.total_races, float(stats.total_races))
    rate = None if seen is None else seen.top3_rate
    return None if seen is None or rate is None else WeightedMean(rate, float(seen.starts))


def _jockey_gain(jockey: str, card: RaceCard, background: Background) -> WeightedMean | None:
    """Return the jockey's top-three rate on this track minus the overall rate."""
    here = background.jockeys_by_track.get((jockey, card.track_name or ""))
    overall = background.jockeys.get(jockey)
    if here is None or overall is None:
        return None
    rate, mean = here.top3_rate, overall.top3_rate
    return None if rate is None or mean is None else WeightedMean(rate - mean, float(here.starts))


def _sire(parents: Parents | None, card: RaceCard, background: Background) -> Record:
    sire = None if parents is None else parents.sire.id
    if sire is None or card.track_type is None:
        return Record()
    return background.sires_by_surface.get((sire, card.track_type), Record())


def _mean(values: Iterable[tuple[float, float]]) -> WeightedMean | None:
    weighted = tuple(values)
    total = math.fsum(weight for _, weight in weighted)
    if total <= 0:
        return None
    return WeightedMean(math.fsum(value * weight for value, weight in weighted) / total, total)

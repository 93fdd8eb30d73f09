"""Kept here: the ranking of runners: what each factor adds in points, their sum and the chances."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from grandstand.apps.keiba.model.circumstances import Mean
from grandstand.apps.keiba.model.form import Figures
from grandstand.apps.keiba.model.placing import HENERY, Discount, Placing, win_probabilities
from grandstand.apps.keiba.model.placing import placings as placings_of
from grandstand.apps.keiba.model.weights import FACTORS, POINTS_PER_FOLD, WEIGHTS, Factor, Weight

# The rest in days after which horses are held to be at their best.
_BEST_REST_DAYS: Final = 35.0


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one factor adds to a runner's score.

    `reading` is the runner's own value and the evidence behind it, None where nothing is known,
    which adds nothing; `belief`, from 0 to 1, is how far it is believed against the mean of the
    field.
    """

    factor: Factor
    points: float
    reading: Mean | None
    belief: float


@dataclass(frozen=True, slots=True)
class Rating:
    """A runner's rank, score and chances; the score is the sum of the contributions.

    `evidence` from 0 to 1 is how much of what could be known about speed is known.
    """

    horse_id: str
    rank: int
    score: float
    placing: Placing
    contributions: tuple[Contribution, ...]
    evidence: float


def rate(
    field: Sequence[Figures],
    *,
    weights: Mapping[Factor, Weight] = WEIGHTS,
    discount: Discount = HENERY,
) -> tuple[Rating, ...]:
    """Ratings of the runners of one race in the order given; equal scores share a rank.

    No runners give no ratings.
    """
    if not field:
        return ()
    rows = contributions(field, weights)
    scores = [math.fsum(each.points for each in row) for row in rows]
    chances = placings_of(win_probabilities(scores, spread=POINTS_PER_FOLD), discount)
    return tuple(
        Rating(
            horse_id=figures.horse_id,
            rank=1 + sum(other > score for other in scores),
            score=score,
            placing=placing,
            contributions=row,
            evidence=next(each.belief for each in row if each.factor == "speed"),
        )
        for figures, row, score, placing in zip(field, rows, scores, chances, strict=True)
    )


def readings(figures: Figures) -> Mapping[Factor, Mean | None]:
    """What each factor reads from a runner's figures; more is better with all of them."""
    return {
        "speed": figures.speed,
        "trend": figures.trend,
        "distance": figures.distance_gain,
        "surface": figures.surface_gain,
        "going": figures.going_gain,
        "course": figures.course_gain,
        "finishing": figures.finishing,
        "class": _negative(figures.class_move),
        "carried": _negative(figures.carried_change),
        "body": _certain(figures.body_weight_change, lambda change: -abs(change)),
        "rest": _certain(
            figures.days_since_last_run,
            lambda days: -abs(math.log(max(days, 1) / _BEST_REST_DAYS)),
        ),
        "jockey": figures.jockey,
        "jockey_course": figures.jockey_gain,
        "sire": _rate(figures),
    }


def contributions(
    field: Sequence[Figures], weights: Mapping[Factor, Weight] = WEIGHTS
) -> tuple[tuple[Contribution, ...], ...]:
    """What every factor adds to every runner of one race, in the order given.

    A reading is compared with the mean of those in the field, and counts as far as it is believed.
    """
    read = [readings(figures) for figures in field]
    columns = [
        _column(factor, [row[factor] for row in read], weights[factor]) for factor in FACTORS
    ]
    return tuple(zip(*columns, strict=True))


def _column(
    factor: Factor, column: Sequence[Mean | None], weight: Weight
) -> tuple[Contribution, ...]:
    beliefs = [0.0 if each is None else _belief(each, weight) for each in column]
    believed = math.fsum(beliefs)
    if not believed:
        return tuple(Contribution(factor, 0.0, each, 0.0) for each in column)
    mean = (
        math.fsum(
            belief * each.value
            for each, belief in zip(column, beliefs, strict=True)
            if each is not None
        )
        / believed
    )
    return tuple(
        Contribution(
            factor=factor,
            points=0.0 if each is None else weight.points * belief * (each.value - mean),
            reading=each,
            belief=belief,
        )
        for each, belief in zip(column, beliefs, strict=True)
    )


def _belief(reading: Mean, weight: Weight) -> float:
    return reading.weight / (reading.weight + weight.doubt) if reading.weight > 0 else 0.0


def _negative(mean: Mean | None) -> Mean | None:
    return None if mean is None else Mean(-mean.value, mean.weight)


def _certain(value: int | None, worth: Callable[[int], float]) -> Mean | None:
    return None if value is None else Mean(worth(value), 1.0)


def _rate(figures: Figures) -> Mean | None:
    rate_placed = figures.sire.top3_rate
    return None if rate_placed is None else Mean(rate_placed, float(figures.sire.starts))

"""The rank-ordered logit: which linear score makes an observed order of finish likeliest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Rows = Sequence[Sequence[float]]
Sample = tuple[Rows, Sequence[int]]

_STEPS = 6
# Keeps a factor that never varies from making the equations unsolvable.
_RIDGE = 1e-6


@dataclass(frozen=True)
class Fit:
    """A value for each column, and its standard error."""

    values: tuple[float, ...]
    errors: tuple[float, ...]


def fit(samples: Sequence[Sample]) -> Fit:
    """The likeliest values, by Newton's method.

    A sample has one row for each runner and the positions of those who came first, second and so
    on; each place is a choice among those left, in proportion to the exponential of the score.
    """
    columns = len(samples[0][0][0])
    scales = _scales(samples, columns)
    scaled = [
        ([[value / scale for value, scale in zip(row, scales, strict=True)] for row in rows], order)
        for rows, order in samples
    ]
    values = [0.0] * columns
    for _ in range(_STEPS):
        slope, curve = _derivatives(scaled, values)
        steps = solved(curve, slope)
        values = [value + step for value, step in zip(values, steps, strict=True)]
    _, curve = _derivatives(scaled, values)
    spread = [
        solved(curve, [float(at == column) for at in range(columns)])[column]
        for column in range(columns)
    ]
    return Fit(
        tuple(value / scale for value, scale in zip(values, scales, strict=True)),
        tuple(math.sqrt(each) / scale for each, scale in zip(spread, scales, strict=True)),
    )


def solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """The solution of linear equations, by elimination with the largest pivot."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for at in range(size):
        pivot = max(range(at, size), key=lambda row: abs(rows[row][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for other in range(size):
            factor = rows[other][at] / rows[at][at]
            if other != at and factor:
                rows[other] = [
                    value - factor * taken
                    for value, taken in zip(rows[other], rows[at], strict=True)
                ]
    return [rows[at][size] / rows[at][at] for at in range(size)]


def _scales(samples: Sequence[Sample], columns: int) -> list[float]:
    squares, runners = [0.0] * columns, 0
    for rows, _ in samples:
        runners += len(rows)
        for row in rows:
            squares = [total + value * value for total, value in zip(squares, row, strict=True)]
    return [math.sqrt(total / runners) or 1.0 for total in squares]


def _derivatives(
    samples: Sequence[Sample], values: Sequence[float]
) -> tuple[list[float], list[list[float]]]:
    """The slope of the log likelihood, and minus its curvature."""
    columns = len(values)
    slope = [-_RIDGE * value for value in values]
    curve = [[_RIDGE * (at == other) for other in range(columns)] for at in range(columns)]
    for rows, order in samples:
        weights = [
            math.exp(sum(value * each for value, each in zip(values, row, strict=True)))
            for row in rows
        ]
        left = list(range(len(rows)))
        for taken in order:
            _add_choice([(weights[one], rows[one]) for one in left], rows[taken], slope, curve)
            left.remove(taken)
    for at in range(columns):
        for other in range(at):
            curve[other][at] = curve[at][other]
    return slope, curve


def _add_choice(
    among: Sequence[tuple[float, Sequence[float]]],
    chosen: Sequence[float],
    slope: list[float],
    curve: list[list[float]],
) -> None:
    """Add what one choice says; of the curvature only the lower half."""
    whole = sum(weight for weight, _ in among)
    columns = range(len(slope))
    mean = [sum(weight * row[at] for weight, row in among) / whole for at in columns]
    for at in columns:
        slope[at] += chosen[at] - mean[at]
    for weight, row in among:
        chance = weight / whole
        away = [value - middle for value, middle in zip(row, mean, strict=True)]
        for at in columns:
            part, line = chance * away[at], curve[at]
            for other in range(at + 1):
                line[other] += part * away[other]

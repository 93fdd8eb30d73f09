"""Kept here: how stated confidence is turned into a probability that can be staked on.

Which curve is used is decided by log loss on results it was not fitted to; with few results
behind it, the answer stays near the market's own probability.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.model.errors import ForecastImpossible
from grandstand.apps.bets.model.judging.scoring import log_loss
from grandstand.apps.bets.model.prices.odds import from_log_odds, log_odds

Reals: TypeAlias = npt.NDArray[np.float64]
Kind: TypeAlias = Literal["identity", "platt", "beta", "isotonic"]
# How many, and the sums of what was stated and of what came true
_Pool: TypeAlias = tuple[float, float, float]

KINDS: Final[tuple[Kind, ...]] = ("identity", "platt", "beta", "isotonic")
# Half of the way from the market to the model is gone with this many results.
HALF_TRUSTED_AT: Final = 200
_EDGE: Final = 1e-4
_FOLDS: Final = 5
_LEAST_PER_FOLD: Final = 20
_TWO_FOLDS: Final = 2
_RIDGE: Final = 1e-3
_NEWTON: Final = 50
_DONE: Final = 1e-10
_FAR: Final = 35.0
_COUNTS: Final[dict[str, int]] = {"identity": 0, "platt": 2, "beta": 3}


@dataclass(frozen=True, slots=True)
class Curve:
    """One way from a stated probability to a believed one.

    Platt: log odds `a x + b`; beta: `a ln p - b ln(1 - p) + c`; isotonic: the points `xs`, `ys`
    with straight lines between. Raises ForecastImpossible when the numbers do not fit the kind.
    """

    kind: Kind
    numbers: tuple[float, ...] = ()
    xs: tuple[float, ...] = ()
    ys: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        flat = all(math.isfinite(each) for each in (*self.numbers, *self.xs, *self.ys))
        fits = len(self.numbers) == _COUNTS.get(self.kind, 0) and len(self.xs) == len(self.ys)
        if not flat or not fits or bool(self.xs) != (self.kind == "isotonic"):
            raise ForecastImpossible(f"These are not the numbers of a curve of kind {self.kind}.")

    def probability(self, stated: float) -> float:
        """What is believed when this is stated; never quite 0 or 1."""
        given = min(max(stated, _EDGE), 1.0 - _EDGE)
        if self.kind == "platt":
            return _inside(from_log_odds(self.numbers[0] * log_odds(given) + self.numbers[1]))
        if self.kind == "beta":
            first, second, moved = self.numbers
            logs = first * math.log(given) - second * math.log1p(-given) + moved
            return _inside(from_log_odds(logs))
        if self.kind == "isotonic":
            return _inside(_between(self.xs, self.ys, given))
        return given

    def probabilities(self, stated: Sequence[float]) -> list[float]:
        """The same for many."""
        given = np.clip(np.asarray(stated, dtype=np.float64), _EDGE, 1.0 - _EDGE)
        if self.kind == "isotonic":
            believed = np.interp(given, self.xs, self.ys)
        elif self.kind == "identity":
            believed = given
        else:
            first, *second, moved = self.numbers
            others = -np.log1p(-given)
            logs = first * np.log(given) + (second[0] if second else first) * others + moved
            believed = 1.0 / (1.0 + np.exp(-np.clip(logs, -_FAR, _FAR)))
        many: list[float] = np.clip(believed, _EDGE, 1.0 - _EDGE).tolist()
        return many


IDENTITY: Final = Curve("identity")


@dataclass(frozen=True, slots=True)
class Calibration:
    """The chosen curve, how many results it rests on, and the losses it was chosen by."""

    curve: Curve
    results: int
    losses: tuple[tuple[Kind, float], ...] = ()
    half_trusted_at: int = HALF_TRUSTED_AT

    def probability(self, stated: float, market: float | None = None) -> float:
        """What to believe; between the market and the curve, nearer the latter the more results.

        Without a market an even chance stands in for it.
        """
        believed = self.curve.probability(stated)
        return shrunk(
            believed,
            0.5 if market is None else market,
            self.results,
            half_trusted_at=self.half_trusted_at,
        )


def shrunk(
    believed: float, market: float, results: int, *, half_trusted_at: int = HALF_TRUSTED_AT
) -> float:
    """Log odds between the market's and the model's, by how many results the model has."""
    trust = results / (results + half_trusted_at) if results else 0.0
    start = log_odds(_inside(market))
    return from_log_odds(start + trust * (log_odds(_inside(believed)) - start))


def calibrate(
    stated: Sequence[float], happened: Sequence[bool], *, half_trusted_at: int = HALF_TRUSTED_AT
) -> Calibration:
    """The curve that did best on results later than those it was fitted to, fitted to all.

    Give one pair a bet, in order of time. With too few to hold some back, stated confidence stays
    as it is. Raises ForecastImpossible.
    """
    if len(stated) != len(happened):
        raise ForecastImpossible("Each stated confidence needs its result.")
    count = len(stated)
    if count < _LEAST_PER_FOLD * _TWO_FOLDS:
        return Calibration(IDENTITY, count, (), half_trusted_at)
    losses = out_of_sample(stated, happened)
    best = min(losses, key=lambda each: each[1])[0]
    return Calibration(fit(best, stated, happened), count, losses, half_trusted_at)


def out_of_sample(
    stated: Sequence[float], happened: Sequence[bool]
) -> tuple[tuple[Kind, float], ...]:
    """The log loss of every kind, each part forecast by curves fitted to what came before it."""
    folds = max(_TWO_FOLDS, min(_FOLDS, len(stated) // _LEAST_PER_FOLD))
    ends = [len(stated) * at // folds for at in range(1, folds + 1)]
    came = [bool(each) for each in happened[ends[0] :]]
    losses: list[tuple[Kind, float]] = []
    for kind in KINDS:
        believed: list[float] = []
        for seen, end in pairwise(ends):
            curve = fit(kind, stated[:seen], happened[:seen])
            believed += curve.probabilities(stated[seen:end])
        losses.append((kind, log_loss(believed, came)))
    return tuple(losses)


def fit(kind: Kind, stated: Sequence[float], happened: Sequence[bool]) -> Curve:
    """One curve by maximum likelihood; isotonic by pooling neighbours."""
    given = np.clip(np.asarray(stated, dtype=np.float64), _EDGE, 1.0 - _EDGE)
    came = np.asarray(happened, dtype=np.float64)
    if kind == "identity" or not given.size:
        return IDENTITY
    if kind == "isotonic":
        return _isotonic(given, came)
    logs, others = np.log(given), -np.log1p(-given)
    if kind == "platt":
        slope, moved = _logistic(np.column_stack([logs + others, np.ones_like(given)]), came)
        return Curve("platt", (slope, moved))
    return _beta(logs, others, came)


def _inside(probability: float) -> float:
    return min(max(probability, _EDGE), 1.0 - _EDGE)


def _between(xs: tuple[float, ...], ys: tuple[float, ...], at: float) -> float:
    right = bisect_right(xs, at)
    if right in {0, len(xs)}:
        return ys[0] if right == 0 else ys[-1]
    share = (at - xs[right - 1]) / (xs[right] - xs[right - 1])
    return ys[right - 1] + share * (ys[right] - ys[right - 1])


def _beta(logs: Reals, others: Reals, came: Reals) -> Curve:
    """Both slopes at or above zero where they can be, as the beta family asks."""
    ones = np.ones_like(logs)
    first, second, moved = _logistic(np.column_stack([logs, others, ones]), came)
    if first < 0.0 <= second:
        second, moved = _logistic(np.column_stack([others, ones]), came)
        first = 0.0
    elif second < 0.0 <= first:
        first, moved = _logistic(np.column_stack([logs, ones]), came)
        second = 0.0
    return Curve("beta", (first, second, moved))


def _logistic(columns: Reals, came: Reals) -> list[float]:
    """The weights of a logistic regression, held a little towards zero so that they exist."""
    weights = np.zeros(columns.shape[1])
    for _ in range(_NEWTON):
        believed = 1.0 / (1.0 + np.exp(-np.clip(columns @ weights, -_FAR, _FAR)))
        slope = columns.T @ (came - believed) - _RIDGE * weights
        bend = (columns * (believed * (1.0 - believed))[:, None]).T @ columns
        step = np.linalg.solve(bend + _RIDGE * np.eye(weights.size), slope)
        weights = weights + step * min(1.0, 5.0 / max(float(np.abs(step).max()), _DONE))
        if float(np.abs(step).max()) < _DONE:
            break
    return [float(each) for each in weights]


def _isotonic(given: Reals, came: Reals) -> Curve:
    """Neighbours whose rates fall are pooled until none do."""
    values, places = np.unique(given, return_inverse=True)
    counts, rates = np.bincount(places), np.bincount(places, weights=came)
    found = _pooled(
        (float(n), x * n, y)
        for x, n, y in zip(values.tolist(), counts.tolist(), rates.tolist(), strict=True)
    )
    # One result more each way keeps a pool of few from saying never or always.
    pools = _pooled((n, x, n * (y + 1.0) / (n + 2.0)) for n, x, y in found)
    return Curve(
        "isotonic", xs=tuple(x / n for n, x, _ in pools), ys=tuple(y / n for n, _, y in pools)
    )


def _pooled(points: Iterable[_Pool]) -> list[_Pool]:
    """Points in order, merged until the rate rises from each to the next."""
    pools: list[_Pool] = []
    for point in points:
        pool = point
        while pools and pools[-1][2] / pools[-1][0] >= pool[2] / pool[0]:
            last = pools.pop()
            pool = (last[0] + pool[0], last[1] + pool[1], last[2] + pool[2])
        pools.append(pool)
    return pools

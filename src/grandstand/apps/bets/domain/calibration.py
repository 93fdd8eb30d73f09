"""Calibration: how a model's stated confidence becomes a probability to bet on.

The curve is chosen by log loss on results it was not fitted to. With few results the probability
stays near the market's own.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.domain.forecasts import Forecast, Predictor
from grandstand.apps.bets.domain.history import AsOfView
from grandstand.apps.bets.domain.odds import from_log_odds, log_odds
from grandstand.apps.bets.domain.records import EPOCH, Fixture
from grandstand.apps.bets.domain.scoring import log_loss
from grandstand.core.errors import InvalidInput

Reals: TypeAlias = npt.NDArray[np.float64]
CurveKind: TypeAlias = Literal["identity", "platt", "beta", "isotonic"]
# Count, sum of stated probabilities, sum of outcomes
_Pool: TypeAlias = tuple[float, float, float]

CURVE_KINDS: Final[tuple[CurveKind, ...]] = ("identity", "platt", "beta", "isotonic")
# With this many results the probability is half way from the market to the model.
HALF_TRUSTED_AT: Final = 200
_EDGE: Final = 1e-4
_MIN_PER_FOLD: Final = 20
_RIDGE: Final = 1e-3
_MAX_NEWTON_STEPS: Final = 50
_CONVERGED: Final = 1e-10
_MAX_LOGIT: Final = 35.0
_PARAMETER_COUNTS: Final[dict[str, int]] = {"identity": 0, "platt": 2, "beta": 3}
WindowKind: TypeAlias = Literal["rolling", "anchored"]


@dataclass(frozen=True, slots=True)
class CalibrationCurve:
    """A map from stated to calibrated probability.

    Platt: log odds `a x + b`; beta: `a ln p - b ln(1 - p) + c`; isotonic: the points `xs`, `ys`
    with straight lines between.

    Raises InvalidInput if the parameters do not fit the kind.
    """

    kind: CurveKind
    numbers: tuple[float, ...] = ()
    xs: tuple[float, ...] = ()
    ys: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        finite = all(math.isfinite(value) for value in (*self.numbers, *self.xs, *self.ys))
        fits = len(self.numbers) == _PARAMETER_COUNTS.get(self.kind, 0) and len(self.xs) == len(
            self.ys
        )
        if not finite or not fits or bool(self.xs) != (self.kind == "isotonic"):
            raise InvalidInput(f"Invalid parameters for a calibration curve of kind {self.kind}.")

    def probability(self, stated: float) -> float:
        """Return the calibrated probability, kept away from 0 and 1."""
        clamped = min(max(stated, _EDGE), 1.0 - _EDGE)
        if self.kind == "platt":
            return _clamp(from_log_odds(self.numbers[0] * log_odds(clamped) + self.numbers[1]))
        if self.kind == "beta":
            first, second, intercept = self.numbers
            logs = first * math.log(clamped) - second * math.log1p(-clamped) + intercept
            return _clamp(from_log_odds(logs))
        if self.kind == "isotonic":
            return _clamp(_interpolate(self.xs, self.ys, clamped))
        return clamped

    def probabilities(self, stated: Sequence[float]) -> list[float]:
        clamped = np.clip(np.asarray(stated, dtype=np.float64), _EDGE, 1.0 - _EDGE)
        if self.kind == "isotonic":
            calibrated = np.interp(clamped, self.xs, self.ys)
        elif self.kind == "identity":
            calibrated = clamped
        else:
            first, *second, intercept = self.numbers
            inverse_logs = -np.log1p(-clamped)
            logs = (
                first * np.log(clamped)
                + (second[0] if second else first) * inverse_logs
                + intercept
            )
            calibrated = 1.0 / (1.0 + np.exp(-np.clip(logs, -_MAX_LOGIT, _MAX_LOGIT)))
        result: list[float] = np.clip(calibrated, _EDGE, 1.0 - _EDGE).tolist()
        return result


IDENTITY: Final = CalibrationCurve("identity")


@dataclass(frozen=True, slots=True)
class Calibration:
    """The chosen curve, the number of results behind it, and the losses it was chosen by."""

    curve: CalibrationCurve
    results: int
    losses: tuple[tuple[CurveKind, float], ...] = ()
    half_trusted_at: int = HALF_TRUSTED_AT

    def probability(self, stated: float, market: float | None = None) -> float:
        """Return a probability between the market's and the curve's, by the number of results.

        Without a market, an even chance is used in its place.
        """
        calibrated = self.curve.probability(stated)
        return shrink_to_market(
            calibrated,
            0.5 if market is None else market,
            self.results,
            half_trusted_at=self.half_trusted_at,
        )


def shrink_to_market(
    calibrated: float, market: float, results: int, *, half_trusted_at: int = HALF_TRUSTED_AT
) -> float:
    """Return log-odds interpolated from the market to the model by the number of results."""
    trust = results / (results + half_trusted_at) if results else 0.0
    start = log_odds(_clamp(market))
    return from_log_odds(start + trust * (log_odds(_clamp(calibrated)) - start))


def calibrate(
    stated: Sequence[float], happened: Sequence[bool], *, half_trusted_at: int = HALF_TRUSTED_AT
) -> Calibration:
    """Fit the curve that did best on results later than those it was fitted to.

    Pass one pair per bet, in order of time. With too few pairs, stated confidence stays as it is.
    """
    if len(stated) != len(happened):
        raise InvalidInput("Confidences and results differ in number.")
    count = len(stated)
    if count < _MIN_PER_FOLD * 2:
        return Calibration(IDENTITY, count, (), half_trusted_at)
    losses = out_of_sample_losses(stated, happened)
    best = min(losses, key=lambda pair: pair[1])[0]
    return Calibration(fit_curve(best, stated, happened), count, losses, half_trusted_at)


def out_of_sample_losses(
    stated: Sequence[float], happened: Sequence[bool]
) -> tuple[tuple[CurveKind, float], ...]:
    """Return the log loss of each kind, each fold predicted by curves fitted to earlier folds."""
    folds = max(2, min(5, len(stated) // _MIN_PER_FOLD))
    ends = [len(stated) * fold // folds for fold in range(1, folds + 1)]
    outcomes = [bool(outcome) for outcome in happened[ends[0] :]]
    losses: list[tuple[CurveKind, float]] = []
    for kind in CURVE_KINDS:
        calibrated: list[float] = []
        for start, end in pairwise(ends):
            curve = fit_curve(kind, stated[:start], happened[:start])
            calibrated += curve.probabilities(stated[start:end])
        losses.append((kind, log_loss(calibrated, outcomes)))
    return tuple(losses)


def fit_curve(
    kind: CurveKind, stated: Sequence[float], happened: Sequence[bool]
) -> CalibrationCurve:
    """Fit one curve by maximum likelihood; isotonic by pooling adjacent violators."""
    clamped = np.clip(np.asarray(stated, dtype=np.float64), _EDGE, 1.0 - _EDGE)
    outcomes = np.asarray(happened, dtype=np.float64)
    if kind == "identity" or not clamped.size:
        return IDENTITY
    if kind == "isotonic":
        return _isotonic(clamped, outcomes)
    logs, inverse_logs = np.log(clamped), -np.log1p(-clamped)
    if kind == "platt":
        slope, intercept = _logistic(
            np.column_stack([logs + inverse_logs, np.ones_like(clamped)]), outcomes
        )
        return CalibrationCurve("platt", (slope, intercept))
    return _beta(logs, inverse_logs, outcomes)


def _clamp(probability: float) -> float:
    return min(max(probability, _EDGE), 1.0 - _EDGE)


def _interpolate(xs: tuple[float, ...], ys: tuple[float, ...], at: float) -> float:
    right = bisect_right(xs, at)
    if right in {0, len(xs)}:
        return ys[0] if right == 0 else ys[-1]
    share = (at - xs[right - 1]) / (xs[right] - xs[right - 1])
    return ys[right - 1] + share * (ys[right] - ys[right - 1])


def _beta(logs: Reals, inverse_logs: Reals, outcomes: Reals) -> CalibrationCurve:
    """Fit the beta curve with non-negative slopes where possible."""
    ones = np.ones_like(logs)
    first, second, intercept = _logistic(np.column_stack([logs, inverse_logs, ones]), outcomes)
    if first < 0.0 <= second:
        second, intercept = _logistic(np.column_stack([inverse_logs, ones]), outcomes)
        first = 0.0
    elif second < 0.0 <= first:
        first, intercept = _logistic(np.column_stack([logs, ones]), outcomes)
        second = 0.0
    return CalibrationCurve("beta", (first, second, intercept))


def _logistic(columns: Reals, outcomes: Reals) -> list[float]:
    """Return the weights of a slightly ridge-penalized logistic regression."""
    weights = np.zeros(columns.shape[1])
    for _ in range(_MAX_NEWTON_STEPS):
        predicted = 1.0 / (1.0 + np.exp(-np.clip(columns @ weights, -_MAX_LOGIT, _MAX_LOGIT)))
        gradient = columns.T @ (outcomes - predicted) - _RIDGE * weights
        hessian = (columns * (predicted * (1.0 - predicted))[:, None]).T @ columns
        step = np.linalg.solve(hessian + _RIDGE * np.eye(weights.size), gradient)
        weights = weights + step * min(1.0, 5.0 / max(float(np.abs(step).max()), _CONVERGED))
        if float(np.abs(step).max()) < _CONVERGED:
            break
    return [float(weight) for weight in weights]


def _isotonic(clamped: Reals, outcomes: Reals) -> CalibrationCurve:
    """Pool adjacent bins until the rate no longer falls."""
    values, bins = np.unique(clamped, return_inverse=True)
    counts, rates = np.bincount(bins), np.bincount(bins, weights=outcomes)
    pooled = _pooled(
        (float(n), x * n, y)
        for x, n, y in zip(values.tolist(), counts.tolist(), rates.tolist(), strict=True)
    )
    # One extra result each way keeps small pools away from 0 and 1.
    pools = _pooled((n, x, n * (y + 1.0) / (n + 2.0)) for n, x, y in pooled)
    return CalibrationCurve(
        "isotonic", xs=tuple(x / n for n, x, _ in pools), ys=tuple(y / n for n, _, y in pools)
    )


def _pooled(points: Iterable[_Pool]) -> list[_Pool]:
    """Merge adjacent points until the rate rises from each to the next."""
    pools: list[_Pool] = []
    for point in points:
        pool = point
        while pools and pools[-1][2] / pools[-1][0] >= pool[2] / pool[0]:
            last = pools.pop()
            pool = (last[0] + pool[0], last[1] + pool[1], last[2] + pool[2])
        pools.append(pool)
    return pools


@dataclass(frozen=True, slots=True)
class TrainingWindow:
    """A period to train on; `since` is None for anchored windows."""

    since: datetime | None
    until: datetime


@dataclass(frozen=True, slots=True)
class TrainingWindows:
    """Training and test windows of walk-forward evaluation.

    A fit is used for `test`, then refitted. A rolling window looks back `train`, an anchored one to
    the beginning. Results that became known less than `embargo` before the test window are
    excluded, and so is every forecast whose result was still open then (the purge).

    Raises InvalidInput.
    """

    kind: WindowKind = "rolling"
    train: timedelta = timedelta(days=365)
    test: timedelta = timedelta(days=14)
    embargo: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        if self.test <= timedelta(0) or self.train <= timedelta(0):
            raise InvalidInput("Training and test windows must be longer than zero.")
        if self.embargo < timedelta(0):
            raise InvalidInput("The embargo must not be negative.")

    def at(self, instant: datetime) -> TrainingWindow:
        """Return the window in force at an instant, the same for a whole test window."""
        start = EPOCH + (instant - EPOCH) // self.test * self.test
        until = start - self.embargo
        return TrainingWindow(None if self.kind == "anchored" else until - self.train, until)


DEFAULT_WINDOWS: Final = TrainingWindows()


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedPredictor:
    """A model whose probabilities are corrected by its own verified forecasts.

    A calibration is valid for one training window and uses only results known before it.
    """

    model: Predictor
    windows: TrainingWindows = DEFAULT_WINDOWS

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def markets(self) -> tuple[str, ...]:
        return self.model.markets

    def predict(self, game: Fixture, view: AsOfView, market: str = "h2h") -> Forecast | None:
        """Return the model's forecast with a calibrated probability, computed once per view."""
        return view.cached(
            ("forecast", self, game.game_id, market),
            lambda cached_view: self._predict(game, cached_view, market),
        )

    def _predict(self, game: Fixture, view: AsOfView, market: str) -> Forecast | None:
        forecast = self.model.predict(game, view, market)
        if forecast is None:
            return None
        calibration = calibration_at(view, self.windows, (game.sport, market, self.name))
        return apply_calibration(forecast, calibration, view)


def calibration_at(
    view: AsOfView, windows: TrainingWindows, key: tuple[str, str, str]
) -> Calibration:
    """Return the calibration in force at the view's instant for (sport, market, model)."""
    window = windows.at(view.instant)

    def fit(past: AsOfView) -> Calibration:
        record = past.verified_forecasts(*key, window.since)
        return calibrate([row.raw for row in record], [row.outcome > 0.5 for row in record])

    return view.cached_at(("calibration", key, window), window.until, fit)


def apply_calibration(forecast: Forecast, calibration: Calibration, view: AsOfView) -> Forecast:
    """Return the forecast with a calibrated probability; unchanged without market and record."""
    if forecast.fair is None and not calibration.results:
        return forecast
    chance = calibration.probability(forecast.raw, forecast.fair)
    return replace(forecast, probability=chance, trained_on=calibration.results, used=view.used)

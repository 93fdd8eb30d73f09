"""Kept here: how good forecasts were once races are run: their losses, calibration and returns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

from grandstand.base.errors import InvalidInput

STAKE_UNIT_YEN: Final = 100
"""Bets are sold, and payouts stated, in units of one hundred yen."""

_ROUNDING: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Forecast:
    """Chances given before a race and the positions of its winners, several in a dead heat.

    `truth` holds the chances a simulator really drew from; nobody knows them for a real race.
    Raises InvalidInput for chances that are not a distribution and for winners not among them.
    """

    chances: tuple[float, ...]
    winners: tuple[int, ...]
    truth: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for chances in (self.chances, *(() if self.truth is None else (self.truth,))):
            if len(chances) != len(self.chances) or not all(chance > 0 for chance in chances):
                raise InvalidInput("a forecast gives every runner a chance above zero")
            if abs(math.fsum(chances) - 1) > _ROUNDING:
                raise InvalidInput("the chances of a forecast must sum to one")
        if not self.winners or not set(self.winners) <= set(range(len(self.chances))):
            raise InvalidInput("the winners of a race must be among its runners")


@dataclass(frozen=True, slots=True)
class Bin:
    """Runners whose chances were alike: how many, their mean chance, and the share that won."""

    low: float
    high: float
    runners: int
    mean_chance: float
    won: float


@dataclass(frozen=True, slots=True)
class GapClosed:
    """How far forecasts came from knowing nothing (0) to knowing the truth (1).

    `standard_error` is that of `share` over the races measured.
    """

    races: int
    uniform_loss: float
    our_loss: float
    true_loss: float
    share: float
    standard_error: float


@dataclass(frozen=True, slots=True)
class Wager:
    """A stake on one runner and what each hundred yen of it paid, nothing if it lost.

    Raises InvalidInput unless the stake is a positive multiple of one hundred yen and the payout
    not negative.
    """

    stake_yen: int
    payout_yen: int

    def __post_init__(self) -> None:
        if self.stake_yen <= 0 or self.stake_yen % STAKE_UNIT_YEN:
            raise InvalidInput(f"a stake is a multiple of {STAKE_UNIT_YEN} yen above zero")
        if self.payout_yen < 0:
            raise InvalidInput("a payout is never negative")

    @property
    def returned_yen(self) -> int:
        """What the stake brought back, exactly."""
        return self.stake_yen // STAKE_UNIT_YEN * self.payout_yen


@dataclass(frozen=True, slots=True)
class Account:
    """What many bets came to, in exact yen."""

    bets: int
    won: int
    staked_yen: int
    returned_yen: int

    @property
    def profit_yen(self) -> int:
        """What is left after the stakes, below zero for a loss."""
        return self.returned_yen - self.staked_yen

    @property
    def return_on_stakes(self) -> Fraction | None:
        """The profit over the stakes, exactly; None when nothing was staked."""
        return Fraction(self.profit_yen, self.staked_yen) if self.staked_yen else None


def log_loss(forecasts: Sequence[Forecast]) -> float:
    """The mean of minus the logarithm of the winner's chance; lower is better.

    A dead heat counts the mean of its winners. Raises InvalidInput without forecasts.
    """
    return _mean([_loss(forecast.chances, forecast.winners) for forecast in _some(forecasts)])


def brier(forecasts: Sequence[Forecast]) -> float:
    """The mean squared distance of the chances from what happened; lower is better.

    The winners of a dead heat share one win. Raises InvalidInput without forecasts.
    """
    return _mean([_distance(forecast) for forecast in _some(forecasts)])


def calibration(forecasts: Sequence[Forecast], *, bins: int = 10) -> tuple[Bin, ...]:
    """Chances beside the share that won, runners sorted by chance into bins of even size.

    Raises InvalidInput without forecasts and for fewer than one bin.
    """
    if bins < 1:
        raise InvalidInput("a calibration needs at least one bin")
    runners = sorted(
        (chance, _share(forecast, position))
        for forecast in _some(forecasts)
        for position, chance in enumerate(forecast.chances)
    )
    edges = [len(runners) * number // bins for number in range(bins + 1)]
    parts = [runners[low:high] for low, high in pairwise(edges) if low < high]
    return tuple(_bin(part) for part in parts)


def gap_closed(forecasts: Sequence[Forecast]) -> GapClosed:
    """The share of the log loss between even chances and the truth that forecasts save.

    Raises InvalidInput without forecasts, for one whose truth is unknown, and where the truth is
    no better than even chances.
    """
    uniform = [math.log(len(forecast.chances)) for forecast in _some(forecasts)]
    ours = [_loss(forecast.chances, forecast.winners) for forecast in forecasts]
    true = [_loss(_truth(forecast), forecast.winners) for forecast in forecasts]
    gap = _mean(uniform) - _mean(true)
    if not gap > 0:
        raise InvalidInput("the truth must do better than even chances for a gap to be closed")
    share = (_mean(uniform) - _mean(ours)) / gap
    # The share is a ratio of means, so its error is that of the residuals over the gap.
    residuals = [
        (even - own) - share * (even - best)
        for even, own, best in zip(uniform, ours, true, strict=True)
    ]
    spread = math.sqrt(math.fsum(value * value for value in residuals)) / len(residuals)
    return GapClosed(
        races=len(forecasts),
        uniform_loss=_mean(uniform),
        our_loss=_mean(ours),
        true_loss=_mean(true),
        share=share,
        standard_error=spread / gap,
    )


def account(bets: Iterable[Wager]) -> Account:
    """Adds bets up."""
    placed = tuple(bets)
    return Account(
        bets=len(placed),
        won=sum(bet.payout_yen > 0 for bet in placed),
        staked_yen=sum(bet.stake_yen for bet in placed),
        returned_yen=sum(bet.returned_yen for bet in placed),
    )


def flat_stakes(
    expected_returns: Sequence[float | None],
    payouts_yen: Sequence[int],
    *,
    stake_yen: int = STAKE_UNIT_YEN,
    at_least: float = 1.0,
) -> tuple[Wager, ...]:
    """The same stake on every runner of a race whose expected return is at least this much.

    Runners whose return is unknown are left alone. Raises InvalidInput for lists of different
    lengths and for a stake that cannot be placed.
    """
    if len(expected_returns) != len(payouts_yen):
        raise InvalidInput("every runner has one expected return and one payout")
    return tuple(
        Wager(stake_yen, payout)
        for expected, payout in zip(expected_returns, payouts_yen, strict=True)
        if expected is not None and expected >= at_least
    )


def _some(forecasts: Sequence[Forecast]) -> Sequence[Forecast]:
    if not forecasts:
        raise InvalidInput("there is nothing to measure without forecasts")
    return forecasts


def _truth(forecast: Forecast) -> tuple[float, ...]:
    if forecast.truth is None:
        raise InvalidInput("the gap to the truth can only be measured where the truth is known")
    return forecast.truth


def _loss(chances: Sequence[float], winners: Sequence[int]) -> float:
    return _mean([-math.log(chances[winner]) for winner in winners])


def _share(forecast: Forecast, position: int) -> float:
    return 1 / len(forecast.winners) if position in forecast.winners else 0.0


def _distance(forecast: Forecast) -> float:
    return math.fsum(
        (chance - _share(forecast, position)) ** 2
        for position, chance in enumerate(forecast.chances)
    )


def _bin(runners: Sequence[tuple[float, float]]) -> Bin:
    return Bin(
        low=runners[0][0],
        high=runners[-1][0],
        runners=len(runners),
        mean_chance=_mean([chance for chance, _ in runners]),
        won=_mean([share for _, share in runners]),
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)

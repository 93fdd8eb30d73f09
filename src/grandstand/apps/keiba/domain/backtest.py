"""Quality of forecasts: losses, calibration and betting returns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from grandstand.core.errors import InvalidInput

STAKE_UNIT_YEN: Final = 100
"""Bets are sold and payouts stated per 100 yen."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Win probabilities before a race and the indexes of its winners (several in a dead heat).

    Raises InvalidInput if the probabilities are not a distribution or a winner is not a runner.
    """

    chances: tuple[float, ...]
    winners: tuple[int, ...]

    def __post_init__(self) -> None:
        if not all(chance > 0 for chance in self.chances):
            raise InvalidInput("Every runner needs a positive probability.")
        if abs(math.fsum(self.chances) - 1) > 1e-6:
            raise InvalidInput("The probabilities of a forecast must sum to one.")
        if not self.winners or not set(self.winners) <= set(range(len(self.chances))):
            raise InvalidInput("The winners must be runners of the race.")


@dataclass(frozen=True, slots=True)
class Bin:
    """Runners with similar probabilities: their number, mean probability and win share."""

    low: float
    high: float
    runners: int
    mean_chance: float
    won: float


@dataclass(frozen=True, slots=True)
class Wager:
    """A stake on one runner and its payout per 100 yen, zero if it lost.

    Raises InvalidInput unless the stake is a positive multiple of 100 yen and the payout is not
    negative.
    """

    stake_yen: int
    payout_yen: int

    def __post_init__(self) -> None:
        if self.stake_yen <= 0 or self.stake_yen % STAKE_UNIT_YEN:
            raise InvalidInput(f"The stake must be a positive multiple of {STAKE_UNIT_YEN} yen.")
        if self.payout_yen < 0:
            raise InvalidInput("The payout must not be negative.")

    @property
    def returned_yen(self) -> int:
        """The total return of the stake."""
        return self.stake_yen // STAKE_UNIT_YEN * self.payout_yen


@dataclass(frozen=True, slots=True)
class Account:
    """Totals of many bets in yen."""

    bets: int
    won: int
    staked_yen: int
    returned_yen: int


def log_loss(forecasts: Sequence[Forecast]) -> float:
    """Return the mean negative log probability of the winners; lower is better.

    A dead heat counts the mean of its winners. Raises InvalidInput without forecasts.
    """
    return _mean(
        [
            _mean([-math.log(forecast.chances[winner]) for winner in forecast.winners])
            for forecast in _require_forecasts(forecasts)
        ]
    )


def brier(forecasts: Sequence[Forecast]) -> float:
    """Return the mean squared error of the probabilities; lower is better.

    The winners of a dead heat share one win. Raises InvalidInput without forecasts.
    """
    return _mean(
        [
            math.fsum(
                (chance - _share(forecast, position)) ** 2
                for position, chance in enumerate(forecast.chances)
            )
            for forecast in _require_forecasts(forecasts)
        ]
    )


def calibration(forecasts: Sequence[Forecast], *, bins: int = 10) -> tuple[Bin, ...]:
    """Return mean probability and win share of runners, in bins of equal size.

    Raises InvalidInput without forecasts and for fewer than one bin.
    """
    if bins < 1:
        raise InvalidInput("Calibration needs at least one bin.")
    runners = sorted(
        (chance, _share(forecast, position))
        for forecast in _require_forecasts(forecasts)
        for position, chance in enumerate(forecast.chances)
    )
    edges = [len(runners) * number // bins for number in range(bins + 1)]
    parts = [runners[low:high] for low, high in pairwise(edges) if low < high]
    return tuple(_bin(part) for part in parts)


def account(bets: Iterable[Wager]) -> Account:
    """Return the totals of bets."""
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
    min_return: float = 1.0,
) -> tuple[Wager, ...]:
    """Return equal bets on all runners of a race with at least this expected return.

    Runners without an expected return are skipped. Raises InvalidInput for lists of different
    lengths and for an invalid stake.
    """
    if len(expected_returns) != len(payouts_yen):
        raise InvalidInput("Every runner needs one expected return and one payout.")
    return tuple(
        Wager(stake_yen, payout)
        for expected, payout in zip(expected_returns, payouts_yen, strict=True)
        if expected is not None and expected >= min_return
    )


def _require_forecasts(forecasts: Sequence[Forecast]) -> Sequence[Forecast]:
    if not forecasts:
        raise InvalidInput("There are no forecasts.")
    return forecasts


def _share(forecast: Forecast, position: int) -> float:
    return 1 / len(forecast.winners) if position in forecast.winners else 0.0


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

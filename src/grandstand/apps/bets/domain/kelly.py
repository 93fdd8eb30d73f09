"""Kelly staking: how much of a bankroll a bet deserves, alone and in a portfolio.

A portfolio maximizes the expected log growth of the whole bankroll. Over independent games it is a
single integral, since ln w is that of (exp(-t) - exp(-t w)) / t over t > 0 and the expectation of
exp(-t w) is a product with one factor per game; so the number of combined results does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.domain.odds import InvalidPrice
from grandstand.core.errors import InvalidInput

Reals: TypeAlias = npt.NDArray[np.float64]

# In u = ln t the integrand is smooth and vanishes at both ends, so a sum over a lattice is as good
# as exact; at u = 8 a bankroll of which a twentieth is left has exp(-149).
_TIMES: Final = np.exp(np.linspace(-36.0, 8.0, 529))
_STEP: Final = 44.0 / 528
_MAX_AT_RISK: Final = 0.95
# Exponent used for a bankroll below zero, which the optimizer may try
_MAX_EXPONENT: Final = 300.0
_SUM_TOLERANCE: Final = 1e-9


def expected_value(probability: float, decimal: float, *, push: float = 0.0) -> float:
    """Return the expected profit of one unit staked."""
    _check(probability, decimal, push)
    return probability * (decimal - 1.0) - (1.0 - probability - push)


def kelly_fraction(probability: float, decimal: float, *, push: float = 0.0) -> float:
    """Return the share of the bankroll with the fastest growth, 0 without an edge.

    `push` is the probability of getting the stake back.

    Raises InvalidInput and InvalidPrice.
    """
    value = expected_value(probability, decimal, push=push)
    return max(0.0, value / ((decimal - 1.0) * (1.0 - push)))


@dataclass(frozen=True, slots=True)
class Caps:
    """Maximum shares of the bankroll at risk per bet, game, day and sport, and in total."""

    bet: float = 0.05
    game: float = 0.05
    day: float = 0.25
    sport: float = 0.25
    total: float = 0.5

    def __post_init__(self) -> None:
        if not all(0.0 < share <= 1.0 for share in self.shares):
            raise InvalidInput("Caps must be above 0 and at most 1.")

    @property
    def shares(self) -> tuple[float, ...]:
        return (self.bet, self.game, self.day, self.sport, self.total)


def stake_cents(bankroll_cents: int, share: float, *, cap: float = 1.0, min_cents: int = 1) -> int:
    """Return a share of the bankroll in whole cents, rounded down.

    Below the minimum the stake is 0: a minimum never makes a bet larger than it deserves.

    Raises InvalidInput.
    """
    if bankroll_cents < 0 or not 0.0 <= share <= 1.0 or min_cents < 1:
        raise InvalidInput(f"Invalid stake: {share!r} of {bankroll_cents} cents.")
    cents = math.floor(bankroll_cents * min(share, cap) + _SUM_TOLERANCE)
    return cents if cents >= min_cents else 0


@dataclass(frozen=True, slots=True)
class Scenario:
    """A way a game can end: its probability, and the profit of one unit on each bet."""

    probability: float
    returns: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Contest:
    """The bets on one game, with all the ways it can end; games are independent of each other.

    Raises InvalidInput unless the probabilities sum to 1.
    """

    game: str
    sport: str
    day: str
    scenarios: tuple[Scenario, ...]

    def __post_init__(self) -> None:
        total = math.fsum(scenario.probability for scenario in self.scenarios)
        if (
            abs(total - 1.0) > _SUM_TOLERANCE
            or min(scenario.probability for scenario in self.scenarios) < 0.0
        ):
            raise InvalidInput(f"The scenarios of {self.game} sum to {total} instead of 1.")
        if len({len(scenario.returns) for scenario in self.scenarios}) != 1:
            raise InvalidInput(f"The scenarios of {self.game} differ in the number of bets.")

    @property
    def bets(self) -> int:
        """The number of bets on the game."""
        return len(self.scenarios[0].returns)


@dataclass(frozen=True, slots=True)
class Offer:
    """An outcome with our probability and its decimal price."""

    probability: float
    decimal: float


def exclusive_contest(game: str, sport: str, day: str, offers: Sequence[Offer]) -> Contest:
    """Return a game whose offers exclude each other: at most one of them wins."""
    for offer in offers:
        _check(offer.probability, offer.decimal, 0.0)
    remainder = 1.0 - math.fsum(offer.probability for offer in offers)
    if remainder < -_SUM_TOLERANCE:
        raise InvalidInput(f"The probabilities of exclusive outcomes of {game} exceed 1.")
    lost = [-1.0] * len(offers)
    scenarios = [
        Scenario(offer.probability, (*lost[:index], offer.decimal - 1.0, *lost[index + 1 :]))
        for index, offer in enumerate(offers)
    ]
    if remainder > 0.0:
        scenarios.append(Scenario(remainder, tuple(lost)))
    return Contest(game, sport, day, tuple(scenarios))


def optimize_portfolio(
    contests: Sequence[Contest], *, fraction: float = 1.0, caps: Caps | None = None
) -> tuple[tuple[float, ...], ...]:
    """Return the shares of the bankroll for all bets, one tuple per game.

    They are `fraction` times the growth-optimal shares, and never above a cap.

    Raises InvalidInput.
    """
    if not 0.0 < fraction <= 1.0:
        raise InvalidInput(f"Invalid Kelly fraction {fraction!r}. Use a value above 0 and up to 1.")
    if not contests:
        return ()
    limits = caps or Caps()
    counts = [contest.bets for contest in contests]
    shares = fraction * _maximize_growth(
        contests, *_limits(contests, limits, fraction), limits.bet / fraction
    )
    shares = np.where(shares < _SUM_TOLERANCE, 0.0, shares)
    shares *= _cap_factor(contests, limits, shares)
    ends = np.cumsum(counts)
    return tuple(
        tuple(float(contest) for contest in shares[end - count : end])
        for end, count in zip(ends, counts, strict=True)
    )


def _check(probability: float, decimal: float, push: float) -> None:
    if not (math.isfinite(decimal) and decimal > 1.0):
        raise InvalidPrice(f"Invalid decimal price {decimal!r}. It must be above 1.")
    if not (0.0 <= probability <= 1.0 and 0.0 <= push < 1.0 and probability + push <= 1.0):
        raise InvalidInput(f"Invalid probabilities {probability!r} (win) and {push!r} (push).")


def scenario_arrays(contest: Contest) -> tuple[Reals, Reals]:
    probabilities = np.array(
        [scenario.probability for scenario in contest.scenarios], dtype=np.float64
    )
    return probabilities, np.array(
        [scenario.returns for scenario in contest.scenarios], dtype=np.float64
    )


def log_growth(games: Sequence[tuple[Reals, Reals]], shares: Reals) -> tuple[float, Reals]:
    """Return the expected log growth and its gradient."""
    factors, gradients, start = [], [], 0
    for chances, returns in games:
        game_shares = shares[start : start + returns.shape[1]]
        start += returns.shape[1]
        powers = -_TIMES[:, None] * (returns @ game_shares)
        maximum = powers.max(axis=1)
        weighted = chances * np.exp(powers - maximum[:, None])
        factor = weighted.sum(axis=1)
        factors.append(np.log(factor) + maximum)
        gradients.append((weighted @ returns) / factor[:, None])
    combined = np.exp(np.minimum(np.sum(factors, axis=0) - _TIMES, _MAX_EXPONENT))
    value = float(np.sum(np.exp(-_TIMES) - combined)) * _STEP
    slopes = (combined * _TIMES * _STEP) @ np.concatenate(gradients, axis=1)
    return value, slopes


def _groups(contests: Sequence[Contest], caps: Caps) -> list[tuple[Reals, float]]:
    """Return which bets each cap covers, as rows of ones, with the cap."""
    counts = [contest.bets for contest in contests]
    rows: list[tuple[Reals, float]] = []
    for names, cap in (
        ([contest.game for contest in contests], caps.game),
        ([contest.day for contest in contests], caps.day),
        ([contest.sport for contest in contests], caps.sport),
        ([""] * len(contests), min(caps.total, _MAX_AT_RISK)),
    ):
        spread = np.repeat(np.array(names), counts)
        rows += [((spread == name).astype(np.float64), cap) for name in dict.fromkeys(names)]
    return rows


def _limits(contests: Sequence[Contest], caps: Caps, fraction: float) -> tuple[Reals, Reals]:
    """Return the caps on the shares before they are multiplied by the fraction."""
    rows = _groups(contests, caps)
    bounds = [min(cap / fraction, _MAX_AT_RISK) for _, cap in rows]
    return np.array([row for row, _ in rows]), np.array(bounds, dtype=np.float64)


def _maximize_growth(
    contests: Sequence[Contest], rows: Reals, bounds: Reals, max_share: float
) -> Reals:
    from scipy.optimize import LinearConstraint, minimize

    games = [scenario_arrays(contest) for contest in contests]

    def cost(shares: Reals) -> tuple[float, Reals]:
        value, slopes = log_growth(games, shares)
        return -value, -slopes

    count = rows.shape[1]
    solution = minimize(
        cost,
        np.zeros(count),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, min(max_share, _MAX_AT_RISK))] * count,
        constraints=[LinearConstraint(rows, -np.inf, bounds)],
        options={"maxiter": 200, "ftol": 1e-13},
    )
    return np.clip(np.asarray(solution.x, dtype=np.float64), 0.0, max_share)


def _cap_factor(contests: Sequence[Contest], caps: Caps, shares: Reals) -> float:
    """Return the factor that keeps rounded shares within every cap."""
    excess = max(
        [*(float(row @ shares) / cap for row, cap in _groups(contests, caps)), 1.0],
    )
    return 1.0 / excess

"""Kept here: how much of a bankroll a bet deserves, alone and beside others.

Many bets at once are weighed by the growth of the whole bankroll. Its expected logarithm over
independent games is one integral, since ln w is that of (exp(-t) - exp(-t w)) / t over t > 0, and
the expectation of exp(-t w) is a product with one factor a game; so the number of combined
results does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from grandstand.apps.bets.model.errors import ForecastImpossible, PriceImpossible, StakeImpossible

Reals: TypeAlias = npt.NDArray[np.float64]

# In u = ln t the integrand is smooth and vanishes at both ends, where sums over a lattice are as
# good as exact; at u = 8 a bankroll of which a twentieth is left has exp(-149).
_TIMES: Final = np.exp(np.linspace(-36.0, 8.0, 529))
_STEP: Final = 44.0 / 528
_MOST_AT_RISK: Final = 0.95
# A bankroll below zero, which a search may try, counts as exp of this much.
_RUINED: Final = 300.0
_SUM_TOLERANCE: Final = 1e-9


def expected_value(probability: float, decimal: float, *, push: float = 0.0) -> float:
    """What one unit staked is expected to win; raises ForecastImpossible and PriceImpossible."""
    _check(probability, decimal, push)
    return probability * (decimal - 1.0) - (1.0 - probability - push)


def kelly(probability: float, decimal: float, *, push: float = 0.0) -> float:
    """The share of the bankroll that grows it fastest, 0 where there is no edge.

    `push` is the probability of getting the stake back. Raises ForecastImpossible and
    PriceImpossible.
    """
    value = expected_value(probability, decimal, push=push)
    return max(0.0, value / ((decimal - 1.0) * (1.0 - push)))


@dataclass(frozen=True, slots=True)
class Caps:
    """The most of the bankroll that may be at risk on one bet, game, day and sport, and in all."""

    bet: float = 0.05
    game: float = 0.05
    day: float = 0.25
    sport: float = 0.25
    total: float = 0.5

    def __post_init__(self) -> None:
        if not all(0.0 < each <= 1.0 for each in self.shares):
            raise StakeImpossible("A cap is a share of the bankroll above 0 and at most 1.")

    @property
    def shares(self) -> tuple[float, ...]:
        """All five."""
        return (self.bet, self.game, self.day, self.sport, self.total)


def stake_cents(
    bankroll_cents: int, share: float, *, cap: float = 1.0, least_cents: int = 1
) -> int:
    """A share of the bankroll in whole cents, rounded down; 0 rather than less than the least.

    A floor never makes a bet larger than it deserves: what is below it is not placed. Raises
    StakeImpossible.
    """
    if bankroll_cents < 0 or not 0.0 <= share <= 1.0 or least_cents < 1:
        raise StakeImpossible(f"{share!r} of {bankroll_cents} cents is no stake.")
    cents = math.floor(bankroll_cents * min(share, cap) + _SUM_TOLERANCE)
    return cents if cents >= least_cents else 0


@dataclass(frozen=True, slots=True)
class Scenario:
    """One way a game can end: how likely it is, and what one unit on each of its bets then wins."""

    probability: float
    returns: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Contest:
    """The bets on one game, by all the ways it can end; games are independent of each other.

    Raises ForecastImpossible unless the probabilities sum to 1.
    """

    game: str
    sport: str
    day: str
    scenarios: tuple[Scenario, ...]

    def __post_init__(self) -> None:
        total = math.fsum(each.probability for each in self.scenarios)
        if abs(total - 1.0) > _SUM_TOLERANCE or min(e.probability for e in self.scenarios) < 0.0:
            raise ForecastImpossible(f"The ways {self.game} can end sum to {total}, not 1.")
        if len({len(each.returns) for each in self.scenarios}) != 1:
            raise ForecastImpossible(f"The bets on {self.game} differ from one ending to another.")

    @property
    def bets(self) -> int:
        """How many bets there are on it."""
        return len(self.scenarios[0].returns)


@dataclass(frozen=True, slots=True)
class Offer:
    """One outcome with the probability we give it and the decimal price it is offered at."""

    probability: float
    decimal: float


def exclusive(game: str, sport: str, day: str, offers: Sequence[Offer]) -> Contest:
    """A game whose offers exclude each other: at most one of them wins.

    Raises ForecastImpossible and PriceImpossible.
    """
    for offer in offers:
        _check(offer.probability, offer.decimal, 0.0)
    rest = 1.0 - math.fsum(offer.probability for offer in offers)
    if rest < -_SUM_TOLERANCE:
        raise ForecastImpossible(f"Outcomes of {game} that exclude each other exceed 1.")
    lost = [-1.0] * len(offers)
    endings = [
        Scenario(offer.probability, (*lost[:at], offer.decimal - 1.0, *lost[at + 1 :]))
        for at, offer in enumerate(offers)
    ]
    if rest > 0.0:
        endings.append(Scenario(rest, tuple(lost)))
    return Contest(game, sport, day, tuple(endings))


def portfolio(
    contests: Sequence[Contest], *, fraction: float = 1.0, caps: Caps | None = None
) -> tuple[tuple[float, ...], ...]:
    """The shares of the bankroll for all bets of all games together, one tuple a game.

    They are the given fraction of those that grow the bankroll fastest, and never above a cap.
    Raises StakeImpossible.
    """
    if not 0.0 < fraction <= 1.0:
        raise StakeImpossible(f"A fraction of {fraction!r} is not above 0 and at most 1.")
    if not contests:
        return ()
    limits = caps or Caps()
    counts = [each.bets for each in contests]
    shares = fraction * _grown(
        contests, *_limits(contests, limits, fraction), limits.bet / fraction
    )
    shares = np.where(shares < _SUM_TOLERANCE, 0.0, shares)
    shares *= _within(contests, limits, shares)
    ends = np.cumsum(counts)
    return tuple(
        tuple(float(each) for each in shares[end - count : end])
        for end, count in zip(ends, counts, strict=True)
    )


def growth(contests: Sequence[Contest], shares: Sequence[Sequence[float]]) -> float:
    """The expected logarithm of what the bankroll is multiplied by."""
    flat = np.array([each for game in shares for each in game], dtype=np.float64)
    value, _ = _growth([_arrays(each) for each in contests], flat)
    return value


def _check(probability: float, decimal: float, push: float) -> None:
    if not (math.isfinite(decimal) and decimal > 1.0):
        raise PriceImpossible(f"{decimal!r} is no decimal price: it must be above 1.")
    if not (0.0 <= probability <= 1.0 and 0.0 <= push < 1.0 and probability + push <= 1.0):
        raise ForecastImpossible(f"{probability!r} and {push!r} are not two probabilities.")


def _arrays(contest: Contest) -> tuple[Reals, Reals]:
    chances = np.array([each.probability for each in contest.scenarios], dtype=np.float64)
    return chances, np.array([each.returns for each in contest.scenarios], dtype=np.float64)


def _growth(games: Sequence[tuple[Reals, Reals]], shares: Reals) -> tuple[float, Reals]:
    """The expected log growth and its slope in every share."""
    factors, sloped, at = [], [], 0
    for chances, returns in games:
        mine = shares[at : at + returns.shape[1]]
        at += returns.shape[1]
        powers = -_TIMES[:, None] * (returns @ mine)
        most = powers.max(axis=1)
        weighed = chances * np.exp(powers - most[:, None])
        factor = weighed.sum(axis=1)
        factors.append(np.log(factor) + most)
        sloped.append((weighed @ returns) / factor[:, None])
    together = np.exp(np.minimum(np.sum(factors, axis=0) - _TIMES, _RUINED))
    value = float(np.sum(np.exp(-_TIMES) - together)) * _STEP
    slopes = (together * _TIMES * _STEP) @ np.concatenate(sloped, axis=1)
    return value, slopes


def _groups(contests: Sequence[Contest], caps: Caps) -> list[tuple[Reals, float]]:
    """Which bets each cap is over, as rows of ones, with the cap."""
    counts = [each.bets for each in contests]
    rows: list[tuple[Reals, float]] = []
    for names, cap in (
        ([each.game for each in contests], caps.game),
        ([each.day for each in contests], caps.day),
        ([each.sport for each in contests], caps.sport),
        ([""] * len(contests), min(caps.total, _MOST_AT_RISK)),
    ):
        spread = np.repeat(np.array(names), counts)
        rows += [((spread == name).astype(np.float64), cap) for name in dict.fromkeys(names)]
    return rows


def _limits(contests: Sequence[Contest], caps: Caps, fraction: float) -> tuple[Reals, Reals]:
    """The caps on what is solved for: shares before they are multiplied by the fraction."""
    rows = _groups(contests, caps)
    bounds = [min(cap / fraction, _MOST_AT_RISK) for _, cap in rows]
    return np.array([row for row, _ in rows]), np.array(bounds, dtype=np.float64)


def _grown(contests: Sequence[Contest], rows: Reals, bounds: Reals, most: float) -> Reals:
    from scipy.optimize import LinearConstraint, minimize

    games = [_arrays(each) for each in contests]

    def cost(shares: Reals) -> tuple[float, Reals]:
        value, slopes = _growth(games, shares)
        return -value, -slopes

    count = rows.shape[1]
    found = minimize(
        cost,
        np.zeros(count),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, min(most, _MOST_AT_RISK))] * count,
        constraints=[LinearConstraint(rows, -np.inf, bounds)],
        options={"maxiter": 200, "ftol": 1e-13},
    )
    return np.clip(np.asarray(found.x, dtype=np.float64), 0.0, most)


def _within(contests: Sequence[Contest], caps: Caps, shares: Reals) -> float:
    """What to multiply all shares by so that rounding has carried none over a cap."""
    most = max(
        [*(float(row @ shares) / cap for row, cap in _groups(contests, caps)), 1.0],
    )
    return 1.0 / most

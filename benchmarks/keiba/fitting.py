"""Fits the weights of keiba's ranking on simulated seasons and measures them on others.

Run it with `python -m benchmarks.keiba.fitting`; what it prints as weights is what
`WEIGHTS` in `grandstand/apps/keiba/domain/ranking.py` holds.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.keiba.choice import Fit, fit
from grandstand.apps.keiba.domain.backtest import (
    Wager,
    account,
    flat_stakes,
)
from grandstand.apps.keiba.domain.ranking import (
    FACTORS,
    POINTS_PER_E_FOLD,
    WEIGHTS,
    Factor,
    Weight,
    compare,
    compute_contributions,
)
from tests.apps.keiba.domain.simulated import (
    GapClosed,
    Measured,
    forecasts,
    gap_closed,
    measured,
    season,
)

# A seed is a world of its own: no horse, jockey or race of one is in another.
LEARNT_FROM = (101, 102, 103)
MEASURED_ON = (201,)
YEAR = 2026

_SURE = 2.0


def fitted(races: Sequence[Measured]) -> dict[Factor, Weight]:
    """Weights with the doubts as they are and points from the order of the first three.

    A factor is kept only where its points are above zero by twice their standard error.
    """
    kept = list(FACTORS)
    while True:
        found = fit([_sample(each, kept) for each in races])
        sure = [
            factor
            for factor, value, error in zip(kept, found.values, found.errors, strict=True)
            if value > _SURE * error
        ]
        if sure == kept:
            return _as_weights(kept, found)
        kept = sure


def _sample(
    each: Measured, kept: Sequence[Factor]
) -> tuple[list[tuple[float, ...]], tuple[int, ...]]:
    units = {factor: Weight(1.0, WEIGHTS[factor].shrinkage) for factor in FACTORS}
    rows = [
        tuple(part.points for part in row if part.factor in kept)
        for row in compute_contributions(each.field, units)
    ]
    return rows, each.race.first_three


def _as_weights(kept: Sequence[Factor], found: Fit) -> dict[Factor, Weight]:
    points = dict(zip(kept, found.values, strict=True))
    return {
        factor: Weight(POINTS_PER_E_FOLD * points.get(factor, 0.0), WEIGHTS[factor].shrinkage)
        for factor in FACTORS
    }


def bets(races: Sequence[Measured], *, min_return: float) -> list[Wager]:
    """One hundred yen on every runner whose expected return is at least this much."""
    placed: list[Wager] = []
    for each, forecast in zip(races, forecasts(races), strict=True):
        beside = compare(forecast.chances, each.race.odds)
        payouts = [
            int(odds * 100) if at in each.race.winners else 0
            for at, odds in enumerate(each.race.odds)
        ]
        placed += flat_stakes(
            [runner.expected_return for runner in beside], payouts, min_return=min_return
        )
    return placed


def _shown(title: str, gap: GapClosed) -> str:
    return (
        f"{title}: {gap.races} races, log loss {gap.our_loss:.4f} between {gap.uniform_loss:.4f} "
        f"(even) and {gap.true_loss:.4f} (truth): {100 * gap.share:.1f} % of the gap closed, "
        f"standard error {100 * gap.standard_error:.1f} %\n"
    )


def _say(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> int:
    """Fits, prints the weights, and measures both the fitted and the committed ones."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.keiba.fitting")
    parser.add_argument("--every", type=int, default=4, help="learn from one race in so many")
    parser.add_argument("--measure-only", action="store_true", help="fit nothing")
    chosen = parser.parse_args(arguments)
    beyond = [race for seed in MEASURED_ON for race in measured(season(seed, YEAR))]
    _say(_shown("committed weights, other seasons", gap_closed(forecasts(beyond))))
    for min_return in (1.0, 1.2, 1.5):
        book = account(bets(beyond, min_return=min_return))
        share = (book.returned_yen - book.staked_yen) / max(book.staked_yen, 1)
        _say(f"flat stakes, expected return {min_return}: {book}, {100 * share:+.1f} %\n")
    if not chosen.measure_only:
        learnt = [
            race
            for seed in LEARNT_FROM
            for race in measured(season(seed, YEAR, every=chosen.every))
        ]
        weights = fitted(learnt)
        for factor, weight in weights.items():
            values = f"points={weight.points:.3g}, shrinkage={weight.shrinkage}"
            _say(f'    "{factor}": Weight({values}),\n')
        _say(_shown("fitted weights, same seasons", gap_closed(forecasts(learnt, weights))))
        _say(_shown("fitted weights, other seasons", gap_closed(forecasts(beyond, weights))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

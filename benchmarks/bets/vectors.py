"""Prints what penaltyblog makes of the markets and results that our tests use.

Run it with `python -m benchmarks.bets.vectors` in the environment of the peers; the numbers are
those of `tests/apps/bets/domain/penaltyblog_values.py`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from grandstand.apps.bets.domain.odds import DEVIG_METHODS
from tests.apps.bets.domain.penaltyblog_values import MARKETS, PAIRS
from tests.apps.bets.domain.season import season


def fair() -> dict[str, list[list[float]]]:
    """The fair probabilities of every market by every method."""
    implied: Any = import_module("penaltyblog.implied")
    return {
        method: [
            list(implied.calculate_implied(list(market), method=method).probabilities)
            for market in MARKETS
        ]
        for method in DEVIG_METHODS
    }


def fitted(*, fading: bool) -> Any:
    """Dixon and Coles fitted to the season by the peer, without its gradient.

    With it, version 1.13.1 stops where its own likelihood is lower.
    """
    models: Any = import_module("penaltyblog.models")
    games = season(fading=fading)
    model = models.DixonColesGoalModel(
        [game.home_goals for game in games],
        [game.away_goals for game in games],
        [game.home for game in games],
        [game.away for game in games],
        [game.weight for game in games],
    )
    model.fit(minimizer_options={"ftol": 1e-12}, use_gradient=False)
    return model


def foretold(*, fading: bool) -> list[list[float]]:
    """Prices of some pairs of the season.

    Home, draw, away; over 2.5 and 2.75; home -0.75 and away +1; both to score; 1:1.
    """
    model = fitted(fading=fading)
    rows = []
    for home, away in PAIRS:
        grid = model.predict(home, away)
        rows.append(
            [
                *grid.home_draw_away,
                grid.totals(2.5)[2],
                grid.totals(2.75)[2],
                grid.asian_handicap_probs("home", -0.75)["win"],
                grid.asian_handicap_probs("away", 1.0)["win"],
                grid.btts_yes,
                grid.exact_score(1, 1),
            ]
        )
    return rows


def main() -> None:
    """Print everything."""
    sys.stdout.write(f"FAIR = {fair()!r}\n")
    sys.stdout.write(f"FORETOLD = {foretold(fading=False)!r}\n")
    sys.stdout.write(f"FORETOLD_FADING = {foretold(fading=True)!r}\n")


if __name__ == "__main__":
    main()

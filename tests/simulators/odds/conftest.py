"""Seasons shared by many tests."""

from __future__ import annotations

import pytest

from grandstand.simulators.odds.season import SimulatedSeason, simulate_season


@pytest.fixture(scope="session")
def basketball() -> SimulatedSeason:
    return simulate_season(1, "basketball_nba", 120)


@pytest.fixture(scope="session")
def soccer() -> SimulatedSeason:
    return simulate_season(7, "soccer_epl", 120)


@pytest.fixture(scope="session")
def many() -> SimulatedSeason:
    """Ten thousand games with few prices, for what is true only on average."""
    return simulate_season(11, "basketball_nba", 10_000, changes=3, in_play=False)

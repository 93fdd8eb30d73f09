"""Seasons that are made once and looked at by many tests."""

from __future__ import annotations

import pytest

from grandstand.simulators.odds.world.season import Season, season


@pytest.fixture(scope="session")
def basketball() -> Season:
    return season(1, "basketball_nba", 120)


@pytest.fixture(scope="session")
def soccer() -> Season:
    return season(7, "soccer_epl", 120)


@pytest.fixture(scope="session")
def many() -> Season:
    """Ten thousand games with few prices, for what is true only on average."""
    return season(11, "basketball_nba", 10_000, changes=3, in_play=False)

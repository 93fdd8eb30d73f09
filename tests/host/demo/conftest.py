"""The simulated leagues, made once for all tests of the demo."""

from datetime import UTC, datetime

import pytest

from grandstand.host.demo.games import Leagues
from grandstand.host.demo.world_state import WorldState

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture(scope="session")
def leagues() -> Leagues:
    return Leagues(WorldState(NOON.replace(hour=0)))

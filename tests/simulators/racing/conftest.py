"""One world for all tests of the race site: making its seasons takes a moment."""

from datetime import UTC, datetime

import pytest

from grandstand.simulators.racing.world import World

# One o'clock in Japan on a Sunday with three meetings.
NOON = datetime(2026, 11, 15, 4, tzinfo=UTC)


@pytest.fixture(scope="session")
def world() -> World:
    return World.at(7, NOON, seasons_before=1)


@pytest.fixture
def now() -> datetime:
    return NOON

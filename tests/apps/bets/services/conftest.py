"""Bets on each kind of store, at a fixed noon."""

import pytest

from grandstand.core.clock import ManualClock
from grandstand.storage.tables import Store
from tests.apps.bets.stage import ALL_TABLES, NBA, NOON, Stage, embedded, staged


@pytest.fixture
def clock() -> ManualClock:
    """A clock at noon of a Wednesday."""
    return ManualClock(NOON)


@pytest.fixture
def both(store: Store, clock: ManualClock) -> Stage:
    """Bets on each kind of store in turn."""
    store.create(ALL_TABLES)
    return staged(store, clock, sports=(NBA,))


@pytest.fixture
def stage(clock: ManualClock) -> Stage:
    """Bets on a store in memory."""
    return staged(embedded(clock), clock, sports=(NBA,))

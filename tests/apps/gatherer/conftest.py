"""An exchange in a process of its own, for every way into the gatherer."""

from collections.abc import Iterator

import pytest

from grandstand.simulators.exchange.floor.world import Scenery
from grandstand.simulators.exchange.pacing import Pace
from grandstand.simulators.exchange.process import Opening, opened
from grandstand.simulators.exchange.rest.answers import Budget


@pytest.fixture(scope="session")
def exchange_address() -> Iterator[str]:
    """Where an exchange with some markets trades, a little every second."""
    scenery = Scenery(markets=24, depth=6)
    pace, budget = Pace(events_per_second=150), Budget(read_per_second=5000)
    with opened(Opening(scenery=scenery, pace=pace, budget=budget)) as address:
        yield address

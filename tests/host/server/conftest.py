"""An exchange that answers, for tests that knock at every door of the house."""

from collections.abc import Iterator

import pytest

from grandstand.simulators.exchange.floor.world import Scenery
from grandstand.simulators.exchange.pacing import Pace
from grandstand.simulators.exchange.process import Opening, opened
from grandstand.simulators.exchange.rest.answers import Budget


@pytest.fixture(scope="session")
def quiet_exchange() -> Iterator[str]:
    """Where an exchange with a few markets is, on which hardly anything happens."""
    scenery, budget = Scenery(markets=4, depth=2), Budget(read_per_second=5000)
    with opened(Opening(scenery=scenery, pace=Pace(events_per_second=1), budget=budget)) as address:
        yield address

"""An exchange that answers, for tests that knock at every door of the platform."""

from collections.abc import Iterator

import pytest

from grandstand.simulators.exchange.control import Pace
from grandstand.simulators.exchange.process import ExchangeOptions, exchange_process
from grandstand.simulators.exchange.rest import RequestBudget
from grandstand.simulators.exchange.world import WorldConfig


@pytest.fixture(scope="session")
def quiet_exchange() -> Iterator[str]:
    """Where an exchange with a few markets is, on which hardly anything happens."""
    world, budget = WorldConfig(markets=4, depth=2), RequestBudget(read_per_second=5000)
    with exchange_process(
        ExchangeOptions(world=world, pace=Pace(events_per_second=1), budget=budget)
    ) as address:
        yield address

"""An exchange in a process of its own, for every way into the gatherer."""

from collections.abc import Iterator

import pytest

from grandstand.simulators.exchange.control import Pace
from grandstand.simulators.exchange.process import ExchangeOptions, exchange_process
from grandstand.simulators.exchange.rest import RequestBudget
from grandstand.simulators.exchange.world import WorldConfig


@pytest.fixture(scope="session")
def exchange_address() -> Iterator[str]:
    """Where an exchange with some markets trades, a little every second."""
    world = WorldConfig(markets=24, depth=6)
    pace, budget = Pace(events_per_second=150), RequestBudget(read_per_second=5000)
    with exchange_process(ExchangeOptions(world=world, pace=pace, budget=budget)) as address:
        yield address

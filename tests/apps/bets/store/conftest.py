"""The bets table on each storage engine."""

import pytest

from grandstand.apps.bets.store import TABLES
from grandstand.storage.tables import Store


@pytest.fixture(autouse=True)
def _table(store: Store) -> None:
    store.create(TABLES)

"""The table of bets on each kind of store."""

import pytest

from grandstand.apps.bets.store import TABLES
from grandstand.storage.tables import Store


@pytest.fixture(autouse=True)
def _table(store: Store) -> None:
    store.create(TABLES)

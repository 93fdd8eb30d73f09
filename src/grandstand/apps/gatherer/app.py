"""The card on the gatherer's door: what the host may know of it."""

from grandstand.apps.gatherer import store
from grandstand.storage.tables.table import Table

NAME = "gatherer"
TITLE = "Gatherer"
TABLES: tuple[Table, ...] = ()
SERIES = store.SERIES

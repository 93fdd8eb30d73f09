"""The card on keiba's door: what the host may know of it."""

from grandstand.apps.keiba import store

NAME = "keiba"
TITLE = "Keiba"
TABLES = store.TABLES

"""The card on cricket's door: what the host may know of it."""

from grandstand.apps.cricket import store

NAME = "cricket"
TITLE = "Cricket"
TABLES = store.TABLES

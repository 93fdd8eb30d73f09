"""The card on bets' door: what the host may know of it."""

from grandstand.apps.bets import store

NAME = "bets"
TITLE = "Bets"
TABLES = store.TABLES

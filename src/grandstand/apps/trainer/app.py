"""The card on the trainer's door: what the host may know of it."""

from grandstand.apps.trainer import store

NAME = "trainer"
TITLE = "Trainer"
TABLES = store.TABLES

"""Manifest of the keiba app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from grandstand.apps.keiba import store
from grandstand.kit.app import App

if TYPE_CHECKING:
    from grandstand.apps.keiba.services import Keiba

NAME: Final = "keiba"

APP: Final[App[Keiba]] = App(
    name=NAME,
    title="Keiba",
    purpose="Japanese racing: cards, form, pedigrees and odds, explained.",
    tables=store.TABLES,
    build="grandstand.apps.keiba.services:build",
    api="grandstand.apps.keiba.api:KeibaApi",
    pages="grandstand.apps.keiba.pages:KeibaPages",
    jobs="grandstand.apps.keiba.jobs:jobs",
    commands="grandstand.apps.keiba.cli:commands",
)

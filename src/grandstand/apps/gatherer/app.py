"""Manifest of the gatherer app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from grandstand.apps.gatherer import store
from grandstand.kit.app import App

if TYPE_CHECKING:
    from grandstand.apps.gatherer.services import Gatherer

NAME: Final = "gatherer"

APP: Final[App[Gatherer]] = App(
    name=NAME,
    title="Gatherer",
    purpose="Records prediction markets tick by tick.",
    tables=store.TABLES,
    series=store.SERIES,
    build="grandstand.apps.gatherer.services:build",
    api="grandstand.apps.gatherer.api:GathererApi",
    pages="grandstand.apps.gatherer.pages:GathererPages",
    jobs="grandstand.apps.gatherer.jobs:jobs",
    commands="grandstand.apps.gatherer.cli:commands",
)

"""Manifest of the cricket app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from grandstand.apps.cricket.store.fixtures import (
    display_cache,
    fixture_cache,
    fixtures,
    leagues,
    team_seasons,
    teams,
)
from grandstand.apps.cricket.store.matches import (
    active_matches,
    deliveries,
    locks,
    match_events,
)
from grandstand.apps.cricket.store.users import (
    devices,
    followers,
    live_activities,
    match_follows,
)
from grandstand.kit.app import App

if TYPE_CHECKING:
    from grandstand.apps.cricket.services import Cricket

APP: Final[App[Cricket]] = App(
    name="cricket",
    title="Cricket",
    purpose="Live cricket scores, ball by ball, with Live Activities and alerts.",
    tables=(
        fixtures,
        live_activities,
        active_matches,
        teams,
        team_seasons,
        leagues,
        devices,
        match_follows,
        locks,
        display_cache,
        fixture_cache,
        match_events,
        deliveries,
        followers,
    ),
    build="grandstand.apps.cricket.services:build",
    api="grandstand.apps.cricket.api:create_api",
    pages="grandstand.apps.cricket.pages.handlers:CricketPages",
    jobs="grandstand.apps.cricket.jobs:jobs",
    commands="grandstand.apps.cricket.cli:commands",
    json_names="camel",
)

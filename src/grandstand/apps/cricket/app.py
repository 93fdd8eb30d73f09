"""Manifest of the cricket app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from grandstand.apps.cricket.store import fixtures, matches, users
from grandstand.kit.app import App

if TYPE_CHECKING:
    from grandstand.apps.cricket.services import Cricket

APP: Final[App[Cricket]] = App(
    name="cricket",
    title="Cricket",
    purpose="Live cricket scores, ball by ball, with Live Activities and alerts.",
    tables=(
        fixtures.fixtures,
        users.live_activities,
        matches.active_matches,
        fixtures.teams,
        fixtures.team_seasons,
        fixtures.leagues,
        users.devices,
        users.match_follows,
        matches.locks,
        fixtures.display_cache,
        fixtures.fixture_cache,
        matches.match_events,
        matches.deliveries,
        users.followers,
    ),
    build="grandstand.apps.cricket.services:build",
    api="grandstand.apps.cricket.api:create_api",
    pages="grandstand.apps.cricket.pages.handlers:CricketPages",
    jobs="grandstand.apps.cricket.jobs:jobs",
    commands="grandstand.apps.cricket.cli:commands",
    json_names="camel",
)

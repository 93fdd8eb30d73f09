"""Kept here: cricket's tables, their keys, and every question and change put to them."""

from typing import Final

from grandstand.apps.cricket.store.fixtures import (
    CachedFixture,
    DisplayState,
    Fixture,
    display_cache,
    fixture_cache,
    fixtures,
)
from grandstand.apps.cricket.store.followers import Browser, Follower, followers
from grandstand.apps.cricket.store.log import Delivery, LoggedEvent, deliveries, match_events
from grandstand.apps.cricket.store.matches import (
    LOCKS,
    ActiveMatch,
    Lock,
    active_matches,
    locks,
)
from grandstand.apps.cricket.store.people import (
    Device,
    LiveActivity,
    MatchFollow,
    devices,
    live_activities,
    match_follows,
)
from grandstand.apps.cricket.store.reference import (
    League,
    Team,
    TeamSeason,
    leagues,
    team_seasons,
    teams,
)

TABLES: Final = (
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
)

__all__ = [
    "LOCKS",
    "TABLES",
    "ActiveMatch",
    "Browser",
    "CachedFixture",
    "Delivery",
    "Device",
    "DisplayState",
    "Fixture",
    "Follower",
    "League",
    "LiveActivity",
    "Lock",
    "LoggedEvent",
    "MatchFollow",
    "Team",
    "TeamSeason",
]

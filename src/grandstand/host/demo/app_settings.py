"""Settings that connect the apps to the simulators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from grandstand.host.demo.games import SPORTS
from grandstand.host.demo.sources import simulated_folder
from grandstand.host.settings import NotifySettings, Settings

if TYPE_CHECKING:
    from grandstand.simulators.push.service import Addresses
    from grandstand.simulators.push.validation import SigningKey


def bets_settings(address: str, key: str) -> Mapping[str, Any]:
    """Return the settings for the simulated odds feed; Benny bets readily in the demo."""
    return {
        "odds_url": f"http://{address}",
        "odds_key": SecretStr(key),
        "espn_url": f"http://{address}",
        "sports": SPORTS,
        "prop_sports": (SPORTS[0],),
        "horizon_days": 2,
        "benny_threshold": 0.5,
        "benny_edge": 0.0,
        "benny_min_stake_cents": 50,
    }


def gatherer_settings(address: str) -> Mapping[str, Any]:
    """Return the settings for the simulated exchange."""
    return {
        "rest_url": f"http://{address}/trade-api/v2",
        "stream_url": f"ws://{address}/trade-api/ws/v2",
        "record_at_start": True,
        "connections": 1,
        "reads_per_second": 10.0,
        "reconcile_seconds": 300.0,
        "audits_per_minute": 1,
        "flush_seconds": 2.0,
        "free_gigabytes": 0.2,
    }


def cricket_settings(address: str, token: str) -> Mapping[str, Any]:
    """Return the settings for the simulated score feed."""
    return {
        "feed_url": f"http://{address}/api/v2.0",
        "feed_token": SecretStr(token),
        "feed_hourly_requests": 100_000,
        "poll_seconds": 5.0,
        "marquee_poll_seconds": 5.0,
        "fixture_sync_seconds": 300.0,
        "sync_days": 1,
        "webhook": None,
    }


def push_settings(pushing: Addresses, key: SigningKey, bundle: str) -> Mapping[str, Any]:
    """Return the settings for the simulated push service."""
    return {
        "apns_host": pushing.apns,
        "broadcast_host": pushing.manage,
        "apns_team_id": key.team_id,
        "apns_key_id": key.key_id,
        "apns_key": SecretStr(key.pem),
        "apns_bundle_id": bundle,
        "apns_connections": 1,
    }


def keiba_settings(address: str) -> Mapping[str, Any]:
    """Return the settings for the simulated race site."""
    return {
        "race_url": f"http://{address}/race",
        "nar_url": f"http://{address}/nar",
        "db_url": f"http://{address}/db",
        "gap_seconds": 0.0,
        "jitter_seconds": 0.0,
        "daily_requests": 1_000_000,
        "concurrent_pages": 2,
    }


def simulated_settings(settings: Settings, apart: Mapping[str, Mapping[str, Any]]) -> Settings:
    """Return the settings of the simulated side: its own folder, without notifications.

    `apart` has the settings of each simulated app.
    """
    sections = {
        name: getattr(settings, name).model_copy(update=dict(told)) for name, told in apart.items()
    }
    return settings.model_copy(
        update={
            "home": simulated_folder(settings),
            "tables": "sqlite",
            "tables_prefix": "",
            "tables_names": {},
            "tables_durability": "process",
            "series": SecretStr("chunks"),
            "notify": NotifySettings(),
            **sections,
        }
    )

"""Kept here: the settings of applications as their stand-ins want them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from grandstand.host.demo.games import SPORTS
from grandstand.host.demo.sources import simulated_folder
from grandstand.host.settings import NotifySettings, Settings

if TYPE_CHECKING:
    from grandstand.simulators.push import Addresses, SigningKey


def bets_at(address: str, key: str) -> Mapping[str, Any]:
    """Answer what is set of bets when the odds feed is here; Benny is eager in a made-up world."""
    return {
        "odds_url": f"http://{address}",
        "odds_key": SecretStr(key),
        "espn_url": f"http://{address}",
        "sports": SPORTS,
        "prop_sports": (SPORTS[0],),
        "horizon_days": 2,
        "benny_threshold": 0.5,
        "benny_edge": 0.0,
        "benny_least_cents": 50,
    }


def gatherer_at(address: str) -> Mapping[str, Any]:
    """Answer what is set of the gatherer when the exchange is here."""
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


def cricket_at(address: str, token: str) -> Mapping[str, Any]:
    """Answer what is set of cricket when the score feed is here."""
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


def phones_at(pushing: Addresses, key: SigningKey, bundle: str) -> Mapping[str, Any]:
    """Answer what is set of cricket when the push service is here."""
    return {
        "apns_host": pushing.apns,
        "broadcast_host": pushing.manage,
        "apns_team_id": key.team_id,
        "apns_key_id": key.key_id,
        "apns_key": SecretStr(key.pem),
        "apns_bundle_id": bundle,
        "apns_connections": 1,
    }


def keiba_at(address: str) -> Mapping[str, Any]:
    """Answer what is set of keiba when the race site is here."""
    return {
        "race_url": f"http://{address}/race",
        "nar_url": f"http://{address}/nar",
        "db_url": f"http://{address}/db",
        "gap_seconds": 0.0,
        "jitter_seconds": 0.0,
        "daily_requests": 1_000_000,
        "gather_at_once": 2,
    }


def simulated_settings(settings: Settings, apart: Mapping[str, Mapping[str, Any]]) -> Settings:
    """Answer the settings of the simulated side: its own folder, embedded, telling nobody outside.

    `apart` has what is set otherwise of each simulated application.
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

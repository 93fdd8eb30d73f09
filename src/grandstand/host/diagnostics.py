"""Checks of each app: its services respond and its sources are reachable."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit

from grandstand.core.clock import SystemClock
from grandstand.core.errors import GrandstandError
from grandstand.core.metrics import Metrics
from grandstand.host.demo.sources import SourceConnection, simulated_folder, source_connections
from grandstand.host.demo.world import open_demo
from grandstand.host.infrastructure import has_series, sqlite_file
from grandstand.host.runtime import Platform
from grandstand.host.settings import Settings
from grandstand.kit.app import App
from grandstand.kit.auth.caller import LOCAL_OWNER
from grandstand.net.client import SourceRegistry
from grandstand.net.retry import RetryPolicy

_SECONDS: Final = 5.0
_PLACES: Final = {
    "odds": "odds_url",
    "exchange": "rest_url",
    "scores": "feed_url",
    "races": "race_url",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: its subject, whether it is good, and details."""

    subject: str
    good: bool
    detail: str


async def check_apps(settings: Settings) -> tuple[Finding, ...]:
    """Open every app as the server does and report its health.

    Simulators run while this takes. Where there is no data yet, none is left behind.
    """
    connections = source_connections(settings)
    with TemporaryDirectory(prefix="grandstand-") as folder:
        real, simulated = _places(settings, Path(folder))
        async with open_demo(simulated) as demo, Platform.open(real, demo=demo) as platform:
            checks = [
                _check(platform, app, [one for one in connections if one.source.app == app.name])
                for app in platform.apps
            ]
            return tuple(await asyncio.gather(*checks))


def _places(settings: Settings, folder: Path) -> tuple[Settings, Settings]:
    """Return the settings of both sides; a side without data uses the temporary folder."""
    file, apart = sqlite_file(settings), settings.model_copy(update={"home": folder})
    if file is not None and not file.exists():
        apart = apart.model_copy(update={"tables": "sqlite"})
        real = apart
    else:
        real = settings if has_series(settings) else apart
    return real, settings if simulated_folder(settings).exists() else apart


def is_reachable(address: str) -> bool:
    """Return whether a Grandstand server responds at a URL."""

    async def request_health() -> bool:
        clock, random = SystemClock(), SystemRandom()
        async with SourceRegistry(clock=clock, random=random, metrics=Metrics()) as web:
            source = web.source(
                "self", base_url=address, timeout_seconds=_SECONDS, retries=RetryPolicy(tries=1)
            )
            try:
                return (await source.get("/health")).json(dict[str, str]) == {"status": "ok"}
            except GrandstandError:
                return False

    return asyncio.run(request_health())


async def _check(
    platform: Platform, app: App[Any], connections: Sequence[SourceConnection]
) -> Finding:
    """Request the app's home card, then check each connected source."""
    try:
        built = platform.built.get(app.name)
        if built is not None and built.home_card is not None:
            await built.home_card(LOCAL_OWNER)
        sources = [await _source(platform.settings, one) for one in connections]
    except GrandstandError as fault:
        return Finding(app.name, good=False, detail=str(fault))
    except (OSError, TimeoutError) as fault:
        why = f"its source is unreachable: {str(fault) or 'no answer'}"
        return Finding(app.name, good=False, detail=why)
    return Finding(app.name, good=True, detail="; ".join(["reachable", *sources]))


async def _source(settings: Settings, one: SourceConnection) -> str:
    """Return the state of a source; raise OSError or TimeoutError if it is unreachable."""
    if not one.connected or one.source.name not in _PLACES:
        return f"{one.source.name} {one.word}"
    address = getattr(getattr(settings, one.source.app), _PLACES[one.source.name])
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme in {"https", "wss"} else 80)
    async with asyncio.timeout(_SECONDS):
        _, writer = await asyncio.open_connection(parts.hostname, port)
    writer.close()
    return f"{one.source.name} connected, {parts.hostname} reached"

"""Kept here: whether each application works here: its service answers, its sources are reached."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit

from grandstand.base.clock import SystemClock
from grandstand.base.errors import GrandstandError
from grandstand.base.metrics import Metrics
from grandstand.host.demo.sources import SourceStanding, simulated_folder, standings
from grandstand.host.demo.world import playing
from grandstand.host.house import House
from grandstand.host.opening import has_series, sqlite_file
from grandstand.host.settings import Settings
from grandstand.kit.app import App
from grandstand.kit.who.caller import LOCAL_OWNER
from grandstand.wire.web import Retries, Web

_SECONDS: Final = 5.0
_PLACES: Final = {
    "odds": "odds_url",
    "exchange": "rest_url",
    "scores": "feed_url",
    "races": "race_url",
}


@dataclass(frozen=True, slots=True)
class AppHealth:
    """How an application is, and what it lives on."""

    app: str
    good: bool
    told: str


async def look_at_apps(settings: Settings) -> tuple[AppHealth, ...]:
    """Open every application as the server does, and say how each is.

    What is simulated plays for as long as that takes. Where there is no data yet, real or
    simulated, none is left behind.
    """
    standing = standings(settings)
    with TemporaryDirectory(prefix="grandstand-") as folder:
        real, simulated = _places(settings, Path(folder))
        async with playing(simulated) as demo, House.open(real, demo=demo) as house:
            looks = [_look(house, app, _of(app.name, standing)) for app in house.apps]
            return tuple(await asyncio.gather(*looks))


def _places(settings: Settings, folder: Path) -> tuple[Settings, Settings]:
    """Answer by which settings both sides are opened: in the folder, where they have no data."""
    file, apart = sqlite_file(settings), settings.model_copy(update={"home": folder})
    if file is not None and not file.exists():
        apart = apart.model_copy(update={"tables": "sqlite"})
        real = apart
    else:
        real = settings if has_series(settings) else apart
    return real, settings if simulated_folder(settings).exists() else apart


def answers(address: str) -> bool:
    """Tell whether a Grandstand answers at an address."""

    async def asked() -> bool:
        clock, random = SystemClock(), SystemRandom()
        async with Web(clock=clock, random=random, metrics=Metrics()) as web:
            source = web.source(
                "self", base_url=address, timeout_seconds=_SECONDS, retries=Retries(tries=1)
            )
            try:
                return (await source.get("/health")).json(dict[str, str]) == {"status": "ok"}
            except GrandstandError:
                return False

    return asyncio.run(asked())


async def _look(house: House, app: App[Any], sources: tuple[SourceStanding, ...]) -> AppHealth:
    """Ask the service for its card; then say which sources it has, and reach those connected."""
    try:
        if app.now is not None:
            await app.now(house.services.get(app.name), LOCAL_OWNER)
        told = [await _source(house.settings, one) for one in sources]
    except GrandstandError as fault:
        return AppHealth(app.name, good=False, told=str(fault))
    except (OSError, TimeoutError) as fault:
        why = f"its source cannot be reached: {str(fault) or 'no answer'}"
        return AppHealth(app.name, good=False, told=why)
    return AppHealth(app.name, good=True, told="; ".join(["answers", *told]))


async def _source(settings: Settings, one: SourceStanding) -> str:
    """Say how a source stands; raise OSError or TimeoutError when it is connected and away."""
    if not one.connected or one.source.name not in _PLACES:
        return f"{one.source.name} {one.word}"
    address = getattr(getattr(settings, one.source.app), _PLACES[one.source.name])
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme in {"https", "wss"} else 80)
    async with asyncio.timeout(_SECONDS):
        _, writer = await asyncio.open_connection(parts.hostname, port)
    writer.close()
    return f"{one.source.name} connected, {parts.hostname} reached"


def _of(app: str, standing: tuple[SourceStanding, ...]) -> tuple[SourceStanding, ...]:
    return tuple(one for one in standing if one.source.app == app)

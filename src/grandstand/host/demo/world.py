"""Starting and stopping the simulators of sources that are not connected."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from grandstand.core.clock import Clock, SystemClock
from grandstand.host.demo.games import SPORTS, Leagues
from grandstand.host.demo.sources import simulated_apps, simulated_folder
from grandstand.host.demo.world_state import WorldState, open_world
from grandstand.host.settings import NotifySettings, Settings
from grandstand.simulators.asgi import Application, Message, Receive, Send

if TYPE_CHECKING:
    from grandstand.host.demo.cricket import DemoPhone, Fixtures


@dataclass
class Demo:
    """A running demo: the simulated apps and their settings.

    `settings` are those of the simulated side. `apns_context` trusts the simulated Apple.
    """

    settings: Settings
    apps: frozenset[str]
    birth: WorldState
    leagues: Leagues
    apns_context: ssl.SSLContext | None = None
    webpush_hosts: tuple[str, ...] = ()
    fixtures: Fixtures | None = None
    phones: DemoPhone | None = None

    @property
    def folder(self) -> Path:
        """The folder of simulated data."""
        return self.settings.home


@asynccontextmanager
async def open_demo(
    settings: Settings,
    *,
    clock: Clock | None = None,
    random: Random | None = None,
    apps: Iterable[str] | None = None,
) -> AsyncIterator[Demo | None]:
    """Run the needed simulators while the block runs; None if there are none.

    With `apps`, only the simulators of these apps.
    """
    wanted = simulated_apps(settings) & (
        frozenset(apps) if apps is not None else frozenset(_SIMULATORS)
    )
    if not wanted:
        yield None
        return
    clock, random = clock or SystemClock(), random or SystemRandom()
    async with AsyncExitStack() as opened:
        birth = opened.enter_context(open_world(settings, clock.now()))
        folder = simulated_folder(settings)
        opening = _Opening(opened, clock, random, birth, Leagues(birth), folder)
        apart = {app: await _SIMULATORS[app](opening) for app in sorted(wanted)}
        yield Demo(
            simulated_settings(settings, apart),
            wanted,
            birth,
            opening.leagues,
            apns_context=opening.apns_context,
            fixtures=opening.fixtures,
            phones=opening.phones,
        )


@dataclass
class _Opening:
    """A demo being started."""

    opened: AsyncExitStack
    clock: Clock
    random: Random
    birth: WorldState
    leagues: Leagues
    folder: Path
    apns_context: ssl.SSLContext | None = None
    fixtures: Fixtures | None = None
    phones: DemoPhone | None = None

    def secret(self) -> str:
        """Return a random key; not a common word, because keys are redacted everywhere."""
        return f"{self.random.getrandbits(128):032x}"

    async def serve(self, app: Application) -> str:
        """Serve a simulator while the demo runs; return its address."""
        from grandstand.simulators.serving import serve

        return await self.opened.enter_async_context(serve(app))


async def _bets(opening: _Opening) -> Mapping[str, Any]:
    key = opening.secret()
    feed = LazyApp(lambda: opening.leagues.feed(opening.clock, key).application)
    return bets_settings(await opening.serve(feed), key)


async def _gatherer(opening: _Opening) -> Mapping[str, Any]:
    from grandstand.host.demo.markets import serve_exchange

    exchange = serve_exchange(opening.leagues, opening.clock, opening.birth.seed)
    address = await opening.opened.enter_async_context(exchange)
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


async def _cricket(opening: _Opening) -> Mapping[str, Any]:
    from grandstand.host.demo.cricket import BUNDLE_ID, DemoPhone, Fixtures
    from grandstand.simulators.push.service import PushService
    from grandstand.simulators.push.validation import SigningKey
    from grandstand.simulators.scores.feed import ScoreFeed

    token = opening.secret()
    pushes = PushService(opening.clock, opening.random, kept_arrivals=100)
    feed = ScoreFeed(opening.clock, token)
    fixtures, key = Fixtures(feed, opening.clock), SigningKey.make()
    pushes.keys.add(key)
    pushing = await opening.opened.enter_async_context(pushes.serving())
    opening.apns_context = pushing.trusting
    opening.fixtures = fixtures
    opening.phones = DemoPhone(pushes.wall, fixtures, opening.folder)
    address = await opening.serve(fixtures.application)
    return {
        "feed_url": f"http://{address}/api/v2.0",
        "feed_token": SecretStr(token),
        "feed_hourly_requests": 100_000,
        "poll_seconds": 5.0,
        "marquee_poll_seconds": 5.0,
        "fixture_sync_seconds": 300.0,
        "sync_days": 1,
        "webhook": None,
        "apns_host": pushing.apns,
        "broadcast_host": pushing.manage,
        "apns_team_id": key.team_id,
        "apns_key_id": key.key_id,
        "apns_key": SecretStr(key.pem),
        "apns_bundle_id": BUNDLE_ID,
        "apns_connections": 1,
    }


async def _keiba(opening: _Opening) -> Mapping[str, Any]:
    def make() -> Application:
        from grandstand.simulators.racing.site import Site
        from grandstand.simulators.racing.world import World

        now, seed = opening.clock.now(), opening.birth.seed
        world = World.at(seed, now, seasons_before=1, cached_races=400)
        return Site(world, opening.clock, opening.clock).application

    address = await opening.serve(LazyApp(make))
    return {
        "race_url": f"http://{address}/race",
        "nar_url": f"http://{address}/nar",
        "db_url": f"http://{address}/db",
        "gap_seconds": 0.0,
        "jitter_seconds": 0.0,
        "daily_requests": 1_000_000,
        "concurrent_pages": 2,
    }


_SIMULATORS = {"bets": _bets, "gatherer": _gatherer, "cricket": _cricket, "keiba": _keiba}


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


def simulated_settings(settings: Settings, apart: Mapping[str, Mapping[str, Any]]) -> Settings:
    """Return the settings of the simulated side: its own folder, without notifications.

    `apart` has the settings of each simulated app.
    """
    sections = {
        name: getattr(settings, name).model_copy(update=dict(changes))
        for name, changes in apart.items()
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


class LazyApp:
    """An ASGI app that is created off the event loop with the first request."""

    def __init__(self, make: Callable[[], Application]) -> None:
        self._make = make
        self._made: Application | None = None
        self._lock = asyncio.Lock()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle a request, creating the app first if needed."""
        if self._made is None:
            async with self._lock:
                if self._made is None:
                    self._made = await asyncio.to_thread(self._make)
        await self._made(scope, receive, send)

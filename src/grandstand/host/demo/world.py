"""Starting and stopping the simulators of sources that are not connected."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any, Final

from grandstand.core.clock import Clock, SystemClock
from grandstand.host.demo.games import Leagues
from grandstand.host.demo.sources import simulated_apps, simulated_folder
from grandstand.host.demo.world_state import WorldState, open_world
from grandstand.host.settings import Settings
from grandstand.simulators.asgi import Application, Message, Receive, Send

if TYPE_CHECKING:
    from grandstand.host.demo.cricket import DemoPhone, Fixtures
    from grandstand.simulators.asgi import Application

_SECRET_BITS: Final = 128
_KEPT_RACES: Final = 400
_KEPT_PUSHES: Final = 100


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
    wanted = simulated_apps(settings) & (frozenset(apps) if apps is not None else frozenset(_WAYS))
    if not wanted:
        yield None
        return
    clock, random = clock or SystemClock(), random or SystemRandom()
    async with AsyncExitStack() as opened:
        birth = opened.enter_context(open_world(settings, clock.now()))
        folder = simulated_folder(settings)
        opening = _Opening(opened, clock, random, birth, Leagues(birth), folder)
        apart = {app: await _WAYS[app](opening) for app in sorted(wanted)}
        from grandstand.host.demo.app_settings import simulated_settings

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
        return f"{self.random.getrandbits(_SECRET_BITS):032x}"

    async def serve(self, app: Application) -> str:
        """Serve a simulator while the demo runs; return its address."""
        from grandstand.simulators.serving import serve

        return await self.opened.enter_async_context(serve(app))


async def _bets(opening: _Opening) -> Mapping[str, Any]:
    from grandstand.host.demo.app_settings import bets_settings
    from grandstand.host.demo.world import LazyApp

    key = opening.secret()
    feed = LazyApp(lambda: opening.leagues.feed(opening.clock, key).application)
    return bets_settings(await opening.serve(feed), key)


async def _gatherer(opening: _Opening) -> Mapping[str, Any]:
    from grandstand.host.demo.app_settings import gatherer_settings
    from grandstand.host.demo.markets import exchange_served

    exchange = exchange_served(opening.leagues, opening.clock, opening.birth.seed)
    return gatherer_settings(await opening.opened.enter_async_context(exchange))


async def _cricket(opening: _Opening) -> Mapping[str, Any]:
    from grandstand.host.demo.app_settings import cricket_settings, push_settings
    from grandstand.host.demo.cricket import BUNDLE_ID, DemoPhone, Fixtures
    from grandstand.simulators.push.service import PushService
    from grandstand.simulators.push.validation import SigningKey
    from grandstand.simulators.scores.feed import ScoreFeed

    token = opening.secret()
    pushes = PushService(opening.clock, opening.random, kept_arrivals=_KEPT_PUSHES)
    feed = ScoreFeed(opening.clock, token)
    fixtures, key = Fixtures(feed, opening.clock), SigningKey.make()
    pushes.keys.add(key)
    pushing = await opening.opened.enter_async_context(pushes.serving())
    opening.apns_context = pushing.trusting
    opening.fixtures = fixtures
    opening.phones = DemoPhone(pushes.wall, fixtures, opening.folder)
    scores = cricket_settings(await opening.serve(fixtures.application), token)
    return {**scores, **push_settings(pushing, key, BUNDLE_ID)}


async def _keiba(opening: _Opening) -> Mapping[str, Any]:
    from grandstand.host.demo.app_settings import keiba_settings
    from grandstand.host.demo.world import LazyApp

    def make() -> Application:
        from grandstand.simulators.racing.site import Site
        from grandstand.simulators.racing.world import World

        now, seed = opening.clock.now(), opening.birth.seed
        world = World.at(seed, now, seasons_before=1, cached_races=_KEPT_RACES)
        return Site(world, opening.clock, opening.clock).application

    return keiba_settings(await opening.serve(LazyApp(make)))


_WAYS = {"bets": _bets, "gatherer": _gatherer, "cricket": _cricket, "keiba": _keiba}


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

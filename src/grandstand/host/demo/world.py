"""Kept here: the simulated world opened and closed: a stand-in for each source not connected."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random, SystemRandom
from typing import TYPE_CHECKING, Any, Final

from grandstand.base.clock import Clock, SystemClock
from grandstand.host.demo.birth import Birth, inhabited
from grandstand.host.demo.games import Leagues
from grandstand.host.demo.sources import simulated_apps, simulated_folder
from grandstand.host.settings import Settings

if TYPE_CHECKING:
    from grandstand.host.demo.matches import Fixtures
    from grandstand.host.demo.phones import PhoneStory
    from grandstand.simulators.asgi import Application

_SECRET_BITS: Final = 128
_KEPT_RACES: Final = 400
_KEPT_PUSHES: Final = 100


@dataclass
class Demo:
    """A world that plays: who lives on it, and the settings by which they find it.

    `settings` are those of the simulated side alone; `lent` is what its applications are lent
    beside what all are.
    """

    settings: Settings
    apps: frozenset[str]
    birth: Birth
    leagues: Leagues
    lent: Mapping[str, Any] = field(default_factory=dict)
    fixtures: Fixtures | None = None
    phones: PhoneStory | None = None

    @property
    def folder(self) -> Path:
        """Where everything simulated is kept."""
        return self.settings.home


@asynccontextmanager
async def playing(
    settings: Settings,
    *,
    clock: Clock | None = None,
    random: Random | None = None,
    apps: Iterable[str] | None = None,
) -> AsyncIterator[Demo | None]:
    """Play what is not connected for the length of a block; None when nothing has to be played.

    With `apps`, only what these applications live on.
    """
    wanted = simulated_apps(settings) & (frozenset(apps) if apps is not None else frozenset(_WAYS))
    if not wanted:
        yield None
        return
    clock, random = clock or SystemClock(), random or SystemRandom()
    async with AsyncExitStack() as opened:
        birth = opened.enter_context(inhabited(settings, clock.now()))
        folder = simulated_folder(settings)
        opening = _Opening(opened, clock, random, birth, Leagues(birth), folder)
        apart = {app: await _WAYS[app](opening) for app in sorted(wanted)}
        from grandstand.host.demo.settings import simulated_settings

        yield Demo(
            simulated_settings(settings, apart),
            wanted,
            birth,
            opening.leagues,
            opening.lent,
            opening.fixtures,
            opening.phones,
        )


@dataclass
class _Opening:
    """A world being opened."""

    opened: AsyncExitStack
    clock: Clock
    random: Random
    birth: Birth
    leagues: Leagues
    folder: Path
    lent: dict[str, Any] = field(default_factory=dict)
    fixtures: Fixtures | None = None
    phones: PhoneStory | None = None

    def secret(self) -> str:
        """Answer a made-up key: no common word, for keys are kept out of every text."""
        return f"{self.random.getrandbits(_SECRET_BITS):032x}"

    async def serve(self, app: Application) -> str:
        """Serve an outsider as long as the world plays; answer its address."""
        from grandstand.simulators.serving import served

        return await self.opened.enter_async_context(served(app))


async def _bets(opening: _Opening) -> Mapping[str, Any]:
    from grandstand.host.demo.lazily import Lazily
    from grandstand.host.demo.settings import bets_at

    key = opening.secret()
    feed = Lazily(lambda: opening.leagues.feed(opening.clock, key).application)
    return bets_at(await opening.serve(feed), key)


async def _gatherer(opening: _Opening) -> Mapping[str, Any]:
    from grandstand.host.demo.markets import exchange_served
    from grandstand.host.demo.settings import gatherer_at

    exchange = exchange_served(opening.leagues, opening.clock, opening.birth.seed)
    return gatherer_at(await opening.opened.enter_async_context(exchange))


async def _cricket(opening: _Opening) -> Mapping[str, Any]:
    from grandstand.host.demo.matches import Fixtures
    from grandstand.host.demo.phones import BUNDLE_ID, PhoneStory
    from grandstand.host.demo.settings import cricket_at, phones_at
    from grandstand.simulators.push import PushService, SigningKey
    from grandstand.simulators.scores.feed import ScoreFeed

    token = opening.secret()
    pushes = PushService(opening.clock, opening.random, kept_arrivals=_KEPT_PUSHES)
    feed = ScoreFeed(opening.clock, token)
    fixtures, key = Fixtures(feed, opening.clock), SigningKey.make()
    pushes.keys.add(key)
    pushing = await opening.opened.enter_async_context(pushes.serving())
    opening.lent["apns_context"] = pushing.trusting
    opening.fixtures = fixtures
    opening.phones = PhoneStory(pushes.wall, fixtures, opening.folder)
    scores = cricket_at(await opening.serve(fixtures.application), token)
    return {**scores, **phones_at(pushing, key, BUNDLE_ID)}


async def _keiba(opening: _Opening) -> Mapping[str, Any]:
    from grandstand.host.demo.lazily import Lazily
    from grandstand.host.demo.settings import keiba_at

    def make() -> Application:
        from grandstand.simulators.racing.site import Site
        from grandstand.simulators.racing.world import World

        now, seed = opening.clock.now(), opening.birth.seed
        world = World.at(seed, now, seasons_before=1, kept_races=_KEPT_RACES)
        return Site(world, opening.clock, opening.clock).application

    return keiba_at(await opening.serve(Lazily(make)))


_WAYS = {"bets": _bets, "gatherer": _gatherer, "cricket": _cricket, "keiba": _keiba}

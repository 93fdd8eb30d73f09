"""Kept here: the house put together: everything the applications stand on, opened and closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from random import Random, SystemRandom
from typing import Any

from grandstand.base.clock import Clock, SystemClock
from grandstand.base.errors import GrandstandError, Unavailable
from grandstand.base.log import log
from grandstand.base.metrics import Metrics
from grandstand.host.catalogue import APPS
from grandstand.host.demo.events import BothEvents
from grandstand.host.demo.own_jobs import idle_jobs
from grandstand.host.demo.sources import how_to_connect
from grandstand.host.demo.world import Demo
from grandstand.host.ground import (
    Ground,
    channels_of,
    house_secret,
    lay,
    lay_apart,
    make_pages,
    tokens_of,
)
from grandstand.host.language import open_llm
from grandstand.host.lending import GathererPrices
from grandstand.host.recordings import cricsheet_answers
from grandstand.host.runner import Background
from grandstand.host.server.health import Check
from grandstand.host.settings import Settings
from grandstand.host.storage import Part, simulated_storage_of, storage_of
from grandstand.host.upkeep import house_jobs
from grandstand.kit.app import App, Belongings, Now, Resources
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import Events
from grandstand.kit.jobs.job import Job
from grandstand.kit.jobs.runner import Runner
from grandstand.kit.jobs.view import JobsView
from grandstand.kit.live import Hub
from grandstand.kit.llm.port import Llm
from grandstand.kit.notify import Notifier
from grandstand.kit.outbox import Deliver, Deliverer, Outbox
from grandstand.kit.pages.rendering import Pages
from grandstand.kit.problems import told
from grandstand.kit.who.belongings import AllBelongings
from grandstand.kit.who.caller import Caller
from grandstand.kit.who.gate import Gate
from grandstand.kit.who.people import People
from grandstand.kit.who.policy import Policy
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables.store import AsyncStore
from grandstand.wire.web import SourceStatus, Web


@dataclass(frozen=True, slots=True)
class House:
    """Everything the applications stand on, and the applications themselves."""

    settings: Settings
    clock: Clock
    random: Random
    metrics: Metrics
    store: AsyncStore
    series: SeriesEngine
    web: Web
    llm: Llm
    hub: Hub
    events: Events | BothEvents
    notifier: Notifier
    people: People
    gate: Gate
    policy: Policy
    cursors: Cursors
    pages: Pages
    jobs: JobsView
    background: Background
    belongings: AllBelongings
    apps: tuple[App[Any], ...]
    services: Mapping[str, Any]
    apart: Ground | None = None
    demo: Demo | None = None

    @staticmethod
    @asynccontextmanager
    async def open(
        settings: Settings,
        *,
        clock: Clock | None = None,
        random: Random | None = None,
        host: str | None = None,
        apps: tuple[App[Any], ...] = APPS,
        demo: Demo | None = None,
    ) -> AsyncIterator[House]:
        """Open everything for the length of a block; nothing runs yet behind the pages.

        `host` is the address that will be listened on, where it is not the settings' own. What
        `demo` plays is kept apart from the rest. Raises InvalidInput or Unavailable, saying what
        to do.
        """
        async with AsyncExitStack() as opened:
            ground = await lay(settings, clock or SystemClock(), random or SystemRandom(), opened)
            apart = None if demo is None else await lay_apart(ground, demo.settings, opened)
            house = _build(_Sides(ground, apart, demo), host or settings.server.host, apps)
            for app in apps:
                if app.close is not None:
                    opened.push_async_callback(app.close, house.services[app.name])
            yield house
            await ground.hub.close()

    async def cards(self, caller: Caller) -> tuple[tuple[App[Any], Now], ...]:
        """Answer every application with what is live in it for a caller."""
        return tuple([(app, await self._now(app, caller)) for app in self.apps])

    async def _now(self, app: App[Any], caller: Caller) -> Now:
        if app.now is None:
            return Now("Nothing yet", app.purpose, f"/{app.name}")
        try:
            return await app.now(self.services.get(app.name), caller)
        except GrandstandError as fault:
            log("house").warning("a card could not be filled", app=app.name, error=str(fault))
            return Now("Not known", told(fault).detail, f"/{app.name}")

    async def storage(self) -> tuple[Part, ...]:
        """Answer what every table and series holds and takes, the simulated ones last."""
        return await _storage(self.store, self.series, self.apart, self.simulated)

    @property
    def simulated(self) -> frozenset[str]:
        """The applications whose source is simulated, by name."""
        return frozenset() if self.demo is None else self.demo.apps

    async def sources(self) -> tuple[SourceStatus, ...]:
        """Answer how things stand with every source, the simulated ones last."""
        real = await self.web.current()
        return real if self.apart is None else (*real, *await self.apart.web.current())

    def checks(self) -> dict[str, Check]:
        """Answer what must be well for this instance to be ready."""
        return {"store": self._check_store, "jobs": self._check_jobs}

    async def _check_store(self) -> str:
        known = await asyncio.to_thread(self.store.store.session.engine.list_tables)
        return f"{len(known)} tables"

    async def _check_jobs(self) -> str:
        health = self.background.runner.health
        if health.fault is not None:
            raise Unavailable(health.fault)
        if health.looked_at is None:
            return "not run here"
        return f"{len(health.running)} running"


async def _storage(
    store: AsyncStore, series: SeriesEngine, apart: Ground | None, simulated: frozenset[str]
) -> tuple[Part, ...]:
    real = await storage_of(store, series)
    if apart is None:
        return real
    return (*real, *await simulated_storage_of(apart.store, apart.series, simulated))


@dataclass(frozen=True, slots=True)
class _Sides:
    """What applications stand on: the real ground, and that of what is simulated."""

    real: Ground
    apart: Ground | None
    demo: Demo | None

    def of(self, app: str) -> Ground:
        """Answer the ground of an application."""
        if self.apart is None or self.demo is None or app not in self.demo.apps:
            return self.real
        return self.apart


def _build(sides: _Sides, host: str, apps: tuple[App[Any], ...]) -> House:
    ground, demo = sides.real, sides.demo
    settings, server, store = ground.settings, ground.settings.server, ground.store
    clock, random, web, hub = ground.clock, ground.random, ground.web, ground.hub
    people = People(store, clock=clock, random=random)
    services: dict[str, Any] = {}
    given = _resources(sides, services)
    apart = given if sides.apart is None else _apart(sides, given)
    _open_services(sides, (given, apart), services, apps)
    events = given.events if apart is given else BothEvents(given.events, apart.events)
    kept: dict[str, Belongings] = {"events": events}
    kept |= {a.name: a.belongings(services[a.name]) for a in apps if a.belongings is not None}
    simulated = {} if demo is None else {app: how_to_connect(app) for app in demo.apps}
    return House(
        settings=settings,
        clock=clock,
        random=random,
        metrics=ground.metrics,
        store=store,
        series=ground.series,
        web=web,
        llm=given.llm,
        hub=hub,
        events=events,
        notifier=given.notifier,
        people=people,
        gate=Gate(people, tokens_of(settings, web, clock)),
        policy=Policy.bound_to(host, hosts=server.allowed_hosts, secure=server.https),
        cursors=given.cursors,
        pages=make_pages(ground, apps, simulated),
        jobs=JobsView(store, clock, retired=idle_jobs(settings)),
        background=_background(
            sides, _jobs(sides, services, apps), _ways(sides, given, services, apps)
        ),
        belongings=AllBelongings(store, people, kept, clock),
        apps=apps,
        services=services,
        apart=sides.apart,
        demo=demo,
    )


def _open_services(
    sides: _Sides,
    given: tuple[Resources, Resources],
    services: dict[str, Any],
    apps: tuple[App[Any], ...],
) -> None:
    """Open the service of each application on its own side: the real one, or that apart."""
    for app in apps:
        if app.service is not None:
            ground = sides.of(app.name)
            mine = given[1] if ground is sides.apart else given[0]
            own = replace(mine, settings=getattr(ground.settings, app.name, None))
            services[app.name] = app.service(own)


def _resources(sides: _Sides, services: Mapping[str, Any]) -> Resources:
    ground = sides.real
    store, clock, web = ground.store, ground.clock, ground.web
    outbox = Outbox(store, clock)
    return Resources(
        settings=None,
        store=store,
        series=ground.series,
        clock=clock,
        random=ground.random,
        metrics=ground.metrics,
        web=web,
        llm=open_llm(ground.settings.llm, web, store=store, clock=clock, metrics=ground.metrics),
        teller=ground.hub,
        outbox=outbox,
        notifier=Notifier(outbox, channels_of(ground.settings), web=web),
        events=Events(store, clock=clock, random=ground.random, teller=ground.hub),
        cursors=Cursors(house_secret(ground.settings)),
        lent={
            "home": ground.settings.home,
            "replay_server": partial(_replay_server, clock),
            "cricsheet": cricsheet_answers,
            **_prices(sides, services),
        },
    )


def _prices(sides: _Sides, services: Mapping[str, Any]) -> dict[str, Any]:
    """Answer the exchange's prices for bets; what is real and what is not never stand together."""
    if sides.of("bets") is not sides.of("gatherer"):
        return {}
    return {"exchange_prices": GathererPrices(lambda: services.get("gatherer"))}


def _apart(sides: _Sides, given: Resources) -> Resources:
    """Answer what simulated applications get: tables, series, outbox and events of their own."""
    ground, demo = sides.apart, sides.demo
    if ground is None or demo is None:
        return given
    outbox = Outbox(ground.store, ground.clock)
    return replace(
        given,
        store=ground.store,
        series=ground.series,
        web=ground.web,
        outbox=outbox,
        notifier=Notifier(outbox, channels_of(ground.settings), web=ground.web),
        events=Events(ground.store, clock=ground.clock, random=ground.random, teller=ground.hub),
        lent={**given.lent, "home": demo.folder, **demo.lent},
    )


def _replay_server(clock: Clock, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - lent as it is
    """The exchange's stand-in as a server of recordings, loaded by whoever plays some."""
    from grandstand.simulators.exchange.recordings.playback import playing

    return playing(*given, clock=clock, **options)


def _ways(
    sides: _Sides, given: Resources, services: Mapping[str, Any], apps: tuple[App[Any], ...]
) -> tuple[dict[str, Deliver], dict[str, Deliver]]:
    """Answer how the outbox is carried out, the real one and that of the simulated side."""
    real, apart = given.notifier.ways(), dict[str, Deliver]()
    for app in apps:
        if app.deliveries is not None:
            side = apart if sides.of(app.name) is sides.apart else real
            side |= app.deliveries(services[app.name])
    return real, apart


def _background(
    sides: _Sides, jobs: tuple[Job, ...], ways: tuple[Mapping[str, Deliver], Mapping[str, Deliver]]
) -> Background:
    ground, apart = sides.real, sides.apart
    runner = Runner(
        ground.store,
        jobs,
        clock=ground.clock,
        random=ground.random,
        metrics=ground.metrics,
        teller=ground.hub,
        instance=ground.instance,
    )
    others = () if apart is None else (_deliverer(apart, ways[1]),)
    return Background(runner, _deliverer(ground, ways[0]), others)


def _deliverer(ground: Ground, ways: Mapping[str, Deliver]) -> Deliverer:
    return Deliverer(
        ground.store, ways, clock=ground.clock, random=ground.random, metrics=ground.metrics
    )


def _jobs(
    sides: _Sides, services: Mapping[str, Any], apps: tuple[App[Any], ...]
) -> tuple[Job, ...]:
    ground, apart, demo = sides.real, sides.apart, sides.demo
    grounds = (ground,) if apart is None else (ground, apart)

    own = house_jobs(
        [(each.store.store, each.series) for each in grounds],
        ground.metrics,
        ground.hub,
        lambda: _storage(
            ground.store, ground.series, apart, frozenset() if demo is None else demo.apps
        ),
    )
    theirs = [job for app in apps if app.jobs is not None for job in app.jobs(services[app.name])]
    if demo is None:
        return (*own, *theirs)
    from grandstand.host.demo.story import demo_jobs, paced

    return (*own, *(paced(job, demo) for job in theirs), *demo_jobs(demo, services, ground.hub))

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
from grandstand.host.ground import Ground, channels_of, house_secret, lay, make_pages, tokens_of
from grandstand.host.language import open_llm
from grandstand.host.lending import GathererPrices
from grandstand.host.recordings import cricsheet_answers
from grandstand.host.runner import Background
from grandstand.host.server.health import Check
from grandstand.host.settings import Settings
from grandstand.host.storage import Part, storage_of
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
from grandstand.kit.who.belongings import AllBelongings
from grandstand.kit.who.caller import Caller
from grandstand.kit.who.gate import Gate
from grandstand.kit.who.people import People
from grandstand.kit.who.policy import Policy
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables.store import AsyncStore
from grandstand.wire.web import Web


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
    events: Events
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

    @staticmethod
    @asynccontextmanager
    async def open(
        settings: Settings,
        *,
        clock: Clock | None = None,
        random: Random | None = None,
        host: str | None = None,
        apps: tuple[App[Any], ...] = APPS,
    ) -> AsyncIterator[House]:
        """Open everything for the length of a block; nothing runs yet behind the pages.

        `host` is the address that will be listened on, where it is not the settings' own. Raises
        InvalidInput or Unavailable, saying what to do.
        """
        async with AsyncExitStack() as opened:
            ground = await lay(settings, clock or SystemClock(), random or SystemRandom(), opened)
            house = _build(ground, host or settings.server.host, apps)
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
            return Now("Not known", str(fault), f"/{app.name}")

    async def storage(self) -> tuple[Part, ...]:
        """Answer what every table and series holds and takes."""
        return await storage_of(self.store, self.series)

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


def _build(ground: Ground, host: str, apps: tuple[App[Any], ...]) -> House:
    settings, server, store = ground.settings, ground.settings.server, ground.store
    clock, random, web, hub = ground.clock, ground.random, ground.web, ground.hub
    people = People(store, clock=clock, random=random)
    services: dict[str, Any] = {}
    given = _resources(ground, services)
    for app in apps:
        if app.service is not None:
            own = replace(given, settings=getattr(settings, app.name, None))
            services[app.name] = app.service(own)
    kept: dict[str, Belongings] = {"events": given.events}
    kept |= {a.name: a.belongings(services[a.name]) for a in apps if a.belongings is not None}
    ways = given.notifier.ways()
    for app in apps:
        ways |= app.deliveries(services[app.name]) if app.deliveries is not None else {}
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
        events=given.events,
        notifier=given.notifier,
        people=people,
        gate=Gate(people, tokens_of(settings, web, clock)),
        policy=Policy.bound_to(host, hosts=server.allowed_hosts, secure=server.https),
        cursors=given.cursors,
        pages=make_pages(ground, apps),
        jobs=JobsView(store, clock),
        background=_background(ground, _jobs(ground, services, apps), ways),
        belongings=AllBelongings(store, people, kept, clock),
        apps=apps,
        services=services,
    )


def _resources(ground: Ground, services: Mapping[str, Any]) -> Resources:
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
            "exchange_prices": GathererPrices(lambda: services.get("gatherer")),
        },
    )


def _replay_server(clock: Clock, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - lent as it is
    """The exchange's stand-in as a server of recordings, loaded by whoever plays some."""
    from grandstand.simulators.exchange.playback import playing

    return playing(*given, clock=clock, **options)


def _background(ground: Ground, jobs: tuple[Job, ...], ways: Mapping[str, Deliver]) -> Background:
    runner = Runner(
        ground.store,
        jobs,
        clock=ground.clock,
        random=ground.random,
        metrics=ground.metrics,
        teller=ground.hub,
        instance=ground.instance,
    )
    deliverer = Deliverer(
        ground.store,
        ways,
        clock=ground.clock,
        random=ground.random,
        metrics=ground.metrics,
    )
    return Background(runner, deliverer)


def _jobs(
    ground: Ground, services: Mapping[str, Any], apps: tuple[App[Any], ...]
) -> tuple[Job, ...]:
    own = house_jobs(
        ground.store.store,
        ground.series,
        ground.metrics,
        ground.hub,
        lambda: storage_of(ground.store, ground.series),
    )
    theirs = [job for app in apps if app.jobs is not None for job in app.jobs(services[app.name])]
    return (*own, *theirs)

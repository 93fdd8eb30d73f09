"""The platform: all apps and what they run on, opened and closed together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from random import Random, SystemRandom
from typing import Any

from grandstand.core.clock import Clock, SystemClock
from grandstand.core.errors import GrandstandError, Unavailable
from grandstand.core.logging import get_logger
from grandstand.core.metrics import Metrics
from grandstand.host.demo.jobs import unused_demo_jobs
from grandstand.host.demo.sources import how_to_connect
from grandstand.host.demo.world import Demo
from grandstand.host.exchange_prices import GathererPrices
from grandstand.host.infrastructure import (
    Infrastructure,
    make_pages,
    notification_channels,
    open_demo_infrastructure,
    open_infrastructure,
    open_llm,
    platform_secret,
    token_verifier,
)
from grandstand.host.maintenance import (
    StoragePart,
    describe_demo_storage,
    describe_storage,
    platform_jobs,
)
from grandstand.host.registry import APPS
from grandstand.host.settings import Settings
from grandstand.kit.app import App, AppResources, AppServices, HomeCard, load
from grandstand.kit.auth.accounts import AccountService, Authenticator
from grandstand.kit.auth.caller import Caller
from grandstand.kit.auth.host_policy import HostPolicy
from grandstand.kit.auth.personal_data import PersonalData, PersonalDataService
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import Events
from grandstand.kit.jobs.admin import JobAdmin
from grandstand.kit.jobs.job import Job
from grandstand.kit.jobs.runner import JobRunner
from grandstand.kit.live import LiveHub
from grandstand.kit.llm import Llm
from grandstand.kit.notify import Notifier
from grandstand.kit.outbox import Deliverer, DeliveryHandler, Outbox
from grandstand.kit.pages.rendering import Pages
from grandstand.kit.problems import describe_error
from grandstand.net.client import SourceRegistry, SourceStatus
from grandstand.storage.series.engines.protocol import SeriesEngine
from grandstand.storage.tables.store import AsyncStore


@dataclass(frozen=True, slots=True)
class BackgroundWork:
    """The job runner and the outbox deliverers, running in one event loop.

    The simulated side has an outbox of its own and therefore a deliverer in `others`.
    """

    runner: JobRunner
    deliverer: Deliverer
    others: tuple[Deliverer, ...] = ()

    async def run(self) -> None:
        """Run everything until `stop`; if one part fails, stop the others and raise its error."""
        every = [
            asyncio.create_task(self.runner.run(), name="runner"),
            *(
                asyncio.create_task(each.run(), name="deliverer")
                for each in (self.deliverer, *self.others)
            ),
        ]
        try:
            await asyncio.wait(every, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            await self.stop()
            ended = await asyncio.gather(*every, return_exceptions=True)
        for fault in ended:
            if isinstance(fault, BaseException):
                get_logger("runner").critical("background_work_failed", exc_info=fault)
                raise fault

    async def stop(self) -> None:
        """Start nothing new, let short work finish, stop the rest, and return."""
        deliverers = (self.deliverer, *self.others)
        await asyncio.gather(self.runner.stop(), *(each.stop() for each in deliverers))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.Task[None]]:
        """Run everything while the block runs."""
        task = asyncio.create_task(self.run(), name="background")
        try:
            yield task
        finally:
            await self.stop()
            await task


@dataclass(frozen=True, slots=True)
class Platform:
    """All apps and what they run on."""

    settings: Settings
    clock: Clock
    random: Random
    metrics: Metrics
    store: AsyncStore
    series: SeriesEngine
    web: SourceRegistry
    llm: Llm
    hub: LiveHub
    events: Events
    notifier: Notifier
    people: AccountService
    gate: Authenticator
    policy: HostPolicy
    cursors: Cursors
    pages: Pages
    jobs: JobAdmin
    background: BackgroundWork
    personal_data: PersonalDataService
    apps: tuple[App[Any], ...]
    services: Mapping[str, Any]
    built: Mapping[str, AppServices[Any]]
    apart: Infrastructure | None = None
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
    ) -> AsyncIterator[Platform]:
        """Open everything while the block runs; no jobs are started.

        `host` is the address to bind to, if it differs from the settings. What `demo` simulates is
        stored apart. Raises InvalidInput or Unavailable with what to do.
        """
        async with AsyncExitStack() as opened:
            ground = await open_infrastructure(
                settings, clock or SystemClock(), random or SystemRandom(), opened
            )
            apart = (
                None
                if demo is None
                else await open_demo_infrastructure(ground, demo.settings, opened)
            )
            platform = _build(_LiveAndDemo(ground, apart, demo), host or settings.server.host, apps)
            for built in platform.built.values():
                if built.close is not None:
                    opened.push_async_callback(built.close)
            yield platform
            await ground.hub.close()

    async def cards(self, caller: Caller) -> tuple[tuple[App[Any], HomeCard], ...]:
        """Return every app with its home card."""
        return tuple([(app, await self._now(app, caller)) for app in self.apps])

    async def _now(self, app: App[Any], caller: Caller) -> HomeCard:
        built = self.built.get(app.name)
        if built is None or built.home_card is None:
            return HomeCard("Nothing yet", app.purpose, f"/{app.name}")
        try:
            return await built.home_card(caller)
        except GrandstandError as fault:
            get_logger("platform").warning("home_card_failed", app=app.name, error=str(fault))
            return HomeCard("Not known", describe_error(fault).detail, f"/{app.name}")

    async def storage(self) -> tuple[StoragePart, ...]:
        """Return the size of every table and series, simulated ones last."""
        return await _storage(self.store, self.series, self.apart, self.simulated)

    @property
    def simulated(self) -> frozenset[str]:
        """The names of the apps whose source is simulated."""
        return frozenset() if self.demo is None else self.demo.apps

    async def sources(self) -> tuple[SourceStatus, ...]:
        """Return the status of every source, simulated ones last."""
        real = await self.web.current()
        return real if self.apart is None else (*real, *await self.apart.web.current())

    def checks(self) -> dict[str, Callable[[], Awaitable[str]]]:
        """Return the readiness checks."""
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
    store: AsyncStore, series: SeriesEngine, apart: Infrastructure | None, simulated: frozenset[str]
) -> tuple[StoragePart, ...]:
    real = await describe_storage(store, series)
    if apart is None:
        return real
    return (*real, *await describe_demo_storage(apart.store, apart.series, simulated))


@dataclass(frozen=True, slots=True)
class _LiveAndDemo:
    """The real infrastructure and that of the demo."""

    real: Infrastructure
    apart: Infrastructure | None
    demo: Demo | None

    def of(self, app: str) -> Infrastructure:
        """Return the infrastructure of an app."""
        if self.apart is None or self.demo is None or app not in self.demo.apps:
            return self.real
        return self.apart


def _build(sides: _LiveAndDemo, host: str, apps: tuple[App[Any], ...]) -> Platform:
    ground, demo = sides.real, sides.demo
    settings, server, store = ground.settings, ground.settings.server, ground.store
    clock, random, web, hub = ground.clock, ground.random, ground.web, ground.hub
    people = AccountService(store, clock=clock, random=random)
    services: dict[str, Any] = {}
    given = _resources(sides, services)
    apart = given if sides.apart is None else _apart(sides, given)
    built = _open_services(sides, (given, apart), services, apps)
    events = Events(
        store,
        clock=clock,
        random=random,
        publisher=hub,
        more_stores=() if sides.apart is None else (sides.apart.store,),
    )
    personal_data: dict[str, PersonalData] = {"events": events}
    personal_data |= {
        name: each.personal_data for name, each in built.items() if each.personal_data is not None
    }
    simulated = {} if demo is None else {app: how_to_connect(app) for app in demo.apps}
    return Platform(
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
        gate=Authenticator(people, token_verifier(settings, web, clock)),
        policy=HostPolicy.bound_to(host, hosts=server.allowed_hosts, secure=server.https),
        cursors=given.cursors,
        pages=make_pages(ground, apps, simulated),
        jobs=JobAdmin(store, clock, retired=unused_demo_jobs(settings)),
        background=_background(sides, _jobs(sides, services, apps), _handlers(sides, given, built)),
        personal_data=PersonalDataService(store, people, personal_data, clock),
        apps=apps,
        services=services,
        built=built,
        apart=sides.apart,
        demo=demo,
    )


def _open_services(
    sides: _LiveAndDemo,
    given: tuple[AppResources, AppResources],
    services: dict[str, Any],
    apps: tuple[App[Any], ...],
) -> dict[str, AppServices[Any]]:
    """Build the services of each app on its own side: real or simulated."""
    built = {}
    for app in apps:
        if app.build is not None:
            ground = sides.of(app.name)
            mine = given[1] if ground is sides.apart else given[0]
            own = replace(mine, settings=getattr(ground.settings, app.name, None))
            built[app.name] = load(app.build)(own)
            services[app.name] = built[app.name].services
    return built


def _resources(sides: _LiveAndDemo, services: Mapping[str, Any]) -> AppResources:
    ground = sides.real
    store, clock, web = ground.store, ground.clock, ground.web
    outbox = Outbox(store, clock)
    return AppResources(
        settings=None,
        home=ground.settings.home,
        store=store,
        series=ground.series,
        clock=clock,
        random=ground.random,
        metrics=ground.metrics,
        web=web,
        llm=open_llm(ground.settings.llm, web, store=store, clock=clock, metrics=ground.metrics),
        publisher=ground.hub,
        outbox=outbox,
        notifier=Notifier(outbox, notification_channels(ground.settings), web=web),
        events=Events(store, clock=clock, random=ground.random, publisher=ground.hub),
        cursors=Cursors(platform_secret(ground.settings)),
        exchange_prices=_exchange_prices(sides, services),
        replay_server=partial(_replay_server, clock),
    )


def _exchange_prices(sides: _LiveAndDemo, services: Mapping[str, Any]) -> GathererPrices | None:
    """Return the exchange's prices for bets; real and simulated data are never mixed."""
    if sides.of("bets") is not sides.of("gatherer"):
        return None
    return GathererPrices(lambda: services.get("gatherer"))


def _apart(sides: _LiveAndDemo, given: AppResources) -> AppResources:
    """Return the resources of simulated apps, with their own store, series, outbox and events."""
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
        notifier=Notifier(outbox, notification_channels(ground.settings), web=ground.web),
        events=Events(ground.store, clock=ground.clock, random=ground.random, publisher=ground.hub),
        home=demo.folder,
        apns_context=demo.apns_context,
        webpush_hosts=demo.webpush_hosts,
    )


def _replay_server(
    clock: Clock, play: Callable[[Any], Coroutine[Any, Any, None]], port: int
) -> AbstractAsyncContextManager[str]:
    """Return a server of the exchange's protocol that `play` fills with recorded rows."""
    from grandstand.simulators.exchange.server import ReplayExchange

    return ReplayExchange(play, clock).serve(port)


def _handlers(
    sides: _LiveAndDemo, given: AppResources, built: Mapping[str, AppServices[Any]]
) -> tuple[dict[str, DeliveryHandler], dict[str, DeliveryHandler]]:
    """Return the outbox handlers of the real side and of the simulated side."""
    real, apart = given.notifier.handlers(), dict[str, DeliveryHandler]()
    for name, each in built.items():
        side = apart if sides.of(name) is sides.apart else real
        side |= each.outbox_handlers
    return real, apart


def _background(
    sides: _LiveAndDemo,
    jobs: tuple[Job, ...],
    ways: tuple[Mapping[str, DeliveryHandler], Mapping[str, DeliveryHandler]],
) -> BackgroundWork:
    ground, apart = sides.real, sides.apart
    runner = JobRunner(
        ground.store,
        jobs,
        clock=ground.clock,
        random=ground.random,
        metrics=ground.metrics,
        publisher=ground.hub,
        instance=ground.instance,
    )
    others = () if apart is None else (_deliverer(apart, ways[1]),)
    return BackgroundWork(runner, _deliverer(ground, ways[0]), others)


def _deliverer(ground: Infrastructure, ways: Mapping[str, DeliveryHandler]) -> Deliverer:
    return Deliverer(
        ground.store, ways, clock=ground.clock, random=ground.random, metrics=ground.metrics
    )


def _jobs(
    sides: _LiveAndDemo, services: Mapping[str, Any], apps: tuple[App[Any], ...]
) -> tuple[Job, ...]:
    ground, apart, demo = sides.real, sides.apart, sides.demo
    grounds = (ground,) if apart is None else (ground, apart)

    own = platform_jobs(
        [(each.store.store, each.series) for each in grounds],
        ground.metrics,
        ground.hub,
        lambda: _storage(
            ground.store, ground.series, apart, frozenset() if demo is None else demo.apps
        ),
    )
    theirs = [
        job for app in apps if app.jobs is not None for job in load(app.jobs)(services[app.name])
    ]
    if demo is None:
        return (*own, *theirs)
    from grandstand.host.demo.jobs import demo_jobs, with_demo_schedule

    return (
        *own,
        *(with_demo_schedule(job, demo) for job in theirs),
        *demo_jobs(demo, services, ground.hub),
    )

"""The platform: all apps and what they run on, opened and closed together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from random import Random, SystemRandom
from typing import Any

from grandstand.core.clock import Clock, SystemClock
from grandstand.core.errors import GrandstandError, Unavailable
from grandstand.core.logging import get_logger
from grandstand.host.demo.jobs import demo_jobs, unused_demo_jobs, with_demo_schedule
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
from grandstand.kit.notify import Notifier
from grandstand.kit.outbox import Deliverer, DeliveryHandler, Outbox
from grandstand.kit.pages.rendering import Pages
from grandstand.kit.problems import describe_error
from grandstand.net.client import SourceStatus


@dataclass(frozen=True, slots=True)
class BackgroundWork:
    """The job runner and the outbox deliverers, running in one event loop.

    The simulated side has an outbox of its own and therefore a deliverer of its own.
    """

    runner: JobRunner
    deliverers: tuple[Deliverer, ...]

    async def run(self) -> None:
        """Run everything until `stop`; if one part fails, stop the others and raise its error."""
        parts: tuple[JobRunner | Deliverer, ...] = (self.runner, *self.deliverers)
        tasks = [asyncio.create_task(part.run(), name=type(part).__name__) for part in parts]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            await self.stop()
            results = await asyncio.gather(*tasks, return_exceptions=True)
        for error in results:
            if isinstance(error, BaseException):
                get_logger("runner").critical("background_work_failed", exc_info=error)
                raise error

    async def stop(self) -> None:
        """Start nothing new, let short work finish, stop the rest, and return."""
        await asyncio.gather(self.runner.stop(), *(each.stop() for each in self.deliverers))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.Task[None]]:
        """Run everything while the block runs."""
        task = asyncio.create_task(self.run(), name="background")
        try:
            yield task
        finally:
            await self.stop()
            await task


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform(Infrastructure):
    """All apps and what they run on; `apart` is what simulated apps run on."""

    events: Events
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
            real = await open_infrastructure(
                settings, clock or SystemClock(), random or SystemRandom(), opened
            )
            apart = None
            if demo is not None:
                apart = await open_demo_infrastructure(real, demo.settings, opened)
            sides = _LiveAndDemo(real, apart, demo)
            platform = _build(sides, host or settings.server.host, apps)
            for built in platform.built.values():
                if built.close is not None:
                    opened.push_async_callback(built.close)
            yield platform
            await real.hub.close()

    async def cards(self, caller: Caller) -> tuple[tuple[App[Any], HomeCard], ...]:
        """Return every app with its home card."""
        return tuple([(app, await self._card(app, caller)) for app in self.apps])

    async def _card(self, app: App[Any], caller: Caller) -> HomeCard:
        built = self.built.get(app.name)
        if built is None or built.home_card is None:
            return HomeCard("Nothing yet", app.purpose, f"/{app.name}")
        try:
            return await built.home_card(caller)
        except GrandstandError as fault:
            get_logger("platform").warning("home_card_failed", app=app.name, error=str(fault))
            return HomeCard("Not available", describe_error(fault).detail, f"/{app.name}")

    async def storage(self) -> tuple[StoragePart, ...]:
        """Return the size of every table and series, simulated ones last."""
        return await _describe_storage(self, self.apart, self.simulated)

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


async def _describe_storage(
    real: Infrastructure, apart: Infrastructure | None, simulated: frozenset[str]
) -> tuple[StoragePart, ...]:
    parts = await describe_storage(real.store, real.series)
    if apart is None:
        return parts
    return (*parts, *await describe_demo_storage(apart.store, apart.series, simulated))


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
    real, apart, demo = sides.real, sides.apart, sides.demo
    settings, store, clock = real.settings, real.store, real.clock
    people = AccountService(store, clock=clock, random=real.random)
    services: dict[str, Any] = {}
    cursors = Cursors(platform_secret(settings))
    built, handlers = _build_services(sides, services, apps, cursors)
    events = Events(
        store,
        clock=clock,
        random=real.random,
        publisher=real.hub,
        more_stores=() if apart is None else (apart.store,),
    )
    personal_data: dict[str, PersonalData] = {"events": events}
    personal_data |= {
        name: each.personal_data for name, each in built.items() if each.personal_data is not None
    }
    runner = JobRunner(
        store,
        _jobs(sides, services, apps),
        clock=clock,
        random=real.random,
        metrics=real.metrics,
        publisher=real.hub,
        instance=real.instance,
    )
    deliverers = tuple(
        Deliverer(side.store, topics, clock=clock, random=side.random, metrics=side.metrics)
        for side, topics in handlers
    )
    simulated = {} if demo is None else {app: how_to_connect(app) for app in demo.apps}
    return Platform(
        **{field.name: getattr(real, field.name) for field in fields(real)},
        events=events,
        people=people,
        gate=Authenticator(
            people,
            token_verifier(settings, real.web, clock),
            local_owner=not settings.server.published,
        ),
        policy=HostPolicy.bound_to(
            host, hosts=settings.server.allowed_hosts, secure=settings.server.https
        ),
        cursors=cursors,
        pages=make_pages(clock, real.hub, apps, simulated),
        jobs=JobAdmin(store, clock, retired=unused_demo_jobs(settings)),
        background=BackgroundWork(runner, deliverers),
        personal_data=PersonalDataService(store, people, personal_data, clock),
        apps=apps,
        services=services,
        built=built,
        apart=apart,
        demo=demo,
    )


def _build_services(
    sides: _LiveAndDemo, services: dict[str, Any], apps: tuple[App[Any], ...], cursors: Cursors
) -> tuple[dict[str, AppServices[Any]], list[tuple[Infrastructure, dict[str, DeliveryHandler]]]]:
    """Build the services of each app on its side, and return the outbox handlers of each side."""
    real, demo, clock = sides.real, sides.demo, sides.real.clock
    shared: dict[str, Any] = {
        "llm": open_llm(
            real.settings.llm, real.web, store=real.store, clock=clock, metrics=real.metrics
        ),
        "cursors": cursors,
        "replay_server": partial(_replay_server, clock),
    }
    # Real and simulated data are never mixed.
    if sides.of("bets") is sides.of("gatherer"):
        shared["exchange_prices"] = GathererPrices(lambda: services.get("gatherer"))
    resources = simulated = _resources(real, **shared)
    handlers = [(real, resources.notifier.handlers())]
    if sides.apart is not None and demo is not None:
        apart = {"apns_context": demo.apns_context, "webpush_hosts": demo.webpush_hosts}
        simulated = _resources(sides.apart, **shared, **apart)
        handlers.append((sides.apart, {}))
    built = {}
    for app in apps:
        if app.build is not None:
            side = sides.of(app.name)
            own = replace(
                resources if side is real else simulated,
                settings=getattr(side.settings, app.name, None),
            )
            built[app.name] = load(app.build)(own)
            services[app.name] = built[app.name].services
            handlers[0 if side is real else 1][1].update(built[app.name].outbox_handlers)
    return built, handlers


def _resources(side: Infrastructure, **shared: Any) -> AppResources:  # noqa: ANN401 - as declared
    """Return what the apps of one side use; both sides have `shared` in common."""
    outbox = Outbox(side.store, side.clock)
    return AppResources(
        settings=None,
        home=side.settings.home,
        store=side.store,
        series=side.series,
        clock=side.clock,
        random=side.random,
        metrics=side.metrics,
        web=side.web,
        publisher=side.hub,
        outbox=outbox,
        notifier=Notifier(outbox, notification_channels(side.settings), web=side.web),
        events=Events(side.store, clock=side.clock, random=side.random, publisher=side.hub),
        **shared,
    )


def _replay_server(
    clock: Clock, play: Callable[[Any], Coroutine[Any, Any, None]], port: int
) -> AbstractAsyncContextManager[str]:
    """Return a server of the exchange's protocol that `play` fills with recorded rows."""
    from grandstand.simulators.exchange.server import ReplayExchange

    return ReplayExchange(play, clock).serve(port)


def _jobs(
    sides: _LiveAndDemo, services: Mapping[str, Any], apps: tuple[App[Any], ...]
) -> tuple[Job, ...]:
    real, apart, demo = sides.real, sides.apart, sides.demo
    simulated = frozenset[str]() if demo is None else demo.apps
    own = platform_jobs(
        [(side.store.store, side.series) for side in (real, apart) if side is not None],
        real.metrics,
        real.hub,
        lambda: _describe_storage(real, apart, simulated),
    )
    theirs = [
        job for app in apps if app.jobs is not None for job in load(app.jobs)(services[app.name])
    ]
    if demo is None:
        return (*own, *theirs)
    return (
        *own,
        *(with_demo_schedule(job, demo) for job in theirs),
        *demo_jobs(demo, services, real.hub),
    )

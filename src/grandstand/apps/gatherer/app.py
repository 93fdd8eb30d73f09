"""The card on the gatherer's door: what the host may know of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grandstand.apps.gatherer import store
from grandstand.kit.app import App, Found, Now, Resources

if TYPE_CHECKING:
    import typer

    from grandstand.apps.gatherer.service import Gatherer
    from grandstand.apps.gatherer.settings import GathererSettings
    from grandstand.apps.gatherer.sources.kalshi.signing import Signer
    from grandstand.base.clock import Clock
    from grandstand.kit.jobs.job import Job
    from grandstand.kit.pages.rendering import Pages
    from grandstand.kit.who.caller import Caller

NAME: Final = "gatherer"


def _service(resources: Resources) -> Gatherer:
    from grandstand.apps.gatherer.service import Gatherer, Means
    from grandstand.apps.gatherer.settings import GathererSettings
    from grandstand.apps.gatherer.sources.kalshi.rest import Exchange

    settings: GathererSettings = resources.settings or GathererSettings()
    signer, fault = _signer(settings, resources.clock)
    return Gatherer(
        Means(
            store=resources.store,
            series=resources.series,
            exchange=Exchange(
                resources.web,
                settings.rest_url,
                signer=signer,
                clock=resources.clock,
                per_second=settings.reads_per_second,
            ),
            clock=resources.clock,
            random=resources.random,
            metrics=resources.metrics,
            teller=resources.teller,
            events=resources.events,
            notifier=resources.notifier,
            cursors=resources.cursors,
            folder=settings.folder or Path(resources.lent.get("home", ".")) / NAME,
            signer=signer,
            key_fault=fault,
            replay_server=resources.lent.get("replay_server"),
            settings=settings,
        )
    )


def _signer(settings: GathererSettings, clock: Clock) -> tuple[Signer | None, str | None]:
    """Answer what signs, or why the key cannot be used: the house opens all the same."""
    from grandstand.apps.gatherer.sources.kalshi.errors import SigningKeyUnusable
    from grandstand.apps.gatherer.sources.kalshi.signing import read_signer

    key = settings.private_key.get_secret_value()
    try:
        return read_signer(settings.key_id, key, settings.private_key_file, clock), None
    except SigningKeyUnusable as fault:
        return None, str(fault)


def _api(gatherer: Gatherer) -> object:
    from grandstand.apps.gatherer.api import GathererApi

    return GathererApi(gatherer)


def _pages(gatherer: Gatherer, pages: Pages) -> object:
    from grandstand.apps.gatherer.pages import GathererPages

    return GathererPages(gatherer, pages)


def _jobs(gatherer: Gatherer) -> tuple[Job, ...]:
    from grandstand.apps.gatherer.jobs import jobs

    return jobs(gatherer)


def _commands(opened: Callable[[], AbstractAsyncContextManager[Gatherer]]) -> typer.Typer:
    from grandstand.apps.gatherer.cli import commands

    return commands(opened)


async def _now(gatherer: Gatherer, _: Caller) -> Now:
    ingest, recording = await gatherer.ingest(), f"/{NAME}/recording"
    if ingest.state == "recording":
        headline = f"{ingest.frames_per_second:,.0f} messages a second"
        stale = f", {ingest.stale} of them catching up" if ingest.stale else ""
        detail = f"Recording {ingest.markets:,} markets{stale}"
        return Now(headline, detail, recording, live=True)
    if ingest.state == "elsewhere":
        return Now("Recording", "In another process of this gatherer", recording, live=True)
    if ingest.state == "starting":
        return Now("Starting", "The markets are being listed", recording)
    if ingest.state == "failed":
        return Now("Stopped", ingest.why or "Recording failed", recording)
    return Now("Not recording", "Choose markets, see what they take, and start", f"/{NAME}")


async def _search(gatherer: Gatherer, sought: str, _: Caller) -> tuple[Found, ...]:
    return await gatherer.search(sought)


CARD: Final[App[Gatherer]] = App(
    name=NAME,
    title="Gatherer",
    purpose="Markets of the exchange, gathered tick by tick and kept whole.",
    tables=store.TABLES,
    series=store.SERIES,
    service=_service,
    api=_api,
    pages=_pages,
    jobs=_jobs,
    commands=_commands,
    now=_now,
    search=_search,
)

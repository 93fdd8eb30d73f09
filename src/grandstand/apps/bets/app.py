"""The card on bets' door: what the host may know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Final

from grandstand.apps.bets import store
from grandstand.kit.app import App, Belongings, Calibrated, Found, Now, Resources

if TYPE_CHECKING:
    import typer

    from grandstand.apps.bets.service import Bets, OddsFeed, StatsFeed
    from grandstand.apps.bets.settings import BetsSettings
    from grandstand.kit.jobs.job import Job
    from grandstand.kit.outbox import Consequence, Deliver
    from grandstand.kit.pages.rendering import Pages
    from grandstand.kit.who.caller import Caller

NAME: Final = "bets"
_OWNER_BITS: Final = 64


def _service(resources: Resources) -> Bets:
    from grandstand.apps.bets.service import Bets, Means
    from grandstand.apps.bets.settings import BetsSettings

    settings = resources.settings or BetsSettings()
    return Bets(
        Means(
            store=resources.store,
            llm=resources.llm,
            outbox=resources.outbox,
            notifier=resources.notifier,
            events=resources.events,
            teller=resources.teller,
            cursors=resources.cursors,
            clock=resources.clock,
            random=resources.random,
            owner=f"{NAME}-{resources.random.getrandbits(_OWNER_BITS):x}",
            odds=_odds(resources, settings),
            stats=_stats(resources, settings),
            exchange=resources.lent.get("exchange_prices"),
            settings=settings,
        )
    )


def _odds(resources: Resources, settings: BetsSettings) -> OddsFeed | None:
    key = settings.odds_key
    if key is None or not key.get_secret_value():
        return None
    from grandstand.apps.bets.sources.odds_api import OddsApi

    return OddsApi(
        resources.web,
        resources.clock,
        url=settings.odds_url,
        key=key.get_secret_value(),
        reserve=settings.odds_reserve,
    )


def _stats(resources: Resources, settings: BetsSettings) -> tuple[StatsFeed, ...]:
    feeds: list[StatsFeed] = []
    if settings.stats_folder is not None:
        from grandstand.apps.bets.sources.stat_files import StatFolder

        feeds.append(StatFolder(settings.stats_folder))
    if settings.espn_url:
        from grandstand.apps.bets.sources.espn import Espn

        feeds.append(Espn(resources.web, resources.clock, url=settings.espn_url))
    return tuple(feeds)


def _api(bets: Bets) -> object:
    from grandstand.apps.bets.api import BetsApi

    return BetsApi(bets)


def _pages(bets: Bets, pages: Pages) -> object:
    from grandstand.apps.bets.pages import BetsPages

    return BetsPages(bets, pages)


def _jobs(bets: Bets) -> tuple[Job, ...]:
    from grandstand.apps.bets.jobs import jobs

    return jobs(bets)


def _commands(opened: Callable[[], AbstractAsyncContextManager[Bets]]) -> typer.Typer:
    from grandstand.apps.bets.cli import commands

    return commands(opened)


def _deliveries(bets: Bets) -> Mapping[str, Deliver]:
    from grandstand.apps.bets.service import ALERT

    async def tell(consequence: Consequence) -> None:
        await bets.tell(consequence)

    return {ALERT: tell}


async def _now(bets: Bets, caller: Caller) -> Now:
    del caller
    count, game = await bets.today()
    if game is None:
        return Now("Games and odds", _awaited(bets), f"/{NAME}")
    headline = f"{count} {'game' if count == 1 else 'games'} today" if count else "No game today"
    return Now(headline, f"Next: {game.title} ({game.detail})", game.href, live=count > 0)


def _awaited(bets: Bets) -> str:
    if bets.settings.odds_key is None:
        return "Odds appear once a feed of them is set up."
    return "The feed has told of no game yet; the status page says whether it answers."


async def _search(bets: Bets, sought: str, caller: Caller) -> tuple[Found, ...]:
    del caller
    return await bets.search(sought)


async def _calibration(bets: Bets, caller: Caller) -> tuple[Calibrated, ...]:
    return await bets.calibration(caller)


def _belongings(bets: Bets) -> Belongings:
    return bets.belongings


CARD: Final[App[Bets]] = App(
    name=NAME,
    title="Bets",
    purpose="Games, odds and models: what to back, why, and how it went.",
    tables=store.TABLES,
    service=_service,
    api=_api,
    pages=_pages,
    jobs=_jobs,
    commands=_commands,
    now=_now,
    search=_search,
    calibration=_calibration,
    belongings=_belongings,
    deliveries=_deliveries,
)

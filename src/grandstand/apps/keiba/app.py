"""The card on keiba's door: what the host may know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Final

from grandstand.apps.keiba import store
from grandstand.kit.app import App, Belongings, Found, Now, Resources

if TYPE_CHECKING:
    import typer

    from grandstand.apps.keiba.service import Keiba
    from grandstand.kit.jobs.job import Job
    from grandstand.kit.outbox import Consequence, Deliver
    from grandstand.kit.pages.rendering import Pages
    from grandstand.kit.who.caller import Caller

NAME: Final = "keiba"
_OWNER_BITS: Final = 64


def _service(resources: Resources) -> Keiba:
    from grandstand.apps.keiba.service import Keiba, Means, TablePauses
    from grandstand.apps.keiba.settings import KeibaSettings
    from grandstand.apps.keiba.sources.netkeiba import Netkeiba

    settings = resources.settings or KeibaSettings()
    pauses = TablePauses(resources.store, resources.clock)
    return Keiba(
        Means(
            store=resources.store,
            site=Netkeiba(resources.web, settings, clock=resources.clock, pauses=pauses),
            llm=resources.llm,
            outbox=resources.outbox,
            notifier=resources.notifier,
            events=resources.events,
            teller=resources.teller,
            cursors=resources.cursors,
            clock=resources.clock,
            random=resources.random,
            owner=f"{NAME}-{resources.random.getrandbits(_OWNER_BITS):x}",
            settings=settings,
        )
    )


def _api(keiba: Keiba) -> object:
    from grandstand.apps.keiba.api import KeibaApi

    return KeibaApi(keiba)


def _pages(keiba: Keiba, pages: Pages) -> object:
    from grandstand.apps.keiba.pages import KeibaPages

    return KeibaPages(keiba, pages)


def _jobs(keiba: Keiba) -> tuple[Job, ...]:
    from grandstand.apps.keiba.jobs import jobs

    return jobs(keiba)


def _commands(opened: Callable[[], AbstractAsyncContextManager[Keiba]]) -> typer.Typer:
    from grandstand.apps.keiba.cli import commands

    return commands(opened)


def _deliveries(keiba: Keiba) -> Mapping[str, Deliver]:
    from grandstand.apps.keiba.service import ENTERED, RESULTED

    async def tell(consequence: Consequence) -> None:
        await keiba.tell_entered(consequence)

    async def tell_result(consequence: Consequence) -> None:
        await keiba.tell_resulted(consequence)

    return {ENTERED: tell, RESULTED: tell_result}


async def _now(keiba: Keiba, caller: Caller) -> Now:
    del caller
    race = await keiba.next_off()
    if race is None or race.off_at is None:
        return Now("Races of Japan", "The next meeting opens when you look.", f"/{NAME}")
    entry = race.entry
    name = entry.race_name or f"{entry.race_number}R"
    detail = f"{entry.where} {name}, off {race.off_at:%a %H:%M} JST"
    today = await keiba.races_today()
    headline = f"{today} {'race' if today == 1 else 'races'} today" if today else "No race today"
    href = f"/{NAME}/races/{entry.race_id}"
    return Now(headline, f"Next: {detail}", href, live=today > 0)


async def _search(keiba: Keiba, sought: str, caller: Caller) -> tuple[Found, ...]:
    return await keiba.search(caller, sought)


def _belongings(keiba: Keiba) -> Belongings:
    return keiba.belongings


CARD: Final[App[Keiba]] = App(
    name=NAME,
    title="Keiba",
    purpose="Japanese racing: cards, form, pedigrees and odds, explained.",
    tables=store.TABLES,
    service=_service,
    api=_api,
    pages=_pages,
    jobs=_jobs,
    commands=_commands,
    now=_now,
    search=_search,
    belongings=_belongings,
    deliveries=_deliveries,
)

"""Services of the keiba app, and how they are built."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from grandstand.apps.keiba.services.analysis import Backtester
from grandstand.apps.keiba.services.cache_admin import CacheAdmin
from grandstand.apps.keiba.services.cards import BackgroundCards, CardAssembler, CardPrefetcher
from grandstand.apps.keiba.services.page_cache import PageCache
from grandstand.apps.keiba.services.previews import PreviewWriter
from grandstand.apps.keiba.services.race_days import RaceDays
from grandstand.apps.keiba.services.result_watcher import RESULT_TOPIC, ResultWatcher
from grandstand.apps.keiba.services.search import RacingSearch
from grandstand.apps.keiba.services.watchlist import ENTRY_TOPIC, Watchlist
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.apps.keiba.sources.netkeiba import Netkeiba
from grandstand.core.clock import Clock
from grandstand.kit.app import AppResources, AppServices
from grandstand.kit.cursors import Cursors
from grandstand.kit.events import Events
from grandstand.kit.live import Publisher
from grandstand.kit.llm import Llm
from grandstand.kit.notify import Notifier
from grandstand.kit.outbox import Outbox
from grandstand.storage.tables import AsyncStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Keiba:
    """The services of the app.

        card = await keiba.cards.assemble("202605040611")
        await keiba.watchlist.watch(caller, card.ranking[0].runner.horse_id)

    Methods that may fetch pages raise SiteCoolingDown, PageUnreadable, NotPublished, InvalidId,
    and the errors of `net` for a host that is unavailable. With `refresh` a cached page is fetched
    again, unless it is younger than `refresh_seconds` of the settings.
    """

    settings: KeibaSettings
    clock: Clock
    cursors: Cursors
    pages: PageCache
    days: RaceDays
    cards: CardAssembler
    background: BackgroundCards
    prefetcher: CardPrefetcher
    previews: PreviewWriter
    backtester: Backtester
    cache_admin: CacheAdmin
    watchlist: Watchlist
    result_watcher: ResultWatcher
    searcher: RacingSearch


def build(resources: AppResources) -> AppServices[Keiba]:
    """Build the services from what the platform provides."""
    settings = resources.settings or KeibaSettings()
    keiba = create(
        store=resources.store,
        site=Netkeiba(resources.web, settings, store=resources.store, clock=resources.clock),
        llm=resources.llm,
        outbox=resources.outbox,
        notifier=resources.notifier,
        events=resources.events,
        publisher=resources.publisher,
        cursors=resources.cursors,
        clock=resources.clock,
        random=resources.random,
        owner=f"keiba-{resources.random.getrandbits(64):x}",
        settings=settings,
    )
    return connect(keiba)


def connect(keiba: Keiba) -> AppServices[Keiba]:
    """Return the services with the functions the platform calls."""
    return AppServices(
        services=keiba,
        home_card=keiba.days.home_card,
        search=keiba.searcher.search,
        personal_data=keiba.watchlist,
        outbox_handlers={
            ENTRY_TOPIC: keiba.watchlist.deliver,
            RESULT_TOPIC: keiba.result_watcher.deliver,
        },
    )


def create(
    *,
    store: AsyncStore,
    site: Netkeiba,
    llm: Llm,
    outbox: Outbox,
    notifier: Notifier,
    events: Events,
    publisher: Publisher,
    cursors: Cursors,
    clock: Clock,
    random: Random,
    owner: str,
    settings: KeibaSettings,
) -> Keiba:
    """Create the services; `owner` distinguishes this process from others on the same store."""
    pages = PageCache(
        store=store, site=site, clock=clock, random=random, owner=owner, settings=settings
    )
    days = RaceDays(pages=pages, clock=clock)
    cards = CardAssembler(pages=pages, clock=clock, settings=settings)
    return Keiba(
        settings=settings,
        clock=clock,
        cursors=cursors,
        pages=pages,
        days=days,
        cards=cards,
        background=BackgroundCards(
            cards=cards, publisher=publisher, clock=clock, settings=settings
        ),
        prefetcher=CardPrefetcher(days=days, cards=cards, site=site, clock=clock),
        previews=PreviewWriter(cards=cards, pages=pages, llm=llm, clock=clock, settings=settings),
        backtester=Backtester(store=store, pages=pages),
        cache_admin=CacheAdmin(store=store, site=site, clock=clock, pages=pages),
        watchlist=Watchlist(
            store=store,
            pages=pages,
            outbox=outbox,
            events=events,
            notifier=notifier,
            clock=clock,
            settings=settings,
        ),
        result_watcher=ResultWatcher(
            pages=pages, outbox=outbox, events=events, clock=clock, settings=settings
        ),
        searcher=RacingSearch(store=store, pages=pages, clock=clock),
    )

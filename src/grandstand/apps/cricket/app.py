"""The card on cricket's door: what the host may know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Final

from grandstand.apps.cricket import store
from grandstand.kit.app import App, Belongings, Found, Now, Resources

if TYPE_CHECKING:
    import typer

    from grandstand.apps.cricket.service import Browsers, Cricket, Hooks, Phones, Replays
    from grandstand.apps.cricket.settings import CricketSettings
    from grandstand.kit.jobs.job import Job
    from grandstand.kit.outbox import Deliver
    from grandstand.kit.pages.rendering import Pages
    from grandstand.kit.who.caller import Caller

NAME: Final = "cricket"


def _service(resources: Resources) -> Cricket:
    from grandstand.apps.cricket.service import Cricket, Means
    from grandstand.apps.cricket.settings import CricketSettings
    from grandstand.apps.cricket.sources.sportmonks import SportMonks

    settings = resources.settings or CricketSettings()
    return Cricket(
        Means(
            store=resources.store,
            outbox=resources.outbox,
            clock=resources.clock,
            random=resources.random,
            teller=resources.teller,
            events=resources.events,
            cursors=resources.cursors,
            metrics=resources.metrics,
            feed=SportMonks(resources.web, settings),
            instance=f"cricket-{resources.random.getrandbits(48):012x}",
            phones=_phones(resources, settings),
            hooks=_hooks(resources, settings),
            browsers=_browsers(resources, settings),
            replays=_replays(resources, settings),
            cricsheet=resources.lent.get("cricsheet"),
            settings=settings,
        )
    )


def _phones(resources: Resources, settings: CricketSettings) -> Phones | None:
    """The way to phones; `lent` may hold the context that trusts a simulated Apple."""
    if settings.apns_key is None or not settings.apns_key.get_secret_value():
        return None
    from grandstand.apps.cricket.service.telling.apple import ApplePhones
    from grandstand.apps.cricket.sources.apns import Apns, ApnsChannels, ProviderToken
    from grandstand.wire.push import PushClient, Pushing

    token = ProviderToken(
        key=settings.apns_key.get_secret_value(),
        key_id=settings.apns_key_id,
        team_id=settings.apns_team_id,
        clock=resources.clock,
    )
    context = resources.lent.get("apns_context")
    clock, random, bundle_id = resources.clock, resources.random, settings.apns_bundle_id
    pushes = PushClient(
        settings.apns_host,
        clock=clock,
        random=random,
        context=context,
        pushing=Pushing(connections=settings.apns_connections),
    )
    apns = Apns(pushes, token, bundle_id=bundle_id, metrics=resources.metrics)
    if not settings.broadcast:
        return ApplePhones(apns)
    managing = PushClient(
        settings.broadcast_host,
        clock=clock,
        random=random,
        context=context,
        pushing=Pushing(connections=1),
    )
    return ApplePhones(apns, ApnsChannels(managing, token, bundle_id=bundle_id))


def _browsers(resources: Resources, settings: CricketSettings) -> Browsers | None:
    key = settings.webpush_key
    if not settings.webpush or key is None or not key.get_secret_value():
        return None
    from grandstand.apps.cricket.service.telling.browsers import PushedBrowsers
    from grandstand.apps.cricket.sources.webpush import WebPush
    from grandstand.wire.push import PushClient, Pushing

    def client_of(host: str) -> PushClient:
        return PushClient(
            host,
            clock=resources.clock,
            random=resources.random,
            context=resources.lent.get("apns_context"),
            pushing=Pushing(connections=1),
        )

    return PushedBrowsers(
        WebPush(
            key=key.get_secret_value(),
            contact=settings.webpush_contact,
            clock=resources.clock,
            client_of=client_of,
            also_hosts=tuple(resources.lent.get("webpush_hosts", ())),
        )
    )


def _hooks(resources: Resources, settings: CricketSettings) -> Hooks | None:
    if settings.webhook is None or not settings.webhook.get_secret_value():
        return None
    from grandstand.apps.cricket.sources.webhook import Webhook

    return Webhook(resources.web, settings.webhook.get_secret_value())


def _replays(resources: Resources, settings: CricketSettings) -> Replays | None:
    if not settings.replay_url:
        return None
    from grandstand.apps.cricket.sources.replays import ReplayedFeed

    return ReplayedFeed(resources.web, settings.replay_url)


def _api(cricket: Cricket) -> object:
    from grandstand.apps.cricket.api import AliasedCricketApi, CricketApi

    return AliasedCricketApi(cricket) if cricket.settings.aliases else CricketApi(cricket)


def _pages(cricket: Cricket, pages: Pages) -> object:
    from grandstand.apps.cricket.pages import CricketPages

    return CricketPages(cricket, pages)


def _commands(opened: Callable[[], AbstractAsyncContextManager[Cricket]]) -> typer.Typer:
    from grandstand.apps.cricket.cli import commands

    return commands(opened)


def _jobs(cricket: Cricket) -> tuple[Job, ...]:
    from grandstand.apps.cricket.jobs import jobs

    return jobs(cricket)


def _deliveries(cricket: Cricket) -> Mapping[str, Deliver]:
    return cricket.ways()


async def _now(cricket: Cricket, caller: Caller) -> Now:
    live = (await cricket.matches(status="live", limit=20)).matches
    if not live:
        soon = (await cricket.matches(status="upcoming", start=cricket.now(), limit=1)).matches
        if not soon:
            return Now("No match is on", "None is known for the coming days.", f"/{NAME}")
        title = f"{soon[0].home.name} v {soon[0].away.name}"
        return Now("No match is on", f"Next: {title}", f"/{NAME}/matches/{soon[0].match_id}")
    followed = {each.match_id for each in await cricket.follows(caller)}
    first = next((each for each in live if each.match_id in followed), live[0])
    matches = "match is" if len(live) == 1 else "matches are"
    scores = ", ".join(f"{each.score}-{each.wickets} ({each.overs})" for each in first.innings)
    detail = f"{first.home.name} v {first.away.name}: {scores or first.status}"
    return Now(f"{len(live)} {matches} on", detail, f"/{NAME}/matches/{first.match_id}", live=True)


async def _close(cricket: Cricket) -> None:
    await cricket.close()


async def _search(cricket: Cricket, sought: str, caller: Caller) -> tuple[Found, ...]:
    del caller
    return await cricket.search(sought)


def _belongings(cricket: Cricket) -> Belongings:
    return cricket.belongings


CARD: Final[App[Cricket]] = App(
    name=NAME,
    title="Cricket",
    purpose="Matches ball by ball, followed and told as they happen.",
    tables=store.TABLES,
    service=_service,
    api=_api,
    pages=_pages,
    jobs=_jobs,
    commands=_commands,
    now=_now,
    search=_search,
    belongings=_belongings,
    close=_close,
    deliveries=_deliveries,
)

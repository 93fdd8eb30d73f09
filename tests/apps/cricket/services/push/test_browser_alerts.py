"""Browsers that subscribed are alerted once, through the real protocol, and only if set up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

import msgspec
import pytest

from grandstand.apps.cricket.domain.errors import PushNotConfigured
from grandstand.apps.cricket.domain.live_activities import BrowserSubscription, PushResult
from grandstand.apps.cricket.services.interfaces import Database
from grandstand.apps.cricket.sources.webpush import WebPushClient
from grandstand.apps.cricket.store.users import Follower
from grandstand.core.clock import SystemClock
from grandstand.core.errors import InvalidInput
from grandstand.net.http2_push.client import PushClient, PushConfig
from grandstand.simulators.push import webpush as simulated
from grandstand.simulators.push.service import PushService
from grandstand.simulators.push.validation import SigningKey
from grandstand.storage.tables import AsyncStore, Operation, Update
from tests.apps.cricket.services.stage import ADA, BOB, MATCH, Killed, Stage, on_both

R = TypeVar("R")

pytestmark = pytest.mark.anyio


@dataclass
class ScriptedBrowsers:
    """Push services that take everything, but for endpoints they cannot make sense of."""

    refuses: tuple[str, ...] = ()
    results: dict[str, list[PushResult]] = field(default_factory=dict)
    fault: BaseException | None = None
    before: Callable[[], None] = lambda: None
    sent: list[str] = field(default_factory=list)
    public_key: str = "key"

    def check(self, subscription: BrowserSubscription) -> None:
        del subscription

    async def send(
        self,
        subscription: BrowserSubscription,
        message: bytes,
        *,
        urgency: str = "normal",
        topic: str | None = None,
    ) -> PushResult:
        del message, urgency, topic
        if subscription.endpoint in self.refuses:
            raise InvalidInput("no such endpoint")
        self.before()
        await asyncio.sleep(0)
        results = self.results.get(subscription.endpoint)
        result = results.pop(0) if results else PushResult("delivered")
        if result.outcome == "delivered":
            self.sent.append(subscription.endpoint)
        if self.fault is not None:
            fault, self.fault = self.fault, None
            raise fault
        return result

    async def close(self) -> None:
        return


def subscribed(browser: simulated.SimulatedBrowser) -> BrowserSubscription:
    """What the page's script hands over."""
    told = browser.subscription
    return BrowserSubscription(told["endpoint"], told["keys"]["p256dh"], told["keys"]["auth"])


async def test_a_wicket_reaches_the_browsers_of_those_it_wakes_once(
    stage: Stage,
) -> None:
    service = PushService(SystemClock(), Random(1))
    async with service.serving() as addresses:
        client = PushClient(
            addresses.apns,
            clock=SystemClock(),
            random=Random(1),
            context=addresses.trusting,
            config=PushConfig(connections=1, stagger_seconds=0),
        )
        webpush = WebPushClient(
            key=SigningKey.make().pem,
            contact="mailto:ops@example.org",
            clock=SystemClock(),
            create_client=lambda _: client,
            extra_hosts=(addresses.apns,),
        )
        stage.cricket = stage.rebuilt(gateways={"browsers": webpush, "push": None})
        awake, muted = service.browsers.subscribe(), service.browsers.subscribe()
        scorer = await stage.on_air()
        for caller, browser in ((ADA, awake), (BOB, muted)):
            await stage.cricket.follows.follow(caller.user_id, MATCH)
            await stage.cricket.browsers.subscribe(caller.user_id, subscribed(browser))
        await stage.cricket.follows.set_alert_preferences(BOB.user_id, muted=True)
        scorer.out(then=13)
        await stage.tick(scorer)
        rows = await stage.outbox.waiting("cricket.webpush")

        await stage.deliver()
        await stage.cricket.outbox_handlers()["cricket.webpush"](rows[-1])
        await client.close()

    (shown,) = awake.shown
    assert msgspec.json.decode(shown.text)["matchId"] == MATCH
    assert muted.shown == []


async def test_browsers_are_not_pushed_to_unless_that_is_set_up(stage: Stage) -> None:
    with pytest.raises(PushNotConfigured):
        await stage.cricket.browsers.subscribe(
            ADA.user_id, BrowserSubscription("https://example.org/x", "k", "a")
        )

    with pytest.raises(PushNotConfigured):
        _ = stage.cricket.browsers.public_key


async def test_an_endpoint_that_is_no_push_service_is_refused(stage: Stage) -> None:
    webpush = WebPushClient(
        key=SigningKey.make().pem,
        contact="mailto:ops@example.org",
        clock=SystemClock(),
        create_client=pytest.fail,
    )
    cricket = stage.rebuilt(gateways={"browsers": webpush})

    with pytest.raises(InvalidInput):
        await cricket.browsers.subscribe(
            ADA.user_id, BrowserSubscription("https://10.0.0.1/x", "k", "a")
        )


class CrossedStore(AsyncStore):
    """Lets somebody else come first, once, after something was read."""

    crossing: Update[Follower] | None = None

    async def __call__(self, operation: Operation[R]) -> R:
        found = await super().__call__(operation)
        if self.crossing is not None:
            crossing, self.crossing = self.crossing, None
            await super().__call__(crossing)
        return found


@on_both
async def test_two_browsers_that_subscribe_at_once_are_both_kept(stage: Stage) -> None:
    one, other = (
        BrowserSubscription(f"https://push.example.org/{name}", "k", "a") for name in "ab"
    )
    store = CrossedStore(stage.store.store)
    store.crossing = Follower.set_browsers("ada", (other,), stage.cricket.store.now(), before=())
    database = Database(store, clock=stage.clock, random=Random(1))
    cricket = stage.rebuilt(gateways={"browsers": ScriptedBrowsers()}, store=database)

    await cricket.browsers.subscribe(ADA.user_id, one)

    assert await cricket.browsers.of_user(ADA.user_id) == (other, one)


async def test_one_browser_that_cannot_be_pushed_to_keeps_nothing_from_the_others(
    stage: Stage,
) -> None:
    reached = ScriptedBrowsers(refuses=("https://push.example.org/a",))
    stage.cricket = stage.rebuilt(gateways={"browsers": reached, "push": None})
    scorer = await stage.on_air()
    await stage.deliver()
    await stage.cricket.follows.follow(ADA.user_id, MATCH)
    for name in "ab":
        browser = BrowserSubscription(f"https://push.example.org/{name}", "k", "a")
        await stage.cricket.browsers.subscribe(ADA.user_id, browser)
    scorer.out(then=13)
    await stage.tick(scorer)

    await stage.deliver()

    assert reached.sent == ["https://push.example.org/b"]


async def wicket_for(stage: Stage, browsers: ScriptedBrowsers, followers: int) -> list[str]:
    """Let users with one browser each follow a match, and a wicket fall; return the endpoints."""
    stage.cricket = stage.rebuilt(gateways={"browsers": browsers, "push": None})
    scorer = await stage.on_air()
    await stage.deliver()
    endpoints = [f"https://push.example.org/{number:03}" for number in range(followers)]
    for number, endpoint in enumerate(endpoints):
        user_id = f"user{number:03}"
        await stage.cricket.follows.follow(user_id, MATCH)
        await stage.cricket.browsers.subscribe(user_id, BrowserSubscription(endpoint, "k", "a"))
    scorer.out(then=13)
    await stage.tick(scorer)
    return endpoints


@pytest.mark.parametrize("host", [".fcm.googleapis.com", f"{'a' * 64}.fcm.googleapis.com"])
async def test_a_poisoned_endpoint_does_not_stop_the_others(stage: Stage, host: str) -> None:
    service = PushService(SystemClock(), Random(1))
    async with service.serving() as addresses:
        webpush = WebPushClient(
            key=SigningKey.make().pem,
            contact="mailto:ops@example.org",
            clock=SystemClock(),
            create_client=lambda address: PushClient(
                address,
                clock=SystemClock(),
                random=Random(1),
                context=addresses.trusting,
                config=PushConfig(connections=1, stagger_seconds=0),
            ),
            # The poisoned host is allowed, so that the connection is what fails.
            extra_hosts=(addresses.apns, host),
        )
        stage.cricket = stage.rebuilt(gateways={"browsers": webpush, "push": None})
        browser = service.browsers.subscribe()
        good = subscribed(browser)
        poisoned = BrowserSubscription(f"https://{host}/x", good.p256dh, good.auth)
        scorer = await stage.on_air()
        for caller, subscription in ((ADA, poisoned), (BOB, good)):
            await stage.cricket.follows.follow(caller.user_id, MATCH)
            await stage.cricket.browsers.subscribe(caller.user_id, subscription)
        scorer.out(then=13)
        await stage.tick(scorer)

        await stage.deliver()
        await webpush.close()

    assert len(browser.shown) == 1


@on_both
async def test_an_overrun_is_continued_without_alerting_anybody_twice(stage: Stage) -> None:
    browsers = ScriptedBrowsers(before=lambda: stage.clock.advance(0.1))
    endpoints = await wicket_for(stage, browsers, 230)

    rounds = [0]
    while await stage.deliver():
        rounds.append(len(browsers.sent))

    assert len(rounds) > 2
    assert sorted(browsers.sent) == endpoints


@on_both
async def test_an_interrupted_delivery_goes_on_with_the_others(stage: Stage) -> None:
    browsers = ScriptedBrowsers()
    endpoints = await wicket_for(stage, browsers, 40)
    browsers.fault = Killed()
    (message,) = await stage.outbox.waiting("cricket.webpush")
    handler = stage.cricket.outbox_handlers()["cricket.webpush"]

    with pytest.raises(BaseExceptionGroup):
        await handler(message)
    assert 0 < len(browsers.sent) < 40
    await handler(message)

    assert len(browsers.sent) == len(set(browsers.sent))
    # At most the sends under way are lost, as nobody is alerted twice.
    assert len(set(endpoints) - set(browsers.sent)) <= 32


async def test_a_busy_service_is_tried_again_when_it_said(stage: Stage) -> None:
    service = PushService(stage.clock, Random(1))
    async with service.serving() as addresses:
        webpush = WebPushClient(
            key=SigningKey.make().pem,
            contact="mailto:ops@example.org",
            clock=stage.clock,
            create_client=lambda address: PushClient(
                address,
                clock=SystemClock(),
                random=Random(1),
                context=addresses.trusting,
                config=PushConfig(connections=1, stagger_seconds=0),
            ),
            extra_hosts=(addresses.apns,),
        )
        stage.cricket = stage.rebuilt(gateways={"browsers": webpush, "push": None})
        busy, other = service.browsers.subscribe(), service.browsers.subscribe()
        scorer = await stage.on_air()
        for caller, browser in ((ADA, busy), (BOB, other)):
            await stage.cricket.follows.follow(caller.user_id, MATCH)
            await stage.cricket.browsers.subscribe(caller.user_id, subscribed(browser))
        busy.busy_seconds = 120
        scorer.out(then=13)
        await stage.tick(scorer)
        await stage.deliver()
        busy.busy_seconds = None
        other.shown.clear()

        await stage.deliver(seconds=115)
        early = len(busy.shown)
        await stage.deliver(seconds=5)
        await webpush.close()

    assert (early, len(busy.shown), other.shown) == (0, 1, [])


async def test_an_alert_is_dropped_when_it_is_too_old_to_retry(stage: Stage) -> None:
    browsers = ScriptedBrowsers()
    (endpoint,) = await wicket_for(stage, browsers, 1)
    browsers.results[endpoint] = [PushResult("unsent", "status 503", retry_seconds=900.0)]

    await stage.deliver()
    await stage.deliver(seconds=900)

    assert browsers.sent == []
    assert await stage.outbox.waiting("cricket.webpush") == ()

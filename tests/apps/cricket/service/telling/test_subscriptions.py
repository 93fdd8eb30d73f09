"""Browsers that subscribed are alerted once, through the real protocol, and only if set up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import TypeVar

import msgspec
import pytest

from grandstand.apps.cricket.service import AlertsGiven, Browser, Cricket, PushingOff, Verdict
from grandstand.apps.cricket.service.telling.browsers import PushedBrowsers
from grandstand.apps.cricket.sources.webpush import WebPush
from grandstand.apps.cricket.store import Follower
from grandstand.base.clock import SystemClock
from grandstand.base.errors import InvalidInput
from grandstand.simulators.push import PushService, SigningKey
from grandstand.simulators.push import webpush as simulated
from grandstand.storage.tables import AsyncStore, Operation, Update
from grandstand.wire.push import PushClient, Pushing
from tests.apps.cricket.service.stage import ADA, BOB, MATCH, Stage, on_both

R = TypeVar("R")

pytestmark = pytest.mark.anyio


@dataclass
class ScriptedBrowsers:
    """Push services that take everything, but for endpoints they cannot make sense of."""

    refuses: tuple[str, ...] = ()
    sent: list[str] = field(default_factory=list)
    public_key: str = "key"

    def check(self, browser: Browser) -> None:
        del browser

    async def send(self, browser: Browser, message: bytes, *, topic: str) -> Verdict:
        del message, topic
        if browser.endpoint in self.refuses:
            raise InvalidInput("no such endpoint")
        self.sent.append(browser.endpoint)
        return Verdict("delivered")

    async def close(self) -> None:
        return


def subscribed(browser: simulated.Browser) -> Browser:
    """What the page's script hands over."""
    told = browser.subscription
    return Browser(told["endpoint"], told["keys"]["p256dh"], told["keys"]["auth"])


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
            pushing=Pushing(connections=1, stagger_seconds=0),
        )
        webpush = WebPush(
            key=SigningKey.make().pem,
            contact="mailto:ops@example.org",
            clock=SystemClock(),
            client_of=lambda _: client,
            also_hosts=(addresses.apns,),
        )
        means = replace(stage.means, browsers=PushedBrowsers(webpush), phones=None)
        stage.cricket, stage.means = Cricket(means), means
        awake, muted = service.browsers.subscribe(), service.browsers.subscribe()
        scorer = await stage.on_air()
        for caller, browser in ((ADA, awake), (BOB, muted)):
            await stage.cricket.follow(caller, MATCH)
            await stage.cricket.subscribe_browser(caller, subscribed(browser))
        await stage.cricket.choose_alerts(BOB, AlertsGiven(muted=True))
        scorer.out(then=13)
        await stage.tick(scorer)
        rows = await stage.means.outbox.waiting("cricket.webpush")

        await stage.deliver()
        await stage.cricket.ways()["cricket.webpush"](rows[-1])
        await client.close()

    (shown,) = awake.shown
    assert msgspec.json.decode(shown.text)["matchId"] == MATCH
    assert muted.shown == []


async def test_browsers_are_not_pushed_to_unless_that_is_set_up(stage: Stage) -> None:
    with pytest.raises(PushingOff):
        await stage.cricket.subscribe_browser(ADA, Browser("https://example.org/x", "k", "a"))

    with pytest.raises(PushingOff):
        _ = stage.cricket.browser_key


async def test_an_endpoint_that_is_no_push_service_is_refused(stage: Stage) -> None:
    webpush = WebPush(
        key=SigningKey.make().pem,
        contact="mailto:ops@example.org",
        clock=SystemClock(),
        client_of=pytest.fail,
    )
    means = replace(stage.means, browsers=PushedBrowsers(webpush))

    with pytest.raises(InvalidInput):
        await Cricket(means).subscribe_browser(ADA, Browser("https://10.0.0.1/x", "k", "a"))


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
    one, other = (Browser(f"https://push.example.org/{name}", "k", "a") for name in "ab")
    store = CrossedStore(stage.store.store)
    store.crossing = Follower.subscribe("ada", (other,), stage.means.now(), before=())
    cricket = Cricket(replace(stage.means, store=store, browsers=ScriptedBrowsers()))

    await cricket.subscribe_browser(ADA, one)

    assert await cricket.browsers(ADA) == (other, one)


async def test_one_browser_that_cannot_be_pushed_to_keeps_nothing_from_the_others(
    stage: Stage,
) -> None:
    reached = ScriptedBrowsers(refuses=("https://push.example.org/a",))
    stage.means = replace(stage.means, browsers=reached, phones=None)
    stage.cricket = Cricket(stage.means)
    scorer = await stage.on_air()
    await stage.deliver()
    await stage.cricket.follow(ADA, MATCH)
    for name in "ab":
        browser = Browser(f"https://push.example.org/{name}", "k", "a")
        await stage.cricket.subscribe_browser(ADA, browser)
    scorer.out(then=13)
    await stage.tick(scorer)

    await stage.deliver()

    assert reached.sent == ["https://push.example.org/b"]

"""Browsers that subscribed are alerted once, through the real protocol, and only if set up."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import msgspec
import pytest

from grandstand.apps.cricket.service import AlertsGiven, Browser, Cricket, PushingOff
from grandstand.apps.cricket.service.browsing import PushedBrowsers
from grandstand.apps.cricket.sources.webpush import WebPush
from grandstand.base.clock import SystemClock
from grandstand.base.errors import InvalidInput
from grandstand.simulators.push import PushService, SigningKey
from grandstand.simulators.push import webpush as simulated
from grandstand.wire.push import PushClient, Pushing
from tests.apps.cricket.service.stage import ADA, BOB, MATCH, Stage, started

pytestmark = pytest.mark.anyio


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
        scorer = started()
        scorer.bowl(1)
        await stage.tick(scorer)
        await stage.cricket.sync_fixtures()
        await stage.tick(scorer)
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

"""Browsers get messages that only they can read, from a server that proves who it is."""

import ssl
from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from random import Random

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from grandstand.apps.cricket.domain.live_activities import BrowserSubscription, PushResult
from grandstand.apps.cricket.sources.webpush import WebPushClient, encrypt_message
from grandstand.core.clock import ManualClock, SystemClock
from grandstand.core.errors import InvalidInput
from grandstand.net.http2_push.client import PushClient, PushConfig
from grandstand.net.http2_push.requests import NoResponse, PushRequest, SharedHeaders
from grandstand.simulators.push.service import PushService
from grandstand.simulators.push.validation import SigningKey
from grandstand.simulators.push.webpush import SimulatedBrowser
from tests.net.http2_push.host import CERTIFICATE, hosting

pytestmark = pytest.mark.anyio

_KEY = SigningKey.make()


@dataclass
class Both:
    """Our side and the push service of browsers."""

    service: PushService
    push: WebPushClient
    client: PushClient
    clock: ManualClock

    def other_push(self, key: SigningKey) -> WebPushClient:
        host = self.service.browsers.origin.removeprefix("https://")
        return WebPushClient(
            key=key.pem,
            contact="mailto:a@example.org",
            clock=self.clock,
            create_client=lambda _: self.client,
            extra_hosts=(host,),
        )


@pytest.fixture
async def both() -> AsyncIterator[Both]:
    clock = ManualClock()
    service = PushService(clock, Random(7))
    async with service.serving() as addresses:
        client = PushClient(
            addresses.apns,
            clock=SystemClock(),
            random=Random(1),
            context=addresses.trusting,
            config=PushConfig(connections=1, tries=1),
        )
        async with client:
            made = Both(service, None, client, clock)  # type: ignore[arg-type] # in the next line
            made.push = made.other_push(_KEY)
            yield made


def _subscription(browser: SimulatedBrowser) -> BrowserSubscription:
    told = browser.subscription
    return BrowserSubscription(told["endpoint"], told["keys"]["p256dh"], told["keys"]["auth"])


def _bytes(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_a_message_is_sealed_as_the_standard_shows() -> None:
    subscription = BrowserSubscription(
        "https://push.example.net/http2_push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV",
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "BTBZMqHH6r4Tts7J_aSIgg",
    )
    number = int.from_bytes(_bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
    private = ec.derive_private_key(number, ec.SECP256R1())

    sealed = encrypt_message(
        subscription,
        b"When I grow up, I want to be a watermelon",
        salt=_bytes("DGv6ra1nlYgDCS1FRnbzlw"),
        private=private,
    )

    assert sealed == _bytes(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS"
        "6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qu"
        "lcy4a-fN"
    )


async def test_a_browser_reads_what_was_sent_to_it(both: Both) -> None:
    browser = both.service.browsers.subscribe(both.push.public_key)

    result = await both.push.send(
        _subscription(browser), b"Wicket!", ttl_seconds=60, urgency="high", topic="m1"
    )

    (shown,) = browser.shown
    assert result == PushResult("delivered")
    assert (shown.text, shown.ttl, shown.urgency, shown.topic) == ("Wicket!", 60, "high", "m1")


async def test_a_message_of_the_same_topic_replaces_the_one_before(both: Both) -> None:
    browser = both.service.browsers.subscribe()

    for text in (b"120-4", b"124-4"):
        await both.push.send(_subscription(browser), text, topic="m1")

    assert [shown.text for shown in browser.shown] == ["124-4"]


async def test_the_proof_is_renewed_before_it_is_too_old(both: Both) -> None:
    browser = both.service.browsers.subscribe()

    results = []
    for hours in (0, 5, 8, 30):
        both.clock.advance(hours * 3600)
        results.append(await both.push.send(_subscription(browser), b"x"))

    assert results == [PushResult("delivered")] * 4


async def test_another_servers_key_stops_everything(both: Both) -> None:
    browser = both.service.browsers.subscribe(both.push.public_key)
    other = both.other_push(SigningKey.make())

    result = await other.send(_subscription(browser), b"x")

    assert (result, browser.shown) == (PushResult("forbidden", "status 403"), [])


@pytest.mark.parametrize("status", [404, 410])
async def test_a_subscription_that_is_over_is_gone(both: Both, status: int) -> None:
    browser = both.service.browsers.subscribe()
    browser.gone = status

    result = await both.push.send(_subscription(browser), b"x")

    assert result == PushResult("gone", f"status {status}")


async def test_a_busy_service_says_how_long_to_wait(both: Both) -> None:
    browser = both.service.browsers.subscribe()
    browser.busy_seconds = 120

    result = await both.push.send(_subscription(browser), b"x")

    assert result == PushResult("unsent", "status 429", retry_seconds=120.0)


async def test_the_longest_message_is_taken_and_a_longer_one_is_not_sent(both: Both) -> None:
    browser = both.service.browsers.subscribe()
    subscription = _subscription(browser)

    fits = await both.push.send(subscription, b"x" * 3_993)
    too_long = await both.push.send(subscription, b"x" * 3_994)

    assert (fits, too_long) == (PushResult("delivered"), PushResult("rejected", "PayloadTooLarge"))


async def test_a_message_for_another_browser_cannot_be_read(both: Both) -> None:
    one, other = both.service.browsers.subscribe(), both.service.browsers.subscribe()
    crossed = replace(_subscription(one), endpoint=other.subscription["endpoint"])

    result = await both.push.send(crossed, b"secret")

    assert (result, one.shown, other.shown) == (PushResult("rejected", "status 400"), [], [])


@pytest.mark.parametrize(
    "changes",
    [
        {"endpoint": "http://fcm.googleapis.com/x"},
        {"endpoint": "https://169.254.169.254/latest"},
        {"endpoint": "https://fcm.googleapis.com.example.org/x"},
        {"endpoint": "https://fcm.googleapis.com:99999/x"},
        {"endpoint": "https://fcm.googleapis.com:abc/x"},
        {"endpoint": "https://a@b.push.apple.com/x"},
        {"endpoint": "https://fcm.googleapis.com/é"},
        {"endpoint": "https://[x"},
        {"endpoint": "https://.fcm.googleapis.com/x"},
        {"endpoint": "https://a..fcm.googleapis.com/x"},
        {"endpoint": f"https://{'a' * 64}.fcm.googleapis.com/x"},
        {"endpoint": f"https://{'a.' * 125}fcm.googleapis.com/x"},
        {"endpoint": "https://-a.fcm.googleapis.com/x"},
        {"endpoint": "https://a_b.fcm.googleapis.com/x"},
        {"endpoint": "https://fcm.googleapis.com"},
        {"endpoint": f"https://fcm.googleapis.com/{'x' * 1_024}"},
        {"p256dh": "AAAA"},
        {"p256dh": "é"},
        {"auth": "AAAA"},
    ],
)
async def test_a_subscription_that_leads_elsewhere_or_has_no_keys_is_refused(
    both: Both, changes: dict[str, str]
) -> None:
    good = _subscription(both.service.browsers.subscribe())

    with pytest.raises(InvalidInput):
        await both.push.send(replace(good, **changes), b"x")


@pytest.mark.parametrize(
    "host", ["fcm.googleapis.com", "FCM.googleapis.com:443", f"{'a' * 63}.notify.windows.com"]
)
async def test_subscriptions_of_push_services_are_accepted(both: Both, host: str) -> None:
    good = _subscription(both.service.browsers.subscribe())

    both.push.check(replace(good, endpoint=f"https://{host}/x"))


def _client_of(address: str, trusting: ssl.SSLContext) -> PushClient:
    return PushClient(
        address,
        clock=SystemClock(),
        random=Random(1),
        context=trusting,
        config=PushConfig(connections=1, tries=1),
    )


async def test_the_least_recently_used_client_is_closed() -> None:
    clock, created = SystemClock(), dict[str, PushClient]()
    service = PushService(clock, Random(7))
    async with service.serving() as addresses:
        port = addresses.apns.rpartition(":")[2]
        hosts = tuple(f"127.0.0.{number}:{port}" for number in (1, 2, 3))

        def create(host: str) -> PushClient:
            created[host] = _client_of(host, addresses.trusting)
            return created[host]

        push = WebPushClient(
            key=_KEY.pem,
            contact="mailto:a@example.org",
            clock=clock,
            create_client=create,
            extra_hosts=hosts,
            max_clients=2,
        )
        good = _subscription(service.browsers.subscribe())
        for at in (0, 1, 0, 2):
            await push.send(replace(good, endpoint=f"https://{hosts[at]}/x"), b"x")
        kept = push.open_hosts
        closed = await created[hosts[1]].send([PushRequest("/x", SharedHeaders([]))])
        await push.close()

    assert kept == (hosts[0], hosts[2])
    assert closed == [NoResponse("the client was closed", sent=False)]
    assert push.open_hosts == ()


async def test_a_host_that_does_not_respond_costs_the_time_limit() -> None:
    async with hosting(lambda _link, _request: None) as host:
        push = WebPushClient(
            key=_KEY.pem,
            contact="mailto:a@example.org",
            clock=SystemClock(),
            create_client=lambda address: _client_of(address, CERTIFICATE.trusting()),
            extra_hosts=(host.address,),
            timeout_seconds=0.3,
            max_clients=1,
        )
        browser = SimulatedBrowser("x", f"https://{host.address}")
        result = await push.send(_subscription(browser), b"x")
        await push.close()

    assert result == PushResult("uncertain", "no response within 0.3 s")

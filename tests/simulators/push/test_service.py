"""The push service refuses what Apple refuses, with Apple's reasons."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from random import Random

import jwt
import msgspec
import pytest

from grandstand.core.clock import ManualClock, SystemClock
from grandstand.net.http2_push.client import PushClient, PushConfig
from grandstand.net.http2_push.requests import PushRequest, PushResponse, SharedHeaders
from grandstand.simulators.push.service import PushService
from grandstand.simulators.push.validation import STATUS_BY_REASON, ScriptedReply, SigningKey

pytestmark = pytest.mark.anyio

_BUNDLE = "org.example.cricket"
_KEY = SigningKey.make()
_APS = b'{"aps":{"timestamp":1,"event":"update","content-state":{}}}'
_GOOD = {
    "apns-topic": f"{_BUNDLE}.push-type.liveactivity",
    "apns-push-type": "liveactivity",
    "apns-priority": "5",
    "apns-expiration": "0",
    "apns-id": "123e4567-e89b-12d3-a456-426614174000",
}


@dataclass
class Caller:
    """Speaks to a push service as a test wants it to."""

    service: PushService
    client: PushClient
    managing: PushClient
    token: str
    _signed: dict[tuple[SigningKey, int], str] = field(default_factory=dict)

    def signed(self, key: SigningKey = _KEY, age_seconds: int = 0) -> str:
        issued_at = int(self.service.clock.epoch()) - age_seconds
        if (key, issued_at) not in self._signed:
            claims, head = {"iss": key.team_id, "iat": issued_at}, {"kid": key.key_id}
            made = jwt.encode(claims, key.pem, algorithm="ES256", headers=head)
            self._signed[key, issued_at] = made
        return self._signed[key, issued_at]

    async def ask(
        self, path: str, headers: dict[str, str], body: bytes = b"", method: str = "POST"
    ) -> tuple[int, str]:
        client = self.managing if path.startswith("/1/") else self.client
        request = PushRequest(path, SharedHeaders(headers.items()), body, method=method)
        (answer,) = await client.send([request], within_seconds=10)
        assert isinstance(answer, PushResponse)
        told = msgspec.json.decode(answer.body or b"{}")
        return answer.status, told.get("reason", "")

    async def push(
        self, body: bytes = _APS, token: str | None = None, **changes: str | None
    ) -> tuple[int, str]:
        headers = {"authorization": f"bearer {self.signed()}", **_GOOD}
        for name, value in changes.items():
            headers[name.replace("_", "-")] = value or ""
        kept = {name: value for name, value in headers.items() if value}
        return await self.ask(f"/3/device/{self.token if token is None else token}", kept, body)


@pytest.fixture
async def caller() -> AsyncIterator[Caller]:
    service = PushService(ManualClock(), Random(7))
    service.keys.add(_KEY)
    token = service.wall.begin(service.wall.add("Asha", _BUNDLE), {}, {}).token
    chosen = PushConfig(connections=1, stagger_seconds=0, tries=1)
    async with service.serving() as addresses:
        client, managing = (
            PushClient(
                host,
                clock=SystemClock(),
                random=Random(1),
                context=addresses.trusting,
                config=chosen,
            )
            for host in (addresses.apns, addresses.manage)
        )
        async with client, managing:
            yield Caller(service, client, managing, token)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"apns_topic": None}, "MissingTopic"),
        ({"apns_topic": "no topic!"}, "BadTopic"),
        ({"apns_topic": _BUNDLE}, "BadTopic"),
        ({"apns_topic": "org.other.push-type.liveactivity"}, "TopicDisallowed"),
        ({"apns_push_type": "nonsense"}, "InvalidPushType"),
        ({"apns_priority": "7"}, "BadPriority"),
        ({"apns_expiration": "soon"}, "BadExpirationDate"),
        ({"apns_collapse_id": "x" * 65}, "BadCollapseId"),
        ({"apns_id": "one"}, "BadMessageId"),
        ({"token": ""}, "MissingDeviceToken"),
        ({"token": "xyz"}, "BadDeviceToken"),
        ({"token": "ab" * 32}, "BadDeviceToken"),
        ({"body": b""}, "PayloadEmpty"),
        ({"body": b"[]"}, "PayloadEmpty"),
        ({"body": b'{"aps":{}, "x":"' + b"y" * 4_096 + b'"}'}, "PayloadTooLarge"),
        ({"authorization": None}, "MissingProviderToken"),
        ({"authorization": "bearer nonsense"}, "InvalidProviderToken"),
    ],
)
async def test_a_push_is_refused_for_the_reason_apple_gives(
    caller: Caller, changes: dict[str, str], reason: str
) -> None:
    answered = await caller.push(**changes)  # type: ignore[arg-type] # by the names above

    assert answered == (STATUS_BY_REASON[reason], reason)


async def test_a_push_in_order_is_taken(caller: Caller) -> None:
    answered = await caller.push()

    assert answered == (200, "")


async def test_a_header_given_twice_is_refused(caller: Caller) -> None:
    pairs = [*_GOOD.items(), ("apns-topic", "x"), ("authorization", f"bearer {caller.signed()}")]
    request = PushRequest(f"/3/device/{caller.token}", SharedHeaders(pairs), _APS)

    (answer,) = await caller.client.send([request])

    assert isinstance(answer, PushResponse)
    assert answer.body == b'{"reason":"DuplicateHeaders"}'


async def test_other_paths_and_methods_are_refused(caller: Caller) -> None:
    headers = {"authorization": f"bearer {caller.signed()}"}

    path = await caller.ask("/4/device/ab", headers, _APS)
    method = await caller.ask("/3/device/ab", headers, _APS, "PUT")

    assert (path, method) == ((404, "BadPath"), (405, "MethodNotAllowed"))


async def test_a_token_of_another_app_is_not_for_the_topic(caller: Caller) -> None:
    caller.service.bundles.add("org.example.rugby")

    answered = await caller.push(apns_topic="org.example.rugby.push-type.liveactivity")

    assert answered == (400, "DeviceTokenNotForTopic")


async def test_a_provider_token_lives_for_an_hour(caller: Caller) -> None:
    good = await caller.push(authorization=f"bearer {caller.signed(age_seconds=3_590)}")
    caller.service.clock.sleep(1_300)
    old = await caller.push(authorization=f"bearer {caller.signed(age_seconds=3_601)}")
    ahead = await caller.push(authorization=f"bearer {caller.signed(age_seconds=-900)}")

    assert (good, old) == ((200, ""), (403, "ExpiredProviderToken"))
    assert ahead == (403, "InvalidProviderToken")


async def test_a_provider_token_changes_every_twenty_minutes_at_most(caller: Caller) -> None:
    first = await caller.push()
    caller.service.clock.sleep(1_199)
    soon = await caller.push()
    caller.service.clock.sleep(1)
    later = await caller.push()

    assert (first, later) == ((200, ""), (200, ""))
    assert soon == (429, "TooManyProviderTokenUpdates")


async def test_a_connection_belongs_to_one_key_of_one_team(caller: Caller) -> None:
    other_key = SigningKey.make(key_id="OTHERKEY12")
    other_team = SigningKey.make("OTHERTEAM1", "KEYOFOTHER")
    sandbox = SigningKey.make(key_id="SANDBOX123", environment="sandbox")
    caller.service.keys.add(other_key, other_team, sandbox)
    await caller.push()

    told = [
        await caller.push(authorization=f"bearer {caller.signed(key)}")
        for key in (other_key, other_team, sandbox)
    ]

    assert told == [
        (403, "UnrelatedKeyIdInToken"),
        (403, "InvalidProviderToken"),
        (403, "BadEnvironmentKeyIdInToken"),
    ]


async def test_a_token_behaves_as_it_is_told(caller: Caller) -> None:
    caller.service.scripted.script(ScriptedReply("TooManyRequests", times=2), caller.token)

    told = [await caller.push() for _ in range(3)]

    assert told == [(429, "TooManyRequests"), (429, "TooManyRequests"), (200, "")]


async def test_replies_to_all_tokens_can_be_scripted(caller: Caller) -> None:
    caller.service.scripted.script(ScriptedReply("ServiceUnavailable", times=1))

    told = [await caller.push() for _ in range(2)]

    assert told == [(503, "ServiceUnavailable"), (200, "")]


async def test_streams_are_opened_to_who_has_proven_a_key(caller: Caller) -> None:
    caller.service.streams = 37
    forged = SigningKey.make()
    limits = []
    for key in (forged, _KEY):
        await caller.push(authorization=f"bearer {caller.signed(key)}")
        limits.append(caller.client.statuses[0].streams)

    assert limits == [1, 37]


async def test_a_rejected_push_closes_streams_and_a_good_one_opens_them(caller: Caller) -> None:
    caller.service.wary = True
    limits = []
    for token in (None, "ab", None):
        await caller.push(token=token)
        limits.append(caller.client.statuses[0].streams)

    assert limits == [1_000, 1, 1_000]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"apns-channel-id": ""}, "MissingChannelId"),
        ({"apns-channel-id": "no id!"}, "BadChannelId"),
        ({"apns-channel-id": "bm9uZQ=="}, "ChannelNotRegistered"),
        ({"apns-push-type": ""}, "MissingPushType"),
        ({"apns-push-type": "alert"}, "InvalidPushType"),
        ({"apns-expiration": "99"}, "BadExpirationDate"),
        ({"apns-priority": "3"}, "BadPriority"),
    ],
)
async def test_a_broadcast_is_refused_for_the_reason_apple_gives(
    caller: Caller, changes: dict[str, str], reason: str
) -> None:
    proof = {"authorization": f"bearer {caller.signed()}"}
    body = b'{"message-storage-policy":0,"push-type":"LiveActivity"}'
    await caller.ask(f"/1/apps/{_BUNDLE}/channels", proof, body)
    (channel,) = caller.service.channels.channels
    headers = {
        **proof,
        "apns-channel-id": channel,
        "apns-push-type": "LiveActivity",
        "apns-expiration": "0",
        "apns-priority": "10",
    }
    asked = {name: value for name, value in (headers | changes).items() if value}

    answered = await caller.ask(f"/4/broadcasts/apps/{_BUNDLE}", asked, _APS)

    assert answered == (STATUS_BY_REASON[reason], reason)


@pytest.mark.parametrize(
    ("path", "body", "reason"),
    [
        ("/1/apps/org.other/channels", b"{}", "FeatureNotEnabled"),
        (f"/1/apps/{_BUNDLE}/nonsense", b"{}", "BadPath"),
        (f"/1/apps/{_BUNDLE}/channels", b"nonsense", "BadRequest"),
        (f"/1/apps/{_BUNDLE}/channels", b'{"message-storage-policy":0}', "MissingPushType"),
        (
            f"/1/apps/{_BUNDLE}/channels",
            b'{"message-storage-policy":0,"push-type":"alert"}',
            "InvalidPushType",
        ),
        (
            f"/1/apps/{_BUNDLE}/channels",
            b'{"message-storage-policy":0,"push-type":"LiveActivity"}',
            "CannotCreateChannelConfig",
        ),
    ],
)
async def test_a_channel_is_refused_for_the_reason_apple_gives(
    caller: Caller, path: str, body: bytes, reason: str
) -> None:
    caller.service.channels.most = 0
    proof = {"authorization": f"bearer {caller.signed()}"}

    answered = await caller.ask(path, proof, body)

    assert answered == (STATUS_BY_REASON[reason], reason)


async def test_a_channel_that_stores_gives_its_newest_message_to_who_comes_later(
    caller: Caller,
) -> None:
    proof = {"authorization": f"bearer {caller.signed()}"}
    body = b'{"message-storage-policy":1,"push-type":"LiveActivity"}'
    await caller.ask(f"/1/apps/{_BUNDLE}/channels", proof, body)
    (channel,) = caller.service.channels.channels
    headers = {"apns-channel-id": channel, "apns-push-type": "liveactivity", "apns-priority": "5"}
    newest = b'{"aps":{"timestamp":9,"event":"update","content-state":{"score":"99-1"}}}'
    await caller.ask(
        f"/4/broadcasts/apps/{_BUNDLE}", {**proof, **headers, "apns-expiration": "99"}, newest
    )
    phone = caller.service.wall.add("Late", _BUNDLE)
    start = {
        "timestamp": 8,
        "event": "start",
        "content-state": {"score": "0-0"},
        "attributes-type": "A",
        "attributes": {},
        "alert": {"title": "It begins"},
        "input-push-channel": channel,
    }

    caller.service.wall.push(phone.start_token, "liveactivity", {"aps": start})

    (lock,) = phone.locks(caller.service.clock.epoch())
    assert lock.state == {"score": "99-1"}

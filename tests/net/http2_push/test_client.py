"""Requests reach a host over HTTP/2 within its limits, and each has exactly one outcome."""

import asyncio
import ssl
from collections import Counter

import pytest

from grandstand.net.errors import InvalidRequest
from grandstand.net.http2_push.client import PushClient, PushConfig
from grandstand.net.http2_push.requests import (
    NoResponse,
    PushOutcome,
    PushRequest,
    PushResponse,
    SharedHeaders,
)
from grandstand.simulators.push.http2_server import (
    REFUSED_STREAM,
    Http2Connection,
    Http2Request,
    Http2Response,
)
from tests.net.http2_push.host import CERTIFICATE, SHARED, client_of, fine, hosting, requests

pytestmark = pytest.mark.anyio


def _statuses(outcomes: list[PushOutcome]) -> list[int]:
    return [outcome.status if isinstance(outcome, PushResponse) else 0 for outcome in outcomes]


async def _until_pinged(link: Http2Connection) -> None:
    while not link.count["PingReceived"]:  # noqa: ASYNC110 - told by nothing else
        await asyncio.sleep(0.01)


async def test_every_request_is_answered_in_the_order_given() -> None:
    def echo(_link: Http2Connection, asked: Http2Request) -> Http2Response:
        return Http2Response(200 + int(asked.path[-1], 16), (), asked.path.encode())

    async with hosting(echo, first_streams=100) as host, client_of(host.address) as client:
        outcomes = await client.send(requests(300))

    assert _statuses(outcomes) == [200 + at % 16 for at in range(300)]
    assert [each.body for each in outcomes if isinstance(each, PushResponse)] == [
        f"/3/device/{at:04x}".encode() for at in range(300)
    ]


async def test_a_request_arrives_with_its_headers_and_its_body() -> None:
    request = PushRequest("/3/device/ab", SHARED, b'{"aps":{}}', (("apns-id", "some-id"),))

    async with hosting() as host, client_of(host.address) as client:
        await client.send([request])

    (asked,) = host.asked
    assert (asked.method, asked.path, asked.body) == ("POST", "/3/device/ab", b'{"aps":{}}')
    assert asked.headers[":authority"] == host.address
    assert asked.headers["authorization"] == "bearer abc"
    assert asked.headers["apns-id"] == "some-id"


async def test_headers_of_an_answer_are_read_when_they_are_asked_for() -> None:
    def made(_link: Http2Connection, _asked: Http2Request) -> Http2Response:
        return Http2Response(201, (("apns-channel-id", "dHN0LXNyY2gtY2hubA=="),))

    async with hosting(made) as host, client_of(host.address) as client:
        (outcome,) = await client.send([PushRequest("/1/x", SHARED, method="DELETE")])

    assert isinstance(outcome, PushResponse)
    assert outcome.headers == {":status": "201", "apns-channel-id": "dHN0LXNyY2gtY2hubA=="}
    assert host.asked[0].method == "DELETE"


async def test_only_one_request_is_under_way_before_the_first_is_answered() -> None:
    def slow(_link: Http2Connection, _asked: Http2Request) -> Http2Response:
        return Http2Response(200, delay_seconds=0.05)

    async with hosting(slow, first_streams=100) as host, client_of(host.address) as client:
        sending = asyncio.create_task(client.send(requests(50)))
        await host.came.wait()
        open_at_first = host.links[0].most_open
        await sending

    assert (open_at_first, host.links[0].most_open) == (1, 49)


async def test_a_wrong_key_does_not_open_more_streams() -> None:
    def forbidden(_link: Http2Connection, _asked: Http2Request) -> Http2Response:
        return Http2Response(403, (), b'{"reason":"InvalidProviderToken"}')

    async with hosting(forbidden, first_streams=100) as host, client_of(host.address) as client:
        await client.send(requests(20))

    assert host.links[0].most_open == 1


async def test_the_limit_of_the_host_is_kept_as_it_changes() -> None:
    limits = {1: 7, 40: 3, 80: 12}

    def changing(link: Http2Connection, asked: Http2Request) -> Http2Response:
        if limit := limits.get(link.count["requests"]):
            link.limit(limit)
        return fine(link, asked)

    async with hosting(changing) as host, client_of(host.address) as client:
        outcomes = await client.send(requests(200))

    assert Counter(_statuses(outcomes)) == {200: 200}
    assert (host.faults, len(host.links)) == (0, 1)
    assert host.links[0].most_open <= 12


async def test_who_is_sent_away_sends_the_rest_over_another_connection() -> None:
    def away(link: Http2Connection, asked: Http2Request) -> Http2Response:
        link.away_after = 60
        return fine(link, asked)

    async with hosting(away, first_streams=50) as host, client_of(host.address) as client:
        outcomes = await client.send(requests(150))
        close_reasons = client.count.close_reasons

    assert Counter(_statuses(outcomes)) == {200: 150}
    assert sorted(host.paths) == sorted(request.path for request in requests(150))
    assert close_reasons[0] == "closed by the host: Shutdown"
    assert len(host.links) == 3


async def test_a_refused_stream_is_sent_again() -> None:
    seen: set[str] = set()

    def at_second_sight(link: Http2Connection, asked: Http2Request) -> Http2Response:
        known = asked.path in seen
        seen.add(asked.path)
        return fine(link, asked) if known else REFUSED_STREAM

    async with hosting(at_second_sight) as host, client_of(host.address) as client:
        outcomes = await client.send(requests(20))

    assert _statuses(outcomes) == [200] * 20
    assert Counter(host.paths) == {request.path: 2 for request in requests(20)}


async def test_a_broken_connection_leaves_in_doubt_only_what_was_under_way() -> None:
    def breaking(link: Http2Connection, asked: Http2Request) -> Http2Response | None:
        if len(host.asked) == 5:
            link.drop()
        return fine(link, asked)

    async with hosting(breaking) as host, client_of(host.address) as client:
        outcomes = await client.send(requests(10))

    lost = [each for each in outcomes if isinstance(each, NoResponse)]
    assert Counter(_statuses(outcomes)) == {200: 9, 0: 1}
    assert [each.sent for each in lost] == [True]
    assert host.paths == [request.path for request in requests(10)]


async def test_without_a_host_nothing_counts_as_sent() -> None:
    async with hosting() as host:
        address = host.address
    async with client_of(address) as client:
        outcomes = await client.send(requests(3))

    assert [each.sent for each in outcomes if isinstance(each, NoResponse)] == [False] * 3


async def test_a_host_nobody_vouches_for_gets_nothing() -> None:
    stranger = ssl.create_default_context()

    async with hosting() as host, client_of(host.address, context=stranger) as client:
        (outcome,) = await client.send(requests(1))

    assert isinstance(outcome, NoResponse)
    assert (outcome.sent, "certificate" in outcome.reason.lower(), host.asked) == (False, True, [])


async def test_a_host_that_falls_silent_is_left() -> None:
    def falling(link: Http2Connection, asked: Http2Request) -> Http2Response | None:
        link.silent = len(host.asked) == 2
        return None if link.silent else fine(link, asked)

    impatient = PushConfig(connections=1, silence_seconds=0.2, tries=1)

    async with hosting(falling) as host, client_of(host.address, impatient) as client:
        outcomes = await client.send(requests(5))

    assert outcomes[1] == NoResponse("no response to ping", sent=True)
    assert _statuses(outcomes) == [200, 0, 200, 200, 200]


async def test_a_host_that_is_slow_but_alive_is_waited_for() -> None:
    def slow(_link: Http2Connection, _asked: Http2Request) -> Http2Response:
        return Http2Response(200, delay_seconds=0.6)

    patient = PushConfig(connections=1, silence_seconds=0.2, tries=1)

    async with hosting(slow) as host, client_of(host.address, patient) as client:
        outcomes = await client.send(requests(1))

    assert _statuses(outcomes) == [200]
    assert host.links[0].count["PingReceived"] > 0


async def test_an_idle_connection_is_asked_for_a_sign_of_life() -> None:
    pinging = PushConfig(connections=1, ping_seconds=0.05, tries=1)

    async with hosting() as host, client_of(host.address, pinging) as client:
        await client.send(requests(1))
        await asyncio.wait_for(_until_pinged(host.links[0]), 10)
        outcomes = await client.send(requests(1))

    assert (_statuses(outcomes), len(host.links)) == ([200], 1)


async def test_what_is_not_answered_in_time_is_given_up_and_the_connection_kept() -> None:
    def only_some(link: Http2Connection, asked: Http2Request) -> Http2Response | None:
        return None if asked.path.endswith("3") else fine(link, asked)

    async with hosting(only_some, first_streams=10) as host, client_of(host.address) as client:
        await client.send(requests(1))
        outcomes = await client.send(requests(6), within_seconds=0.5)
        later = await client.send(requests(2))

    assert _statuses(outcomes) == [200, 200, 200, 0, 200, 200]
    assert outcomes[3] == NoResponse("no response within 0.5 s", sent=True)
    assert (_statuses(later), len(host.links)) == ([200, 200], 1)


@pytest.mark.parametrize("window", [1, 100, 5_000])
async def test_a_narrow_window_only_slows_a_body_down(window: int) -> None:
    body = bytes(range(256)) * 2

    async with (
        hosting(first_streams=10, window=window) as host,
        client_of(host.address) as client,
    ):
        outcomes = await client.send(requests(5, body))

    assert _statuses(outcomes) == [200] * 5
    assert [asked.body for asked in host.asked] == [body] * 5


async def test_more_than_the_connection_window_goes_out_in_turns() -> None:
    body = bytes(16_000)

    async with hosting(first_streams=50) as host, client_of(host.address) as client:
        outcomes = await client.send(requests(40, body))

    assert _statuses(outcomes) == [200] * 40
    assert {len(asked.body) for asked in host.asked} == {16_000}


async def test_a_long_answer_is_read_whole_and_one_without_end_is_cut() -> None:
    def long(_link: Http2Connection, asked: Http2Request) -> Http2Response:
        return Http2Response(200, (), b"x" * int(asked.path.rpartition("/")[2]))

    asked_for = [PushRequest(f"/{size}", SHARED) for size in (0, 60_000, 65_535)]
    small = PushConfig(connections=1, most_response_bytes=64_000, tries=1)

    async with hosting(long) as host, client_of(host.address, small) as client:
        outcomes = await client.send(asked_for)

    assert [len(each.body) for each in outcomes if isinstance(each, PushResponse)] == [0, 60_000]
    assert outcomes[2] == NoResponse("the response is too large", sent=True)


async def test_several_connections_share_the_work() -> None:
    def slow(_link: Http2Connection, _asked: Http2Request) -> Http2Response:
        return Http2Response(200, delay_seconds=0.01 if len(host.links) == 3 else 0.1)

    three = PushConfig(connections=3, most_streams=20, stagger_seconds=0, tries=1)

    async with hosting(slow, first_streams=20) as host, client_of(host.address, three) as client:
        outcomes = await client.send(requests(600))
        statuses = client.statuses

    assert Counter(_statuses(outcomes)) == {200: 600}
    assert (len(statuses), sum(each.response_count for each in statuses)) == (3, 600)
    assert min(each.response_count for each in statuses) > 0


async def test_renewed_connections_take_what_comes_later() -> None:
    async with hosting() as host, client_of(host.address) as client:
        await client.send(requests(2))
        client.renew()
        outcomes = await client.send(requests(2))

    assert (_statuses(outcomes), len(host.links)) == ([200, 200], 2)


async def test_closing_ends_what_is_under_way() -> None:
    def never(_link: Http2Connection, _asked: Http2Request) -> None:
        return None

    async with hosting(never) as host:
        client = client_of(host.address)
        sending = asyncio.create_task(client.send(requests(3)))
        await host.came.wait()
        await client.close()
        outcomes = await sending

    assert [each.sent for each in outcomes if isinstance(each, NoResponse)] == [True, False, False]


@pytest.mark.parametrize(
    "request_",
    [
        PushRequest("no-slash", SHARED),
        PushRequest("/é", SHARED),
        PushRequest("/a\nb", SHARED),
        PushRequest("/" + "a" * 2_000, SHARED),
        PushRequest("/a", SHARED, bytes(20_000)),
        PushRequest("/a", SHARED, b"", (("apns-id", "é"),)),
    ],
    ids=["path", "letters", "control", "long path", "long body", "header"],
)
async def test_a_request_that_cannot_be_sent_is_refused(request_: PushRequest) -> None:
    async with hosting() as host, client_of(host.address) as client:
        with pytest.raises(InvalidRequest):
            await client.send([request_])

    assert host.asked == []


async def test_shared_headers_must_be_plain_and_short() -> None:
    with pytest.raises(InvalidRequest):
        SharedHeaders([("apns-topic", "é")])
    with pytest.raises(InvalidRequest):
        SharedHeaders([("authorization", "x" * 20_000)])


async def test_who_does_not_speak_http2_gets_nothing() -> None:
    async def nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    server = await asyncio.start_server(nonsense, "127.0.0.1", 0, ssl=CERTIFICATE.serving())
    async with server, client_of(f"127.0.0.1:{server.sockets[0].getsockname()[1]}") as client:
        (outcome,) = await client.send(requests(1))

    assert isinstance(outcome, NoResponse)
    assert ("HTTP/2 protocol error" in outcome.reason, outcome.sent) == (True, False)


async def test_a_host_has_a_name_and_a_port() -> None:
    with pytest.raises(InvalidRequest):
        client_of("localhost:http")

    assert isinstance(client_of("localhost"), PushClient)


@pytest.mark.parametrize("name", [".example.org", f"{'a' * 64}.example.org", "a\0b"])
async def test_a_name_that_cannot_be_looked_up_is_an_outcome(name: str) -> None:
    async with client_of(f"{name}:443") as client:
        (outcome,) = await client.send(requests(1), within_seconds=5)

    assert isinstance(outcome, NoResponse)
    assert not outcome.sent
    assert outcome.reason.startswith(f"no connection to {name}")

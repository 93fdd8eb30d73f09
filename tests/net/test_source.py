"""Requests to a source, and an error for each kind of failure."""

import gzip
import time
import zlib
from http import HTTPStatus

import msgspec
import pytest

from grandstand.core.errors import InvalidInput, LimitReached, SourceFailed, Unavailable
from grandstand.core.metrics import Metrics
from grandstand.net.client import Credentials, Source, SourceRegistry
from grandstand.net.errors import (
    InvalidRequest,
    InvalidResponse,
    RateLimited,
    RedirectRefused,
    ResponseTooLarge,
    SourceRefused,
    SourceServerError,
    SourceTimeout,
    SourceUnreachable,
)
from grandstand.net.rate_limits import RateLimit
from grandstand.net.retry import RetryPolicy
from tests.net.outsider import Outsider, Reply, answers, says, trickles, waits

pytestmark = pytest.mark.anyio

FAST = RateLimit(per_second=1000, burst=1000)
ONCE = RetryPolicy(tries=1)
QUICK = RetryPolicy(tries=3, first_seconds=0.01)


def _source(
    web: SourceRegistry, outsider: Outsider, retries: RetryPolicy = ONCE, **more: object
) -> Source:
    made = {"base_url": outsider.url, "rate": FAST, "retries": retries, "timeout_seconds": 1.0}
    return web.source("feed", **(made | more))  # type: ignore[arg-type]


class Game(msgspec.Struct):
    name: str


async def test_an_answer_has_status_headers_and_body(
    web: SourceRegistry, outsider: Outsider
) -> None:
    outsider.script = [answers(body=b'{"name": "final"}', X_Left="7")]
    source = _source(web, outsider, base_url=f"{outsider.url}/v4/", headers={"x-app": "us"})

    answer = await source.get("/odds", params={"regions": "us", "page": 2, "live": True})

    [heard] = outsider.heard
    assert (answer.status, answer.headers["x-left"]) == (200, "7")
    assert answer.json(Game) == Game("final")
    assert (heard.method, heard.target) == ("GET", "/v4/odds?regions=us&page=2&live=true")
    assert (heard.headers["x-app"], heard.headers["user-agent"]) == ("us", "grandstand")


async def test_a_post_carries_json_or_bytes(web: SourceRegistry, outsider: Outsider) -> None:
    source = _source(web, outsider)

    await source.post("/a", json={"n": 1})
    await source.post("/b", body=b"raw", headers={"content-type": "text/x"})

    first, second = outsider.heard
    assert (first.body, first.headers["content-type"]) == (b'{"n":1}', "application/json")
    assert (second.body, second.headers["content-type"]) == (b"raw", "text/x")


@pytest.mark.parametrize(
    ("reply", "error", "meaning"),
    [
        (answers(404), SourceRefused, SourceFailed),
        (answers(401), SourceRefused, SourceFailed),
        (answers(500), SourceServerError, SourceFailed),
        (answers(503), SourceServerError, SourceFailed),
        (answers(429), RateLimited, LimitReached),
        (says(b"not http at all\r\n\r\n"), InvalidResponse, SourceFailed),
        (answers(body=b"no gzip", Content_Encoding="gzip"), InvalidResponse, SourceFailed),
        (says(b""), SourceUnreachable, Unavailable),
        (says(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), SourceUnreachable, Unavailable),
        (waits(2.5, answers()), SourceTimeout, Unavailable),
        (trickles(0.05), SourceTimeout, Unavailable),
        (answers(302), RedirectRefused, SourceFailed),
    ],
)
async def test_each_way_to_fail_has_its_own_error(
    web: SourceRegistry,
    outsider: Outsider,
    reply: Reply,
    error: type[Exception],
    meaning: type[Exception],
) -> None:
    outsider.usual = reply
    source = _source(web, outsider, timeout_seconds=1.0)

    with pytest.raises(error) as raised:
        await source.get("/x")

    assert isinstance(raised.value, meaning)
    assert "feed" in str(raised.value)


async def test_a_host_that_is_not_there_is_unreachable(
    web: SourceRegistry, outsider: Outsider
) -> None:
    source = _source(web, outsider, base_url="http://127.0.0.1:1")

    with pytest.raises(SourceUnreachable, match="cannot be reached") as raised:
        await source.get("/")

    assert not raised.value.sent


async def test_what_a_source_says_about_a_refusal_is_passed_on(
    web: SourceRegistry, outsider: Outsider
) -> None:
    outsider.usual = answers(422, b'{"message": "unknown sport"}', Content_Type="application/json")
    source = _source(web, outsider)

    with pytest.raises(
        SourceRefused, match=r"rejected the request with 422: .*unknown sport"
    ) as raised:
        await source.get("/")

    assert raised.value.response_status == 422
    assert not raised.value.retry


async def test_a_status_that_is_expected_is_an_answer(
    web: SourceRegistry, outsider: Outsider
) -> None:
    outsider.script = [answers(404), answers(304, b"")]
    source = _source(web, outsider)

    missing = await source.get("/a", accept={HTTPStatus.NOT_FOUND})
    unchanged = await source.get("/b", headers={"if-none-match": '"1"'})

    assert (missing.status, unchanged.status) == (404, 304)


async def test_an_answer_of_another_shape_is_garbled(
    web: SourceRegistry, outsider: Outsider
) -> None:
    outsider.usual = answers(body=b'{"name": 5}')
    source = _source(web, outsider)

    answer = await source.get("/")

    with pytest.raises(InvalidResponse, match="feed sent 11 bytes that cannot be decoded"):
        answer.json(Game)


async def test_a_packed_answer_is_unpacked(web: SourceRegistry, outsider: Outsider) -> None:
    outsider.usual = answers(body=gzip.compress(b'{"name": "x"}'), Content_Encoding="gzip")
    source = _source(web, outsider)

    answer = await source.get("/")

    assert answer.body == b'{"name": "x"}'


@pytest.mark.parametrize(
    "reply",
    [
        answers(body=b"x" * 70_000),
        says(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 70_000),
        says(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"),
    ],
)
async def test_an_answer_above_the_limit_is_not_read(
    web: SourceRegistry, outsider: Outsider, reply: Reply
) -> None:
    outsider.usual = reply
    source = _source(web, outsider, most_bytes=65_536)

    with pytest.raises(ResponseTooLarge, match="more than 65536 bytes"):
        await source.get("/")


async def test_a_bomb_is_put_out_after_the_limit(web: SourceRegistry, outsider: Outsider) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(256)) + packer.flush()
    twice = gzip.compress(bomb)
    outsider.script = [
        answers(body=bomb, Content_Encoding="gzip"),
        answers(body=twice, Content_Encoding="gzip, gzip"),
    ]
    source = _source(web, outsider, most_bytes=1 << 20)

    begin = time.process_time()
    for _ in range(2):
        with pytest.raises(ResponseTooLarge):
            await source.get("/")
    taken = time.process_time() - begin

    assert outsider.script == []
    assert taken < 0.5


async def test_a_redirect_on_the_same_host_is_followed(
    web: SourceRegistry, outsider: Outsider
) -> None:
    outsider.script = [answers(307, Location="/new?page=2")]
    credentials = Credentials(headers={"x-api-key": "sesame-open"}, params={"apiKey": "k-k-k"})
    source = _source(web, outsider, credentials=credentials)

    answer = await source.get("/old")

    assert answer.status == 200
    assert [at.target for at in outsider.heard] == ["/old?apiKey=k-k-k", "/new?page=2&apiKey=k-k-k"]
    assert [at.headers["x-api-key"] for at in outsider.heard] == ["sesame-open"] * 2


async def test_a_redirect_to_another_host_is_refused(
    web: SourceRegistry, outsider: Outsider, other: Outsider
) -> None:
    outsider.usual = answers(302, Location=f"{other.url}/x")
    source = _source(web, outsider)

    with pytest.raises(RedirectRefused, match="add the host to also_hosts"):
        await source.get("/")

    assert other.heard == []


async def test_a_redirect_to_a_host_named_is_followed_without_credentials(
    web: SourceRegistry, outsider: Outsider, other: Outsider
) -> None:
    target = f"http://ada:pass@127.0.0.1:{other.port}/x?apiKey=k-k-k&page=1"
    outsider.usual = answers(302, Location=target, Set_Cookie="session=abc")
    credentials = Credentials(
        headers={"authorization": "Bearer sesame-open"},
        params={"apiKey": "k-k-k"},
        sign=lambda method, path: {"x-signature": f"{method} {path}"},
    )
    source = _source(web, outsider, credentials=credentials, also_hosts=("127.0.0.1",))

    answer = await source.get("/", headers={"x-mine": "1"})

    [first], [second] = outsider.heard, other.heard
    assert answer.body == b'"other"'
    assert first.headers["x-signature"] == "GET /"
    assert second.target == "/x?page=1"
    assert not second.headers.keys() & {"authorization", "x-signature", "x-mine", "cookie"}


async def test_redirects_without_end_and_of_posts_are_refused(
    web: SourceRegistry, outsider: Outsider
) -> None:
    outsider.usual = answers(302, Location="/again")
    source = _source(web, outsider)

    with pytest.raises(RedirectRefused, match="in a loop"):
        await source.get("/again")
    with pytest.raises(RedirectRefused):
        await source.post("/once", json=1)

    assert len(outsider.heard) == 6


@pytest.mark.parametrize(
    "path", ["http://127.0.0.1:1/x", "https://evil.example/", "file:///etc/passwd", "http://[::1"]
)
async def test_no_path_leads_to_another_host(
    web: SourceRegistry, outsider: Outsider, path: str
) -> None:
    source = _source(web, outsider)

    with pytest.raises(InvalidRequest):
        await source.get(path)

    assert outsider.heard == []


@pytest.mark.parametrize("path", ["//evil.example/x", "/@evil.example/x", "\\\\evil.example"])
async def test_a_path_that_looks_like_a_host_stays_a_path(
    web: SourceRegistry, outsider: Outsider, path: str
) -> None:
    source = _source(web, outsider)

    await source.get(path)

    assert "evil.example" in outsider.heard[0].target
    assert outsider.heard[0].headers["host"] == f"127.0.0.1:{outsider.port}"


async def test_a_next_page_given_as_a_whole_address_is_asked_if_it_is_the_sources(
    web: SourceRegistry, outsider: Outsider
) -> None:
    source = _source(web, outsider, base_url=f"{outsider.url}/v1")

    await source.get(f"{outsider.url}/v1/games?page=2")

    assert outsider.heard[0].target == "/v1/games?page=2"


async def test_cookies_are_not_kept(web: SourceRegistry, outsider: Outsider) -> None:
    outsider.usual = answers(Set_Cookie="visitor=1; Path=/")
    source = _source(web, outsider)

    await source.get("/")
    await source.get("/")

    assert "cookie" not in outsider.heard[1].headers


async def test_no_proxy_of_the_environment_is_used(
    web: SourceRegistry, outsider: Outsider, other: Outsider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", other.url)
    monkeypatch.setenv("ALL_PROXY", other.url)
    source = _source(web, outsider)

    await source.get("/")

    assert (len(outsider.heard), len(other.heard)) == (1, 0)


async def test_a_password_in_the_address_becomes_a_credential(
    web: SourceRegistry, outsider: Outsider
) -> None:
    source = _source(web, outsider, base_url=f"http://ada:open%20it@127.0.0.1:{outsider.port}")

    await source.get("/")

    assert outsider.heard[0].headers["authorization"] == "Basic YWRhOm9wZW4gaXQ="
    assert web.status()[0].host == f"127.0.0.1:{outsider.port}"


@pytest.mark.parametrize("url", ["ftp://x", "x", "http://", "http://x/?apiKey=1", "http://[::1"])
async def test_an_address_that_is_none_is_refused(
    web: SourceRegistry, outsider: Outsider, url: str
) -> None:
    with pytest.raises(InvalidInput, match="URL"):
        _source(web, outsider, base_url=url)


async def test_a_name_is_taken_once_until_it_is_dropped(
    web: SourceRegistry, outsider: Outsider
) -> None:
    _source(web, outsider)

    with pytest.raises(InvalidInput, match="source named feed exists already"):
        _source(web, outsider)
    web.drop("feed")

    assert _source(web, outsider).config.name == "feed"


async def test_what_happens_is_counted_and_kept_as_status(
    web: SourceRegistry, outsider: Outsider, metrics: Metrics
) -> None:
    outsider.script = [answers(), answers(500)]
    source = _source(web, outsider, daily_quota=10)

    await source.get("/")
    with pytest.raises(SourceServerError):
        await source.get("/")

    [status] = web.status()
    assert metrics.value("source_requests", source="feed", outcome="ok") == 1
    assert metrics.value("source_requests", source="feed", outcome="failed") == 1
    assert metrics.value("source_seconds", source="feed") == 1
    assert metrics.value("source_quota_left", source="feed") == 8
    assert (status.used_today, status.quota_left, status.breaker) == (2, 8, "closed")
    assert status.last_error == "feed responded with 500"
    assert status.last_success_at is not None
    assert status.last_error_at is not None
    assert status.last_error_at > status.last_success_at

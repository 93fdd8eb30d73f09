"""No credential of a source is in a log, a status, an error, or anything an error came from."""

import io
import logging
import traceback
from collections.abc import Iterator
from random import Random

import pytest
import structlog

from grandstand.core import logging as logs
from grandstand.core.clock import SystemClock
from grandstand.core.errors import GrandstandError, InvalidInput
from grandstand.core.metrics import Metrics
from grandstand.net.client import Credentials, Source, SourceRegistry
from grandstand.net.retry import RetryPolicy
from grandstand.net.websocket import SocketConfig, WebSocketClient
from tests.net.outsider import Outsider, Reply, answers, says, waits

pytestmark = pytest.mark.anyio

HEADER, QUERY, SIGNED = "Zk-header-x4711", "Zq-query-x4712", "Zs-signed-x4713"
PASSWORD, TYPED = "Zp-pass word-x4714", "Zt-typed-x4715"
MARKS = ("x4711", "x4712", "x4713", "x4714", "x4715", "cGFzcyB3b3Jk")


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """All log output at the lowest level, including libraries."""
    stream = io.StringIO()
    logs.configure_logging(stream, json=True, level="debug")
    yield stream
    structlog.reset_defaults()
    root = logging.getLogger()
    root.handlers = [each for each in root.handlers if not isinstance(each, logs.Output)]
    root.setLevel(logging.WARNING)


def _source(web: SourceRegistry, outsider: Outsider) -> Source:
    credentials = Credentials(
        headers={"x-own-name": HEADER},
        params={"k": QUERY},
        sign=lambda _method, _path: {"x-odd": SIGNED},
    )
    return web.source(
        "feed",
        base_url=f"http://ada:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{outsider.port}/v1",
        credentials=credentials,
        timeout_seconds=0.5,
        retries=RetryPolicy(tries=2, first_seconds=0.01),
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Return an error and its whole chain of causes."""
    yield error
    for earlier in {error.__cause__, error.__context__} - {None}:
        assert earlier is not None
        yield from _chain(earlier)


def _told(error: BaseException) -> str:
    shown = "".join(traceback.format_exception(error))
    kept = [f"{each!s} {each!r} {each.args!r} {vars(each)!r}" for each in _chain(error)]
    return "\n".join([shown, *kept])


def _leaks(text: str) -> list[str]:
    return [mark for mark in MARKS if mark in text]


@pytest.mark.parametrize(
    "reply",
    [
        answers(401, f'{{"error": "bad key {QUERY}"}}'.encode(), Content_Type="application/json"),
        answers(500, f"header {HEADER} is odd, so is {SIGNED}".encode(), Content_Type="text/plain"),
        answers(302, Location=f"http://elsewhere.example/?k={QUERY}"),
        answers(302, Location=f"http://[{QUERY}"),
        says(f"{HEADER} {QUERY}\r\n\r\n".encode()),
        says(b""),
        waits(1.5, answers()),
    ],
)
async def test_no_failure_shows_what_proves_who_we_are(
    web: SourceRegistry, outsider: Outsider, written: io.StringIO, reply: Reply
) -> None:
    outsider.usual = reply
    source = _source(web, outsider)

    with pytest.raises(GrandstandError) as raised:
        await source.get("/games", params={"token": TYPED})

    shown = "\n".join([_told(raised.value), repr(web.status()), repr(source.config)])
    assert {HEADER, SIGNED} <= set(outsider.heard[0].headers.values())
    assert f"k={QUERY}" in outsider.heard[0].target
    assert "request_failed" in written.getvalue()
    assert _leaks(shown) == []
    assert _leaks(written.getvalue()) == []


@pytest.mark.parametrize("value", [f"{HEADER}\r\nx: y", f"{HEADER}\x00", f"{HEADER}é"])
async def test_a_header_that_cannot_be_sent_is_not_shown(
    web: SourceRegistry, outsider: Outsider, written: io.StringIO, value: str
) -> None:
    credentials = Credentials(headers={"authorization": f"Bearer {value}"})
    source = web.source("feed", base_url=outsider.url, credentials=credentials)

    with pytest.raises(GrandstandError) as raised:
        await source.get("/")

    assert _leaks(_told(raised.value)) == []
    assert _leaks(written.getvalue()) == []


async def test_a_signature_that_cannot_be_sent_is_not_shown(
    web: SourceRegistry, outsider: Outsider, written: io.StringIO
) -> None:
    credentials = Credentials(sign=lambda _method, _path: {"x-odd": f"Zx-9981\n{SIGNED}"})
    source = web.source("feed", base_url=outsider.url, credentials=credentials)

    with pytest.raises(GrandstandError) as raised:
        await source.get("/")

    assert "Zx-9981" not in _told(raised.value) + written.getvalue()


async def test_an_answer_shows_neither_headers_nor_body(
    web: SourceRegistry, outsider: Outsider
) -> None:
    outsider.usual = answers(body=HEADER.encode(), Set_Cookie=QUERY)
    source = _source(web, outsider)

    answer = await source.get("/")

    assert _leaks(repr(answer)) == []


@pytest.mark.parametrize("url", [f"ftp://ada:{TYPED}@x/", f"http://x/?apiKey={TYPED}"])
async def test_an_address_refused_does_not_show_its_password(web: SourceRegistry, url: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        web.source("feed", base_url=url)

    assert _leaks(_told(raised.value)) == []


async def test_a_proxy_that_fails_does_not_show_its_password(
    outsider: Outsider, written: io.StringIO
) -> None:
    proxy = f"http://ada:{TYPED}@127.0.0.1:{outsider.port}"
    outsider.usual = says(b"")
    async with SourceRegistry(
        clock=SystemClock(), random=Random(1), metrics=Metrics(), proxy=proxy
    ) as web:
        source = web.source("feed", base_url="https://x.invalid", retries=RetryPolicy(tries=1))

        with pytest.raises(GrandstandError) as raised:
            await source.get("/")

    assert outsider.heard[0].method == "CONNECT"
    assert _leaks(_told(raised.value)) == []
    assert _leaks(written.getvalue()) == []


@pytest.mark.parametrize(
    "reply",
    [answers(403, HEADER.encode()), answers(503), says(b""), answers(302, Location="ws://[bad")],
)
async def test_a_socket_that_fails_does_not_show_its_headers(
    outsider: Outsider, written: io.StringIO, reply: Reply
) -> None:
    outsider.usual = reply
    socket = WebSocketClient(
        "stream",
        f"ws://127.0.0.1:{outsider.port}/?token={TYPED}",
        clock=SystemClock(),
        random=Random(1),
        metrics=Metrics(),
        headers=lambda: {"x-odd": HEADER},
        config=SocketConfig(first_seconds=0.01),
    )

    shown = ""
    async with socket:
        try:
            async for event in socket:
                shown += repr(event)
                await socket.close()
        except GrandstandError as error:
            shown += _told(error)

    assert shown
    assert outsider.heard[0].headers["x-odd"] == HEADER
    assert _leaks(shown) == []
    assert _leaks(written.getvalue()) == []
